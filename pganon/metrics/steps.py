"""Steps of the metrics on request, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Callable

from pganon.encode.axis import axes
from pganon.forms.form import Description, Tables
from pganon.forms.request import Request
from pganon.metrics import (
    classification,
    coverage,
    distribution,
    information,
    linkage,
    loss,
    source,
    workload,
)
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Check, State, Step


def measure_steps(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    request: Request,
) -> tuple[Step, ...]:
    """Steps with facts for :mod:`pganon.metrics.report`; `tables` are the staged relations."""
    made: list[Step] = [*source.steps(spec, description)]
    made += coverage.steps(spec, description.shown, tables)
    if request.everything:
        made += _everything(spec, description, tables, request)
    if request.workload is not None:
        made += workload.steps(spec, description, tables, request.workload)
    if request.classify is not None:
        made += classification.steps(spec, description, request.classify)
    return tuple(made)


def _everything(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    request: Request,
) -> list[Step]:
    return [
        Check(
            "metric_loss",
            "GLM and generalization height",
            lambda s: loss.further(spec, description, s),
            gives=loss.further_facts(spec),
        ),
        Check(
            "metric_entropy",
            "non-uniform entropy",
            lambda s: information.entropy(spec, s),
            gives=information.entropy_facts(spec),
        ),
        Check(
            "metric_vulnerable",
            "classes in which one sensitive value is too frequent",
            lambda s: information.vulnerable(spec, description, tables(s), request.vulnerable),
            gives=information.vulnerable_facts(spec),
        ),
        *distribution.steps(axes(spec.attributes)),
        Check(
            "metric_divergence",
            "divergence of the combinations of values",
            lambda s: information.divergence(spec, s),
            gives=[information.KL, information.UNCOVERED],
        ),
        *linkage.steps(spec),
    ]
