"""Plots of releases over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import support

Row = dict[str, Any]
Series = Mapping[str, Sequence[Row]]

_STYLES = (
    *(("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D")),
    *(("#E69F00", "v"), ("#56B4E9", "P")),
)
_TITLES = {"distinct": "3 distinct values", "frequency": "no value above a third"}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the plots that there are figures for; a word if matplotlib is missing."""
    if not support.drawable(folder):
        return
    if rows := found.get("increments"):
        for figure, title in (("gcp", "information loss (GCP)"), ("waiting", "waiting (%)")):
            parts = {
                _TITLES[diversity]: _by_first_version(rows, diversity)
                for diversity in dict.fromkeys(row["diversity"] for row in rows)
            }
            _draw(parts, figure, title, folder / f"time-increments-{figure}.png")
    if rows := found.get("recomputed"):
        for figure, title in (("below k", "told from all but fewer than k (%)"),):
            named = {
                _TITLES[diversity]: [row for row in rows if row["diversity"] == diversity]
                for diversity in dict.fromkeys(row["diversity"] for row in rows)
            }
            file = folder / f"time-recomputed-{figure.replace(' ', '-')}.png"
            _draw({"every month made anew": named}, figure, title, file)


def _by_first_version(rows: Sequence[Row], diversity: str) -> Series:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["diversity"] == diversity:
            months = "month 1" if row["first"] == 1 else f"months 1 to {row['first']}"
            shown = f", ranges {row['ranges']}" if row["ranges"] != "tight" else ""
            found.setdefault(f"{months}, regions {row['regions']}{shown}", []).append(row)
    return found


def _draw(parts: Mapping[str, Series], figure: str, title: str, file: Path) -> None:
    """A panel per part, a line per series."""
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(
        1, len(parts), figsize=(5.5 * len(parts), 4), squeeze=False, sharey=True
    )
    for place, (part, series) in zip(axes[0], parts.items(), strict=True):
        for (colour, marker), (name, rows) in zip(_STYLES, series.items(), strict=False):
            months = [row["month"] for row in rows]
            shown = [row[figure] for row in rows]
            place.plot(months, shown, color=colour, marker=marker, label=name)
        place.set_title(part)
        place.set_xlabel("month")
        place.set_ylim(bottom=0)
        place.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    axes[0][0].set_ylabel(title)
    drawing.tight_layout()
    drawing.savefig(file, dpi=120, bbox_inches="tight")
    pyplot.close(drawing)
