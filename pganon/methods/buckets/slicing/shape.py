"""What of a release the steps of slicing look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.methods.buckets.slicing.options import Slicing
from pganon.methods.common.shape import MethodShape


@dataclass(frozen=True)
class SlicingShape(MethodShape[Slicing]):
    kind = Slicing
