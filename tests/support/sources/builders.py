"""Tables and policies of tests: from a few words to SQL, and random ones for properties."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
from hypothesis import strategies as st
from psycopg import sql
from psycopg.types.range import Range

from tests.support.oracles import definitions as oracle

Connection = psycopg.Connection[Any]


def policy(
    columns: dict[str, Any], privacy: Sequence[dict[str, Any]] | int, **others: Any
) -> dict[str, Any]:
    """A policy over public.t; a column is its role or a mapping, `privacy` may be just k."""
    if isinstance(privacy, int):
        privacy = [{"model": "k_anonymity", "k": privacy}]
    short = {"q": "quasi_identifying", "s": "sensitive", "i": "insensitive"}
    full = {
        name: {"role": short.get(c, c)}
        if isinstance(c, str)
        else {"role": "quasi_identifying", **c}
        for name, c in columns.items()
    }
    return {
        "release": "r",
        "source": "public.t",
        "columns": full,
        "privacy": list(privacy),
        "method": {"name": "mondrian"},
        **others,
    }


def make_table(
    conn: Connection,
    columns: dict[str, str],
    rows: Sequence[Sequence[Any]],
    *,
    name: Sequence[str] = ("public", "t"),
) -> None:
    """(Re)create a table that `steward` may read, with an integer key `id` from 1."""
    table = sql.Identifier(*name)
    definitions = [
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
        for column, kind in columns.items()
    ]
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
    conn.execute(
        sql.SQL("CREATE TABLE {} ({})").format(
            table, sql.SQL(", ").join([sql.SQL("id integer PRIMARY KEY"), *definitions])
        )
    )
    with conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for number, row in enumerate(rows, start=1):
            copy.write_row([number, *row])
    conn.execute(sql.SQL("GRANT SELECT ON {} TO steward").format(table))


# -- random quasi-identifiers -------------------------------------------------------------------

WORDS = "abcdefg"
SIZES = ("xs", "s", "m", "l", "xl", "xxl")
TREE = {"all": {"left": {"l1": ["a", "b"], "l2": ["c"]}, "right": {"r1": ["d"], "r2": ["e", "f"]}}}
PATHS = {
    leaf: (leaf, group, side, "all")
    for side, groups in TREE["all"].items()
    for group, leaves in groups.items()
    for leaf in leaves
}


def _days(lo: dt.date, hi: dt.date) -> Range[dt.date]:
    return Range(lo, hi + dt.timedelta(days=1), "[)")


@dataclass(frozen=True)
class Kind:
    """A sort of quasi-identifier: its SQL type, policy, values, and the oracle's view of it."""

    name: str
    sql_type: str
    values: st.SearchStrategy[Any]
    model: Callable[..., oracle.Attribute]
    policy: dict[str, Any] = field(default_factory=dict)


KINDS = (
    Kind("integer", "integer", st.integers(-5, 9), oracle.Ordered),
    Kind(
        "numeric",
        "numeric",
        st.integers(-6, 20).map(lambda n: Decimal(n) / 4),
        lambda *a: oracle.Ordered(*a, place=Fraction),
    ),
    Kind(
        "date",
        "date",
        st.integers(0, 12).map(lambda n: dt.date(1999, 12, 25) + dt.timedelta(days=n)),
        lambda *a: oracle.Ordered(*a, place=lambda d: Fraction(d.toordinal()), show=_days),
    ),
    Kind(
        "integer in a domain",
        "integer",
        st.integers(-5, 9),
        lambda *a: oracle.Ordered(*a, declared=(-7, 9)),
        {"domain": [-7, 9]},
    ),
    Kind(
        "numeric in a domain",
        "numeric",
        st.integers(-6, 20).map(lambda n: Decimal(n) / 4),
        lambda *a: oracle.Ordered(*a, declared=(Fraction(-3, 2), Fraction(25, 4))),
        {"domain": [-1.5, "6.25"]},
    ),
    Kind(
        "date in a domain",
        "date",
        st.integers(0, 12).map(lambda n: dt.date(1999, 12, 25) + dt.timedelta(days=n)),
        lambda *a: oracle.Ordered(
            *a,
            place=lambda d: Fraction(d.toordinal()),
            show=_days,
            declared=(dt.date(1999, 12, 1), dt.date(2000, 2, 29)),
        ),
        {"domain": ["1999-12-01", "2000-02-29"]},
    ),
    Kind("nominal", "text", st.sampled_from(WORDS), oracle.Nominal),
    Kind("boolean", "boolean", st.booleans(), oracle.Nominal),
    Kind(
        "ordinal",
        "text",
        st.sampled_from(SIZES),
        lambda *a: oracle.Ordinal(*a, order=SIZES),
        {"type": "ordinal", "order": list(SIZES)},
    ),
    Kind(
        "alphabetical",
        "text",
        st.sampled_from(WORDS),
        lambda *a: oracle.Ordinal(*a),
        {"type": "ordinal"},
    ),
    Kind(
        "tree",
        "text",
        st.sampled_from(sorted(PATHS)),
        lambda *a: oracle.Tree(*a, paths=PATHS),
        {"hierarchy": {"inline": TREE}},
    ),
    Kind(
        "intervals",
        "integer",
        st.integers(0, 15),
        lambda *a: oracle.Intervals(*a, widths=(2, 4, 12)),
        {"hierarchy": {"intervals": [2, 4, 12]}},
    ),
)


