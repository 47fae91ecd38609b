"""What runs observe of priors, and what they warn of."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.spec.model import ReleaseSpec
from pganon.steps.facts import Facts, count

UNEXPECTED = count("unexpected", assumed=0)
"""Records whose sensitive value has probability 0 in the prior that a relation gives them."""


def prior_warnings(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """That a relation of priors rules out what the records have."""
    found = facts.get(UNEXPECTED)
    if found and spec.prior is not None:
        yield (
            f"{spec.prior.name} gives probability 0 to the sensitive value of {found} records:"
            " about these its priors are wrong"
        )


NUMBER_OF_CELLS = count("qi_cells", assumed=40)
"""Combinations of quasi-identifiers that occur."""

NUMBER_OF_VECTORS = count("vectors", assumed=40)
"""Distinct priors."""

NEEDED = count("needed", "kept_", assumed=2)
"""Fewest records of a class that has the rarest value; 0 where no value is bounded by its share."""
