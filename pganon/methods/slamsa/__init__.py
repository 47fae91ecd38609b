"""The method `slamsa`: which steps it adds to a plan.

Anatomization with slicing for several sensitive columns (SpringerPlus 2016): sensitive columns
that are associated share a table, and records are divided into buckets of similar
quasi-identifiers by a firefly search that starts from a median tree and is never worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.forms.buckets import anatomized
from pganon.methods.base import Method
from pganon.methods.division import sensitive_settled, undecided
from pganon.methods.eligibility import ASSUMED
from pganon.methods.mixed import mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.slamsa.blocks import block_steps
from pganon.methods.slamsa.buckets import bucket_steps
from pganon.methods.slamsa.columns import arrangement, column_steps, settled
from pganon.methods.slamsa.options import Slamsa
from pganon.methods.slamsa.shape import SlamsaShape
from pganon.methods.slamsa.strata import eligibility, stratum_steps
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = SlamsaShape(spec)
    return (
        *column_steps(shape),
        *stratum_steps(shape),
        *eligibility(shape).steps(),
        *block_steps(shape),
        *bucket_steps(shape),
    )


def assumed(spec: ReleaseSpec) -> dict[str, int]:
    """What `explain` supposes of a run."""
    return {**ASSUMED, "blocks": 2, "oversized": False}


def warnings(spec: ReleaseSpec, facts: Mapping[str, Any]) -> list[str]:
    options = SlamsaShape(spec).options
    compared = [] if sensitive_settled(spec) else [sensitive_scales(spec)]
    if undecided(options.quasi_tables, len(spec.attributes)):
        compared.append(quasi_scales(spec))
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slamsa,
    anatomized(arrangement, groups="buckets", settled=settled, warnings=warnings),
    partition_steps,
    assumed,
)
