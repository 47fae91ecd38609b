"""Loss of the groups' extents: NCP and GCP, GLM, discernibility, generalization height.

The cheap figures, which every run computes, and those that need the extents alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.extents import weighted_loss
from pganon.forms.facts import losses
from pganon.forms.work import EXTENTS
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, count, measure, or_null


def _lost(axis: Axis, state: State, table: str) -> exp.Expr:
    """NCP of what a group shows: the extent of its records, or its region."""
    if axis.attribute.in_regions:
        return known_loss(axis, state, table)
    return axis.loss(state, table)


def known_loss(axis: Axis, state: State, table: str) -> exp.Expr:
    """NCP that a column of the table has."""
    return col(f"loss{axis.index}", table)


def basic(
    spec: ReleaseSpec,
    extents: exp.Select,
    state: State,
    lost: Callable[[Axis, State, str], exp.Expr] = _lost,
) -> exp.Select:
    """One row: class sizes, sum of squares, weighted loss and `ncp<i>` per attribute.

    `extents` has `n` and what `lost` reads, such as the extent columns of the axes, one row per
    class.
    """
    attributes = axes(spec.attributes)
    weights = sum(attribute.weight for attribute in spec.attributes)
    loss = weighted_loss(attributes, state, "e", lost=lost)
    tree = query(
        "select count(*) as classes, sum(e.n)::bigint as released, min(e.n) as smallest_class,"
        " avg(e.n)::float8 as mean_class, max(e.n) as largest_class,"
        " sum(e.n::numeric * e.n)::float8 as squares, sum(e.n * :loss) as weighted_loss from e",
        {"e": extents},
        loss=exp.paren(
            fragment(
                ":sum / :weights",
                sum=exp.paren(loss),
                weights=exp.Literal.number(repr(weights)),
            )
        ),
    )
    return tree.select(
        *[
            named(
                fragment("sum(e.n * :l) / sum(e.n)", l=exp.paren(lost(a, state, "e"))),
                f"ncp{a.index}",
            )
            for a in attributes
        ]
    )


def utility_step(
    spec: ReleaseSpec,
    purpose: str,
    extents: Callable[[State], exp.Select],
    lost: Callable[[Axis, State, str], exp.Expr] = _lost,
    more: Mapping[Fact[Any], Callable[[State], exp.Expr]] | None = None,
) -> Check:
    """Observes :func:`pganon.forms.facts.losses` of the groups, and `more`."""
    beside = more or {}

    def select(state: State) -> exp.Select:
        tree = basic(spec, extents(state), state, lost)
        return tree.select(*[named(of(state), fact.column) for fact, of in beside.items()])

    return Check("utility", purpose, select, gives=[*losses(spec), *beside])


def whole_step(
    spec: ReleaseSpec,
    purpose: str,
    lost: Callable[[State], QualifiedName],
    more: Mapping[Fact[Any], Callable[[State], exp.Expr]] | None = None,
) -> Check:
    """The same of all groups of a version that grows; `lost` has `n` and their losses."""
    groups = lambda s: query("select l.* from l", {"l": lost(s)})  # noqa: E731
    return utility_step(spec, purpose, groups, known_loss, more)


def further(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: sums over the released records of `glm<i>`, and of `height<i>` for hierarchies."""
    losses: list[exp.Expr] = []
    for axis in axes(spec.attributes):
        if isinstance(axis, TreeAxis):
            losses.append(named(_sum(level(axis, state)), height(axis.index).column))
        losses.append(named(_sum(_glm(axis, state)), glm(axis.index).column))
    tree = query("select count(*) as groups from e", {"e": state.work(EXTENTS)})
    return tree.select(*losses)


def further_facts(spec: ReleaseSpec) -> list[Fact[Any]]:
    """Facts that :func:`further` gives."""
    facts: list[Fact[Any]] = [count("groups", "metric_loss_")]
    for axis in axes(spec.attributes):
        trees = [height(axis.index)] if isinstance(axis, TreeAxis) else []
        facts += [*trees, glm(axis.index)]
    return facts


def glm(index: int) -> Fact[float | None]:
    """GLM of a quasi-identifier, summed over the released records; None if there are none."""
    return or_null(measure(f"glm{index}", "metric_"))


def height(index: int) -> Fact[float | None]:
    """Levels of its published labels, summed over the released records."""
    return or_null(measure(f"height{index}", "metric_"))


def _glm(axis: Axis, state: State) -> exp.Expr:
    """NCP, but of labels by how many other leaves are below them."""
    if axis.attribute.in_regions:
        return col(f"glm{axis.index}", "e")
    lost = axis.loss(state, "e")
    if axis.attribute.form is Shown.LABEL and axis.size(state) > 1:
        # (leaves below the ancestor - 1) / (leaves - 1), where NCP is (leaves below) / (leaves).
        ncp, leaves = exp.paren(lost), num(axis.size(state))
        below = fragment("(round(:ncp * :m) - 1) / (:m - 1)", ncp=ncp, m=leaves)
        return exp.Case().when(fragment(":ncp > 0", ncp=ncp.copy()), below).else_(num(0))
    return lost


def level(axis: TreeAxis, state: State) -> exp.Expr:
    """Level of the published label; NULL alone is exact, NULL among values is on the top."""
    if axis.attribute.in_regions:
        return col(f"height{axis.index}", "e")
    level = axis.level(state, "e")
    if not axis.has_null(state):
        return level
    alone = fragment(":hi = 0", hi=col(f"hi{axis.index}", "e"))
    return (
        exp.Case()
        .when(axis.mixed(state, "e"), num(axis.levels(state)))
        .when(alone, num(0))
        .else_(exp.paren(level))
    )


def _sum(loss: exp.Expr) -> exp.Expr:
    return fragment("sum(e.n * :l)::float8", l=exp.paren(loss))
