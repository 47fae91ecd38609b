"""Columns of a policy: what each is, and those of a role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from pganon.policy.domains import Domain, domain_refusals
from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.policy.hierarchies import Declaration, Hierarchy, OneKey
from pganon.policy.labels import Condition, Labels, Name, RelationName, no_repeats
from pganon.policy.refusals import Refusal, alternatives, known_word, refuse, refuse_one, show
from pganon.policy.words import (
    HIDDEN,
    NULLS,
    QUASI_IDENTIFYING_NULLS,
    QUASI_SENSITIVE_NULLS,
    ROLES,
    SENSITIVE_NULLS,
    Nulls,
    Role,
    ShownWord,
)

ColumnType = Literal["numeric", "ordinal", "categorical"]
MAX_LEVEL = 64


def _upwards(levels: tuple[int, int]) -> tuple[int, int]:
    if levels[0] > levels[1]:
        refuse_one("the lowest level is above the highest", suggestion="exchange the two")
    return levels


Level = Annotated[int, Field(ge=0, le=MAX_LEVEL)]
Levels = Annotated[tuple[Level, Level], Field(strict=False), AfterValidator(_upwards)]
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


EXCEPTION_COLUMN = "attribute"
"""Column of a relation of exceptions with the name of the column whose value is sensitive."""


class SensitiveWhen(OneKey):
    """Exactly one of these says it; where it says NULL, the value is sensitive.

    Attributes:
        column: a boolean column of the source.
        predicate: a condition over columns of the source.
        relation: a table with the source's primary key and a column `attribute`, a row for each
            value that is sensitive.
    """

    column: Name | None = None
    predicate: Annotated[Condition, Field(max_length=20_000)] | None = None
    relation: RelationName | None = None

    @property
    def columns(self) -> frozenset[str]:
        """Columns of the source that it reads."""
        if self.column is not None:
            return frozenset({self.column})
        if self.predicate is None:
            return frozenset()
        try:
            return check_where(self.predicate).columns
        except ExpressionProblem:
            return frozenset()


class ColumnPolicy(Declaration):
    """Role of one source column, and how it may be treated.

    Attributes:
        apart: of the root of related tables, whether no group has several of its values.
    """

    tags: ClassVar = {"hierarchy": 1, "domain": 1, "shown": 1}
    examples: ClassVar = {
        "role": "role: quasi_identifying",
        "domain": "domain: [0, 120] or domain: [2020-01-01, 2020-12-31]",
        "levels": "levels: [0, 2]; [2, 2] allows only level 2",
        "set": "set: register, the one set that the column is in",
    }

    role: Annotated[Role, known_word("role")]
    type: Annotated[ColumnType, known_word("column type")] | None = None
    order: Annotated[Labels, AfterValidator(no_repeats)] | None = None
    domain: Domain | None = None
    hierarchy: Hierarchy | None = None
    levels: Levels | None = None
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    nulls: Annotated[Nulls, known_word("way to treat nulls")] = "as_value"
    unprotected: Annotated[Literal["warn", "accept"], known_word()] = "warn"
    sensitive_when: SensitiveWhen | None = None
    qs_set: Name | None = Field(default=None, alias="set")
    shown: Means = "none"
    mean: bool = False
    published_as: Name | None = Field(default=None, alias="as")
    apart: bool = False

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: object) -> object:
        if not isinstance(value, Mapping | ColumnPolicy):
            role = value if isinstance(value, str) and len(value) < 30 else "quasi_identifying"
            message = f"must be a mapping, not {show(value)}"
            refuse_one(message, suggestion=f"write {{role: {role}}}")
        return value

    @model_validator(mode="after")
    def _keys_fit_role(self) -> ColumnPolicy:
        refuse(list(column_refusals(self.model_dump(by_alias=True))))
        return self


Columns = Mapping[str, ColumnPolicy | None]
"""By name, in the policy's order; None is declared, but wrong in itself."""


def of_role(columns: Columns, *roles: str) -> list[str]:
    """Names of the columns with one of these roles, in the policy's order."""
    return [name for name, column in columns.items() if column and column.role in roles]


