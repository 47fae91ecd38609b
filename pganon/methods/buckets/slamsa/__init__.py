"""The method `slamsa`: its steps of a plan, and its form.

Anatomization with slicing for several sensitive columns (SpringerPlus 2016). Associated sensitive
columns share a table. Records are divided into buckets of similar quasi-identifiers by a firefly
search that starts from a median tree and is never worse.
"""

from __future__ import annotations

from dataclasses import replace

from pganon.forms.work import GROUPED
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.invariance import counterfeits
from pganon.methods.buckets.invariance.groups import COUNTERFEITS
from pganon.methods.buckets.scales import mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.buckets.slamsa.blocks import block_steps
from pganon.methods.buckets.slamsa.buckets import bucket_steps
from pganon.methods.buckets.slamsa.columns import arrangement, column_steps, static_columns
from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.methods.buckets.slamsa.invariant import invariant_bucket_steps
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.buckets.slamsa.strata import eligibility, stratum_steps
from pganon.methods.common.base import Method
from pganon.methods.common.division import sensitive_static, undecided
from pganon.methods.common.form.grouping import NUMBERED
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, Step
from pganon.steps.facts import Facts


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the buckets of all partitions."""
    context = SlamsaContext(spec)
    first = invariant_bucket_steps(context) if context.m_invariant else eligibility(context).steps()
    steps = [
        *column_steps(context),
        *stratum_steps(context),
        *first,
        Scope("what the blocks were made from", block_steps(context), keeps=["blocked"]),
        *bucket_steps(context),
    ]
    return (Scope("what the buckets were made from", steps, keeps=[GROUPED, COUNTERFEITS]),)


BUCKETS = replace(
    NUMBERED, counterfeits=lambda spec, state: counterfeits(state) if spec.signatures else None
)
"""With counterfeits under m-invariance."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    options = SlamsaContext(spec).options
    compared = [] if sensitive_static(spec) else [sensitive_scales(spec)]
    if undecided(options.quasi_tables, len(spec.attributes)):
        compared.append(quasi_scales(spec))
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slamsa,
    anatomized(
        arrangement,
        groups="buckets",
        buckets=BUCKETS,
        static_columns=static_columns,
        warnings=warnings,
    ),
    partition_steps,
)
