"""Metrics of local generalization and bucketization that are measured on request.

Facts that every run observes are not measured again.
"""

from __future__ import annotations

from collections.abc import Callable

from pganon.forms.form import Tables
from pganon.forms.request import Request
from pganon.methods.local.metrics import relations, workload
from pganon.methods.local.metrics.relations import Parts
from pganon.methods.local.metrics.report import workload_of
from pganon.metrics import coverage
from pganon.metrics.source import place_steps
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State, Step


def measure_steps(
    spec: ReleaseSpec, parts: Parts, tables: Callable[[State], Tables], request: Request
) -> tuple[Step, ...]:
    """Steps whose facts :mod:`pganon.methods.local.metrics.report` reads."""
    if request.workload is None:
        return ()
    return (
        *place_steps(spec),
        *coverage.steps(spec, lambda spec, t: relations.shown(spec, parts, t), tables),
        *relations.steps(spec, parts, tables),
        *workload.steps(spec, workload_of(spec, request.workload)),
    )
