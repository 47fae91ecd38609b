"""The parts of a release specification that the steps of slicing read."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.methods.buckets.slicing.options import Slicing
from pganon.methods.common.context import MethodContext


@dataclass(frozen=True)
class SlicingContext(MethodContext[Slicing]):
    """A release with slicing."""

    kind = Slicing
