"""Declaration that every privacy model of a policy extends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from pganon.policy.columns import Columns
from pganon.policy.hierarchies import Declaration
from pganon.policy.refusals import Refusal


class ModelDeclaration(Declaration):
    """Base of the privacy models. A subclass has a field `model` with its one word.

    A model that is about a sensitive column has a field `column` with its name.

    Attributes:
        conditional: whether there is a parameter with which it also holds against readers who know
            that a sensitive value is not NULL; see :mod:`pganon.privacy.requirements`.
    """

    conditional: ClassVar[bool] = False

    if TYPE_CHECKING:
        model: Any  # a field of every subclass, with the one word that it can be

    @property
    def about(self) -> str | None:
        """The sensitive column it is about, if it names one."""
        return getattr(self, "column", None)

    @property
    def counted_in(self) -> str | None:
        """The relation of the population whose people it counts, if it names one."""
        return getattr(self, "population", None)

    @property
    def about_each(self) -> bool:
        """Whether it applies to every sensitive column separately."""
        return False

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Refusals of what does not fit the columns; places are relative to the model."""
        return ()
