"""Generalization hierarchies as a policy declares them.

Every form has levels 1, 2, ... above the value itself (level 0). The top level, one label for
every value, is part of `csv`, `table`, `inline` and `function`; the others get it by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    Tag,
    ValidationError,
    model_validator,
)

from pganon.policy.labels import Labels, RelationName, label, no_repeats
from pganon.policy.ready import ready
from pganon.policy.refusals import known_word, nearest, refusals_of, refuse, refuse_one, show


def inline_rows(value: object) -> tuple[tuple[str, ...], ...]:
    """Rows value..top of a nested mapping {top: {group: [value, ...]}} or of a list of rows.

    A short branch stays the value itself on the levels that it lacks, as in a file. Refused: a
    value that occurs twice, a label with two parents, more than one top.
    """
    if isinstance(value, dict):
        rows = tuple(tuple(reversed(path)) for path in _paths(value, ()))
    elif isinstance(value, list | tuple):
        rows = tuple(_row(row, i) for i, row in enumerate(value))
    else:
        refuse_one(f"must be a nested mapping or a list of rows, not {show(value)}")
    depth = max((len(row) for row in rows), default=0)
    rows = tuple((row[0],) * (depth - len(row)) + row for row in rows if row)
    check_rows(rows)
    return rows


def _row(row: object, i: int) -> tuple[str, ...]:
    if not isinstance(row, list | tuple):
        refuse_one(f"a row must be a list from value to top, not {show(row)}", at=(i,))
    return tuple(str(label(value)) for value in row)


def _paths(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Paths top..value of a nested mapping."""
    if len(above) > 64:
        refuse_one("the tree has more than 64 levels")
    if isinstance(node, dict):
        if not node:
            refuse_one("a group without values", at=above)
        for name, below in node.items():
            yield from _paths(below, (*above, str(label(name))))
    elif isinstance(node, list | tuple):
        if not node:
            refuse_one("a group without values", at=above)
        for leaf in node:
            yield (*above, str(label(leaf)))
    else:
        refuse_one(
            f"must be a mapping or a list of values, not {show(node)}",
            at=above,
            suggestion="write a group as `label: [value, value]`",
        )


def check_rows(rows: tuple[tuple[str, ...], ...]) -> None:
    """Refuse rows value..top, of equal length, that are no tree with one top."""
    if not rows:
        refuse_one("the hierarchy has no values")
    if len(rows[0]) < 2:
        refuse_one("a row needs a value and at least one label above it")
    if len({row[-1] for row in rows}) > 1:
        refuse_one("there is more than one top label", suggestion="put one label above all others")
    seen: set[str] = set()
    for row in rows:
        if row[0] in seen:
            refuse_one(f"the value {show(row[0])} occurs twice")
        seen.add(row[0])
    for level in range(1, len(rows[0]) - 1):
        parent: dict[str, str] = {}
        for row in rows:
            if parent.setdefault(row[level], row[level + 1]) != row[level + 1]:
                refuse_one(f"the label {show(row[level])} of level {level} has two parents")


TOP = "*"
DateUnit = Literal["day", "week", "month", "quarter", "year", "5 years", "decade", "century"]
DATE_UNITS: tuple[str, ...] = get_args(DateUnit)


class Declaration(BaseModel):
    """Base of all policy models: immutable, no unknown keys, no silent conversions.

    Attributes:
        tags: of keys whose values are of several types, where below the key pydantic names one.
        examples: of lines, by their keys.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )
    tags: ClassVar[Mapping[str, int]] = {}
    examples: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            keys = [field.alias or name for name, field in cls.model_fields.items()]
            refuse(list(refusals_of(error, keys, cls.tags, cls.examples)))
            raise


class OneKey(Declaration):
    """Exactly one of its keys says it."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name, value in self if value is not None]
        if len(given) != 1:
            said = f"has the keys {' and '.join(given)}" if given else "says nothing"
            refuse_one(f"{said}; it takes exactly one of {', '.join(type(self).model_fields)}")
        return self


DatabaseName = Annotated[RelationName, Field(max_length=200)]
OneCharacter = Annotated[str, Field(min_length=1, max_length=1)]


LEAST, MOST = 1e-30, 1e30
"""How near and how far bounds of intervals may be; beyond, widths are slips of the pen."""


def _number(value: object) -> int | float:
    # One sentence instead of one per member of the union.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        refuse_one(f"must be a number, not {show(value)}", suggestion="for example 5")
    if abs(value) > MOST:
        refuse_one(f"must be at most {MOST:g}", suggestion="for example 5")
    return value


