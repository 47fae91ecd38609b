"""Sensitive columns that no model is about: records of which all of the group have one value."""

from __future__ import annotations

from collections.abc import Callable

from pganon.forms.confidential import fewest_records, share_told
from pganon.forms.shape import Histogram, Relations
from pganon.privacy.rows import grouped
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import query
from pganon.steps import Chains, Check, State
from pganon.steps.facts import Fact, Facts, count, measure


def chains(
    spec: ReleaseSpec, histogram: Histogram | None, tables: Callable[[State], Relations]
) -> Chains:
    """Counts that :func:`alike` reads; `tables(state)` are the staged relations by part."""
    if histogram is None:
        return []

    def check(item: Sensitive) -> Check:
        def share(state: State):
            by, counted = histogram(spec, state, tables(state), item)
            groups = grouped(
                query("select count(*) as kinds, sum(h.n) as n from h", {"h": counted}), by, "h"
            )
            return query(
                "select coalesce(sum(g.n) filter (where g.kinds = 1) / sum(g.n), 0)::float8"
                " as share, coalesce(sum(g.n), 0)::bigint as counted from g",
                {"g": groups},
            )

        return Check(
            f"alike{item.index}",
            f"records in groups in which all have one value of {item.published}",
            share,
            gives=[_share(item), _counted(item)],
        )

    return [[check(item)] for item in spec.unprotected]


def alike(spec: ReleaseSpec, facts: Facts) -> dict[str, float]:
    """Share of the released records whose whole group has one value, by published column."""
    return {item.published: facts[_share(item)] for item in spec.unprotected}


def alike_told(spec: ReleaseSpec, facts: Facts) -> dict[str, float | None]:
    """The same for others than the steward; None of all but few."""
    smallest = fewest_records(spec, facts)
    return {
        item.published: share_told(facts[_share(item)], facts[_counted(item)], smallest)
        for item in spec.unprotected
    }


def _share(item: Sensitive) -> Fact[float]:
    return measure("share", f"alike{item.index}_")


def _counted(item: Sensitive) -> Fact[int]:
    return count("counted", f"alike{item.index}_")
