"""Plots of the benchmark against background knowledge; `python -m benchmarks.background_plots`.

One file per parameter with a panel per table and figure, and the R-U map.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import support
from benchmarks.background import AGG, BETA, INC, OURS_BETA, OURS_INC

Row = dict[str, Any]

# Colours told apart also with a colour vision deficiency (Okabe and Ito).
_LINES = {
    INC: ("#0072B2", "o"),
    AGG: ("#D55E00", "s"),
    BETA: ("#009E73", "^"),
    OURS_INC: ("#56B4E9", "v"),
    OURS_BETA: ("#CC79A7", "D"),
}
_FIGURES = {
    "rgcp": "RGCP (per value)",
    "rl": "RL",
    "average": "average class",
    "estimate_gain": "gain of the posterior",
    "seconds": "seconds",
}
_LOGARITHMIC = ("average",)
"""At the smallest β some classes have all records."""

_VARIED = {"by_k": ("k", "k"), "by_j": ("j", "J"), "by_beta": ("beta", "β")}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the plots that there are figures for; a word if matplotlib is missing."""
    if not support.drawable(folder):
        return
    for part, (by, label) in _VARIED.items():
        if found.get(part):
            _draw(found[part], by, label, folder / f"background-{part.replace('_', '-')}.png")
    if found.get("risk_and_utility"):
        _draw_map(found["risk_and_utility"], folder / "background-risk-and-utility.png")


def _tables(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["table"] for row in rows))


def _draw(rows: Sequence[Row], by: str, label: str, file: Path) -> None:
    """A row of panels per table, one per figure."""
    from matplotlib import pyplot, ticker

    tables = _tables(rows)
    figure, grid = pyplot.subplots(
        len(tables),
        len(_FIGURES),
        figsize=(3.4 * len(_FIGURES), 0.8 + 2.9 * len(tables)),
        layout="constrained",
        squeeze=False,
    )
    for line, table in zip(grid, tables, strict=True):
        chosen = [row for row in rows if row["table"] == table and "refused" not in row]
        for axes, (what, name) in zip(line, _FIGURES.items(), strict=True):
            for method, (colour, marker) in _LINES.items():
                of = sorted((r for r in chosen if r["method"] == method), key=lambda r: r[by])
                axes.plot(
                    [row[by] for row in of],
                    # None, where nothing is known, is a gap.
                    [float("nan") if row.get(what) is None else row[what] for row in of],
                    color=colour,
                    marker=marker,
                    markersize=4,
                    label=method,
                )
            axes.set_xlabel(label)
            axes.set_ylabel(name)
            if what in _LOGARITHMIC:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(ticker.ScalarFormatter())
                axes.yaxis.set_minor_formatter(ticker.ScalarFormatter())
            else:
                axes.set_ylim(bottom=0)
            axes.grid(visible=True, alpha=0.25)
        line[0].set_title(table, loc="left")
    _save(figure, grid, file)


def _draw_map(points: Sequence[Row], file: Path) -> None:
    """Loss against the share of records that are linked to their class; a panel per table."""
    from matplotlib import pyplot

    tables = _tables(points)
    figure, grid = pyplot.subplots(
        1, len(tables), figsize=(4.6 * len(tables), 4.4), layout="constrained", squeeze=False
    )
    for axes, table in zip(grid[0], tables, strict=True):
        for method, (colour, marker) in _LINES.items():
            of = [row for row in points if row["table"] == table and row["method"] == method]
            axes.scatter(
                [row["risk"] for row in of],
                [row["loss"] for row in of],
                color=colour,
                marker=marker,
                s=22,
                alpha=0.75,
                label=method,
            )
        axes.set_xlabel("risk: share of records linked to their class (RL / n)")
        axes.set_ylabel("loss: RGCP (per value)")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_title(table, loc="left")
        axes.grid(visible=True, alpha=0.25)
    _save(figure, grid, file)


def _save(figure: Any, grid: Any, file: Path) -> None:
    from matplotlib import pyplot

    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    print(f"written: {file}")


if __name__ == "__main__":
    support.redraw("background", draw)
