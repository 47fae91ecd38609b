"""Labels of classes of global generalization: those of the sweep that made the class.

A class shows of every attribute the ancestor that all its individuals had in its sweep, which may
be higher than their lowest common one; of individuals that joined later the ancestor of both. It
is described as any class is, by the range of the leaves below: this range is made wider. Published
classes have the range of the released leaves below, or whether a node or a single leaf is shown
would disclose values of suppressed records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import TreeAxis
from pganon.encode.extents import released_below
from pganon.forms.stored_relations import numbers
from pganon.forms.work import GROUPED_CLASSES
from pganon.methods.common.pairs import high_of
from pganon.methods.individuals.context import IdentityContext, hull_columns
from pganon.policy.options import CLASS_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar
from pganon.steps import State


def trees(context: IdentityContext) -> list[TreeAxis]:
    """The attributes, all of which have a hierarchy: the policy sees to it."""
    axes = [axis for axis in context.axes if isinstance(axis, TreeAxis)]
    assert len(axes) == len(context.axes)
    return axes


def class_extents(spec: ReleaseSpec, state: State, extents: exp.Select) -> exp.Select:
    """The same for the extents of published classes (class_id, lo<i>, hi<i>, [n<i>])."""
    unit = query(
        "select x.*, n.gid as unit from x join n on n.class_id = x.class_id",
        {"x": extents, "n": numbers(state, CLASS_ID)},
    )
    released = state.work(GROUPED_CLASSES)
    return as_shown(
        IdentityContext(spec),
        state,
        unit,
        [CLASS_ID],
        lambda axis: released_below(axis, state, released),
    )


def as_shown(
    context: IdentityContext,
    state: State,
    hulls: exp.Select,
    keep: Sequence[str],
    nodes: Callable[[TreeAxis], Relation] | None = None,
) -> exp.Select:
    """SELECT keep.., hulls of what classes show.

    Args:
        hulls: relation (unit, keep.., hulls of the members), where `unit` names the sweep.
        nodes: relation (code, level, lo, hi) of the nodes of an attribute; by default all of them.
    """
    tree = query("select 1 from u", {"u": hulls}).select(
        *[col(name, "u") for name in keep], append=False
    )
    for axis in trees(context):
        alias, lo = f"a{axis.index}", f"lo{axis.index}"
        reached = fragment(
            "greatest(:level, :climbed)",
            level=exp.paren(axis.level(state, "u")),
            climbed=_climbed(state, axis),
        )
        on = fragment(
            ":code = :lo and :level = :reached",
            code=col("code", alias),
            lo=col(lo, "u"),
            level=col("level", alias),
            reached=reached,
        )
        nodes_of = nodes(axis) if nodes else axis.table(state)
        tree = tree.join(aliased(nodes_of, alias), on=on, join_type="left")
        for name in hull_columns(axis, state):
            shown: exp.Expr = col(name, "u")
            if not name.startswith("n"):
                # Only NULLs are below no node.
                leaf = col(name.rstrip("0123456789"), alias)
                shown = named(fragment("coalesce(:leaf, :shown)", leaf=leaf, shown=shown), name)
            tree = tree.select(shown)
    return tree


def _climbed(state: State, axis: TreeAxis) -> exp.Expr:
    """How far the hierarchy had gone up in the sweep of a unit."""
    by_sweep = query(
        "select array_agg((select count(*)::int from q where q.step <= s.sweep"
        " and q.attribute = :a) order by s.sweep)"
        " from generate_series(0, (select count(*) from q)) as s(sweep)",
        {"q": state.work("sequence")},
        a=num(axis.index),
    )
    return fragment(
        "(:levels)[:sweep + 1]",
        levels=scalar(by_sweep),
        sweep=exp.paren(high_of(col("unit", "u"))),
    )
