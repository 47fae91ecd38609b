"""What the paper of identity reservation says and the project asks. Nothing is asserted.

Claims begin with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import judging
from benchmarks.judging import (
    EQUAL,
    NOISE,
    Figure,
    Judged,
    Row,
    by_definition,
    equal,
    every,
    grows,
    is_lower,
    listed,
    quotients,
    ranked,
)

MOST_LOST_BY_BLOCKS = 0.05
"""The project's target for the loss in small blocks, above that in one block."""

OURS, OURS_TREES, THEIRS = "DAnonyIR", "DAnonyIR, trees", "GeneIR, trees"
"""With hierarchies DAnonyIR is not in the paper: its figures are shown without a verdict."""
_LOSS_RATIOS = {
    "l": {"ir": (1.923, 2.683), "eir": (1.863, 2.626)},
    "shares": {"ir": (2.018, 3.039), "eir": (1.976, 2.915)},
}
"""Of GeneIR to DAnonyIR in the paper, by the model of the latter."""
_MOST_OF_IR = {"l": 1.0347, "shares": 1.0519}
"""Highest loss of EIR in the paper, in times of IR."""
_MOST_SLOWER = {"l": 28.5, "shares": 25.9}
"""Seconds by which EIR is slower than IR in the paper, at most."""


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
    if "by_l" in found and "by_quasi" in found:
        said += _of_growth(found["by_l"], found["by_quasi"])
    return judging.rows(said)


