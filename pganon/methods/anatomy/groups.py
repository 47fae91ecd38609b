"""Groups of every block, by stripes.

    starts    (block, value, size, start)    where records of a value begin in their block
    grouped   (b0, rid)                      the group of every record

A block of n records has floor(n / l) groups. Its records, the most frequent values first, are
dealt out to them in turn: no value has more records than there are groups, so all values of a
group are different, and sizes differ by one at most. Which record of a value goes where is random.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.codes import weight_type
from pganon.methods.anatomy.shape import Shape
from pganon.methods.pairs import paired
from pganon.plan.sqltools import cast, col, fragment, num, query
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
        " row_number() over (partition by v.block order by v.start, p.rid) - 1 as place from p"
        " join l on l.piece = p.piece join v on v.block = l.block and v.value = p.value",
        {"p": state.work("placed"), "l": state.work("leaves"), "v": state.work("starts")},
    )
    group = fragment("d.place % (d.size / :l)", l=num(shape.model.l))
    return query(
        "select :pair as b0, d.rid from d", {"d": placed}, pair=paired(col("block", "d"), group)
    )


def _starts(state: State) -> exp.Expr:
    """The most frequent values of a block come first."""
    counted = query(
        "select l.block, h.value, :n as n from h join l on l.piece = h.node"
        " group by l.block, h.value",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
        n=cast(fragment("sum(h.n)"), weight_type(state)),
    )
    return query(
        "select c.block, c.value, sum(c.n) over (partition by c.block) as size,"
        " sum(c.n) over (partition by c.block order by c.n desc, c.value"
        " rows unbounded preceding) - c.n as start from c",
        {"c": counted},
    )
