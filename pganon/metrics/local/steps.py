"""What is measured on request of local generalization and bucketization.

What every run measures is not measured again; the facts here are what it takes beside that.
"""

from __future__ import annotations

from collections.abc import Callable

from pganon.metrics import coverage
from pganon.metrics.local import relations, workload
from pganon.metrics.local.relations import Parts
from pganon.metrics.local.report import workload_of
from pganon.metrics.source import place_steps
from pganon.published.form import Tables
from pganon.published.request import Request
from pganon.spec.model import ReleaseSpec
from pganon.steps import State, Step


def measure_steps(
    spec: ReleaseSpec, parts: Parts, tables: Callable[[State], Tables], request: Request
) -> tuple[Step, ...]:
    """Steps whose facts :mod:`pganon.metrics.local.report` reads."""
    if request.workload is None:
        return ()
    return (
        *place_steps(spec),
        *coverage.steps(spec, lambda spec, t: relations.shown(spec, parts, t), tables),
        *relations.steps(spec, parts, tables),
        *workload.steps(spec, workload_of(spec, request.workload)),
    )
