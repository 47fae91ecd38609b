"""The parts of a release specification that the steps of SLOMS read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pganon.encode.work import CODED
from pganon.methods.buckets.bucketization import vector_columns
from pganon.methods.buckets.sloms.options import Sloms
from pganon.methods.common.context import MethodContext
from pganon.methods.common.division import sensitive_tables
from pganon.methods.common.eligibility import Eligibility, Frequency
from pganon.privacy.frequency import BucketSize, KAnonymity
from pganon.resolved.model import Sensitive
from pganon.steps import State


@dataclass(frozen=True)
class SlomsContext(MethodContext[Sloms]):
    """A release with SLOMS."""

    kind = Sloms

    @property
    def k(self) -> int:
        """Fewest records of a class: the k of k-anonymity, or else the largest l."""
        models = [r.model for r in self.spec.requirements]
        return max((m.k for m in models if isinstance(m, KAnonymity)), default=self.l)

    @property
    def minimum_size(self) -> int:
        """Fewest records of a release."""
        return max(self.k, self.spec.minimum_size)

    def least(self, table: Sequence[Sensitive]) -> int:
        """The l of a table: groups have no value twice in any of its columns.

        A table without a requirement has the largest l, since it is unlinked all the same.
        """
        asked = [self.strictest[item.index] for item in table if item.index in self.strictest]
        return max(asked, default=self.l)

    def size(self, table: Sequence[Sensitive]) -> int:
        """Records of a group of a table when it is made."""
        models = [r.model for r in self.spec.requirements]
        sizes = [m.k for m in models if isinstance(m, BucketSize)]
        return max([self.least(table), *sizes])

    @property
    def eligibility(self) -> Eligibility:
        """Necessary conditions, which are not sufficient."""
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work(CODED),
            keep=lambda s: vector_columns(self.spec.sensitive),
            conditions=self._conditions,
            model="slicing_l_diversity",
            minimum=self.minimum_size,
        )

    def _conditions(self, state: State) -> list[Frequency]:
        return [
            self.frequency(item.index, self.least(table))
            for table in sensitive_tables(self.spec, state)
            for item in table
        ]
