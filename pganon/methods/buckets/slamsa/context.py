"""The parts of a release specification that the steps of SLAMSA read."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.common.context import MethodContext
from pganon.methods.common.eligibility import Frequency
from pganon.privacy.frequency import FrequencyLDiversity

WORTHWHILE = 50_000
"""Most records that `optimizer: auto` searches with fireflies; its time is linear in them."""


@dataclass(frozen=True)
class SlamsaContext(MethodContext[Slamsa]):
    """A release with SLAMSA."""

    kind = Slamsa

    @property
    def aligned(self) -> bool:
        return self.options.profile == "aligned"

    @property
    def public(self) -> bool:
        """Whether blocks follow from published relations: `division: public`."""
        return self.options.division == "public"

    @property
    def minimum_size(self) -> int:
        """Fewest records of a bucket."""
        return self.spec.minimum_size

    @property
    def distinct(self) -> bool:
        """Whether all values of a bucket differ in every column, as m-invariance needs."""
        return self.spec.invariant

    @property
    def of_columns(self) -> list[Frequency]:
        """Conditions on single columns, the strictest of each.

        Where all values of a bucket differ, every column has the strictest condition of all.
        """
        if self.distinct:
            return [self.frequency(item.index, self.l) for item in self.spec.sensitive]
        strictest = sorted(self.strictest.items())
        return [self.frequency(i, l) for i, l in strictest]  # noqa: E741

    @property
    def of_tables(self) -> int | None:
        """The l that whole sensitive tables must have, None if it is not asked for."""
        return max(
            (
                requirement.model.l
                for requirement in self.spec.requirements
                if requirement.sensitive is None
                and isinstance(requirement.model, FrequencyLDiversity)
            ),
            default=None,
        )

    def swarm(self, released: int) -> bool:
        """Whether fireflies search in addition to the median tree, with so many records."""
        optimizer = self.options.optimizer
        return optimizer == "firefly" or (optimizer == "auto" and released <= WORTHWHILE)
