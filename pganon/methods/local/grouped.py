"""The group and the buckets of every record that is released."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.records import NUMBER
from pganon.forms.work import GROUPED_CLASSES
from pganon.methods.local.aligned import leftovers, shared
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.form.aligned import leader, set_of
from pganon.methods.local.form.staging import Held, Numbered, drawn, grouped_step
from pganon.methods.local.ordered import (
    all_buckets,
    bucket_of,
    in_range,
    number_of,
    ordered,
    own_table,
    ranged_values,
    ranges,
)
from pganon.methods.local.placed import placed, placed_tables
from pganon.methods.local.shape import Shape, codes
from pganon.privacy.rows import Relation
from pganon.resolved.model import Sensitive
from pganon.sqltools import aliased, col, fragment, num, query
from pganon.steps import DropTables, State, Step


def numbered(shape: Shape) -> Numbered:
    """What the form is told of the groups and buckets."""
    return Numbered(
        buckets=lambda s, item: _buckets(shape, item, s),
        values=lambda s, item: _values(shape, item, s),
        held=lambda s, item, name: _held(shape, item, name, s),
        records=lambda s: _records(shape, s),
    )


def grouped_steps(shape: Shape) -> list[Step]:
    """From `placed`, the groups and the buckets to what the form begins with."""
    return [
        grouped_step(shape.layout, numbered(shape)),
        DropTables(
            "tidy",
            "what they were made from",
            lambda s: [
                *placed_tables(shape, s),
                *[own_table(shape, item, s) for item in _alone(shape, s)],
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
    groups = aliased(state.work(GROUPED_CLASSES), "g")
    tree = query("select 1 from p", {"p": placed(shape, state)}).join(groups, on=exp.and_(*same))
    return tree.select(*codes(shape, "p"), append=False)


def _alone(shape: Shape, state: State) -> list[Sensitive]:
    """Columns with buckets of their own."""
    columns = shape.spec.sensitive
    return [c for c in columns if len(set_of(shape.layout, state.facts, c)) == 1]


def _buckets(shape: Shape, item: Sensitive, state: State) -> exp.Select:
    """SELECT gid"""
    if ordered(shape, item, state):
        return all_buckets(item, state)
    return query("select h.b as gid from h", {"h": _bucketed(shape, item, state)})


def _values(shape: Shape, item: Sensitive, state: State) -> exp.Select:
    """(b, v)"""
    if ordered(shape, item, state):
        return ranged_values(shape, item, state)
    return _numbered(shape, item, state)


def _held(shape: Shape, item: Sensitive, name: str, state: State) -> Held:
    if ordered(shape, item, state):
        number = number_of(shape, item, bucket_of(col(NUMBER, "p"), name), state)
        return Held(ranges(item, state), in_range("p", name, f"s{item.index}"), number)
    # A NULL is looked up nowhere.
    hiding = fragment(
        "case when :s > 0 then :rid end", s=col(f"s{item.index}", "p"), rid=col(NUMBER, "p")
    )
    on = exp.EQ(this=col(NUMBER, name), expression=hiding)
    return Held(_numbered(shape, item, state), on, col("b", name))


def _numbered(shape: Shape, item: Sensitive, state: State) -> exp.Select:
    """(rid, b, v) with published numbers."""
    table, number = drawn(shape.layout, item, state)
    return query(
        "select h.rid, :n as b, h.v from h join n on n.gid = h.b",
        {"h": _bucketed(shape, item, state), "n": table},
        n=col(number, "n"),
    )


def _bucketed(shape: Shape, item: Sensitive, state: State) -> Relation:
    """(rid, b, v): the bucket of every record that hides the column, and its value."""
    if item in _alone(shape, state):
        return bucketed(item, state)
    return query(
        "select s.rid, s.b, :v as v from s join p on p.rid = s.rid"
        " where s.lead = :lead and :value > 0",
        {"s": shared(state), "p": placed(shape, state)},
        lead=num(leader(shape.layout, state.facts, item).index),
        v=col(f"v{item.index}", "p"),
        value=col(f"s{item.index}", "p"),
    )
