"""Which cuts leave both sides with a requirement satisfied.

Both forms read the round's `ranked` (positions of the tried values) and `hist<j>` (records per
position and sensitive value) and select the allowed (node, attr, pos): everything up to pos on
the left.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.work import reference
from pganon.forms.facts import EARLIER_SUPPRESSED, SUPPRESSED
from pganon.privacy.base import Relation, Requirement
from pganon.sqltools import col, query
from pganon.steps import State

SIDE = ("node", "attr", "pos", "side")


def reference_table(state: State, sensitive: int, kind: str):
    """Work table (value, position, share [, path]) of a column; kind source or published."""
    return state.work(reference(sensitive, kind))


def reference_kinds(state: State) -> tuple[str, ...]:
    """Distributions a group is compared with: they differ only where records were suppressed.

    Of newcomers these are of the first version, which may have suppressed some.
    """
    suppressed = state[SUPPRESSED] or state.facts.get(EARLIER_SUPPRESSED)
    return ("source", "published") if suppressed else ("source",)


def measures(
    requirement: Requirement, histogram: Relation, by: Sequence[str], state: State
) -> list[exp.Select]:
    """The measure of every group, against every distribution that it is held against."""
    model = requirement.model
    if not model.needs_reference:
        return [model.measure(histogram, by)]
    return [
        model.measure(histogram, by, reference_table(state, requirement.sensitive or 0, kind))
        for kind in reference_kinds(state)
    ]


def both_sides(measured: exp.Select, requirement: Requirement, by: Sequence[str]) -> exp.Select:
    """The `by` of which two sides were measured and both satisfy the requirement."""
    tree = query(
        "select 1 from m having bool_and(:holds) and count(*) = 2",
        {"m": measured},
        holds=requirement.model.holds(col("measure", "m")),
    )
    keys = [col(name, "m") for name in by]
    return tree.select(*keys, append=False).group_by(*[key.copy() for key in keys])


def allowed_cuts(requirement: Requirement, state: State) -> exp.Select:
    ranked = state.in_round("ranked")
    hist = state.in_round(f"hist{requirement.sensitive}")
    if requirement.model.counts_distinct:
        return _by_distinct(requirement, hist, ranked)
    return _by_histogram(requirement, hist, ranked, state)


def _by_distinct(requirement: Requirement, hist: Relation, ranked: Relation) -> exp.Select:
    """From the first and last position of every sensitive value: no histogram of sides needed."""
    spans = query(
        "select p.node, p.attr, min(p.pos) as first, max(p.pos) as last from p"
        " group by p.node, p.attr, p.value",
        {"p": hist},
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
        " from r join k on k.node = r.node and k.attr = r.attr"
        " left join e on e.node = r.node and e.attr = r.attr and e.pos = r.pos",
        {
            "r": ranked,
            "e": events,
            "k": query("select p.node, p.attr from p group by p.node, p.attr", {"p": hist}),
        },
    )
    model = requirement.model
    return query(
        "select c.node, c.attr, c.pos from c where :left and :right",
        {"c": counted},
        left=model.holds(col("on_left", "c")),
        right=model.holds(col("on_right", "c")),
    )


def _by_histogram(
    requirement: Requirement, hist: Relation, ranked: Relation, state: State
) -> exp.Select:
    """From the histograms of both sides of every cut, measured by the model itself."""
    values = query(
        "select p.node, p.attr, p.value, sum(p.w) as whole from p group by p.node, p.attr, p.value",
        {"p": hist},
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
        {"v": values, "r": ranked, "p": hist},
    )
    sides = query(
        "select g.node, g.attr, g.pos, s.side, g.value, s.n::bigint as n from g"
        " cross join lateral (values (0, g.so_far), (1, g.whole - g.so_far)) as s(side, n)"
        " where s.n > 0",
        {"g": grid},
    )
    found = [
        both_sides(measured, requirement, SIDE[:3])
        for measured in measures(requirement, sides, SIDE, state)
    ]
    result = found[0]
    for other in found[1:]:
        result = query(
            "select a.node, a.attr, a.pos from a"
            " join b on b.node = a.node and b.attr = a.attr and b.pos = a.pos",
            {"a": result, "b": other},
        )
    return result
