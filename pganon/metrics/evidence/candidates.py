"""Candidates: how many values or combinations a group leaves possible, by its people.

They say how much remains open where groups have no people who look the same. They need not be
equally likely: how common the most common one is, is said beside them.

Forms that publish exact quasi-identifiers have them as evidence of sensitive values. How many
people look the same is no matter of their groups, so they have no sizes, and distributions of
quasi-identifiers are those of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from pganon.forms.form import Evidence, Tables
from pganon.forms.shape import Histogram, Relations
from pganon.identifiers import quote
from pganon.metrics.evidence import shares
from pganon.metrics.evidence.people import fewest
from pganon.metrics.evidence.sizes import Sizes
from pganon.privacy.rows import grouped
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import query
from pganon.steps import Check, Parallel, State, Step
from pganon.steps.facts import Facts


def counted(name: str) -> Sizes:
    """Of groups (n people, size candidates)."""
    return Sizes(f"candidates_{name}", "size")


def document(
    sizes: Sizes, facts: Facts, smallest: float, of: str, columns: Sequence[str], kind: str
) -> list[dict[str, Any]]:
    """As JSON, of what and of which columns candidates are; empty if there are no groups."""
    found = sizes.document(facts, smallest)
    if found is None:
        return []
    told = {name: found[name] for name in ("people", "groups", "smallest", "largest", "bins")}
    return [{"of": of, "columns": list(columns), "kind": kind, **told}]


def checks(
    spec: ReleaseSpec, histogram: Histogram, tables: Callable[[State], Relations]
) -> list[Check]:
    """Of the values of every sensitive column in groups."""

    def check(item: Sensitive) -> Check:
        def groups(state: State) -> exp.Select:
            by, values = histogram(spec, state, tables(state), item)
            each = query("select sum(h.n) as n, count(*) as size from h", {"h": values})
            return grouped(each, by, "h")

        purpose = f"how many values of {quote(item.published)} groups have"
        return counted(str(item.index)).check(purpose, groups)

    return [check(item) for item in spec.sensitive]


def documents(spec: ReleaseSpec, facts: Facts) -> list[dict[str, Any]]:
    """Of the same, as JSON."""
    smallest = fewest(spec, facts)
    return [
        one
        for item in spec.sensitive
        for one in document(
            counted(str(item.index)),
            facts,
            smallest,
            item.published,
            [item.published],
            "values",
        )
    ]


def evidence_of_values(histogram: Histogram) -> Evidence:
    """None where groups have values that nobody has: counts of people do not follow from them."""

    def steps(
        spec: ReleaseSpec, tables: Callable[[State], Tables], measured: Sequence[Step]
    ) -> tuple[Step, ...]:
        chains = shares.chains(spec, histogram, tables)
        chains += [[check] for check in checks(spec, histogram, tables)]
        return (Parallel("evidence", "figures for a report", chains),) if chains else ()

    def whole(spec: ReleaseSpec, relations: Callable[[State], Relations]) -> list[Step]:
        chains = shares.chains(spec, histogram, relations)
        steps = [step for chain in chains for step in chain]
        return [*steps, *checks(spec, histogram, relations)]

    return Evidence(steps, _document, whole, applies=lambda spec: not spec.invariant)


def _document(spec: ReleaseSpec, facts: Facts, whole: bool) -> dict[str, Any]:
    smallest = spec.policy.report.smallest
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {"release": None, "source": None},
        "sensitive": shares.documents(spec, facts),
        "candidates": documents(spec, facts),
        "attributes": [],
    }
