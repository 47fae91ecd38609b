"""Metrics of a release as tables, from the form in which a version keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.cli import common
from pganon.methods.registry import METHODS

LABELS = {
    "glm": "GLM",
    "precision": "precision",
    "entropy": "entropy lost",
    "rgcp_relative": "RGCP (share)",
    "kl": "KL divergence",
    "links": "right links (centres)",
    "links_box": "right links (values)",
}
PER_ATTRIBUTE = {
    "glm": "GLM",
    "entropy": "entropy lost",
    "height": "height",
    "emd": "EMD",
    "kl": "KL",
    "difference": "difference",
    "half_width": "± 95 %",
    "absolute": "absolute",
}


def show_utility(method: str, utility: Mapping[str, Any]) -> None:
    """The figures of every run, as a version made by `method` remembers them."""
    common.facts(METHODS[method].form.figures.recorded(utility).details())


def show_metrics(metrics: Mapping[str, Any]) -> None:
    """What was measured on request; `metrics` as :class:`pganon.metrics.report.Metrics`."""
    if metrics["attributes"]:
        _show_everything(metrics)
    workload = metrics["workload"]
    if workload:
        _show_workload(workload)


def _show_everything(metrics: Mapping[str, Any]) -> None:
    pairs = {label: _figure(metrics[name]) for name, label in LABELS.items()}
    for column, share in (metrics["vulnerable"] or {}).items():
        pairs[f"vulnerable classes ({column})"] = _figure(share)
    common.facts(pairs)
    common.table(
        ["quasi-identifier", *PER_ATTRIBUTE.values()],
        [
            (name, *[_figure(figures[key]) for key in PER_ATTRIBUTE])
            for name, figures in metrics["attributes"].items()
        ],
        right=list(PER_ATTRIBUTE.values()),
    )


def _show_workload(workload: Mapping[str, Any]) -> None:
    asked = workload["workload"]
    rows = [("count", workload["count"])]
    rows += [(f"sum of {column}", errors) for column, errors in workload["sums"].items()]
    common.table(
        ["answer", "median error", "mean error", "without answer"],
        [(name, _figure(e["median"]), _figure(e["mean"]), e["empty"]) for name, e in rows],
        title=f"{asked['queries']} random queries on {asked['predicates']} quasi-identifiers,"
        f" selectivity {asked['selectivity']:g}, seed {asked['seed']}",
        right=["median error", "mean error", "without answer"],
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
