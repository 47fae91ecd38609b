"""The group and the buckets of every record that is released."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.local.staging import bucket
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.shape import Shape, codes
from pganon.published.work import LOCAL_GROUPED
from pganon.sqltools import aliased, col, named, query
from pganon.steps import CreateTable, DropTables, State, Step


def grouped_steps(shape: Shape) -> list[Step]:
    return [
        CreateTable(
            "grouped",
            "the group and the buckets of every record",
            lambda s: s.work(LOCAL_GROUPED),
            lambda s: _grouped(shape, s),
        ),
        DropTables(
            "tidy",
            "what they were made from",
            lambda s: [
                s.work("group_cells"),
                *[bucketed(item, s) for item in shape.spec.sensitive],
            ],
        ),
    ]


def _grouped(shape: Shape, state: State) -> exp.Expr:
    same = [exp.EQ(this=col("display", "g"), expression=col("display", "p"))]
    same += [
        exp.EQ(this=col(axis.code, "g"), expression=col(axis.code, "p")) for axis in shape.axes
    ]
    groups = aliased(state.work("group_cells"), "g")
    tree = query("select p.rid, p.display from p", {"p": state.work("placed")})
    tree = tree.select(col("gid", "g"), *codes(shape, "p")).join(groups, on=exp.and_(*same))
    for item in shape.spec.sensitive:
        alias = f"b{item.index}"
        table = aliased(bucketed(item, state), alias)
        on = exp.EQ(this=col("rid", alias), expression=col("rid", "p"))
        tree = tree.join(table, on=on, join_type="left")
        tree = tree.select(named(col("b", alias), bucket(item)))
    return tree
