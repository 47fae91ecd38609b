"""How many of the people with rows in a table may have the same value there."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from pganon.policy.texts import Name
from pganon.privacy.base import Model
from pganon.privacy.declaration import PrivacyModel


class EventShare(PrivacyModel):
    """Of the people of a group with rows in a table, at most the share beta has any sensitive
    value.

    Attributes:
        table: of the policy; None: every table.
        of_column: of the table; None: every sensitive column, and who has rows at all where that is
            sensitive.
    """

    model: Literal["event_share"]
    beta: Annotated[float, Field(gt=0, lt=1)]
    table: Name | None = None
    of_column: Name | None = Field(default=None, alias="column")

    @property
    def limit(self) -> Fraction:
        """The share as it was meant: the float 0.1 is one tenth."""
        return Fraction(str(self.beta))

    def bounds(self, table: str, column: str | None) -> bool:
        """Whether it is about the values of a column, or about who has rows."""
        return self.table in (None, table) and self.of_column in (None, column)

    def measures(self) -> tuple[Model, ...]:
        return ()  # classes have no events