def _width(value: object) -> int | float:
    width = _number(value)
    if width <= 0:
        refuse_one("a width must be greater than 0", suggestion="for example 5")
    if width < LEAST:
        refuse_one(f"a width must be at least {LEAST:g}", suggestion="for example 0.5")
    return width


Number = Annotated[int | float, BeforeValidator(_number)]
Width = Annotated[int | float, BeforeValidator(_width)]


def is_multiple(wide: Decimal, narrow: Decimal) -> bool:
    """Whether a width has others in it without a rest, however far apart they are."""
    return Fraction(wide) % Fraction(narrow) == 0


class CsvHierarchy(Declaration):
    """A file with one row per value: the value, then its label on every level, the top last.

    Without `sep` the separator is detected among ; , tab and |.
    """

    kind: ClassVar = "csv"
    csv: Annotated[str, Field(min_length=1, max_length=1000)]
    sep: OneCharacter | None = None
    header: bool = False


class TableHierarchy(Declaration):
    """A table with the same columns as the file: value, level 1, ..., top."""

    kind: ClassVar = "table"
    table: DatabaseName


class FunctionHierarchy(Declaration):
    """A function (value text, level integer) returning text; level 0 is the value itself."""

    kind: ClassVar = "function"
    function: DatabaseName


class IntervalHierarchy(Declaration):
    """Widths of half-open intervals that start at `origin`, in the column's unit."""

    kind: ClassVar = "intervals"
    intervals: Annotated[tuple[Width, ...], Field(strict=False, min_length=1)]
    origin: Number = 0

    @model_validator(mode="after")
    def _multiples(self) -> IntervalHierarchy:
        _refuse_crossing("intervals", self.intervals)
        return self


def _refuse_crossing(key: str, declared: Iterable[float]) -> None:
    widths = [Decimal(str(width)) for width in declared]
    for i, (before, width) in enumerate(pairwise(widths), start=1):
        if width <= before or not is_multiple(width, before):
            refuse_one(
                f"{width} must be a larger multiple of the width before it, {before}",
                at=(key, i),
                suggestion=f"for example {before * 2}",
            )


class DateHierarchy(Declaration):
    """Units of the calendar, finest first; each must lie inside the next."""

    kind: ClassVar = "date"
    date: Annotated[
        tuple[Annotated[DateUnit, known_word("calendar unit")], ...],
        Field(strict=False, min_length=1),
    ]

    @model_validator(mode="after")
    def _nesting(self) -> DateHierarchy:
        for i, (fine, coarse) in enumerate(pairwise(self.date), start=1):
            if DATE_UNITS.index(coarse) <= DATE_UNITS.index(fine):
                refuse_one(f"{coarse} is not coarser than {fine}", at=("date", i))
            if fine == "week":
                refuse_one(
                    f"weeks do not lie inside a {coarse}; week must be the last unit",
                    at=("date", i),
                    suggestion="leave week out",
                )
            if coarse == "century" and fine in ("5 years", "decade"):
                refuse_one(
                    f"a {fine} from 2000 does not lie inside one century (1901-2000)",
                    at=("date", i),
                    suggestion="leave one of them out",
                )
        return self


class AgeHierarchy(Declaration):
    """Intervals of ages, of which those from `top` on are one."""

    kind: ClassVar = "age"
    oldest: ClassVar = 130
    """No age; where the interval of the highest ages ends, whatever ages there are."""

    age: Annotated[
        tuple[Annotated[int, Field(ge=2, le=100)], ...], Field(strict=False, min_length=1)
    ]
    top: Annotated[int, Field(ge=1, le=120)] = 90

    @model_validator(mode="after")
    def _multiples(self) -> AgeHierarchy:
        _refuse_crossing("age", self.age)
        if self.top % self.age[-1]:
            refuse_one(
                f"the interval of width {self.age[-1]} around {self.top} would be on both sides",
                at=("top",),
                suggestion=f"a multiple of {self.age[-1]}",
            )
        return self

    @property
    def intervals(self) -> tuple[int, ...]:
        return self.age


Characters = Annotated[int, Field(ge=1, le=2**31 - 1)]


class PrefixHierarchy(Declaration):
    """Numbers of leading characters that are kept, longest first."""

    kind: ClassVar = "prefix"
    prefix: Annotated[tuple[Characters, ...], Field(strict=False, min_length=1)]

    @model_validator(mode="after")
    def _descending(self) -> PrefixHierarchy:
        for i, (long, short) in enumerate(pairwise(self.prefix), start=1):
            if short >= long:
                refuse_one(f"{short} is not shorter than {long}", at=("prefix", i))
        return self


