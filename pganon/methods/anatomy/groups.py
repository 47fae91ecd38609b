"""Groups of every block, by stripes.

    grouped   (b0, rid)     the group of every record

A block of n records has floor(n / l) groups. Its records, the most frequent values first, are
dealt out to them in turn: no value has more records than there are groups, so all values of a
group are different, and sizes differ by one at most. Which record of a value goes where is random.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.anatomy.shape import Shape
from pganon.plan.sqltools import num, query
from pganon.plan.steps import CreateTable, DropTables, State, Step


def group_steps(shape: Shape) -> list[Step]:
    return [
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
                *[s.work(name) for name in ("placed", "leaves")],
                s.work("hist", round=0),
                *shape.eligibility.leftovers(s),
            ],
        ),
    ]


def _dealt(shape: Shape, state: State) -> exp.Expr:
    blocks = {"p": state.work("placed"), "l": state.work("leaves"), "v": _values(state)}
    placed = query(
        "select v.block, v.size, p.rid,"
        " row_number() over (order by v.start, p.rid) - 1 - v.first as place from p"
        " join l on l.piece = p.piece join v on v.block = l.block and v.value = p.value",
        blocks,
    )
    return query(
        "select (d.block::bigint << 32) + d.place % (d.size / :l) as b0, d.rid from d",
        {"d": placed},
        l=num(shape.model.l),
    )


def _values(state: State) -> exp.Select:
    """(block, value, size, first, start): in the order of blocks and of their values, the most
    frequent ones first, where records of the block and of the value begin, from 0."""
    counted = query(
        "select l.block, h.value, sum(h.n)::bigint as n from h join l on l.piece = h.node"
        " group by l.block, h.value",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    summed = query(
        "select c.block, c.value, sum(c.n) over (partition by c.block)::bigint as size,"
        " (sum(c.n) over (order by c.block, c.n desc, c.value))::bigint - c.n as start from c",
        {"c": counted},
    )
    return query(
        "select s.*, min(s.start) over (partition by s.block) as first from s", {"s": summed}
    )
