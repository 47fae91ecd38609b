"""The group and the buckets of every record that is released."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.local.aligned import leader, set_of
from pganon.forms.local.staging import Numbered, numbered_steps
from pganon.identifiers import QualifiedName
from pganon.methods.local.aligned import leftovers, shared
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.shape import Shape, codes
from pganon.spec.model import Sensitive
from pganon.sqltools import aliased, col, num, query
from pganon.steps import DropTables, State, Step


def grouped_steps(shape: Shape) -> list[Step]:
    """From `placed`, `group_cells` and the buckets to what the form begins with."""
    return [
        *numbered_steps(
            shape.layout,
            Numbered(
                groups=lambda s: s.work("group_cells"),
                buckets=lambda s, item: _buckets(shape, item, s),
                records=lambda s: _records(shape, s),
            ),
        ),
        DropTables(
            "tidy",
            "what they were made from",
            lambda s: [
                s.work("placed"),
                s.work("group_cells"),
                *[bucketed(item, s) for item in _alone(shape, s)],
                *leftovers(shape, s),
            ],
        ),
    ]


def _records(shape: Shape, state: State) -> exp.Select:
    """The records `p` that are released, with the group `g` of each."""
    same = [exp.EQ(this=col("display", "g"), expression=col("display", "p"))]
    same += [
        exp.EQ(this=col(axis.code, "g"), expression=col(axis.code, "p")) for axis in shape.axes
    ]
    groups = aliased(state.work("group_cells"), "g")
    tree = query("select 1 from p", {"p": state.work("placed")}).join(groups, on=exp.and_(*same))
    return tree.select(*codes(shape, "p"), append=False)


def _alone(shape: Shape, state: State) -> list[Sensitive]:
    """Columns with buckets of their own."""
    columns = shape.spec.sensitive
    return [c for c in columns if len(set_of(shape.layout, state.facts, c)) == 1]


def _buckets(shape: Shape, item: Sensitive, state: State) -> QualifiedName | exp.Select:
    """(rid, b): the bucket of every record that hides the column."""
    if item in _alone(shape, state):
        return bucketed(item, state)
    return query(
        "select s.rid, s.b from s join p on p.rid = s.rid where s.lead = :lead and :value > 0",
        {"s": shared(state), "p": state.work("placed")},
        lead=num(leader(shape.layout, state.facts, item).index),
        value=col(f"s{item.index}", "p"),
    )