class ReadyHierarchy(Declaration):
    """Levels that are known by a word: the value of the key that is called as its `kind`.

    Values in any case fit. Those that do not are refused, or are `other` on all levels.
    """

    kind: ClassVar[str]
    other: bool = False

    @property
    def form(self) -> Mapping[str, Any]:
        """What :mod:`pganon.policy.ready` reads."""
        return ready()[self.kind][getattr(self, self.kind)]


class CodesHierarchy(ReadyHierarchy):
    """Codes of a classification, by its levels."""

    kind: ClassVar = "codes"
    codes: Annotated[
        Literal["icd10", "icd9cm", "icd11", "atc", "isco", "nace", "naics", "sic"],
        known_word("classification"),
    ]


class PostcodeHierarchy(ReadyHierarchy):
    """Postcodes of a country, by areas."""

    kind: ClassVar = "postcode"
    postcode: Annotated[
        Literal["uk", "nl", "ca", "us", "de", "fr", "es"], known_word("country with postcodes")
    ]


class CountryHierarchy(ReadyHierarchy):
    """Codes of countries, by regions."""

    kind: ClassVar = "country"
    country: Annotated[Literal["m49"], known_word("list of regions")]


class OrderTree(Declaration):
    """Values in their order, and how many neighbours every level puts together.

    `fanout: [2, 3]` puts 2 values into each node of level 1 and 3 such nodes into each of level 2.
    """

    values: Annotated[Labels, AfterValidator(no_repeats)]
    fanout: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(strict=False, min_length=1)]


class OrderHierarchy(Declaration):
    """A tree over neighbouring values of an ordered list."""

    kind: ClassVar = "order"
    order: OrderTree


class InlineHierarchy(Declaration):
    """The tree itself; :meth:`rows` gives it as rows from value to top."""

    kind: ClassVar = "inline"
    inline: Annotated[
        tuple[tuple[str, ...], ...],
        BeforeValidator(inline_rows, json_schema_input_type=dict[str, Any] | list[list[str | int]]),
    ]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Rows of equal length: value, label of level 1, ..., label of the top."""
        return self.inline


RANGED = (IntervalHierarchy, AgeHierarchy, DateHierarchy)
"""Forms whose labels are ranges of values."""


def _form(value: Any) -> str | None:
    """The form of a hierarchy is the one key among FORMS that it has."""
    if isinstance(value, Declaration):
        return str(getattr(value, "kind", "")) or None
    return next((key for key in value if key in FORMS), None)


def _one_form(value: object) -> object:
    if isinstance(value, Declaration):
        return value
    if not isinstance(value, dict):
        refuse_one(
            f"must be a mapping, not {show(value)}",
            suggestion="for example hierarchy: {intervals: [5, 10]}",
        )
    forms = [key for key in value if key in FORMS]
    if len(forms) > 1:
        refuse_one(f"a hierarchy has one form, not both {forms[0]} and {forms[1]}", at=(forms[1],))
    if not forms:
        unknown = next(iter(value), None)
        if unknown is None:
            refuse_one("the hierarchy is empty", suggestion=f"write one of {', '.join(FORMS)}")
        refuse_one(
            f"{show(unknown)} is not a form of hierarchy",
            at=(str(unknown),),
            suggestion=nearest("csv" if unknown == "file" else str(unknown), FORMS),
        )
    return value


Hierarchy = Annotated[
    Annotated[CsvHierarchy, Tag("csv")]
    | Annotated[TableHierarchy, Tag("table")]
    | Annotated[InlineHierarchy, Tag("inline")]
    | Annotated[FunctionHierarchy, Tag("function")]
    | Annotated[IntervalHierarchy, Tag("intervals")]
    | Annotated[DateHierarchy, Tag("date")]
    | Annotated[PrefixHierarchy, Tag("prefix")]
    | Annotated[OrderHierarchy, Tag("order")]
    | Annotated[AgeHierarchy, Tag("age")]
    | Annotated[CodesHierarchy, Tag("codes")]
    | Annotated[PostcodeHierarchy, Tag("postcode")]
    | Annotated[CountryHierarchy, Tag("country")],
    Discriminator(_form),
    BeforeValidator(_one_form),
]

FORMS: dict[str, type[Declaration]] = {
    tag.tag: form for form, tag in map(get_args, get_args(get_args(Hierarchy)[0]))
}
"""By their keys, in the order in which messages list them."""
