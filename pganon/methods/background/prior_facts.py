"""Facts that runs observe of priors, and warnings about them."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.identifiers import quote
from pganon.policy.knowledge import Kernel
from pganon.resolved.model import Attribute, ReleaseSpec, Scale
from pganon.steps.facts import Facts, count

UNEXPECTED = count("unexpected", assumed=0)
"""Records whose sensitive value has probability 0 in the prior that a relation gives them."""


def prior_warnings(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """Warn of a relation of priors that rules out values which records have."""
    records = facts.get(UNEXPECTED)
    if records and spec.prior is not None:
        yield (
            f"{spec.prior.name} gives probability 0 to the sensitive value of {records} records:"
            " about these its priors are wrong"
        )


def needs_equality(kernel: Kernel, attribute: Attribute) -> bool:
    """Whether a kernel compares only people who have the same value."""
    return attribute.scale is Scale.NOMINAL and kernel.bandwidth_of(attribute.column.name) <= 1


def more_alike(spec: ReleaseSpec) -> str | None:
    """Changes of a policy that make estimated priors more alike, so that clusters grow."""
    knowledge = spec.background and spec.background.knowledge
    if not knowledge:
        return None
    if knowledge.cells is not None:
        return "more pseudo_records"
    if knowledge.kernel is None:
        return None
    apart = [quote(a.column.name) for a in spec.attributes if needs_equality(knowledge.kernel, a)]
    if not apart:
        return "a larger bandwidth"
    return f"a bandwidth above 1 for {' and '.join(apart)}, of which now only equal values count"


NUMBER_OF_CELLS = count("qi_cells", assumed=40)
"""Combinations of quasi-identifiers that occur."""

NUMBER_OF_VECTORS = count("vectors", assumed=40)
"""Distinct priors."""

LOST = count("lost", "kept_", assumed=0)
"""Records in clusters that have no classes."""

NEEDED = count("needed", "kept_", assumed=2)
"""Fewest records of a class that has the rarest value; 0 where no value is bounded by its share."""
