"""Panels of lines, in which a figure is drawn over what varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Row

# Told apart also with a colour vision deficiency (Okabe and Ito).
_STYLES = tuple(
    zip(
        ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
        ("o", "s", "^", "D", "v", "P"),
        strict=True,
    )
)


@dataclass(frozen=True)
class Panel:
    """A figure `y` of rows over `x`.

    Attributes:
        points: without lines between them; else every value of `x` has a tick.
    """

    rows: Sequence[Row]
    x: str
    y: str
    x_label: str
    y_label: str
    title: str = ""
    logarithmic: bool = False
    points: bool = False


def write(
    grid: Sequence[Sequence[Panel]],
    label: Callable[[Row], str | None],
    file: Path,
    *,
    size: tuple[float, float] = (4.4, 3.4),
) -> None:
    """Write one file; a row of panels per item of the grid.

    Args:
        label: of the line that a row is a point of; None: the row is not drawn.
        size: of a panel, in inches.
    """
    from matplotlib import pyplot

    drawn = [row for line in grid for panel in line for row in panel.rows]
    labels = [name for name in dict.fromkeys(map(label, drawn)) if name is not None]
    figure, axes = pyplot.subplots(
        len(grid),
        len(grid[0]),
        figsize=(size[0] * len(grid[0]), 0.8 + size[1] * len(grid)),
        layout="constrained",
        squeeze=False,
    )
    for line, places in zip(grid, axes, strict=True):
        for panel, place in zip(line, places, strict=True):
            _panel(place, panel, label, labels)
    handles = {
        name: handle
        for place in axes.flat
        for handle, name in zip(*place.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    print(f"written: {file}")


def _panel(
    axes: Any, panel: Panel, label: Callable[[Row], str | None], labels: Sequence[str]
) -> None:
    for number, name in enumerate(labels):
        colour, marker = _STYLES[number % len(_STYLES)]
        rows = sorted((r for r in panel.rows if label(r) == name), key=lambda r: r[panel.x])
        if rows:
            axes.plot(
                [row[panel.x] for row in rows],
                # None, where nothing was released or known, is a gap.
                [float("nan") if row.get(panel.y) is None else row[panel.y] for row in rows],
                color=colour,
                marker=marker,
                markersize=4,
                linestyle="none" if panel.points else "-",
                label=name,
            )
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.set_title(panel.title, loc="left")
    axes.grid(visible=True, which="both", alpha=0.25)
    if panel.points:
        axes.set_xlim(left=0)
    else:
        axes.set_xticks(sorted({row[panel.x] for row in panel.rows}))
    if panel.logarithmic:
        _logarithmic(axes)
    else:
        axes.set_ylim(bottom=0)


def _logarithmic(axes: Any) -> None:
    """Numbers written out."""
    from matplotlib.ticker import ScalarFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(ScalarFormatter())
