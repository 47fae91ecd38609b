"""Plots of the benchmark of identity reservation.

One file per parameter: l, alpha and beta, number of quasi-identifiers; in it one panel per figure.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.benchmark import Row
from benchmarks.plots import Panel, write

_FIGURES = {
    "nloss": "NLoss (share)",
    "v": "vulnerable classes (share)",
    "error": "mean relative error of queries",
}
_EIR_MODELS = "EIR l, and IR (k, l) with k = l"
# By file: the part, what varies, the title, and the rows that differ in nothing else.
_FILES: dict[str, list[tuple[str, str, str, Callable[[Row], bool]]]] = {
    "by-l": [("by_l", "l", _EIR_MODELS, lambda row: True)],
    "by-quasi": [("by_quasi", "quasi", _EIR_MODELS, lambda row: True)],
    "by-alpha-beta": [
        ("by_shares", "alpha", "(alpha, beta), beta = 0.4", lambda row: row["beta"] == 0.4),
        ("by_shares", "beta", "(alpha, beta), alpha = 0.6", lambda row: row["alpha"] == 0.6),
    ],
}


def draw(found: Row, folder: Path) -> None:
    for name, lines in _FILES.items():
        grid = [
            [
                Panel(rows, by, what, by, label, f"INFORMS 2005: {title}")
                for what, label in _FIGURES.items()
            ]
            for part, by, title, chosen in lines
            if (rows := [row for row in found.get(part, ()) if chosen(row)])
        ]
        if grid:
            write(grid, _label, folder / f"identity-{name}.png")


def _label(row: Row) -> str:
    model = "EIR" if row["model"].startswith("eir") else "IR"
    method, _, trees = row["method"].partition(", ")
    return f"{method}, {model}" + (", hierarchies" if trees else "")
