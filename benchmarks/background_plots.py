"""Plots of the benchmark against background knowledge.

One file per parameter with a panel per table and figure, and the R-U map.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.background_names import VARIED
from benchmarks.benchmark import Row
from benchmarks.plots import Panel, write

_FIGURES = {
    "rgcp": "RGCP (per value)",
    "rl": "RL",
    "average": "average class",
    "estimate_gain": "gain of the posterior",
    "seconds": "seconds",
}
_LOGARITHMIC = ("average",)
"""At the smallest β some classes have all records."""
_LABELS = {"j": "J", "beta": "β"}
_RISK = "risk: share of records linked to their class (RL / n)"
_LOSS = "loss: RGCP (per value)"


def draw(found: Row, folder: Path) -> None:
    for part, by in VARIED.items():
        label = _LABELS.get(by, by)
        grid = [
            [
                Panel(rows, by, what, label, said, table, logarithmic=what in _LOGARITHMIC)
                for what, said in _FIGURES.items()
            ]
            for table, rows in _by_table(found.get(part, ())).items()
        ]
        if grid:
            file = folder / f"background-{part.replace('_', '-')}.png"
            write(grid, _method, file, size=(3.4, 2.9))
    points = _by_table(found.get("risk_and_utility", ()))
    maps = [
        Panel(rows, "risk", "loss", _RISK, _LOSS, table, points=True)
        for table, rows in points.items()
    ]
    if maps:
        write([maps], _method, folder / "background-risk-and-utility.png")


def _method(row: Row) -> str:
    return row["method"]


def _by_table(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Without runs that were refused."""
    done = [row for row in rows if "refused" not in row]
    return {
        table: [row for row in done if row["table"] == table]
        for table in dict.fromkeys(row["table"] for row in done)
    }
