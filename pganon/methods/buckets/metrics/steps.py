"""Metrics of tables linked by buckets that are measured on request."""

from __future__ import annotations

from collections.abc import Callable

from pganon.forms.form import Tables
from pganon.forms.request import Request
from pganon.methods.buckets.metrics import membership, parts, reconstruction, sizes, workload
from pganon.methods.common.arrangement import Arrange
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State, Step


def measure_steps(
    spec: ReleaseSpec, arrange: Arrange, tables: Callable[[State], Tables], request: Request
) -> tuple[Step, ...]:
    """Steps whose facts :mod:`pganon.methods.buckets.metrics.report` reads."""
    arranged = parts.parts_of(spec, arrange)
    steps: list[Step] = parts.steps(spec, arranged, tables)
    if request.everything:
        steps += reconstruction.steps(spec, arranged)
        steps += membership.steps(spec, arranged)
        steps += sizes.steps(arranged)
    if request.workload is not None:
        steps += workload.steps(spec, arranged, request.workload)
    return tuple(steps)
