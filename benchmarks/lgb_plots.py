"""Plots of the benchmark of local generalization and bucketization."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.benchmark import Row
from benchmarks.plots import Panel, write

_LOSSES = {"c_dm": "C_DM", "ncp": "NCP (share of what can be lost)"}
_ERRORS = {
    "r_error": "mean R_error",
    "r_error_median": "median R_error",
    "estimate_median": "median error of the estimate",
}


def draw(found: Row, folder: Path) -> None:
    """A row of panels per table, or per parameter that does not vary."""
    least = min((row["l"] for row in found.get("by_k", ())), default=None)
    losses = [row for row in found.get("by_k", ()) if row["l"] == least]
    for rows, names, figures, by, file in (
        (losses, ("table",), _LOSSES, "k", "lgb-by-k.png"),
        (found.get("by_l", ()), ("k",), _ERRORS, "l", "lgb-by-l.png"),
        (found.get("by_density", ()), ("k", "l"), _ERRORS, "density", "lgb-by-density.png"),
    ):
        label = "hidden (%)" if by == "density" else by
        grid = [
            [Panel(of, by, what, label, said, title) for what, said in figures.items()]
            for title, of in _parted(rows, names).items()
        ]
        if grid:
            write(grid, lambda row: row["method"], folder / file)


def _parted(rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[Row]]:
    """Rows by these parameters, without runs that were refused."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if "refused" not in row:
            title = ", ".join(f"{name} = {row[name]}" for name in names)
            found.setdefault(title, []).append(row)
    return found
