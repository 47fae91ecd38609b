"""Distances between source records and groups: record linkage RL and the loss RGCP.

mcells    (cell, c<i>, at<i>)          distinct combinations of codes with their places
mreps     (group_id, n, mean<i>, ..)   groups: mean place of the members, and what is published
mown_<t>  (cell.., group_id, members, own)   distance of the members with these codes to their group
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.extents import group_extents, weighted_loss
from pganon.metrics.source import few, on_line
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, stacked, total
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import Fact, measure, or_null

EPSILON = "1e-9"
"""Distances that differ by less are equal."""

RELEASED_FACTOR, SUPPRESSED_FACTOR = 2, 4
"""RGCP's kR and nR: factors for a group that suppressed records join, and for the whole table."""


@dataclass(frozen=True)
class LinkageTarget:
    """Target of record linkage: the mean of a group's members, or its published box."""

    name: str
    purpose: str
    mean: bool


TARGETS = (
    LinkageTarget("mean", "centres of the groups", True),
    LinkageTarget("box", "published values", False),
)


CENTRES, BOXES = TARGETS

RGCP = or_null(measure("rgcp", "metric_"))
"""The loss RGCP; None where the table was too large to compare."""


def links(target: LinkageTarget) -> Fact[float | None]:
    """Expected number of right links; None where the table was too large to compare."""
    return or_null(measure("links", f"metric_{target.name}_"))


def steps(spec: ReleaseSpec) -> list[Step]:
    attributes = axes(spec.attributes)
    made: list[Step] = [
        table(
            "metric_points",
            "combinations of values with their places",
            lambda s: _cells(attributes, s),
            into="mcells",
            inline=True,
        ),
        table(
            "metric_centres",
            "centres of the groups",
            lambda s: _reps(attributes, s),
            into="mreps",
            inline=True,
        ),
    ]
    for target in TARGETS:
        made += _link(attributes, target)
    return [*made, *_reallocated(attributes)]


def _cells(attributes: Sequence[Axis], state: State) -> exp.Expr:
    names = [axis.code for axis in attributes]
    base = query("select s.cell from s", {"s": state.work("msource")}).distinct()
    base = base.select(*[col(name, "s") for name in names])
    return _placed(attributes, state, base)


def _placed(attributes: Sequence[Axis], state: State, base: exp.Select) -> exp.Select:
    """`base` with at<i>, the place of every code that has one."""
    tree = query("select s.* from s", {"s": base})
    for axis in filter(on_line, attributes):
        alias = f"p{axis.index}"
        tree = tree.select(named(col("at", alias), f"at{axis.index}")).join(
            aliased(state.work(f"mplaces{axis.index}"), alias),
            on=exp.EQ(this=col("code", alias), expression=col(axis.code, "s")),
        )
    return tree


def _reps(attributes: Sequence[Axis], state: State) -> exp.Expr:
    members = query("select m.* from m where m.group_id is not null", {"m": state.work("msource")})
    placed = _placed(attributes, state, members)
    means = query("select x.group_id from x", {"x": placed}).group_by(col("group_id", "x"))
    tree = query("select b.* from b join g on g.group_id = b.group_id", {"b": state.work("mboxes")})
    for axis in filter(on_line, attributes):
        i = axis.index
        mean = fragment(
            "sum(x.n * :at) / nullif(sum(x.n) filter (where :at is not null), 0)",
            at=col(f"at{i}", "x"),
        )
        means = means.select(named(mean, f"mean{i}"))
        tree = tree.select(col(f"mean{i}", "g"))
    for relation in tree.find_all(exp.Table):
        if relation.name == "g":
            relation.replace(means.subquery("g"))
    return tree


def distance(attributes: Sequence[Axis], target: LinkageTarget) -> exp.Expr:
    """Between a cell `c` and a group `r`: root of the squares on lines, plus 1 per other value.

    A value without a line costs 0 if it is the only one covered, 1/2 if it is one of several, 1 if
    it is not covered; NULL on a line is such a value.
    """
    squares: list[exp.Expr] = [COSTS["none"]]
    others: list[exp.Expr] = [COSTS["none"]]
    for axis in attributes:
        (squares if on_line(axis) else others).append(_part(axis, target))
        if on_line(axis):
            others.append(_unplaced(axis, target))
    return fragment("sqrt(:s) + :o", s=exp.paren(total(squares)), o=exp.paren(total(others)))


# Bare decimals would be of the type numeric, which is many times slower.
COSTS = {
    name: cast(exp.Literal.number(value), "float8")
    for name, value in (("none", "0"), ("half", "0.5"), ("one", "1"))
}


def _part(axis: Axis, target: LinkageTarget) -> exp.Expr:
    i = axis.index
    if not on_line(axis):
        return fragment(
            "case when get_bit(:b, :c) = 0 then :one when :n = 1 then :none else :half end",
            b=col(f"bits{i}", "r"),
            c=col(axis.code, "c"),
            n=col(f"covers{i}", "r"),
            **COSTS,
        )
    at = col(f"at{i}", "c")
    if target.mean:
        return fragment(
            "coalesce((:at - :m) * (:at - :m), :none)", at=at, m=col(f"mean{i}", "r"), **COSTS
        )
    return fragment(
        "case when :at < :start then (:start - :at) * (:start - :at)"
        " when :at > :stop then (:at - :stop) * (:at - :stop) else :none end",
        at=at,
        start=col(f"start{i}", "r"),
        stop=col(f"stop{i}", "r"),
        **COSTS,
    )