_QUASI = ("quasi_identifying", "semi_sensitive")
_GROUPED = (*_QUASI, "quasi_sensitive")
_OPTIONAL_KEYS = (
    ("weight", ("quasi_identifying",), 1),
    ("levels", ("quasi_identifying",), None),
    ("domain", _QUASI, None),
    ("sensitive_when", ("semi_sensitive",), None),
    ("set", ("quasi_sensitive",), None),
    *((key, (*_GROUPED, "sensitive"), None) for key in ("hierarchy", "type", "order")),
    ("nulls", (*_GROUPED, "sensitive"), "as_value"),
    ("unprotected", HIDDEN, "warn"),
    ("shown", ("weight", "insensitive", "sensitive"), "none"),
    ("mean", ("quasi_identifying",), False),
)
"""Keys of a column, the roles that they are for, and the value that says nothing."""

_NULLS_OF = {
    **dict.fromkeys(_QUASI, (QUASI_IDENTIFYING_NULLS, None)),
    "quasi_sensitive": (
        QUASI_SENSITIVE_NULLS,
        "as_value: a NULL is a value of its own in a cluster",
    ),
    "sensitive": (SENSITIVE_NULLS, None),
}
"""Ways to treat NULLs by role, with a hint."""


def column_refusals(column: Mapping[str, Any]) -> Iterator[Refusal]:
    """Refusals of combinations in one column; works on unchecked input, too."""
    role = column.get("role")
    if role not in ROLES:
        return
    for key, roles, default in _OPTIONAL_KEYS:
        if role not in roles and column.get(key, default) not in (default, None):
            message = f"{key} is for {alternatives(roles)} columns; this one is {role}"
            yield Refusal((key,), message, f"remove {key}")
    hierarchy, ordered = column.get("hierarchy"), column.get("order") is not None
    forms = hierarchy if isinstance(hierarchy, Mapping) else {}
    for form in ("intervals", "age", "date") if role == "sensitive" else ():
        if form in forms:
            message = f"a hierarchy by {form} is not for sensitive columns"
            yield Refusal(("hierarchy",), message, "numbers and dates have distance: ordered")
    if role in _GROUPED and ordered and column.get("type") != "ordinal":
        yield Refusal(("order",), "order needs type: ordinal", "add type: ordinal")
    if role in _QUASI:
        yield from domain_refusals(column)
    if role == "quasi_sensitive" and column.get("set") is None:
        yield Refusal(
            ("set",),
            "is missing; a quasi_sensitive column belongs to a QS set",
            "write set: and a name that it shares with the columns from the same source",
        )
    nulls, (words, hint) = column.get("nulls", "as_value"), _NULLS_OF.get(role, (NULLS, None))
    if nulls in NULLS and nulls not in words:
        message = f"nulls of a {role} column are {alternatives(words)}, not {nulls}"
        yield Refusal(("nulls",), message, hint)
    if role == "semi_sensitive" and column.get("sensitive_when") is None:
        message = "is missing; it says for whom the value is sensitive"
        hint = "for example sensitive_when: {column: age_is_private}"
        yield Refusal(("sensitive_when",), message, hint)
    if role == "sensitive" and ordered:
        # Distances take the natural order; an order that nothing obeys would mislead.
        message = "an order of one's own is not available for sensitive columns in this version"
        yield Refusal(("order",), message, "use the natural order of a number, date or enum")
    if role == "identifying" and column.get("as") is not None:
        yield Refusal(("as",), "an identifying column is never published", "remove as")
    shown = column.get("shown", "none")
    if role in ("insensitive", "sensitive") and shown == "range":
        yield Refusal(("shown",), "a range is shown of weights", "write mean or {groups: 3}")
    if role == "weight" and isinstance(shown, Mapping):
        yield Refusal(("shown",), "weights are shown by classes", "write mean or range")
    if role == "sensitive" and shown != "none" and column.get("unprotected") != "accept":
        message = "means protect no values: no model can be about the column"
        yield Refusal(("shown",), message, "add unprotected: accept, or remove shown")
    if role == "weight" and column.get("shown", "none") == "none" and column.get("as") is not None:
        message = "a weight column is not published without shown: mean or range"
        yield Refusal(("as",), message, "remove as, or add shown: mean")