def _of_l(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_both(rows, "l", "l")
    for figure, said in (("nloss", "C7 loss"), ("error", "C8 relative error")):
        for method in _methods(rows):
            yield _grows(f"{said} of {_name(method)} grows with l", rows, method, "l", figure)
    for method in (OURS, THEIRS):
        yield _grows(
            f"C1 vulnerable classes of {method} grow with l", rows, (method, "ir"), "l", "v"
        )
        yield _grows(f"C11 seconds of {method} grow with l", rows, (method, "ir"), "l", "seconds")


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
        for name, chosen in (("alpha", by_alpha), ("beta", by_beta)):
            claim = f"C11 seconds of {method} fall with {name}"
            yield _grows(claim, chosen, (method, "ir"), name, "seconds", sign=-1)


def _of_quasi(rows: Sequence[Row], of: str) -> Iterator[Judged]:
    for method in _methods(rows):
        name = f"{_name(method)} ({of})"
        yield _grows(f"C7 loss of {name} grows with the quasi-identifiers", rows, method, "quasi",
                     "nloss")  # fmt: skip
        yield _grows(f"C9 relative error of {name} falls with the quasi-identifiers", rows, method,
                     "quasi", "error", sign=-1)  # fmt: skip
        yield _grows(f"C11 seconds of {name} grow with the quasi-identifiers", rows, method,
                     "quasi", "seconds")  # fmt: skip
    for method in (OURS, THEIRS):
        line = _line(rows, (method, "ir"), "quasi", "v")
        holds = equal([figure.value for figure in line])
        yield f"C2 vulnerable classes of {method} ({of}) hardly change", holds, listed(line)


def _of_growth(by_l: Sequence[Row], by_quasi: Sequence[Row]) -> Iterator[Judged]:
    """Which of two parameters loss grows more with, from the first to the last value of each."""
    for method in _methods(by_l):
        lines = [
            _line(rows, method, by, "nloss") for rows, by in ((by_quasi, "quasi"), (by_l, "l"))
        ]
        growth = quotients((line[0], line[-1]) for line in lines if len(line) > 1)
        claim = f"C7 growth of the loss of {_name(method)} is sharper with quasi-identifiers than l"
        holds = is_lower(growth[1], growth[0]) if len(growth) == 2 else None
        yield claim, holds, f"times {listed(growth)}" if growth else ""


def _of_both(rows: Sequence[Row], of: str, kind: str) -> Iterator[Judged]:
    """EIR against IR, and both methods with the same model."""
    eir = [row for row in rows if "eir" in row["model"]]
    vulnerable = sum(bool(row["v"]) for row in eir)
    yield (
        f"C1 no class is vulnerable under an EIR model ({of})",
        by_definition(not vulnerable),
        f"by definition; {vulnerable} of {len(eir)} runs" if eir else "",
    )
    of = f"({of})"
    for figure, number, does in (("nloss", "C4", "loses less"), ("error", "C8", "answers better")):
        for ours, said in (
            ((OURS, "ir"), f"DAnonyIR {does} than GeneIR"),
            ((OURS, "eir"), f"DAnonyIR under EIR {does} than GeneIR under IR"),
        ):
            yield f"{number} {said} {of}", *ranked(_pairs(rows, ours, (THEIRS, "ir"), figure))
        _, shown = ranked(_pairs(rows, (OURS_TREES, "ir"), (THEIRS, "ir"), figure))
        yield f"{number} DAnonyIR {does} than GeneIR with the same hierarchies {of}", None, shown
    for model, (low, high) in _LOSS_RATIOS[kind].items():
        times = quotients(_pairs(rows, (OURS, model), (THEIRS, "ir"), "nloss"))
        yield (
            f"C4 GeneIR loses {low:g} to {high:g} times as much as DAnonyIR under"
            f" {model.upper()} {of}",
            every(low <= each.value <= high for each in times),
            f"{listed(times)} times" if times else "",
        )
    times = quotients(_pairs(rows, (OURS, "ir"), (OURS, "eir"), "nloss"))
    most = _MOST_OF_IR[kind]
    yield (
        f"C{5 if kind == 'l' else 6} EIR loses at most {most:g} times as much as IR {of}",
        every(each.value <= most for each in times),
        f"{listed(times)} times" if times else "",
    )
    pairs = _pairs(rows, (OURS, "ir"), (OURS, "eir"), "error")
    yield (
        f"C8 relative error of EIR is close to IR {of}",
        every(equal([a.value, b.value]) for a, b in pairs),
        f"IR / EIR: {ranked(pairs)[1].partition(': ')[2]}" if pairs else "",
    )
    holds, shown = ranked(_pairs(rows, (THEIRS, "ir"), (OURS, "ir"), "v"))
    claim = f"C3 more classes are vulnerable in DAnonyIR than in GeneIR {of}"
    yield claim, holds, shown and f"GeneIR / DAnonyIR: {shown}"
    holds, shown = ranked(_pairs(rows, (THEIRS, "ir"), (OURS, "ir"), "seconds"), NOISE)
    yield f"C10 GeneIR is faster than DAnonyIR {of}", holds, shown and f"GeneIR / DAnonyIR: {shown}"
    _, shown = ranked(_pairs(rows, (THEIRS, "ir"), (OURS_TREES, "ir"), "seconds"), NOISE)
    claim = f"C10 GeneIR is faster than DAnonyIR with the same hierarchies {of}"
    yield claim, None, shown and f"GeneIR / DAnonyIR: {shown}"
    pairs = _pairs(rows, (OURS, "ir"), (OURS, "eir"), "seconds")
    slower = [b.value - a.value for a, b in pairs]
    yield (
        f"C10 EIR is at most {_MOST_SLOWER[kind]:g} s slower than IR {of}",
        by_definition(every(more <= _MOST_SLOWER[kind] for more in slower)),
        f"{listed(slower)} s; runs take less" if slower else "",
    )


def _of_blocks(rows: Sequence[Row]) -> Iterator[Judged]:
    few = sorted((r for r in rows if r["table"] == "informs_few"), key=lambda r: r["block_size"])
    if len(few) > 1:
        small, large = few[0]["nloss"], few[-1]["nloss"]
        claim = f"blocks of {few[0]['block_size']} lose at most {MOST_LOST_BY_BLOCKS:.0%} more"
        little = small <= (1 + MOST_LOST_BY_BLOCKS) * large
        yield f"{claim} than one block", little, f"{small:.3g} / {large:.3g}"


# -- lines ------------------------------------------------------------------------------------

Of = tuple[str, str]
"""A method, and eir or ir."""


def _methods(rows: Sequence[Row]) -> list[Of]:
    """Those of the paper."""
    found = dict.fromkeys((row["method"], _model(row)) for row in rows)
    return [method for method in found if method[0] != OURS_TREES]


def _model(row: Row) -> str:
    return row["model"].partition("_")[0]


def _name(method: Of) -> str:
    return f"{method[0]}, {method[1].upper()}"


def _chosen(rows: Sequence[Row], method: Of) -> list[Row]:
    return [row for row in rows if (row["method"], _model(row)) == method]


def _line(rows: Sequence[Row], method: Of, by: str, figure: str) -> list[Figure]:
    return judging.line(sorted(_chosen(rows, method), key=lambda row: row[by]), figure)


def _grows(
    claim: str, rows: Sequence[Row], method: Of, by: str, figure: str, *, sign: int = 1
) -> Judged:
    line = _line(rows, method, by, figure)
    part = NOISE if figure == "seconds" else EQUAL
    return claim, grows(line[::sign], part), listed(line)


def _varied(rows: Sequence[Row], by: str, other: str) -> list[Row]:
    """Rows of the value of the other share that most values of this one occur with."""
    values: dict[float, set[float]] = {}
    for row in rows:
        values.setdefault(row[other], set()).add(row[by])
    most = max(values, key=lambda value: len(values[value]), default=None)
    return [row for row in rows if row[other] == most]


def _pairs(rows: Sequence[Row], one: Of, other: Of, figure: str) -> list[tuple[Figure, Figure]]:
    """Figures of two methods with the same parameters."""

    def by(method: Of) -> dict[tuple[Any, ...], Figure]:
        names = ("l", "alpha", "beta", "quasi")
        return {
            tuple(row.get(name) for name in names): found
            for row in _chosen(rows, method)
            for found in judging.line([row], figure)
        }

    left, right = by(one), by(other)
    return [(left[at], right[at]) for at in left if at in right]
