"""Figures and metrics of a release, as its form shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.cli import common
from pganon.methods.registry import methods
from pganon.published.metrics import Grid, Metrics, Pairs


def show_utility(method: str, utility: Mapping[str, Any]) -> None:
    """The figures of every run, as a version made by `method` remembers them."""
    common.facts(methods()[method].form.figures.recorded(utility).details())


def recorded_metrics(method: str, metrics: Mapping[str, Any]) -> Metrics:
    """What was measured on request, as a version made by `method` remembers it."""
    form = methods()[method].form.metrics
    assert form is not None
    return form.figures.recorded(metrics)


def show_metrics(metrics: Metrics) -> None:
    for shown in metrics.shown():
        match shown:
            case Pairs(pairs):
                common.facts(pairs)
            case Grid(columns, rows, right, title):
                common.table(columns, rows, title=title, right=right)
