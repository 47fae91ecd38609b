"""Histograms of the strata, and whether each could be one bucket."""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.common.eligibility.conditions import Conditions
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import State
from pganon.steps.facts import RECORDS


def counted(asked: Conditions, state: State) -> exp.Select:
    """(place, stratum, value, n): records per value of every condition and stratum."""
    parts = [
        query(
            "select :place as place, :stratum as stratum, :v as value, count(*) as n from k"
            " group by 2, 3",
            {"k": asked.records(state)},
            place=num(place),
            stratum=asked.part("k"),
            v=col(frequency.column, "k"),
        )
        for place, frequency in enumerate(asked.conditions(state))
    ]
    return stacked(parts)


def worst(asked: Conditions, state: State) -> exp.Select:
    """(place, stratum, size, most, different, l): how close every stratum is to its limits."""
    tree = query(
        "select c.place, c.stratum, sum(c.n) as size, max(c.n) as most, count(*) as different"
        " from c group by c.place, c.stratum",
        {"c": counted(asked, state)},
    )
    needed = exp.paren(_needed(asked, state, "w"))
    return query("select w.*, :l as l from w", {"w": tree}, l=needed)


def _needed(asked: Conditions, state: State, table: str) -> exp.Expr:
    """The l of the condition in column `place`."""
    needed = exp.Case(this=col("place", table))
    for place, frequency in enumerate(asked.conditions(state)):
        needed = needed.when(num(place), num(frequency.l))
    return needed


_MEASURES = """
    with w as materialized (select * from worst)
    select coalesce(bool_and(w.most * w.l <= w.size and w.size >= :s), false) as eligible,
        min(w.place) filter (where w.most * w.l > w.size) as fails,
        min(w.size) filter (where w.size < :s)::bigint as small,
        count(distinct w.stratum) as strata,
        coalesce(bool_or(w.different >= w.l), false) as possible,
        coalesce(sum(w.size) filter (where w.place = 0), 0)::bigint as released,
        :records - coalesce(sum(w.size) filter (where w.place = 0), 0)::bigint as suppressed,
        (select json_agg(json_build_array(v.most, v.size) order by v.place, v.stratum)::text
            from w as v where v.most * v.l > v.size) as missed,
        (select json_agg(v.place order by v.place, v.stratum)::text
            from w as v where v.most * v.l > v.size) as places
    from w
"""


def measures(asked: Conditions, state: State) -> exp.Select:
    """One row: `eligible`, the first condition that `fails`, and counts for a message.

    `missed` are [most frequent, size] of the strata that violate a condition, `places` these
    conditions; `released` are all records, `small` those of the smallest stratum below the minimum;
    `possible`: some stratum has as many different values as a condition asks for; `together`: all
    strata would be eligible as one.
    """
    tree = query(
        _MEASURES,
        {"worst": worst(asked, state)},
        s=num(asked.minimum),
        records=num(state[RECORDS]),
    )
    return tree.select(named(_together(asked, state), "together"))


def _together(asked: Conditions, state: State) -> exp.Expr:
    if asked.stratum is None:
        return fragment("null::boolean")
    values = query(
        "select c.place, c.value, sum(c.n) as n from c group by c.place, c.value",
        {"c": counted(asked, state)},
    )
    return scalar(
        query(
            "select bool_and(t.most * :l <= t.size) from"
            " (select v.place, max(v.n) as most, sum(v.n) as size from v group by v.place) as t",
            {"v": values},
            l=exp.paren(_needed(asked, state, "t")),
        )
    )
