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
from pganon.methods.local.buckets import bucket_steps
from pganon.methods.local.displays import display_steps
from pganon.methods.local.eligible import eligible_steps
from pganon.methods.local.equal import equal_steps
from pganon.methods.local.grouped import grouped_steps
from pganon.methods.local.linked import link_steps
from pganon.methods.local.medians import median_steps
from pganon.methods.local.nearest import nearest_steps
from pganon.methods.local.options import LgbMdp, LgbNcp, LocalBucketization
from pganon.methods.local.shape import Shape
from pganon.spec.model import ReleaseSpec
from pganon.steps import Parallel, Step

Grouping = Callable[[Shape], list[Step]]


def _partition(grouping: Grouping) -> Callable[[ReleaseSpec], tuple[Step, ...]]:
    def steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        shape = Shape(spec)
        return (
            *display_steps(shape),
            Parallel("eligible", "hidden values of every column", eligible_steps(shape)),
            *link_steps(shape),
            Parallel("buckets", "buckets of hidden values", _bucket_chains(shape)),
            *grouping(shape),
            *grouped_steps(shape),
        )

    return steps


def _bucket_chains(shape: Shape) -> list[list[Step]]:
    aligned = aligned_steps(shape)
    return [*bucket_steps(shape), *([aligned] if aligned else [])]


MDP = Method(LgbMdp, LOCAL, _partition(median_steps))
BUCKETS = Method(LocalBucketization, LOCAL, _partition(equal_steps))
NCP = Method(LgbNcp, LOCAL, _partition(nearest_steps))
