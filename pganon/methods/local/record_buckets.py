"""The group and the buckets of every record that is released."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.records import NUMBER
from pganon.forms.work import GROUPED_CLASSES
from pganon.methods.local.aligned import shared
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.context import Context, codes
from pganon.methods.local.form.shared_buckets import leader, set_of
from pganon.methods.local.form.staging import Held, Numbered, drawn
from pganon.methods.local.record_order import (
    all_buckets,
    bucket_of,
    in_range,
    number_of,
    ordered,
    ranged_values,
    ranges,
)
from pganon.methods.local.released_records import placed
from pganon.privacy.rows import Relation
from pganon.resolved.model import Sensitive
from pganon.sqltools import aliased, col, fragment, num, query
from pganon.steps import State


def numbered(context: Context) -> Numbered:
    """The groups and buckets as input of the form."""
    return Numbered(
        buckets=lambda s, item: _buckets(context, item, s),
        values=lambda s, item: _values(context, item, s),
        held=lambda s, item, name: _held(context, item, name, s),
        records=lambda s: _records(context, s),
    )


def _records(context: Context, state: State) -> exp.Select:
    """The records `p` that are released, with the group `g` of each."""
    same = [exp.EQ(this=col("display", "g"), expression=col("display", "p"))]
    same += [
        exp.EQ(this=col(axis.code, "g"), expression=col(axis.code, "p")) for axis in context.axes
    ]
    groups = aliased(state.work(GROUPED_CLASSES), "g")
    tree = query("select 1 from p", {"p": placed(context, state)}).join(groups, on=exp.and_(*same))
    return tree.select(*codes(context, "p"), append=False)


def _independent(context: Context, state: State) -> list[Sensitive]:
    """Columns that share no buckets."""
    columns = context.spec.sensitive
    return [c for c in columns if len(set_of(context.layout, state.facts, c)) == 1]


def _buckets(context: Context, item: Sensitive, state: State) -> exp.Select:
    """SELECT gid: the buckets of a column, each at least once."""
    if ordered(context, item, state):
        return all_buckets(item, state)
    return query("select h.b as gid from h", {"h": _bucketed(context, item, state)})


def _values(context: Context, item: Sensitive, state: State) -> exp.Select:
    """(b, v): the hidden values of a column with the published number of their bucket."""
    if ordered(context, item, state):
        return ranged_values(context, item, state)
    return _numbered(context, item, state)


def _held(context: Context, item: Sensitive, name: str, state: State) -> Held:
    if ordered(context, item, state):
        number = number_of(context, item, bucket_of(col(NUMBER, "p"), name), state)
        return Held(ranges(item, state), in_range("p", name, f"s{item.index}"), number)
    # A NULL joins no row.
    hiding = fragment(
        "case when :s > 0 then :rid end", s=col(f"s{item.index}", "p"), rid=col(NUMBER, "p")
    )
    on = exp.EQ(this=col(NUMBER, name), expression=hiding)
    return Held(_numbered(context, item, state), on, col("b", name))


def _numbered(context: Context, item: Sensitive, state: State) -> exp.Select:
    """(rid, b, v) with published numbers."""
    table, number = drawn(context.layout, item, state)
    return query(
        "select h.rid, :n as b, h.v from h join n on n.gid = h.b",
        {"h": _bucketed(context, item, state), "n": table},
        n=col(number, "n"),
    )


def _bucketed(context: Context, item: Sensitive, state: State) -> Relation:
    """(rid, b, v): the bucket of every record that hides the column, and its value."""
    if item in _independent(context, state):
        return bucketed(item, state)
    return query(
        "select s.rid, s.b, :v as v from s join p on p.rid = s.rid"
        " where s.lead = :lead and :value > 0",
        {"s": shared(state), "p": placed(context, state)},
        lead=num(leader(context.layout, state.facts, item).index),
        v=col(f"v{item.index}", "p"),
        value=col(f"s{item.index}", "p"),
    )
