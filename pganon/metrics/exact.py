"""What groups lose whose quasi-identifiers are published as they are, in a version that grows.

    exact<i>     (place, number, value)        the values of attribute i that groups have
    extents<i>   (place, number, extent)       their extent on the axis of the attribute
    lost         (place, group_id, n, loss<i>)  a row per group

A group is a number of a set of groups, whose `place` is 0 where there is only one.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.codes import sizes_step
from pganon.encode.dictionaries import dictionary_steps
from pganon.encode.extents import group_extents
from pganon.encode.semi_sensitive import applies
from pganon.encode.snapshot import infinite
from pganon.forms.shape import Relations, Shape, placed_sizes, placed_values
from pganon.identifiers import quote
from pganon.resolved.increments import WHOLE
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, query, stacked
from pganon.steps import CreateTable, State, Step, table

Published = Callable[[State], Relations]


def steps(spec: ReleaseSpec, shape: Callable[[State], Shape], relations: Published) -> list[Step]:
    """From the published relations to `lost`."""
    made: list[Step] = []
    for axis in axes(spec.attributes):
        made += [_exact_step(shape, relations, axis), _values_step(axis)]
        made += dictionary_steps(spec, axis)
    made.append(sizes_step(spec))
    made += [_extents_step(axis) for axis in axes(spec.attributes)]
    lost = table(
        "lost",
        "what every group loses",
        lambda s: _lost(spec, placed_sizes(shape(s), relations(s)), s),
    )
    return [*made, lost]


def codes(axis: Axis, state: State) -> exp.Select:
    """SELECT place, number, c<i>: the values of all groups as codes."""
    return query(
        "select x.place, x.number from x left join d on d.value = x.value",
        {"x": state.work(f"exact{axis.index}"), "d": axis.dictionary(state)},
    ).select(named(fragment("coalesce(d.code, 0)"), axis.code))


def _exact_step(shape: Callable[[State], Shape], relations: Published, axis: Axis) -> CreateTable:
    i, attribute = axis.index, axis.attribute

    def select(state: State) -> exp.Select:
        shown = placed_values(shape(state), attribute, relations(state))
        value = in_type(attribute, col("value", "p"))
        rows = query("select p.place, p.number, :value as value from p", {"p": shown}, value=value)
        return query("select distinct r.place, r.number, r.value from r", {"r": rows})

    return table(
        f"exact{i}",
        f"values of {quote(attribute.column.name)} that groups have",
        select,
    )


def _values_step(axis: Axis) -> CreateTable:
    table = f"exact{axis.index}"
    return values_step(
        axis.attribute, lambda s: query("select x.value from x", {"x": s.work(table)})
    )


def _extents_step(axis: Axis) -> CreateTable:
    i = axis.index
    return table(
        f"extents{i}",
        f"how far apart the values of {quote(axis.attribute.column.name)} in groups are",
        lambda s: group_extents([axis], s, codes(axis, s), ["place", "number"], weighted=False),
    )


def _lost(spec: ReleaseSpec, sizes: exp.Select, state: State) -> exp.Select:
    tree = query("select s.place, s.number as group_id, s.n from s", {"s": sizes})
    for axis in axes(spec.attributes):
        alias = f"e{axis.index}"
        same = [
            exp.EQ(this=col(name, alias), expression=col(name, "s")) for name in ("place", "number")
        ]
        tree = tree.join(aliased(state.work(f"extents{axis.index}"), alias), on=exp.and_(*same))
        loss = cast(exp.paren(axis.loss(state, alias)), "float8")
        tree = tree.select(named(loss, f"loss{axis.index}"))
    return tree


def values_step(attribute: Attribute, shown: Callable[[State], exp.Select | None]) -> CreateTable:
    """Step that makes `values<i>`, as :mod:`pganon.encode.dictionaries` has it.

    Args:
        shown: SELECT value: what groups show, by :func:`in_type`; None where that says nothing.
    """
    i = attribute.index
    return CreateTable(
        f"values{i}",
        f"all values of {quote(attribute.column.name)}, of the source and of groups",
        lambda s: s.work(f"values{i}"),
        lambda s: _values(attribute, shown(s), s),
    )


def in_type(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """A published value in the type of those of the source."""
    if attribute.column.kind == "float":
        value = cast(value, "text")  # with all digits, as in the snapshot
    value = cast(value, attribute.value_type)
    return fragment(':v collate "C"', v=value) if attribute.value_type == "text" else value


def _values(attribute: Attribute, shown: exp.Select | None, state: State) -> exp.Select:
    """SELECT value, n."""
    source = query(
        "select :q as value from t",
        {"t": state.outer.work(WHOLE)},
        q=col(f"q{attribute.index}", "t"),
    )
    open_ = applies(attribute, "t")
    if open_ is not None:
        source = source.where(open_)
    nowhere = infinite(attribute.column, f"q{attribute.index}")
    if nowhere is not None:
        source = source.where(fragment("(:nowhere) is not true", nowhere=nowhere))
    values = stacked([source, *([] if shown is None else [shown])])
    return query("select v.value, count(*) as n from v group by v.value", {"v": values})
