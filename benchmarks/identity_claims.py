"""What the paper of identity reservation says and the project asks. Nothing is asserted.

Claims begin with their number. Trends are judged step by step over what varies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Judged = tuple[str, bool, str]
"""A claim, whether it holds, and by what figures."""

MOST_LOST_BY_BLOCKS = 0.05
"""The project's target for the loss in small blocks, above that in one block."""
FLAT = 0.1
"""Difference of shares that counts as hardly any."""
CLOSE = 0.1
"""Part by which errors that are close may differ."""

OURS, OURS_TREES, THEIRS = "DAnonyIR", "DAnonyIR, trees", "GeneIR, trees"
_LOSS_RATIOS = {"l": (1.923, 2.683), "shares": (2.018, 3.039)}
"""Of GeneIR to DAnonyIR in the paper."""
_MOST_OF_IR = {"l": 1.0347, "shares": 1.0519}
"""Highest loss of EIR in the paper, in times of IR."""


def evaluate(found: Row) -> list[Row]:
    """Claims on the parts that were measured, and whether they hold."""
    judges = {
        "by_l": _of_l,
        "by_shares": _of_shares,
        "by_quasi": lambda rows: _of_quasi(rows, "l"),
        "shares_by_quasi": lambda rows: _of_quasi(rows, "alpha, beta"),
        "by_block": _of_blocks,
    }
    said = [one for part, judge in judges.items() if part in found for one in judge(found[part])]
    return [
        {"claim": claim, "holds": "yes" if holds else "NO", "found": figures}
        for claim, holds, figures in said
    ]


