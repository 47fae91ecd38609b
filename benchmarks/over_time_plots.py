"""Plots of releases over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.benchmark import Row
from benchmarks.plots import Panel, write

_TITLES = {"distinct": "3 distinct values", "frequency": "no value above a third"}


def draw(found: Row, folder: Path) -> None:
    rows = found.get("increments", [])
    for figure, title in (("gcp", "information loss (GCP)"), ("waiting", "waiting (%)")):
        named = _by_diversity(rows)
        panels = [Panel(of, "month", figure, "month", title, _TITLES[d]) for d, of in named.items()]
        if panels:
            write([panels], _series, folder / f"time-increments-{figure}.png", size=(5.5, 3.6))
    rows = found.get("recomputed", [])
    if rows:
        title = "told from all but fewer than k (%)"
        panel = Panel(rows, "month", "below k", "month", title, "every month made anew")
        file = folder / "time-recomputed-below-k.png"
        write([[panel]], lambda row: _TITLES[row["diversity"]], file, size=(5.5, 3.6))


def _by_diversity(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {
        diversity: [row for row in rows if row["diversity"] == diversity]
        for diversity in dict.fromkeys(row["diversity"] for row in rows)
    }


def _series(row: Row) -> str:
    months = "month 1" if row["first"] == 1 else f"months 1 to {row['first']}"
    shown = f", ranges {row['ranges']}" if row["ranges"] != "tight" else ""
    return f"{months}, regions {row['regions']}{shown}"
