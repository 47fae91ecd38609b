"""Which cuts leave both sides with a requirement satisfied.

Both forms read the round's `ranked` (positions of the tried values) and `hist` (records per tried
and sensitive value) and select the allowed (node, attr, pos): everything up to pos on the left.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.plan.sqltools import col, query
from pganon.plan.steps import State
from pganon.privacy.base import Relation, Requirement

SIDE = ("node", "attr", "pos", "side")


def reference_table(state: State, sensitive: int, kind: str):
    """Work table (value, position, share) of a sensitive column; kind source or published."""
    return state.work(f"ref{sensitive}_{kind}")


def reference_kinds(state: State) -> tuple[str, ...]:
    """Distributions a group is compared with: they differ only where records were suppressed."""
    return ("source", "published") if state.count("suppressed") else ("source",)


def allowed_cuts(
    requirement: Requirement, ranked: Relation, hist: Relation, state: State
) -> exp.Select:
    placed = query(
        "select h.node, h.attr, r.pos, :value as value, h.w from h"
        " join r on r.node = h.node and r.attr = h.attr and r.v = h.v and r.half = h.half",
        {"h": hist, "r": ranked},
        value=col(f"s{requirement.sensitive}", "h"),
    )
    if requirement.model.counts_distinct:
        return _by_distinct(requirement, placed, ranked)
    return _by_histogram(requirement, placed, ranked, state)


def _by_distinct(requirement: Requirement, placed: exp.Select, ranked: Relation) -> exp.Select:
    """From the first and last position of every sensitive value: no histogram of sides needed."""
    spans = query(
        "select p.node, p.attr, min(p.pos) as first, max(p.pos) as last from p"
        " group by p.node, p.attr, p.value",
        {"p": placed},
    )
    events = query(
        "select s.node, s.attr, e.pos, sum(e.begins) as begins, sum(e.ends) as ends from s"
        " cross join lateral (values (s.first, 1, 0), (s.last, 0, 1)) as e(pos, begins, ends)"
        " group by s.node, s.attr, e.pos",
        {"s": spans},
    )
    counted = query(
        "select r.node, r.attr, r.pos,"
        " sum(e.begins) over (partition by r.node, r.attr order by r.pos) as on_left,"
        " sum(e.ends) over (partition by r.node, r.attr)"
        " - coalesce(sum(e.ends) over (partition by r.node, r.attr order by r.pos), 0) as on_right"
        " from r left join e on e.node = r.node and e.attr = r.attr and e.pos = r.pos",
        {"r": ranked, "e": events},
    )
    model = requirement.model
    return query(
        "select c.node, c.attr, c.pos from c where :left and :right",
        {"c": counted},
        left=model.holds(col("on_left", "c")),
        right=model.holds(col("on_right", "c")),
    )


def _by_histogram(
    requirement: Requirement, placed: exp.Select, ranked: Relation, state: State
) -> exp.Select:
    """From the histograms of both sides of every cut, measured by the model itself."""
    values = query(
        "select p.node, p.attr, p.value, sum(p.w) as whole from p group by p.node, p.attr, p.value",
        {"p": placed},
    )
    # A join with the last position's records at or before each cut would be quadratic; a grid of
    # positions and values with one running sum is not.
    grid = query(
        "select v.node, v.attr, r.pos, v.value, v.whole,"
        " coalesce(sum(p.w) over (partition by v.node, v.attr, v.value order by r.pos), 0)"
        " as so_far"
        " from v join r on r.node = v.node and r.attr = v.attr"
        " left join p on p.node = v.node and p.attr = v.attr and p.value = v.value"
        " and p.pos = r.pos",
        {"v": values, "r": ranked, "p": placed},
    )
    sides = query(
        "select g.node, g.attr, g.pos, s.side, g.value, s.n::bigint as n from g"
        " cross join lateral (values (0, g.so_far), (1, g.whole - g.so_far)) as s(side, n)"
        " where s.n > 0",
        {"g": grid},
    )
    model = requirement.model
    if not model.needs_reference:
        return _both_sides(model.measure(sides, SIDE), requirement)
    measures = [
        model.measure(sides, SIDE, reference_table(state, requirement.sensitive or 0, kind))
        for kind in reference_kinds(state)
    ]
    result = _both_sides(measures[0], requirement)
    for extra in measures[1:]:
        result = query(
            "select a.node, a.attr, a.pos from a"
            " join b on b.node = a.node and b.attr = a.attr and b.pos = a.pos",
            {"a": result, "b": _both_sides(extra, requirement)},
        )
    return result


def _both_sides(measured: exp.Select, requirement: Requirement) -> exp.Select:
    return query(
        "select m.node, m.attr, m.pos from m group by m.node, m.attr, m.pos"
        " having bool_and(:holds) and count(*) = 2",
        {"m": measured},
        holds=requirement.model.holds(col("measure", "m")),
    )
