"""Common parts of the builders of hierarchies: names of tables and texts of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import NameProblem, QualifiedName, parse_name
from pganon.sqltools import fragment, query, text
from pganon.steps import Check, CreateTable, Name, State
from pganon.steps.facts import counts

MAX_LEVELS = 64

NUMBERS = frozenset({"bigint", "numeric", "double precision"})
DATES = frozenset({"date", "timestamp", "timestamptz"})
TEXTS = frozenset({"text", "uuid", "enum"})
KINDS = NUMBERS | DATES | TEXTS | {"boolean"}
_ALIASES = {
    "integer": "bigint",
    "float": "double precision",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
}

# A number as PostgreSQL reads it; with at most 400 characters, type numeric certainly holds it.
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"


@dataclass(frozen=True)
class Build:
    """One hierarchy in the making.

    Attributes:
        name: short name that the work tables of this hierarchy are called by.
        values: the table (value, n), one row per distinct value that is not NULL.
        kind: canonical type of the values, one of :data:`KINDS`.
        column: name of the column as messages show it, quoted where SQL needs it.
        keeps_leaves: whether the table of all declared leaves is needed afterwards.
        partial: whether values that it does not list are left out, instead of refused.
    """

    name: str
    values: Name
    kind: str
    column: str
    keeps_leaves: bool = False
    partial: bool = False

    def part(self, suffix: str = "", *, round: int | None = None) -> Name:
        """A work table of this hierarchy; without a suffix, the finished tree."""
        name = f"tree_{self.name}" + (f"_{suffix}" if suffix else "")
        return lambda state: state.work(name, round=round)

    @property
    def facts(self) -> str:
        """Prefix of the names of its facts."""
        return f"tree_{self.name}_"

    def step(self, name: str) -> str:
        return f"tree_{self.name}_{name}"

    def purpose(self, text: str) -> str:
        return f"hierarchy of column {self.column}: {text}"

    def refuse(self, message: str, hint: str | None = None) -> PreconditionError:
        return PreconditionError(
            f"hierarchy of column {self.column}: {message}", hint=hint, code=ErrorCode.HIERARCHY
        )

    def object_name(self, text: str) -> QualifiedName:
        """The name of a table or function; PreconditionError if its schema is missing."""
        try:
            schema, name = parse_name(text)
        except NameProblem as problem:
            raise self.refuse(str(problem)) from None
        if schema is None:
            raise self.refuse(f'"{text}" has no schema', f"write schema.{text}")
        return QualifiedName(schema, name)


def canonical_kind(value_kind: str) -> str:
    """`value_kind` as one of :data:`KINDS`; any other type counts as text."""
    kind = _ALIASES.get(value_kind, value_kind)
    return kind if kind in KINDS else "text"


def value_text(kind: str, value: exp.Expr) -> exp.Expr:
    """The text of a value: the shortest one for numbers (39, not 39.00), ISO for dates."""
    if kind == "numeric":
        return fragment('trim_scale(:v)::text collate "C"', v=value)
    return fragment('(:v)::text collate "C"', v=value)


def value_key(kind: str, value: exp.Expr) -> exp.Expr:
    """The text under which a value finds its leaf; equal values have equal texts."""
    if kind == "double precision":
        return fragment('trim_scale((:v)::text::numeric)::text collate "C"', v=value)
    return value_text(kind, value)


def leaf_key(kind: str, label: exp.Expr) -> exp.Expr:
    """The text under which a leaf is found by a value: 39.0 and 39 are one number.

    A leaf that is not of the column's type, such as a header or an unused '?', keeps its text and
    is found by nothing.
    """
    return fragment(':t collate "C"', t=fragment(_MATCH.get(kind, ":t"), t=label))


def number_meant(label: exp.Expr) -> exp.Expr:
    """The number that a text could mean, as text: 1.00, "1,0" and "1 000" are numbers; else NULL.

    Nothing is found by it. It says why a value has not been found.
    """
    written = fragment("replace(regexp_replace(:t, '[ ''_]', '', 'g'), ',', '.')", t=label)
    return fragment(
        "case when char_length(:t) <= 400 and :w ~ :number then trim_scale((:w)::numeric)::text"
        " end",
        t=label,
        w=written,
        number=text(_NUMBER),
    )


def other_form(kind: str, row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Message and remedy for values of which `other_form` are listed in another form of the number,
    or `other_case` in other upper and lower case."""
    number = row["other_form"] or row["other_case"]
    if not number:
        return None
    said = f"{number} {'is' if number == 1 else 'are'} listed in"
    if not row["other_form"]:
        return (
            f"; {said} other upper and lower case",
            "write them as the column has them: case matters here, of citext, too",
        )
    said = f"{said} another form of the number"
    if kind in NUMBERS:
        return f"; {said}", "write numbers as 1234.5, with a point and no mark between thousands"
    return (
        f"; {said}, and the column is text, where 1 and 1.00 differ",
        "write them as the column has them, or cast the column to numeric in a view",
    )


_MATCH = {
    **dict.fromkeys(
        NUMBERS,
        f"case when char_length(:t) <= 400 and trim(:t) ~ '{_NUMBER}'"
        " then trim_scale(trim(:t)::numeric)::text else :t end",
    ),
    "boolean": (
        "case when lower(trim(:t)) in ('t', 'true', 'y', 'yes', 'on', '1') then 'true'"
        " when lower(trim(:t)) in ('f', 'false', 'n', 'no', 'off', '0') then 'false' else :t end"
    ),
    "uuid": "lower(trim(:t))",
    "date": "trim(:t)",
    "timestamp": "replace(trim(:t), 'T', ' ')",
    "timestamptz": "regexp_replace(replace(trim(:t), 'T', ' '), '(Z|[+]00:00)$', '+00')",
}


def counted(number: int, noun: str) -> str:
    """ "1 value", "2 values"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_check(build: Build) -> Check:
    """Last step of every builder: one row per value, all of one depth."""

    def select(state: State) -> exp.Select:
        return query(
            "select (select count(*) from v) as distinct_values, count(*) as rows,"
            " coalesce(max(cardinality(t.labels)), 1) - 1 as levels,"
            " coalesce(min(cardinality(t.labels)), 1) - 1 as fewest_levels from t",
            {"v": build.values(state), "t": build.part()(state)},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if row["rows"] != row["distinct_values"] or row["levels"] != row["fewest_levels"]:
            return PganonError(
                f"hierarchy of column {build.column}: {row['rows']} rows of"
                f" {row['fewest_levels']} to {row['levels']} levels"
                f" for {row['distinct_values']} values"
            )
        return None

    return Check(
        build.step("size"),
        build.purpose("one row per value"),
        select,
        problem,
        gives=counts("distinct_values", "rows", "levels", "fewest_levels", of=build.facts),
    )


def tree_table(build: Build, select: Any) -> CreateTable:
    return CreateTable(
        build.step("build"),
        build.purpose("ancestors of every value"),
        build.part(),
        select,
    )