@dataclass
class Case:
    """A random table with its policy and the oracle's attributes."""

    columns: dict[str, str]
    rows: list[list[Any]]
    policy: dict[str, Any]
    attributes: list[oracle.Attribute]

    @property
    def mondrian(self) -> dict[str, Any]:
        """The policy without `on_infeasible` where it is refused, since nothing could be gained."""
        apart = any(attribute.nulls == "own_class" for attribute in self.attributes)
        bounded = any(r["model"] == "entropy_l_diversity" for r in self.policy["privacy"])
        return self.policy | ({} if apart or bounded else {"on_infeasible": "refuse"})

    @property
    def records(self) -> list[oracle.Record]:
        """The source's records; the last column is sensitive."""
        return [
            oracle.Record(number, tuple(row[:-1]), (row[-1],))
            for number, row in enumerate(self.rows, start=1)
        ]


@st.composite
def cases(draw: st.DrawFn, *, models: bool = True, relaxed: bool = False) -> Case:
    """1-60 rows, 1-4 quasi-identifiers of mixed kinds with NULLs and weights, one sensitive."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    size = draw(st.integers(1, 60))
    columns: dict[str, str] = {}
    declared: dict[str, Any] = {}
    values: list[list[Any]] = []
    attributes: list[oracle.Attribute] = []
    for i, kind in enumerate(kinds):
        nullable = draw(st.booleans())
        nulls = draw(
            st.sampled_from(["as_value", "as_value", "own_class", "suppress"])
            if nullable
            else st.just("as_value")
        )
        weight = draw(st.sampled_from([1.0, 1.0, 2.0, 0.5]))
        cell = kind.values
        if nullable:
            # NULLs are few, or every part that they make would be too small.
            cell = st.integers(0, 9).flatmap(lambda n, v=kind.values: st.none() if n == 0 else v)
        column = draw(st.lists(cell, min_size=size, max_size=size))
        columns[f"q{i}"] = kind.sql_type
        declared[f"q{i}"] = {**kind.policy, "nulls": nulls, "weight": weight}
        values.append(column)
        attributes.append(kind.model(column, weight, nulls))
    secret = st.one_of(st.none(), *[st.integers(1, 4)] * 6)
    values.append(draw(st.lists(secret, min_size=size, max_size=size)))
    columns["secret"] = "integer"
    declared["secret"] = "s"
    privacy: list[dict[str, Any]] = [{"model": "k_anonymity", "k": draw(st.integers(2, 5))}]
    if models:
        privacy += draw(st.lists(st.sampled_from(REQUIREMENTS), max_size=2, unique_by=_model))
    method = {
        "name": "mondrian",
        "choose": draw(st.sampled_from(["width", "loss"])),
        "variant": "relaxed" if relaxed else "strict",
    }
    return Case(
        columns,
        [list(row) for row in zip(*values, strict=True)],
        policy(declared, privacy, method=method, on_infeasible="suppress", suppression_limit=1.0),
        attributes,
    )


def _model(requirement: dict[str, Any]) -> str:
    return requirement["model"]


REQUIREMENTS = [
    {"model": "distinct_l_diversity", "column": "secret", "l": 2},
    {"model": "distinct_l_diversity", "column": "secret", "l": 3},
    {"model": "entropy_l_diversity", "column": "secret", "l": 2.0},
    {"model": "entropy_l_diversity", "column": "secret", "l": 2.5},
    {"model": "t_closeness", "column": "secret", "t": 0.25},
    {"model": "t_closeness", "column": "secret", "t": 0.4},
    {"model": "t_closeness", "column": "secret", "t": 0.15, "distance": "ordered"},
    {"model": "t_closeness", "column": "secret", "t": 0.3, "distance": "ordered"},
]
