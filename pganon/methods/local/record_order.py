"""Buckets of the column whose values decide the order of the record numbers.

    plan<j>      as of :mod:`pganon.methods.local.buckets`
    ranges<j>    (code, first, last, base, shift, modulo)   the plan by numbers of records

Records with the same value are in a random order already. No other column has this order, since its
order is drawn from these numbers. So a record's bucket follows from its number, and is not stored.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.records import NUMBER, numbered_by, ties
from pganon.identifiers import QualifiedName, quote
from pganon.methods.local.context import Context
from pganon.methods.local.eligible import histogram
from pganon.methods.local.form.facts import hidden
from pganon.methods.local.form.shared_buckets import set_of
from pganon.methods.local.form.staging import drawn
from pganon.methods.local.released_records import as_encoded, placed
from pganon.resolved.model import Sensitive
from pganon.sqltools import col, fragment, named, query, scalar
from pganon.steps import CreateTable, State

MOST = 50_000_000
"""Most values whose buckets are looked up in an array, which is in the memory of the server."""


def plan(item: Sensitive, state: State) -> QualifiedName:
    """Work table with the plan of a column."""
    return state.work(f"plan{item.index}")


def ranges(item: Sensitive, state: State) -> QualifiedName:
    """Work table with the plan of a column by record numbers."""
    return state.work(f"ranges{item.index}")


def ordered(context: Context, item: Sensitive, state: State) -> bool:
    """Whether all records are released, in the order of the values of the column."""
    if item != numbered_by(context.spec) or not as_encoded(context, state):
        return False
    values, *_ = hidden(item.index)
    return state[values] <= MOST and len(set_of(context.layout, state.facts, item)) == 1


def ranges_step(context: Context, item: Sensitive) -> CreateTable:
    """The step that creates `ranges<j>`, where the column decides the record numbers."""
    return CreateTable(
        f"ranges{item.index}",
        f"which numbers of records with a value of {quote(item.column.name)} go to which bucket",
        lambda s: ranges(item, s),
        lambda s: _ranges(context, item, s),
        when=lambda s: ordered(context, item, s),
    )


def _ranges(context: Context, item: Sensitive, state: State) -> exp.Select:
    """SELECT of the plan by record number; records are numbered from 1."""
    before = query(
        "select h.code, (sum(h.n) over (order by h.code) - h.n)::bigint + 1 as start from h",
        {"h": histogram(item, state)},
    )
    return query(
        "select d.code, d.first + b.start as first, d.last + b.start as last, d.base, d.shift,"
        " d.modulo from d join b on b.code = d.code",
        {"d": plan(item, state), "b": before},
    )


def in_range(record: str, table: str, value: str) -> exp.Expr:
    """Condition: a row of `ranges` is that of a record."""
    return fragment(
        ":code = :value and :rid >= :first and :rid < :last",
        code=col("code", table),
        value=col(value, record),
        rid=col(NUMBER, record),
        first=col("first", table),
        last=col("last", table),
    )


def bucket_of(place: exp.Expr, table: str) -> exp.Expr:
    """The bucket there of a record, by its number in `ranges`, by its rank in a plan."""
    return fragment(
        ":base + (:at - :first + :shift) % :modulo",
        at=place,
        **{name: col(name, table) for name in ("base", "first", "shift", "modulo")},
    )


def number_of(context: Context, item: Sensitive, bucket: exp.Expr, state: State) -> exp.Expr:
    """The published number of a bucket. Plans number buckets from 0, and none is empty."""
    table, number = drawn(context.layout, item, state)
    every = query("select array_agg(:n order by n.gid) from n", {"n": table}, n=col(number, "n"))
    place = fragment(":b + 1", b=exp.paren(bucket))
    return exp.Bracket(this=scalar(every), expressions=[place])


def all_buckets(item: Sensitive, state: State) -> exp.Select:
    """SELECT gid: the buckets of the column, each at least once."""
    spans = query(
        "select distinct h.base, h.shift, h.modulo, h.last - h.first as cells from h",
        {"h": ranges(item, state)},
    )
    return query(
        "select h.base + (g.cell + h.shift) % h.modulo as gid from h"
        " cross join lateral generate_series(0, h.cells - 1) as g(cell)",
        {"h": spans},
    )


def ranged_values(context: Context, item: Sensitive, state: State) -> exp.Select:
    """(b, v): every value with the published number of its bucket."""
    value = col(f"v{item.index}", "p")
    given = {"h": ranges(item, state), "p": placed(context, state)}
    if ties(item, value):
        tree = query(
            "select :v as v from p join h on :here",
            given,
            v=value,
            here=in_range("p", "h", f"s{item.index}"),
        )
        record = col(NUMBER, "p")
    else:
        # Values with one code are equal, so the first of a range represents all of it.
        tree = query(
            "select :v as v from p join h on h.first = p.rid"
            " cross join lateral generate_series(h.first, h.last - 1) as g(rid)",
            given,
            v=value,
        )
        record = col("rid", "g")
    number = number_of(context, item, bucket_of(record, "h"), state)
    return tree.select(named(number, "b"))
