"""Plots of the benchmark of identity reservation; `python -m benchmarks.identity_plots` redraws.

One file per parameter: l, alpha and beta, number of quasi-identifiers; in it one panel per figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import support

Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """The runs of a method below EIR (`reserved`) or IR models."""

    method: str
    reserved: bool
    colour: str
    marker: str

    def has(self, row: Row) -> bool:
        return row["method"] == self.method and row["model"].startswith("eir") == self.reserved

    @property
    def label(self) -> str:
        model = "EIR" if self.reserved else "IR"
        return f"{self.method.replace(', trees', '')}, {model}" + (
            ", hierarchies" if "trees" in self.method else ""
        )


# Colours told apart also with a colour vision deficiency (Okabe and Ito).
_LINES = (
    Line("DAnonyIR", True, "#0072B2", "o"),
    Line("DAnonyIR", False, "#D55E00", "s"),
    Line("DAnonyIR, trees", False, "#009E73", "^"),
    Line("GeneIR, trees", False, "#CC79A7", "D"),
)
_FIGURES = {
    "nloss": "NLoss (share)",
    "v": "vulnerable classes (share)",
    "error": "mean relative error of queries",
}


@dataclass(frozen=True)
class Panels:
    """A row of panels, one per figure.

    Attributes:
        part: of what the benchmark found.
        by: what varies.
        chosen: the rows that differ in nothing else.
        title: what they are measured on, and what is fixed.
    """

    part: str
    by: str
    title: str
    chosen: Callable[[Row], bool] = lambda row: True


_EIR_MODELS = "EIR l, and IR (k, l) with k = l"
_FILES: dict[str, tuple[Panels, ...]] = {
    "by-l": (Panels("by_l", "l", _EIR_MODELS),),
    "by-quasi": (Panels("by_quasi", "quasi", f"{_EIR_MODELS} = 6"),),
    "by-alpha-beta": (
        Panels("by_shares", "alpha", "(alpha, beta), beta = 0.4", lambda row: row["beta"] == 0.4),
        Panels("by_shares", "beta", "(alpha, beta), alpha = 0.6", lambda row: row["alpha"] == 0.6),
    ),
}
_NAMES = {"quasi": "quasi-identifiers"}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the plots that there are figures for; a word if matplotlib is missing."""
    wanted = {
        name: rows for name, rows in _FILES.items() if all(found.get(row.part) for row in rows)
    }
    if not wanted:
        return
    if not support.drawable(folder):
        return
    for name, rows in wanted.items():
        _draw(found, rows, folder / f"identity-{name}.png")


def _draw(found: dict[str, Any], rows: Sequence[Panels], file: Path) -> None:
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        len(rows),
        len(_FIGURES),
        figsize=(13, 0.8 + 3.7 * len(rows)),
        layout="constrained",
        squeeze=False,
    )
    for line, panels in zip(grid, rows, strict=True):
        shown = [row for row in found[panels.part] if panels.chosen(row)]
        for axes, (what, label) in zip(line, _FIGURES.items(), strict=True):
            _panel(axes, shown, panels.by, what)
            axes.set_ylabel(label)
        line[0].set_title(f"INFORMS 2005: {panels.title}", loc="left")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    print(f"written: {file}")


def _panel(axes: Any, rows: Sequence[Row], by: str, what: str) -> None:
    for line in _LINES:
        chosen = sorted((row for row in rows if line.has(row)), key=lambda row: row[by])
        axes.plot(
            [row[by] for row in chosen],
            # None, where nothing was released, is a gap.
            [float("nan") if row[what] is None else row[what] for row in chosen],
            color=line.colour,
            marker=line.marker,
            markersize=5,
            label=line.label,
        )
    axes.set_xlabel(_NAMES.get(by, by))
    axes.set_xticks(sorted({row[by] for row in rows}))
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.25)


if __name__ == "__main__":
    support.redraw("identity", draw)
