"""What of a release the steps of slicing look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.methods.shape import MethodShape
from pganon.methods.slicing.options import Slicing


@dataclass(frozen=True)
class SlicingShape(MethodShape[Slicing]):
    kind = Slicing