def _unplaced(axis: Axis, target: LinkageTarget) -> exp.Expr:
    """NULL on either side of a line."""
    i = axis.index
    place = "mean" if target.mean else "start"
    return fragment(
        "case when :at is null then case when not :z then :one when :place is null then :none"
        " else :half end when :place is null then :one else :none end",
        at=col(f"at{i}", "c"),
        z=col(f"z{i}", "r"),
        place=col(f"{place}{i}", "r"),
        **COSTS,
    )


def _link(attributes: Sequence[Axis], target: LinkageTarget) -> list[Step]:
    return [
        table(
            f"metric_own_{target.name}",
            f"distance of every record to its own among the {target.purpose}",
            lambda s: query(
                "select c.*, s.group_id, s.n as members, :d as own from s"
                " join c on c.cell = s.cell join r on r.group_id = s.group_id",
                {"s": s.work("msource"), "c": s.work("mcells"), "r": s.work("mreps")},
                d=distance(attributes, target),
            ),
            into=f"mown_{target.name}",
            when=few,
            inline=True,
        ),
        Check(
            f"metric_linkage_{target.name}",
            f"expected number of right links by {target.purpose}",
            lambda s: _right(attributes, target, s),
            gives=[links(target)],
        ),
    ]


def _right(attributes: Sequence[Axis], target: LinkageTarget, state: State) -> exp.Select:
    """A record finds its group only if no other is nearer; all that are as near share the guess."""
    if not few(state):
        return query("select null::float8 as links")
    # OFFSET keeps the planner from computing every distance twice.
    groups = query(
        "select r.n, :d as far from r offset 0",
        {"r": state.work("mreps")},
        d=distance(attributes, target),
    )
    return query(
        "select coalesce(sum(c.members / t.tied::float8), 0) as links from c"
        " cross join lateral (select min(f.far) as nearest,"
        " sum(f.n) filter (where f.far <= c.own + :e) as tied from f) as t"
        " where t.nearest >= c.own - :e",
        {"c": state.work(f"mown_{target.name}"), "f": groups},
        e=exp.Literal.number(EPSILON),
    )


# -- RGCP ---------------------------------------------------------------------------------------


def _reallocated(attributes: Sequence[Axis]) -> list[Step]:
    return [
        table(
            "metric_reallocated",
            "the nearest group of every suppressed record",
            lambda s: _nearest_group(attributes, s),
            into="mreallocated",
            when=few,
            inline=True,
        ),
        Check(
            "metric_rgcp",
            "loss with suppressed records in their nearest groups",
            lambda s: _rgcp(attributes, s),
            gives=[RGCP],
        ),
    ]


def _nearest_group(attributes: Sequence[Axis], state: State) -> exp.Select:
    """(cell, group_id): ties go to the smallest group, then to the lowest published values."""
    ids = [col(f"id{axis.index}", "r") for axis in attributes]
    ranked = query(
        "select c.cell, r.group_id from c cross join r",
        {"c": _suppressed(state), "r": state.work("mreps")},
    )
    order = [
        exp.Ordered(this=term)
        for term in (
            fragment("round((:d)::numeric, 9)", d=distance(attributes, TARGETS[0])),
            col("n", "r"),
            *ids,
        )
    ]
    place = exp.Window(
        this=exp.func("row_number", dialect="postgres"),
        partition_by=[col("cell", "c")],
        order=exp.Order(expressions=order),
    )
    return query(
        "select x.cell, x.group_id from x where x.place = 1",
        {"x": ranked.select(named(place, "place"))},
    )


def _suppressed(state: State) -> exp.Select:
    return query(
        "select p.* from p where p.cell in (select s.cell from s where s.group_id is null)",
        {"p": state.work("mcells"), "s": state.work("msource")},
    )


def _rgcp(attributes: Sequence[Axis], state: State) -> exp.Select:
    if not few(state):
        return query("select null::float8 as rgcp")
    names = [axis.code for axis in attributes]
    from_record = query(
        "select s.group_id, s.n as w, false as moved from s where s.group_id is not null",
        {"s": state.work("msource")},
    ).select(*[col(name, "s") for name in names])
    moved = query(
        "select r.group_id, s.n as w, true as moved from s join r on r.cell = s.cell"
        " where s.group_id is null",
        {"s": state.work("msource"), "r": state.work("mreallocated")},
    ).select(*[col(name, "s") for name in names])
    joined = group_extents(attributes, state, stacked([from_record, moved]), ["group_id"])
    joined = joined.select(named(fragment("bool_or(c.moved)"), "moved"))
    return query(
        "select sum(e.n * :loss * case when e.moved then :factor else 1 end)::float8 as rgcp"
        " from e",
        {"e": joined},
        loss=exp.paren(weighted_loss(attributes, state, "e")),
        factor=num(RELEASED_FACTOR),
    )
