"""The method `sloms`: classes of generalized quasi-identifiers, buckets of sensitive values.

SLOMS (Han et al. 2013), a baseline for several sensitive columns: associated columns share a table,
every table has separate groups in which values differ (MSB), and quasi-identifiers are
generalized to k-anonymous classes (KACA).
"""

from __future__ import annotations

from pganon.forms.work import GROUPED
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.partitions import joined
from pganon.methods.buckets.scales import mixed_scales, sensitive_scales
from pganon.methods.buckets.sloms.buckets import bucket_steps, tables
from pganon.methods.buckets.sloms.classes import class_steps, classes
from pganon.methods.buckets.sloms.context import SlomsContext
from pganon.methods.buckets.sloms.options import Sloms
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.base import Method
from pganon.methods.common.division import division_steps, sensitive_static, sensitive_tables
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, State, Step, table
from pganon.steps.facts import Facts


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One generalized QIT, and STs with separate buckets."""
    return arranged(
        spec,
        [spec.attributes],
        sensitive_tables(spec, state),
        aligned=False,
        generalized=True,
    )


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the tables of the columns."""
    return sensitive_static(spec)


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to classes and the buckets of all sensitive tables."""
    context = SlomsContext(spec)
    steps = [
        *division_steps(
            spec,
            independent=True,
            hint="list them in one of sensitive_tables, or use the method slamsa with profile:"
            " aligned",
        ),
        *context.eligibility.steps(),
        *bucket_steps(context),
        *class_steps(context),
        table(
            "grouped",
            "the class and the buckets of every record",
            lambda s: joined([classes(s), *tables(context, s)]),
            into=GROUPED,
        ),
    ]
    return (Scope("what they were made from", steps, keeps=[GROUPED]),)


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    compared = [] if static_columns(spec) else [sensitive_scales(spec)]
    return mixed_scales(SlomsContext(spec).options.association, compared)


METHOD = Method(
    Sloms,
    anatomized(
        arrangement,
        groups="classes",
        generalized=True,
        static_columns=static_columns,
        warnings=warnings,
    ),
    partition_steps,
)
