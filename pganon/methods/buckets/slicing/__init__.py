"""The method `slicing`: its steps of a plan, and its form.

Li, Li, Zhang and Molloy: Slicing, a new approach for privacy preserving data publishing, TKDE 2012.
"""

from __future__ import annotations

from pganon.forms.work import GROUPED
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.scales import mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.buckets.slicing.columns import arrangement, column_steps, static_columns
from pganon.methods.buckets.slicing.context import SlicingContext
from pganon.methods.buckets.slicing.options import Slicing
from pganon.methods.buckets.slicing.tree import tree_steps
from pganon.methods.common.base import Method
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, Step
from pganon.steps.facts import Facts


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the bucket of every record."""
    context = SlicingContext(spec)
    steps = [*column_steps(context), *tree_steps(context)]
    return (Scope("what the buckets were made from", steps, keeps=[GROUPED]),)


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    options = SlicingContext(spec).options
    lists = isinstance(options.columns, tuple)
    compared = [] if lists else [[*quasi_scales(spec), *sensitive_scales(spec)]]
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slicing,
    anatomized(arrangement, groups="buckets", static_columns=static_columns, warnings=warnings),
    partition_steps,
)
