"""Evidence of forms that publish exact quasi-identifiers: what groups say of sensitive values.

How many people look the same is no matter of their groups, so it has no sizes, and distributions of
quasi-identifiers are those of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pganon.forms.form import Evidence, Histogram, Relations, Tables
from pganon.metrics.evidence import candidates, shares
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Parallel, State, Step
from pganon.steps.facts import Facts


def evidence_of_values(histogram: Histogram) -> Evidence:
    """None where groups have values that nobody has: counts of people do not follow from them."""

    def steps(
        spec: ReleaseSpec, tables: Callable[[State], Tables], measured: Sequence[Step]
    ) -> tuple[Step, ...]:
        chains = shares.chains(spec, histogram, tables)
        chains += [[check] for check in candidates.checks(spec, histogram, tables)]
        return (Parallel("evidence", "figures for a report", chains),) if chains else ()

    def whole(spec: ReleaseSpec, relations: Callable[[State], Relations]) -> list[Step]:
        chains = shares.chains(spec, histogram, relations)
        steps = [step for chain in chains for step in chain]
        return [*steps, *candidates.checks(spec, histogram, relations)]

    return Evidence(steps, _document, whole, _document, applies=lambda spec: not spec.invariant)


def _document(spec: ReleaseSpec, facts: Facts) -> dict[str, Any]:
    smallest = spec.policy.report.smallest
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {"release": None, "source": None},
        "sensitive": shares.documents(spec, facts),
        "candidates": candidates.documents(spec, facts),
        "attributes": [],
    }
