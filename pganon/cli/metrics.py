"""Figures and metrics of a release, as its form shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pganon.cli import common

if TYPE_CHECKING:
    from pganon.forms.form import PublishedForm
    from pganon.forms.metrics import Metrics


def show_recorded(method: str, measures: Mapping[str, Any]) -> None:
    """Show the statistics that a version made by `method` recorded, and its metrics on request."""
    # Importing all methods takes long, and most commands show no statistics.
    from pganon.methods.registry import methods

    made = methods().get(method)
    if made is None:
        common.facts({"figures": f"not shown: no installed package brings the method {method}"})
        return
    _show_figures(made.form, measures)
    increment = measures.get("increment")
    if increment:
        common.line("of what the version added to the one before, alone:")
        _show_figures(made.form, increment)


def _show_figures(form: PublishedForm, measures: Mapping[str, Any]) -> None:
    if "utility" in measures:
        common.facts(form.statistics.figures.recorded(measures["utility"]).details())
    if measures.get("metrics") and form.statistics.on_request:
        show_metrics(form.statistics.on_request.figures.recorded(measures["metrics"]))


def show_metrics(metrics: Metrics) -> None:
    from pganon.forms.metrics import Grid, Pairs

    for shown in metrics.shown():
        match shown:
            case Pairs(pairs):
                common.facts(pairs)
            case Grid(columns, rows, right, title):
                common.table(columns, rows, title=title, right=right)
