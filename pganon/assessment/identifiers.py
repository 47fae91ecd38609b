"""Columns of a relation that may identify people by themselves, by names, types and values.

Of every column at most MOST_VALUES different values are compared with patterns, in the server.
Counts leave it, and no value does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import psycopg
from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.catalog.sample import sample
from pganon.catalog.statistics import SAMPLE_ROWS, column_facts
from pganon.catalog.values import as_text, stored
from pganon.policy.safe_harbor import Hint, by_name, by_type, is_age
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import (
    col,
    fragment,
    materialized,
    named,
    num,
    query,
    render,
    text,
    union_all,
)

MOST_VALUES = 1000
"""Different values of a column that are looked at."""

LOOK_ALIKE = 0.8
"""Share of them that must look like a kind of identifiers."""

LEAST_DIFFERENT = 20
"""Values that must all differ."""

_COLUMNS_AT_ONCE = 50

_DAY = "(0?[1-9]|[12][0-9]|3[01])"
_MONTH = "(0?[1-9]|1[0-2])"
_PATTERNS = {
    "D": (
        "telephone numbers",
        "^([+]?1[-. ]?)?([(][2-9][0-9]{2}[)] ?|[2-9][0-9]{2}[-. ]?)[2-9][0-9]{2}[-. ]?[0-9]{4}"
        "( ?(x|ext[.]?) ?[0-9]+)?$|^[+][0-9][-0-9(). ]{6,18}[0-9]$",
    ),
    "F": ("e-mail addresses", "^[^@[:space:]]+@[^@[:space:]]+[.][^@[:space:]]+$"),
    "G": (
        "social security numbers",
        "^(?!000|666|9)([0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}"
        "|[0-9]{3} (?!00)[0-9]{2} (?!0000)[0-9]{4}|[0-9]{3}(?!00)[0-9]{2}(?!0000)[0-9]{4})$",
    ),
    "L": (
        "vehicle identification numbers",
        "^(?=.*[A-Z])[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{4}[0-9]{4}$",
    ),
    "N": ("URLs", "^([a-z][a-z0-9+.-]*://|www[.])[^[:space:]]+$"),
    "O": (
        "IP addresses",
        "^([0-9]{1,3}[.]){3}[0-9]{1,3}(/[0-9]{1,2})?$|^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*(/[0-9]+)?$",
    ),
    "B": ("5-digit ZIP codes", "^[0-9]{5}(-[0-9]{4})?$"),
    "C": (
        "full dates",
        f"^(?![0-9]{{4}}-01-01)([0-9]{{4}}[-/.]{_MONTH}[-/.]{_DAY}|(19|20)[0-9]{{2}}(0[1-9]|1[0-2])"
        f"(0[1-9]|[12][0-9]|3[01])|{_MONTH}[-/.]{_DAY}[-/.]([0-9]{{2}}){{1,2}}"
        f"|{_DAY}[-/.]{_MONTH}[-/.]([0-9]{{2}}){{1,2}})([T ].*)?$",
    ),
}
_PREFIX = "^[0-9]{3}$"
# The areas that have at most 20,000 people, by the census of 2000 (guidance of HHS).
_SMALL = "^(036|059|063|102|203|556|692|790|821|823|830|831|878|879|884|890|893)$"
_OLD = "^(9[0-9]|1[0-2][0-9])([.][0-9]+)?$"


def identifier_hints(conn: Connection, relation: Relation, columns: Sequence[Column]) -> list[Hint]:
    """What names, types and values say of the columns, in their order.

    Raises:
        DatabaseError: the relation could not be read.
    """
    readable = [c for c in columns if c.readable and c.kind != "unsupported"]
    facts = column_facts(conn, relation, readable)
    counted = _counted(conn, relation, [c for c in readable if c.kind not in ("boolean", "uuid")])
    found: list[Hint] = []
    for column in columns:
        said = [*by_name(column.name)]
        # The values of a date say whether it is more than a year.
        said += [] if column.is_time and column.name in counted else by_type(column)
        if column.name in counted:
            said += _by_values(column, counted[column.name])
        if column.name in facts:
            known = facts[column.name]
            if known.present == known.distinct >= LEAST_DIFFERENT:
                said.append(Hint(column.name, "R", "all values differ", 1.0))
        found += _joined(said)
    return found


def _joined(said: Iterable[Hint]) -> Iterator[Hint]:
    """One hint for each kind, with all that speaks for it."""
    for kind, same in groupby(sorted(said, key=lambda hint: hint.kind), lambda hint: hint.kind):
        some = list(same)
        why = "; ".join(dict.fromkeys(hint.why for hint in some))
        share = max((hint.share for hint in some if hint.share is not None), default=None)
        yield Hint(some[0].column, kind, why, share)


def _by_values(column: Column, counts: Mapping[str, int]) -> Iterator[Hint]:
    values = counts["values"]
    for kind, (what, _) in _PATTERNS.items():
        # Numbers of five digits are rarely ZIP codes.
        if counts[kind] > LOOK_ALIKE * values and not (kind == "B" and column.is_number):
            yield Hint(column.name, kind, f"values look like {what}", counts[kind] / values)
    prefixes = counts["prefix"] > LOOK_ALIKE * values and not column.is_number
    if prefixes and counts["small"]:
        why = f"{counts['small']} values look like ZIP prefixes of at most 20,000 people"
        yield Hint(column.name, "B", why, counts["small"] / values)
    if is_age(column.name) and counts["old"]:
        why = f"{counts['old']} records above 89"
        yield Hint(column.name, "C", why, counts["old"] / counts["records"])


def _counted(
    conn: Connection, relation: Relation, columns: Sequence[Column]
) -> dict[str, dict[str, Any]]:
    """By column how many values look like what; none for a column without values."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        some = columns[start : start + _COLUMNS_AT_ONCE]
        try:
            rows = conn.execute(render(_query(conn, relation, some)).encode()).fetchall()
        except psycopg.Error as error:
            raise translate(error, reads=[str(relation.name)]) from None
        for at, *counts in rows:
            found[some[at].name] = dict(zip(_counts(), map(int, counts), strict=True))
    return {name: counts for name, counts in found.items() if counts["values"]}