def _of_l(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_both(rows, "l", "l")
    for figure, said in (("nloss", "C7 loss"), ("error", "C8 relative error")):
        for method in _methods(rows):
            yield _grows(f"{said} of {_name(method)} grows with l", rows, method, "l", figure)
    for method in (OURS, THEIRS):
        yield _grows(
            f"C1 vulnerable classes of {method} grow with l", rows, (method, "ir"), "l", "v"
        )


def _of_shares(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_both(rows, "alpha, beta", "shares")
    by_alpha, by_beta = _varied(rows, "alpha", "beta"), _varied(rows, "beta", "alpha")
    for figure, said in (("nloss", "C7 loss"), ("error", "C8 relative error")):
        for method in _methods(rows):
            for name, chosen in (("alpha", by_alpha), ("beta", by_beta)):
                claim = f"{said} of {_name(method)} falls with {name}"
                yield _grows(claim, chosen, method, name, figure, sign=-1)
    for method in (OURS, THEIRS):
        claim = f"C1 vulnerable classes of {method} grow with alpha"
        yield _grows(claim, by_alpha, (method, "ir"), "alpha", "v")
        claim = f"C1 vulnerable classes of {method} fall with beta"
        yield _grows(claim, by_beta, (method, "ir"), "beta", "v", sign=-1)


def _of_quasi(rows: Sequence[Row], of: str) -> Iterator[Judged]:
    for method in _methods(rows):
        name = f"{_name(method)} ({of})"
        yield _grows(f"C7 loss of {name} grows with the quasi-identifiers", rows, method, "quasi",
                     "nloss")  # fmt: skip
        yield _grows(f"C9 relative error of {name} falls with the quasi-identifiers", rows, method,
                     "quasi", "error", sign=-1)  # fmt: skip
    for method in (OURS, THEIRS):
        line = _line(rows, (method, "ir"), "quasi", "v")
        if len(line) > 1:
            claim = f"C2 vulnerable classes of {method} ({of}) hardly change"
            yield claim, max(line) - min(line) <= FLAT, _listed(line)


def _of_both(rows: Sequence[Row], of: str, kind: str) -> Iterator[Judged]:
    """EIR against IR, and both methods with the same model and hierarchies."""
    eir = [row for row in rows if "eir" in row["model"]]
    vulnerable = sum(bool(row["v"]) for row in eir)
    yield (
        f"C1 no class is vulnerable under an EIR model ({of})",
        not vulnerable,
        f"{vulnerable} of {len(eir)} runs",
    )
    of = f"({of})"
    for figure, claim in (
        ("nloss", f"C4 DAnonyIR loses less than GeneIR with the same hierarchies {of}"),
        ("error", f"C8 DAnonyIR answers better than GeneIR with the same hierarchies {of}"),
    ):
        pairs = _pairs(rows, (OURS_TREES, "ir"), (THEIRS, "ir"), figure)
        yield claim, all(a < b for a, b in pairs), f"DAnonyIR / GeneIR: {_shown(pairs)}"
    ratios = [b / a for a, b in _pairs(rows, (OURS_TREES, "ir"), (THEIRS, "ir"), "nloss") if a]
    low, high = _LOSS_RATIOS[kind]
    yield (
        f"C4 GeneIR loses {low:g} to {high:g} times as much {of}",
        all(low <= ratio <= high for ratio in ratios),
        f"{_listed(ratios)} times",
    )
    ratios = [b / a for a, b in _pairs(rows, (OURS, "ir"), (OURS, "eir"), "nloss") if a]
    most = _MOST_OF_IR[kind]
    yield (
        f"C{5 if kind == 'l' else 6} EIR loses at most {most:g} times as much as IR {of}",
        all(ratio <= most for ratio in ratios),
        f"{_listed(ratios)} times",
    )
    pairs = _pairs(rows, (OURS, "ir"), (OURS, "eir"), "error")
    claim = f"C8 relative error of EIR is close to IR {of}"
    close = all(abs(b - a) <= CLOSE * a for a, b in pairs)
    yield claim, close, f"IR / EIR: {_shown(pairs)}"
    pairs = _pairs(rows, (THEIRS, "ir"), (OURS, "ir"), "v")
    yield (
        f"C3 more classes are vulnerable in DAnonyIR than in GeneIR {of}",
        all(a < b for a, b in pairs),
        f"GeneIR / DAnonyIR: {_shown(pairs)}",
    )
    pairs = _pairs(rows, (THEIRS, "ir"), (OURS_TREES, "ir"), "seconds")
    shown = f"GeneIR / DAnonyIR: {_shown(pairs)}"
    yield f"C10 GeneIR is faster than DAnonyIR {of}", all(a < b for a, b in pairs), shown


def _of_blocks(rows: Sequence[Row]) -> Iterator[Judged]:
    few = sorted((r for r in rows if r["table"] == "informs_few"), key=lambda r: r["block_size"])
    small, large = few[0]["nloss"], few[-1]["nloss"]
    claim = f"blocks of {few[0]['block_size']} lose at most {MOST_LOST_BY_BLOCKS:.0%} more"
    little = small <= (1 + MOST_LOST_BY_BLOCKS) * large
    yield f"{claim} than one block", little, f"{small:.3g} / {large:.3g}"


# -- lines ------------------------------------------------------------------------------------

Of = tuple[str, str]
"""A method, and eir or ir."""


def _methods(rows: Sequence[Row]) -> list[Of]:
    return list(dict.fromkeys((row["method"], _model(row)) for row in rows))


def _model(row: Row) -> str:
    return row["model"].partition("_")[0]


def _name(method: Of) -> str:
    return f"{method[0]}, {method[1].upper()}"


def _chosen(rows: Sequence[Row], method: Of) -> list[Row]:
    return [row for row in rows if (row["method"], _model(row)) == method]


def _line(rows: Sequence[Row], method: Of, by: str, figure: str) -> list[float]:
    chosen = sorted(_chosen(rows, method), key=lambda row: row[by])
    return [row[figure] for row in chosen if row.get(figure) is not None]


def _grows(
    claim: str, rows: Sequence[Row], method: Of, by: str, figure: str, *, sign: int = 1
) -> Judged:
    line = _line(rows, method, by, figure)
    return claim, all(sign * a <= sign * b for a, b in pairwise(line)), _listed(line)


def _varied(rows: Sequence[Row], by: str, other: str) -> list[Row]:
    """Rows of the value of the other share that most values of this one occur with."""
    values: dict[float, set[float]] = {}
    for row in rows:
        values.setdefault(row[other], set()).add(row[by])
    most = max(values, key=lambda value: len(values[value]))
    return [row for row in rows if row[other] == most]


def _pairs(rows: Sequence[Row], one: Of, other: Of, figure: str) -> list[tuple[float, float]]:
    """Figures of two methods with the same parameters."""

    def by(method: Of) -> dict[tuple[Any, ...], float]:
        names = ("l", "alpha", "beta", "quasi")
        return {
            tuple(row.get(name) for name in names): row[figure]
            for row in _chosen(rows, method)
            if row.get(figure) is not None
        }

    left, right = by(one), by(other)
    return [(left[at], right[at]) for at in left if at in right]


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _shown(pairs: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{a:.3g} / {b:.3g}" for a, b in pairs)
