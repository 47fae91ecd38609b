"""Local generalization and bucketization (LGB; Li, He and Sun).

Every person decides which values are sensitive. Values that are not are generalized in groups of k
or more records that show the same columns; the others are replaced by the number of a bucket, whose
values are published apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pganon.methods.common.base import Method
from pganon.methods.local.aligned import aligned_steps
from pganon.methods.local.buckets import bucket_chains
from pganon.methods.local.displays import display_steps
from pganon.methods.local.eligible import eligible_steps
from pganon.methods.local.equal import equal_steps
from pganon.methods.local.form import LOCAL
from pganon.methods.local.form.staging import bucket_steps, group_steps
from pganon.methods.local.grouped import grouped_steps, numbered
from pganon.methods.local.linked import link_steps
from pganon.methods.local.medians import median_steps
from pganon.methods.local.nearest import nearest_steps
from pganon.methods.local.options import (
    LgbMdp,
    LgbNcp,
    LocalBucketization,
    LocalGeneralization,
)
from pganon.methods.local.shape import Shape
from pganon.methods.local.single import single_chains
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Parallel, Step

Groups = Callable[[Shape], list[Step]]


@dataclass(frozen=True)
class _Buckets:
    """From `placed` to the buckets.

    Attributes:
        first: what is known of all columns before there are any.
        chains: for every column.
        common: for columns that have theirs in common.
    """

    first: list[Step]
    chains: list[list[Step]]
    common: list[Step]


def _partition(
    buckets: Callable[[Shape], _Buckets], groups: Groups
) -> Callable[[ReleaseSpec], tuple[Step, ...]]:
    def steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        shape = Shape(spec)
        return (
            *display_steps(shape),
            _both(shape, buckets(shape), groups(shape)),
            *grouped_steps(shape),
        )

    return steps


def _both(shape: Shape, buckets: _Buckets, groups: list[Step]) -> Parallel:
    """Neither buckets nor groups look at what the others make, nor may they."""
    layout, method = shape.layout, numbered(shape)
    chains: list[list[Step]] = [[*groups, *group_steps(layout)], buckets.first]
    published = [bucket_steps(layout, item, method) for item in shape.spec.sensitive]
    first = len(chains)
    if buckets.common:
        chains += [*buckets.chains, buckets.common]
        after = {number: [1] for number in range(first, len(chains))}
        after[len(chains)] = [*after]
        chains.append([step for steps in published for step in steps])
    else:
        chains += [[*own, *then] for own, then in zip(buckets.chains, published, strict=True)]
        after = {number: [1] for number in range(first, len(chains))}
    # Columns that everybody hides have the most values.
    early = [first + item.index for item in shape.spec.sensitive if item.hidden is None]
    return Parallel("both", "buckets and groups", chains, [0, 1, *early], after)


def _bucket_steps(shape: Shape) -> _Buckets:
    first = [*eligible_steps(shape), *link_steps(shape)]
    return _Buckets(first, bucket_chains(shape), aligned_steps(shape))


def _single_steps(shape: Shape) -> _Buckets:
    return _Buckets([], single_chains(shape), [])


MDP = Method(LgbMdp, LOCAL, _partition(_bucket_steps, median_steps))
NCP = Method(LgbNcp, LOCAL, _partition(_bucket_steps, nearest_steps))
BUCKETS = Method(LocalBucketization, LOCAL, _partition(_bucket_steps, equal_steps))
GROUPS = Method(LocalGeneralization, LOCAL, _partition(_single_steps, median_steps))
