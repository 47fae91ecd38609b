"""What of a release the steps of slicing look at."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.methods.buckets.slicing.options import Slicing
from pganon.methods.common.context import MethodContext


@dataclass(frozen=True)
class SlicingContext(MethodContext[Slicing]):
    kind = Slicing
