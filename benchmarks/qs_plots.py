"""Plots of the benchmark of QS k-anonymity, with the loss of its paper, that of taxonomies."""

from __future__ import annotations

from pathlib import Path

from benchmarks.benchmark import Row
from benchmarks.plots import Panel, write
from benchmarks.qs_names import TAXONOMIES, K

_SECONDS = "time of the run (seconds, log scale)"
# By file: the part, both axes with their labels, and the title.
_FILES = {
    "gcp-by-k": ("by_k", "k", "gcp", "k", "GCP (share, 0 to 1)", "Adult"),
    "seconds-by-k": ("by_k", "k", "seconds", "k", _SECONDS, "Adult"),
    "loss-by-size": (
        *("by_size", "rows", "ncp_total", "records", "total NCP (sum over records)"),
        f"Subsets of Adult, k = {K}",
    ),
    "seconds-by-attributes": (
        *("by_attributes", "attributes", "seconds", "attributes per QS set", _SECONDS),
        f"Adult, k = {K}",
    ),
}


def draw(found: Row, folder: Path) -> None:
    for name, (part, x, y, x_label, y_label, title) in _FILES.items():
        rows = [
            row for row in found.get(part, ()) if row["loss"] == TAXONOMIES and "refused" not in row
        ]
        if rows:
            logarithmic = y == "seconds"
            panel = Panel(rows, x, y, x_label, y_label, title, logarithmic)
            write([[panel]], _label, folder / f"qs-{name}.png", size=(9, 5))


def _label(row: Row) -> str:
    return f"{row['method']}; {row['count']}"
