"""The method `slicing`: which steps it adds to a plan.

Li, Li, Zhang and Molloy: Slicing, a new approach for privacy preserving data publishing, TKDE 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.forms.buckets import anatomized
from pganon.methods.base import Method
from pganon.methods.eligibility import ASSUMED
from pganon.methods.mixed import mixed_scales, quasi_scales, sensitive_scales
from pganon.methods.slicing.columns import arrangement, column_steps, settled
from pganon.methods.slicing.options import Slicing
from pganon.methods.slicing.shape import SlicingShape
from pganon.methods.slicing.tree import tree_steps
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = SlicingShape(spec)
    return (*column_steps(shape), *tree_steps(shape))


def assumed(spec: ReleaseSpec) -> dict[str, int]:
    """What `explain` supposes of a run."""
    return {**ASSUMED, "cut_rounds": 1}


def warnings(spec: ReleaseSpec, facts: Mapping[str, Any]) -> list[str]:
    options = SlicingShape(spec).options
    lists = isinstance(options.columns, tuple)
    compared = [] if lists else [[*quasi_scales(spec), *sensitive_scales(spec)]]
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slicing,
    anatomized(arrangement, groups="buckets", settled=settled, warnings=warnings),
    partition_steps,
    assumed,
)
