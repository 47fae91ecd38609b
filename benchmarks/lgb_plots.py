"""Plots of the benchmark of local generalization and bucketization.

`python -m benchmarks.lgb_plots` draws them again from the figures of the last run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import support

Row = dict[str, Any]

# Colours told apart also with a colour vision deficiency (Okabe and Ito).
_LINES = {
    "LGB_MDP": ("#0072B2", "o"),
    "LGB_NCP, stop": ("#D55E00", "s"),
    "LGB_NCP, fill": ("#009E73", "^"),
    "LGB_NCP, seeds": ("#CC79A7", "D"),
}
_LOSSES = {"c_dm": "C_DM", "ncp": "NCP (share of what can be lost)"}
_ERRORS = {
    "r_error": "mean R_error",
    "r_error_median": "median R_error",
    "estimate_median": "median error of the estimate",
}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the plots; a word if matplotlib is missing."""
    if not support.drawable(folder):
        return
    if rows := found.get("by_k"):
        least = min(row["l"] for row in rows)
        losses = [row for row in rows if row["l"] == least]
        named = {
            table: [row for row in losses if row["table"] == table]
            for table in dict.fromkeys(row["table"] for row in losses)
        }
        _draw(named, _LOSSES, "k", folder / "lgb-by-k.png")
    if rows := found.get("by_l"):
        _draw(_parted(rows, "k"), _ERRORS, "l", folder / "lgb-by-l.png")
    if rows := found.get("by_density"):
        _draw(_parted(rows, "k", "l"), _ERRORS, "density", folder / "lgb-by-density.png")


def _parted(rows: Sequence[Row], *names: str) -> dict[str, list[Row]]:
    """Rows by these parameters, without runs that were refused."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if "refused" in row:
            continue
        found.setdefault(", ".join(f"{name} = {row[name]}" for name in names), []).append(row)
    return found


def _draw(parts: dict[str, list[Row]], figures: dict[str, str], by: str, file: Path) -> None:
    """A row of panels per part, one per figure."""
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        len(parts),
        len(figures),
        figsize=(4.4 * len(figures), 0.8 + 3.4 * len(parts)),
        layout="constrained",
        squeeze=False,
    )
    for line, (title, rows) in zip(grid, parts.items(), strict=True):
        for axes, (what, label) in zip(line, figures.items(), strict=True):
            _panel(axes, rows, by, what)
            axes.set_ylabel(label)
        line[0].set_title(title, loc="left")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    print(f"written: {file}")


def _panel(axes: Any, rows: Sequence[Row], by: str, what: str) -> None:
    for method, (colour, marker) in _LINES.items():
        chosen = sorted(
            (row for row in rows if row["method"] == method and "refused" not in row),
            key=lambda row: row[by],
        )
        if chosen:
            axes.plot(
                [row[by] for row in chosen],
                [row[what] for row in chosen],
                color=colour,
                marker=marker,
                markersize=5,
                label=method,
            )
    axes.set_xlabel("hidden (%)" if by == "density" else by)
    axes.set_xticks(sorted({row[by] for row in rows}))
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.25)


if __name__ == "__main__":
    support.redraw("lgb", draw)
