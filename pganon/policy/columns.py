"""Columns of a policy: what each is, and those of a role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from pganon.policy.column_rules import column_refusals
from pganon.policy.domains import Domain
from pganon.policy.hierarchies import Declaration, Hierarchy
from pganon.policy.labels import Labels, no_repeats
from pganon.policy.refusals import known_word, refuse, refuse_one
from pganon.policy.sensitive_when import SensitiveWhen
from pganon.policy.texts import Name
from pganon.policy.words import Nulls, Role, ShownWord

ColumnType = Literal["numeric", "ordinal", "categorical"]
MAX_LEVEL = 64


def _one_set(value: object) -> object:
    if isinstance(value, list | tuple):
        refuse_one(
            "a column belongs to exactly one QS set, not to a list of them",
            suggestion="write the name of the one set; the column is in no other",
        )
    return value


def _upwards(levels: tuple[int, int]) -> tuple[int, int]:
    if levels[0] > levels[1]:
        refuse_one("the lowest level is above the highest", suggestion="exchange the two")
    return levels


def _two(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2:
        refuse_one(
            "must be a list of the lowest and the highest level",
            suggestion="for example levels: [0, 2]; [2, 2] allows only level 2",
        )
    return value


Level = Annotated[int, Field(ge=0, le=MAX_LEVEL)]
Levels = Annotated[
    tuple[Level, Level], Field(strict=False), BeforeValidator(_two), AfterValidator(_upwards)
]
"""The lowest and the highest level of a hierarchy that may be published; 0 are the values."""


class Groups(Declaration):
    """Means of groups of at least so many records of a class with similar values."""

    groups: Annotated[int, Field(ge=2, le=1000)]


def _form(value: object) -> str:
    return "groups" if isinstance(value, Mapping | Groups) else "word"


_Word = Annotated[ShownWord, known_word("way to show a column")]
Means = Annotated[
    Annotated[_Word, Tag("word")] | Annotated[Groups, Tag("groups")], Discriminator(_form)
]
"""What is shown of weights and numbers in place of their values."""


class ColumnPolicy(Declaration):
    """Role of one source column, and how it may be treated.

    Attributes:
        apart: of the root of related tables, whether no group has several of its values.
    """

    role: Annotated[Role, known_word("role")]
    type: Annotated[ColumnType, known_word("column type")] | None = None
    order: Annotated[Labels, AfterValidator(no_repeats)] | None = None
    domain: Domain | None = None
    hierarchy: Hierarchy | None = None
    levels: Levels | None = None
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    nulls: Annotated[Nulls, known_word("way to treat nulls")] = "as_value"
    unprotected: Annotated[Literal["warn", "accept"], known_word("word for unprotected")] = "warn"
    sensitive_when: SensitiveWhen | None = None
    qs_set: Annotated[Name | None, BeforeValidator(_one_set)] = Field(default=None, alias="set")
    shown: Means = "none"
    mean: bool = False
    published_as: Name | None = Field(default=None, alias="as")
    apart: bool = False

    @model_validator(mode="after")
    def _keys_fit_role(self) -> ColumnPolicy:
        refuse(list(column_refusals(self.model_dump(by_alias=True))))
        return self


Columns = Mapping[str, ColumnPolicy | None]
"""By name, in the policy's order; None is declared, but wrong in itself."""


def of_role(columns: Columns, *roles: str) -> list[str]:
    """Names of the columns with one of these roles, in the policy's order."""
    return [name for name, column in columns.items() if column and column.role in roles]
