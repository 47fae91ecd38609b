"""What the paper of local generalization and bucketization says, and what the project asks.

Nothing is asserted. The paper does not say how several of its choices were made, and its data are
not public; what does not hold is shown as such, with the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]

MDP, STOP, FILL = "LGB_MDP", "LGB_NCP, stop", "LGB_NCP, fill"

MOST_SECONDS = {MDP: 10.0, STOP: 60.0, FILL: 60.0}
"""Of a run over about 31,000 rows."""
MOST_COPIES = 15.0
"""Of a run of LGB_MDP over 1.4 million rows, in times of its sorted copy."""
ROUNDED = 1e-9
"""How far two equal losses may be apart: sums of floats in any order."""
DRAWN = 0.05
"""How far two runs that differ in what they draw may be apart."""
MOST_MEMORY = 300.0
"""Megabytes of the Python process."""


def evaluate(found: Row) -> list[Row]:
    """Claims about the parts that were measured, whether they hold, and by what figures."""
    income = [row for row in found.get("by_k", ()) if row["table"] == "income"]
    judges = {
        "by_k": lambda: _of_losses(income),
        "by_l": lambda: _of_errors(found["by_l"]),
        "by_density": lambda: _of_densities(found["by_density"]),
        "times": lambda: _of_times(found["times"]),
    }
    rows = [judged for part, judge in judges.items() if part in found for judged in judge()]
    return [
        {"claim": claim, "holds": _HOLDS[holds], "found": figures} for claim, holds, figures in rows
    ]


Judged = tuple[str, bool | None, str]
"""A claim, whether it holds, and by what figures; None where all runs were refused."""

_HOLDS = {True: "yes", False: "NO", None: "-"}


def _of_losses(rows: Sequence[Row]) -> list[Judged]:
    ks, least = _given(rows, "k"), _given(rows, "l")[0]
    if any("refused" in row for row in rows if row["l"] == least):
        return [("losses of LGB_MDP and LGB_NCP", None, f"runs with l = {least} are refused")]

    def figure(name: str, method: str, k: int) -> float:
        (row,) = _chosen(rows, method=method, k=k, l=least)
        return row[name]

    judged: list[Judged] = []
    for other in (STOP, FILL):
        ratio = [figure("c_dm", MDP, k) / figure("c_dm", other, k) for k in ks]
        judged.append((f"C_DM of LGB_MDP is below {other}", max(ratio) < 1, _ratios(ratio)))
        less = [1 - figure("ncp", other, k) / figure("ncp", MDP, k) for k in ks]
        held = all(0.14 <= share <= 0.17 for share in less)
        judged.append((f"NCP of {other} is 14 to 17 % below LGB_MDP", held, _shares(less)))
    methods = dict.fromkeys(row["method"] for row in rows)
    for name in ("c_dm", "ncp"):
        judged += [_without_l(rows, name, method) for method in methods]
        rising = all(_rises([figure(name, method, k) for k in ks]) for method in methods)
        judged.append((f"{name} grows with k", rising, ""))
    return judged


def _without_l(rows: Sequence[Row], name: str, method: str) -> Judged:
    """LGB_NCP takes cells in an order that every run draws: two of its runs differ a little."""
    done = [row for row in rows if row["method"] == method and "refused" not in row]
    by_k = [[row[name] for row in _chosen(done, k=k)] for k in _given(rows, "k")]
    changes = [found[-1] / found[0] - 1 for found in by_k if len(found) > 1]
    most = ROUNDED if method == MDP else DRAWN
    same = all(abs(change) <= most for change in changes) if changes else None
    return f"{name} of {method} does not depend on l", same, _shares(changes)


def _of_errors(rows: Sequence[Row]) -> list[Judged]:
    done = [row for row in rows if "refused" not in row]
    methods = list(dict.fromkeys(row["method"] for row in done))
    ks, ls = _given(rows, "k"), _given(rows, "l")
    if any("refused" in row for row in rows if row["k"] == ks[0] or row["l"] == ls[0]):
        return [("errors of sums", None, f"runs with k = {ks[0]} or l = {ls[0]} are refused")]

    def line(name: str, **fixed: Any) -> list[float]:
        return [row[name] for row in _chosen(done, **fixed)]

    judged: list[Judged] = []
    for name, said in (("r_error", "mean"), ("r_error_median", "median")):
        by_k = [line(name, method=m, l=l) for m in methods for l in ls]  # noqa: E741
        by_l = [line(name, method=m, k=k) for m in methods for k in ks]
        judged += [
            (f"{said} R_error grows with k", all(map(_rises, by_k)), _of(by_k)),
            (f"{said} R_error grows with l", all(map(_rises, by_l)), _of(by_l)),
        ]
    k_grows = [line("r_error", method=m, l=ls[0]) for m in methods]
    l_grows = [line("r_error", method=m, k=ks[0]) for m in methods]
    most = max(each[-1] / each[0] for each in l_grows)
    least = min(each[-1] / each[0] for each in k_grows)
    judged.append(
        (
            "k matters more than l",
            least > most,
            f"by k x{least:.2f} at least, by l x{most:.2f} at most",
        )
    )
    for other in (STOP, FILL):
        theirs = {row["l"]: row["r_error"] for row in _chosen(done, method=other, k=ks[0])}
        gaps = [
            1 - row["r_error"] / theirs[row["l"]]
            for row in _chosen(done, method=MDP, k=ks[0])
            if row["l"] in theirs
        ]
        held = gaps[0] > 0 and abs(gaps[-1]) < abs(gaps[0]) / 2
        claim = f"R_error of LGB_MDP is below {other} for small l, equal for large l"
        judged.append((claim, held, _shares([gaps[0], gaps[-1]])))
    outside = max(row["outside"] for row in done)
    judged.append(("true sums lie within the paper's bounds", outside == 0, f"{outside:.1%} not"))
    beyond = max(row["beyond"] for row in done)
    judged.append(("true sums lie within the certain bounds", beyond == 0, f"{beyond:.1%} not"))
    return judged


def _of_densities(rows: Sequence[Row]) -> list[Judged]:
    done = [row for row in rows if "refused" not in row]
    judged: list[Judged] = []
    densities = _given(rows, "density")
    for k, l in dict.fromkeys((row["k"], row["l"]) for row in rows):  # noqa: E741
        lines = [
            [row["r_error"] for row in _chosen(done, method=method, k=k, l=l)]
            for method in dict.fromkeys(row["method"] for row in done)
        ]
        falls = all(_rises(line[::-1]) for line in lines) if any(lines) else None
        claim = f"R_error falls from {densities[0]} to {densities[-1]} % hidden (k = {k}, l = {l})"
        judged.append((claim, falls, "; ".join(", ".join(f"{v:.4g}" for v in x) for x in lines)))
    return judged


def _of_times(rows: Sequence[Row]) -> list[Judged]:
    done = [row for row in rows if "refused" not in row]
    judged: list[Judged] = []
    for table in ("income", "colorado"):
        for method, most in MOST_SECONDS.items():
            for row in _chosen(done, table=table, method=method):
                claim = f"{method} takes at most {most:g} s on {table} (k = l = {row['k']})"
                judged.append((claim, row["seconds"] <= most, f"{row['seconds']:.1f} s"))
    for row in _chosen(done, table="states"):
        claim = f"LGB_MDP takes at most {MOST_COPIES:g} sorted copies on {row['records']} rows"
        judged.append((claim, row["ratio"] <= MOST_COPIES, f"{row['ratio']:.1f}"))
    memory = max((row["peak_mb"] for row in done), default=0.0)
    claim = f"Python stays below {MOST_MEMORY:g} MB"
    judged.append((claim, memory < MOST_MEMORY, f"{memory:.0f} MB"))
    return judged


def _given(rows: Iterable[Row], name: str) -> list[int]:
    """Values of a parameter, ascending."""
    return sorted({row[name] for row in rows})


def _chosen(rows: Iterable[Row], **fixed: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in fixed.items())]


def _rises(values: Sequence[float]) -> bool:
    return list(values) == sorted(values)


def _of(lines: Sequence[Sequence[float]]) -> str:
    holding: Callable[[Sequence[float]], bool] = _rises
    return f"{sum(map(holding, lines))} of {len(lines)} lines"


def _ratios(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _shares(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.1%}" for value in values)
