"""Groups of every block, by stripes.

    starts    (piece, value, block, size, first, start)    where records of a block begin, `first`,
                                                           and those of a value in it, `start`
    grouped   (b0, rid)                                    the group of every record

A block of n records has floor(n / l) groups. Its records, the most frequent values first, are
dealt out to them in turn: no value has more records than there are groups, so all values of a
group are different, and sizes differ by one at most. Which record of a value goes where is random.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.anatomy.shape import Shape
from pganon.methods.pairs import paired
from pganon.plan.sqltools import col, fragment, num, query
from pganon.plan.steps import CreateTable, DropTables, State, Step


def group_steps(shape: Shape) -> list[Step]:
    return [
        CreateTable(
            "starts", "where the records of every value begin", lambda s: s.work("starts"), _starts
        ),
        CreateTable(
            "grouped",
            "records dealt out to the groups of their block",
            lambda s: s.work("grouped"),
            lambda s: _dealt(shape, s),
        ),
        DropTables(
            "tidy",
            "what the groups were made from",
            lambda s: [
                *[s.work(name) for name in ("placed", "leaves", "starts")],
                s.work("hist", round=0),
                *shape.eligibility.leftovers(s),
            ],
        ),
    ]


def _dealt(shape: Shape, state: State) -> exp.Expr:
    placed = query(
        "select v.block, v.size, p.rid,"
        " row_number() over (order by v.start, p.rid) - 1 - v.first as place from p"
        " join v on v.piece = p.piece and v.value = p.value",
        {"p": state.work("placed"), "v": state.work("starts")},
    )
    group = fragment("d.place % (d.size / :l)", l=num(shape.model.l))
    return query(
        "select :pair as b0, d.rid from d", {"d": placed}, pair=paired(col("block", "d"), group)
    )


def _starts(state: State) -> exp.Expr:
    """Blocks come one after the other, and in them their values, the most frequent ones first."""
    occurring = query(
        "select h.node as piece, h.value, h.n, l.block from h join l on l.piece = h.node",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    counted = query(
        "select o.block, o.value, sum(o.n)::bigint as n from o group by o.block, o.value",
        {"o": occurring},
    )
    summed = query(
        "select c.block, c.value, sum(c.n) over (partition by c.block)::bigint as size,"
        " (sum(c.n) over (order by c.block, c.n desc, c.value))::bigint - c.n as start from c",
        {"c": counted},
    )
    return query(
        "select o.piece, s.*, min(s.start) over (partition by s.block) as first from s"
        " join o on o.block = s.block and o.value = s.value",
        {"s": summed, "o": occurring},
    )
