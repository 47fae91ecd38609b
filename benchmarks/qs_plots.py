"""Plots of the benchmark of QS k-anonymity; `python -m benchmarks.qs_plots` draws them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import support
from benchmarks.qs import BLOCKS, COUNTS, EFFICIENT, ONE_BLOCK, TAXONOMIES, K

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]

# Colours told apart also with a colour vision deficiency (Okabe and Ito).
_LOOKS = {
    EFFICIENT: ("#0072B2", "o", "efficient"),
    BLOCKS: ("#D55E00", "s", "greedy, blocks of 1,024"),
    ONE_BLOCK: ("#009E73", "^", "greedy, one block"),
}
_LINES = dict(zip(COUNTS, ("-", "--"), strict=True))


@dataclass(frozen=True)
class Plot:
    """One figure: a part of the report, its horizontal and its vertical axis."""

    file: str
    part: str
    x: str
    y: str
    title: str
    x_label: str
    y_label: str
    logarithmic: bool = False


PLOTS = (
    Plot(
        *("qs-gcp-by-k.png", "by_k", "k", "gcp"),
        *("Adult, 32,561 records: information loss against k", "k (combinations per cluster)"),
        "GCP (share, 0 to 1)",
    ),
    Plot(
        *("qs-seconds-by-k.png", "by_k", "k", "seconds"),
        *("Adult, 32,561 records: time of a run against k", "k (combinations per cluster)"),
        "time of the run (seconds, log scale)",
        logarithmic=True,
    ),
    Plot(
        *("qs-loss-by-size.png", "by_size", "rows", "ncp_total"),
        *(f"Subsets of Adult, k = {K}: total loss against size", "records"),
        "total NCP (sum over records)",
    ),
    Plot(
        *("qs-seconds-by-attributes.png", "by_attributes", "attributes", "seconds"),
        *(f"Adult, k = {K}: time of a run against attributes", "attributes per QS set"),
        "time of the run (seconds, log scale)",
        logarithmic=True,
    ),
)


def draw(report: dict[str, Any], folder: Path) -> None:
    """Write the plots that the report has figures for; a word if matplotlib is missing.

    With the loss of the paper, that of taxonomies.
    """
    report = {
        plot.part: [row for row in report.get(plot.part, ()) if row["loss"] == TAXONOMIES]
        for plot in PLOTS
    }
    wanted = [plot for plot in PLOTS if report[plot.part]]
    if not wanted:
        return
    if not support.drawable(folder):
        return
    for plot in wanted:
        _draw(plot, report[plot.part], folder / plot.file)


def _draw(plot: Plot, rows: list[Row], file: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
    for method, (colour, marker, name) in _LOOKS.items():
        for count in COUNTS:
            chosen = [row for row in rows if (row["method"], row["count"]) == (method, count)]
            if chosen:
                axes.plot(
                    [row[plot.x] for row in chosen],
                    [row[plot.y] for row in chosen],
                    color=colour,
                    marker=marker,
                    markersize=5,
                    linestyle=_LINES[count],
                    label=f"{name}; {count}",
                )
    axes.set_title(plot.title)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    if plot.x != "rows":  # sizes that double leave no room for a tick at each
        axes.set_xticks(sorted({row[plot.x] for row in rows}))
    _scales(axes, plot)
    axes.grid(visible=True, which="both", alpha=0.25)
    # Below the axes: inside, it would hide points of one plot or another.
    methods = len({row["method"] for row in rows})
    figure.legend(loc="outside lower center", ncols=methods, frameon=False, fontsize="small")
    figure.savefig(file, dpi=120)
    pyplot.close(figure)
    print(f"written: {file}")


def _scales(axes: Axes, plot: Plot) -> None:
    """Numbers written out; linear axes start at 0."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
    axes.xaxis.set_major_formatter(plain)
    if plot.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(plain)


if __name__ == "__main__":
    support.redraw("qs", draw)
