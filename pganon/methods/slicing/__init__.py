"""The method `slicing`: which steps it adds to a plan.

Li, Li, Zhang and Molloy: Slicing, a new approach for privacy preserving data publishing, TKDE 2012.
"""

from __future__ import annotations

from pganon.methods.eligibility import ASSUMED
from pganon.methods.slicing.columns import arrangement, column_steps, settled
from pganon.methods.slicing.shape import Shape
from pganon.methods.slicing.tree import tree_steps
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    shape = Shape(spec)
    return (*column_steps(shape), *tree_steps(shape))


def assumed(spec: ReleaseSpec) -> dict[str, int]:
    """What `explain` supposes of a run."""
    return {**ASSUMED, "cut_rounds": 1}


__all__ = ["arrangement", "assumed", "partition_steps", "settled"]
