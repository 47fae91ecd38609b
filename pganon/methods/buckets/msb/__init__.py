"""The method `msb`: groups of records that differ in every sensitive column.

Multi-sensitive bucketization (Yang et al. 2008), the baseline for several sensitive columns. It
ignores quasi-identifiers, and its greedy choice may leave records without a group.

    grouped    (rid, b0)    the group of every record that has one
"""

from __future__ import annotations

from dataclasses import dataclass

from pganon.encode.work import CODED
from pganon.forms.work import GROUPED
from pganon.methods.buckets.bucketization import (
    Bucketization,
    leftover_check,
    vector_columns,
    vectors,
)
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.msb.options import Msb
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.base import Method
from pganon.methods.common.context import MethodContext
from pganon.methods.common.eligibility import Eligibility
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, State, Step, table


@dataclass(frozen=True)
class MsbContext(MethodContext[Msb]):
    """A release with MSB."""

    kind = Msb

    @property
    def size(self) -> int:
        """Records of a group when it is made: no value twice, so the strictest column decides."""
        return max(self.l, self.spec.minimum_size)

    @property
    def eligibility(self) -> Eligibility:
        """Necessary conditions, which are not sufficient."""
        frequencies = [self.frequency(item.index, self.l) for item in self.spec.sensitive]
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work(CODED),
            keep=lambda s: vector_columns(self.spec.sensitive),
            conditions=lambda s: frequencies,
            model="slicing_l_diversity",
            minimum=self.size,
        )


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One QIT, and one ST with all sensitive columns."""
    return arranged(spec, [spec.attributes], [spec.sensitive])


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to `grouped`."""
    context = MsbContext(spec)
    groups = Bucketization(
        vectors=lambda s: s.work("vectors"),
        table=lambda s: s.work(GROUPED),
        place=0,
        items=lambda s: spec.sensitive,
        size=lambda s: context.size,
        block_size=context.options.block_size,
        priority=context.options.priority,
    )
    steps = [
        *context.eligibility.steps(),
        table(
            "vectors",
            "sensitive values of the records, in random order",
            lambda s: vectors(spec, context.eligibility.kept(s), groups.block_size),
        ),
        groups.step("groups"),
        leftover_check(spec, groups.table, context.l),
    ]
    return (Scope("what the groups were made from", steps, keeps=[GROUPED]),)


METHOD = Method(
    Msb,
    anatomized(arrangement, groups="groups"),
    partition_steps,
)
