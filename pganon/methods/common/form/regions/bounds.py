"""From the cuts of a first version to what groups of every region show."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.hierarchies import lists_leaves
from pganon.identifiers import quote
from pganon.methods.common.form.regions.labels import label_bounds
from pganon.methods.common.form.regions.lines import line_bounds
from pganon.methods.common.form.regions.sets import set_bounds
from pganon.resolved.increments import BOUNDS, CUTS
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.sqltools import aliased, cast, col, fragment, named, query, text
from pganon.steps import State, Step, staged, table

PATHS = "region_paths"
_BESIDE = ("z", "loss", "glm", "height")


def bound_steps(spec: ReleaseSpec) -> list[Step]:
    """The part "bounds", of a first version."""
    if spec.growth is None or spec.growth.version is not None:
        return []
    paths = table(PATHS, "the cuts on the way to every region", lambda s: _paths(spec, s))
    each = [
        table(
            f"bound{axis.index}",
            f"bounds of {quote(axis.attribute.column.name)} in the regions",
            lambda s, axis=axis: _bounds_of(spec, axis, s),
        )
        for axis in axes(spec.attributes)
    ]
    together = staged(BOUNDS, "what groups of every region show", lambda s: _together(spec, s))
    return [paths, *each, together]


def _paths(spec: ReleaseSpec, state: State) -> exp.Select:
    cuts = {"c": state.stage(CUTS)}
    begun = query("select c.node from c where c.nulls is not null", cuts)
    moved = query(
        "select case when s.is_left then c.left_node else c.right_node end as node"
        " from walk as w join c on c.node = w.node"
        " cross join (values (true), (false)) as s(is_left)"
        " where s.is_left or c.column_name is not null",
        cuts,
    )
    ended = query("select w.node as region from walk as w where w.node < 0")
    for attribute in spec.attributes:
        name, path = text(attribute.column.name), f"p{attribute.index}"
        apart = fragment(
            "case when :name = any(c.nulls) then array[0::bigint] else '{}'::bigint[] end",
            name=name,
        )
        taken = fragment(
            "case when c.column_name = :name then :path || case when s.is_left then c.node"
            " else -c.node end else :path end",
            name=name.copy(),
            path=col(path, "w"),
        )
        begun = begun.select(named(apart, path))
        moved = moved.select(named(taken, path))
        ended = ended.select(col(path, "w"))
    return ended.with_("walk", as_=exp.union(begun, moved, distinct=False), recursive=True)


def _bounds_of(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    """SELECT path, g, z, loss, glm, height."""
    paths = query(
        "select distinct :path as path from r",
        {"r": state.work(PATHS)},
        path=col(f"p{axis.index}", "r"),
    )
    taken = query(
        "select p.path, s.at, s.step > 0 as is_left, c.threshold, c.members,"
        " coalesce(c.level, 0) as level from p"
        " cross join lateral unnest(p.path) with ordinality as s(step, at)"
        " join c on c.node = abs(s.step)",
        {"p": paths.copy(), "c": state.stage(CUTS)},
    )
    if axis.attribute.form is Shown.RANGE:
        return line_bounds(axis, state, paths, taken)
    if isinstance(axis, TreeAxis):
        hierarchy = spec.policy.columns[axis.attribute.column.name].hierarchy
        listed = hierarchy is not None and lists_leaves(hierarchy)
        return label_bounds(axis, state, paths, taken, listed=listed)
    return set_bounds(axis.attribute, paths, taken)


def _together(spec: ReleaseSpec, state: State) -> exp.Select:
    tree = query("select r.region from r", {"r": state.work(PATHS)})
    for attribute in spec.attributes:
        i, alias = attribute.index, f"b{attribute.index}"
        tree = tree.select(named(cast(col("g", alias), attribute.published_type), f"g{i}"))
        tree = tree.select(*[named(col(name, alias), f"{name}{i}") for name in _BESIDE])
        on = exp.EQ(this=col("path", alias), expression=col(f"p{i}", "r"))
        tree = tree.join(aliased(state.work(f"bound{i}"), alias), on=on)
    return tree
