"""Plots of the benchmark of identity reservation; `python -m benchmarks.identity_plots` redraws."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import support

Row = dict[str, Any]

# Colours told apart also with a colour vision deficiency (Okabe and Ito).
_LOOKS = {
    ("DAnonyIR", "eir_l_diversity"): ("#0072B2", "o", "DAnonyIR, EIR l"),
    ("DAnonyIR", "ir_kl_anonymity"): ("#D55E00", "s", "DAnonyIR, IR (l, l)"),
    ("DAnonyIR, trees", "ir_kl_anonymity"): ("#009E73", "^", "DAnonyIR, IR (l, l), hierarchies"),
    ("GeneIR, trees", "ir_kl_anonymity"): ("#CC79A7", "D", "GeneIR, IR (l, l), hierarchies"),
}
_PLOTS = (
    ("nloss", "NLoss (share, 0 to 1)", "INFORMS 2005: information loss against l"),
    ("v", "vulnerable classes (share, 0 to 1)", "INFORMS 2005: classes that miss EIR l against l"),
)


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the plots that there are figures for; a word if matplotlib is missing."""
    rows: list[Row] = found.get("by_l", [])
    if not rows:
        return
    try:
        import matplotlib
    except ModuleNotFoundError:
        print("plots are skipped: matplotlib is not installed (pip install -e '.[bench]')",
              file=sys.stderr)  # fmt: skip
        return
    matplotlib.use("Agg")  # needs no display
    folder.mkdir(exist_ok=True)
    for figure, label, title in _PLOTS:
        _draw(rows, figure, label, title, folder / f"identity-{figure}-by-l.png")


def _draw(rows: list[Row], what: str, label: str, title: str, file: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
    for (method, model), (colour, marker, name) in _LOOKS.items():
        chosen = [row for row in rows if (row["method"], row["model"]) == (method, model)]
        axes.plot(
            [row["l"] for row in chosen],
            [row[what] for row in chosen],
            color=colour,
            marker=marker,
            markersize=5,
            label=name,
        )
    axes.set_title(title)
    axes.set_xlabel("l")
    axes.set_ylabel(label)
    axes.set_xticks(sorted({row["l"] for row in rows}))
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    figure.savefig(file, dpi=120)
    pyplot.close(figure)
    print(f"written: {file}")


def main() -> None:
    file = support.RESULTS / "identity.json"
    if not file.exists():
        raise SystemExit(f"there is no {file}; run: python -m benchmarks identity")
    draw(json.loads(file.read_text(encoding="utf-8")), support.RESULTS)


if __name__ == "__main__":
    main()
