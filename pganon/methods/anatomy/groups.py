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
            lambda s: [s.work("placed"), s.work("leaves"), *shape.eligibility.leftovers(s)],
        ),
    ]


def _dealt(shape: Shape, state: State) -> exp.Expr:
    in_blocks = query(
        "select l.block, p.rid, p.value from p join l on l.piece = p.piece",
        {"p": state.work("placed"), "l": state.work("leaves")},
    )
    counted = query(
        "select b.*, count(*) over (partition by b.block, b.value) as frequency,"
        " count(*) over (partition by b.block) as size from b",
        {"b": in_blocks},
    )
    dealt = query(
        "select c.block, c.rid, c.size, row_number() over"
        " (partition by c.block order by c.frequency desc, c.value, c.rid) - 1 as place from c",
        {"c": counted},
    )
    return query(
        "select (d.block::bigint << 32) + d.place % (d.size / :l) as b0, d.rid from d",
        {"d": dealt},
        l=num(shape.model.l),
    )
