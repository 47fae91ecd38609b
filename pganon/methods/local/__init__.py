"""Local generalization and bucketization (LGB; Li, He and Sun).

Every person decides which values are sensitive. Values that are not are generalized in groups of k
or more records that show the same columns; the others are replaced by the number of a bucket, whose
values are published apart.
"""

from __future__ import annotations

from collections.abc import Callable

from pganon.forms.local import LOCAL
from pganon.methods.base import Method
from pganon.methods.local.aligned import aligned_steps
from pganon.methods.local.buckets import bucket_chains
from pganon.methods.local.displays import display_steps
from pganon.methods.local.eligible import eligible_chains
from pganon.methods.local.equal import equal_steps
from pganon.methods.local.grouped import grouped_steps
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
from pganon.methods.local.single import single_steps
from pganon.spec.model import ReleaseSpec
from pganon.steps import Parallel, Step

Half = Callable[[Shape], list[Step]]


def _partition(buckets: Half, groups: Half) -> Callable[[ReleaseSpec], tuple[Step, ...]]:
    def steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        shape = Shape(spec)
        return (
            *display_steps(shape),
            # Neither looks at what the other makes, nor may it.
            Parallel("both", "buckets and groups", [buckets(shape), groups(shape)]),
            *grouped_steps(shape),
        )

    return steps


def _bucket_steps(shape: Shape) -> list[Step]:
    """From `placed` to the buckets of all columns."""
    chains = bucket_chains(shape)
    if aligned := aligned_steps(shape):
        chains.append(aligned)
    return [
        Parallel("eligible", "hidden values of every column", eligible_chains(shape)),
        *link_steps(shape),
        Parallel("buckets", "buckets of hidden values", chains),
    ]


MDP = Method(LgbMdp, LOCAL, _partition(_bucket_steps, median_steps))
NCP = Method(LgbNcp, LOCAL, _partition(_bucket_steps, nearest_steps))
BUCKETS = Method(LocalBucketization, LOCAL, _partition(_bucket_steps, equal_steps))
GROUPS = Method(LocalGeneralization, LOCAL, _partition(single_steps, median_steps))
