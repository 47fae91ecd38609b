"""What classes tell who knows the method: which cuts were not allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.cuts import keeps_cuts
from pganon.encode.extents import group_extents
from pganon.forms.stored import numbers
from pganon.identifiers import QualifiedName
from pganon.methods.classes.leaving import leaves_outliers_out
from pganon.methods.classes.mondrian.options import Mondrian
from pganon.methods.common.minimality import Minimality
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Model
from pganon.resolved.increments import CUTS
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query, stacked, text
from pganon.steps import State


def unmeasured(spec: ReleaseSpec) -> str | None:
    options = spec.policy.method
    assert isinstance(options, Mondrian)
    if options.variant == "relaxed":
        return "a secret decides which of several people with equal values are in which class"
    if spec.of_release or spec.in_population or spec.profits:
        return "a requirement about more than the records of a class decides on cuts"
    if leaves_outliers_out(spec) or spec.leaves_surplus_out:
        return "records may be left out for what their classes would be"
    if any(requirement.model.needs_reference for requirement in spec.requirements):
        return "classes are compared with all records"
    return None


def positions(spec: ReleaseSpec, state: State, cells: QualifiedName) -> exp.Select:
    """As the rounds order the values of a class: see :mod:`pganon.methods.common.rounds.ranked`."""
    every = axes(spec.attributes)
    extents = group_extents(every, state, cells, ["node"])
    placed = query(
        "select k.node, k.cell, k.attr, k.v, :order as first from k",
        {"k": stacked([_keys(axis, state, cells, extents) for axis in every])},
        order=_order(every),
    )
    return query(
        "select p.node, p.cell, p.attr, dense_rank() over (partition by p.node, p.attr"
        " order by p.first, p.v) as pos from p",
        {"p": placed},
    )


def _keys(axis: Axis, state: State, cells: QualifiedName, extents: exp.Select) -> exp.Select:
    """SELECT node, cell, attr, v, w: the value of every cell that cuts separate."""
    levels = query("select e.node from e", {"e": extents})
    levels = computed_once(levels.select(named(axis.level(state, "e"), "level")))
    key = axis.key(state, col(axis.code, "c"), col("level", "l"))
    return query(
        "select c.node, c.cell, :attr as attr, :key as v, c.w from c join l on l.node = c.node",
        {"c": cells, "l": levels},
        attr=num(axis.index),
        key=cast(exp.paren(key), "integer"),
    )


def _order(every: tuple[Axis, ...]) -> exp.Expr:
    """Falling frequency in the class, or the value itself."""
    frequent = [num(axis.index) for axis in every if axis.by_frequency]
    if not frequent:
        return fragment("k.v::bigint")
    return fragment(
        "case when :frequent then -(sum(k.w) over (partition by k.node, k.attr, k.v))::bigint"
        " else k.v end",
        frequent=exp.In(this=col("attr", "k"), expressions=frequent),
    )


def made(spec: ReleaseSpec, state: State) -> exp.Select | None:
    """From the cuts for people who come later; see :mod:`pganon.methods.classes.mondrian.kept`."""
    if not keeps_cuts(spec, state):
        return None
    cuts = query(
        "select k.node, k.column_name, k.left_node,"
        " case when k.column_name is not null then k.right_node end as right_node from k",
        {"k": state.stage(CUTS)},
    )
    attr = exp.Case()
    for axis in axes(spec.attributes):
        name = text(axis.attribute.column.name)
        attr = attr.when(fragment("k.column_name = :name", name=name), num(axis.index))
    return query(
        "select k.node, :attr as attr,"
        " case when k.left_node < 0 then -l.class_id else k.left_node end as left_node,"
        " case when k.right_node < 0 then -r.class_id else k.right_node end as right_node"
        " from k left join n as l on l.gid = -k.left_node"
        " left join n as r on r.gid = -k.right_node",
        {"k": cuts, "n": numbers(state, CLASS_ID)},
        attr=attr,
    )


def holds(model: Model) -> Callable[[Any], Any]:
    if model.counts_distinct:
        return lambda counts: (counts > 0).sum(axis=1) >= model.parameter
    from pganon.methods.classes.one_dimensional.search import measures

    return measures.holds(model, None)


MINIMALITY = Minimality(unmeasured, positions, made, holds)