def _counts() -> dict[str, exp.Expr]:
    """What is counted of the values `d.v`, of which `d.n` records have each."""

    def matching(pattern: str, number: str = "count(*)") -> exp.Expr:
        return fragment(f"{number} filter (where d.v ~* :pattern)", pattern=text(pattern))

    return {
        "values": fragment("count(*)"),
        "records": fragment("coalesce(sum(d.n), 0)"),
        **{kind: matching(pattern) for kind, (_, pattern) in _PATTERNS.items()},
        "prefix": matching(_PREFIX),
        "small": matching(_SMALL),
        "old": fragment("coalesce(sum(d.n) filter (where d.v ~ :pattern), 0)", pattern=text(_OLD)),
    }


def _query(conn: Connection, relation: Relation, columns: Sequence[Column]) -> exp.Select:
    aliases = {column.name: f"c{place}" for place, column in enumerate(columns)}
    parts = [
        query(
            "select from (select left(x.v, 256) as v, x.n from x) as d",
            {"x": _values(column, aliases[column.name])},
        ).select(num(place), *[named(value, name) for name, value in _counts().items()])
        for place, column in enumerate(columns)
    ]
    return materialized(
        query("select u.* from u", {"u": union_all(parts)}),  # pyright: ignore
        s=sample(conn, relation, aliases, SAMPLE_ROWS),
    )


def _values(column: Column, alias: str) -> exp.Select:
    """Different values of a column of `s` as texts, and how many records have each."""
    value = stored(column, col(alias, "s")) if column.is_time else col(alias, "s")
    shown = fragment("to_char(:v, 'YYYY-MM-DD')", v=value) if column.is_time else None
    return query(
        "select :v as v, count(*) as n from s where num_nulls(:c) = 0 group by 1",
        v=shown if shown is not None else as_text(column, value),
        c=col(alias, "s"),
    ).limit(MOST_VALUES)
