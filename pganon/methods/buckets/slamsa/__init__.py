"""The method `slamsa`: which steps it adds to a plan.

Anatomization with slicing for several sensitive columns (SpringerPlus 2016): sensitive columns
that are associated share a table, and records are divided into buckets of similar
quasi-identifiers by a firefly search that starts from a median tree and is never worse.
"""

from __future__ import annotations

from dataclasses import replace

from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.invariance import counterfeits
from pganon.methods.buckets.mixed import mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.buckets.slamsa.blocks import block_steps
from pganon.methods.buckets.slamsa.buckets import bucket_steps
from pganon.methods.buckets.slamsa.columns import arrangement, column_steps, settled
from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.methods.buckets.slamsa.invariant import tidy_step, vector_steps
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.buckets.slamsa.strata import eligibility, stratum_steps
from pganon.methods.common.base import Method
from pganon.methods.common.division import sensitive_settled, undecided
from pganon.methods.common.form.bucket_staging import NUMBERED
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Step
from pganon.steps.facts import Facts


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = SlamsaContext(spec)
    first = vector_steps(context) if context.has_signatures else eligibility(context).steps()
    return (
        *column_steps(context),
        *stratum_steps(context),
        *first,
        *block_steps(context),
        *bucket_steps(context),
        *([tidy_step(context)] if context.has_signatures else []),
    )


BUCKETS = replace(
    NUMBERED, counterfeits=lambda spec, state: counterfeits(state) if spec.signatures else None
)
"""With values that nobody has, where people keep their signatures."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    options = SlamsaContext(spec).options
    compared = [] if sensitive_settled(spec) else [sensitive_scales(spec)]
    if undecided(options.quasi_tables, len(spec.attributes)):
        compared.append(quasi_scales(spec))
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slamsa,
    anatomized(arrangement, groups="buckets", buckets=BUCKETS, settled=settled, warnings=warnings),
    partition_steps,
)
