"""What the paper of local generalization and bucketization says, and what the project asks.

Nothing is asserted. The paper does not say how several of its choices were made, and its data are
not public; what does not hold is shown as such, with the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks import judging
from benchmarks.judging import (
    ROUNDED,
    Figure,
    Judged,
    Row,
    Verdict,
    by_definition,
    equal,
    every,
    falls,
    grows,
    is_lower,
    jointly,
    listed,
    ranked,
)

MDP, STOP, FILL = "LGB_MDP", "LGB_NCP, stop", "LGB_NCP, fill"

MOST_SECONDS = {MDP: 10.0, STOP: 60.0, FILL: 60.0}
"""Of a run over about 31,000 rows."""
MOST_COPIES = 15.0
"""Of a run of LGB_MDP over 1.4 million rows, in times of its sorted copy."""
DRAWN = 0.05
"""How far two runs that differ in what they draw may be apart."""
MOST_MEMORY = 300.0
"""Megabytes of the Python process."""
LESS = (0.14, 0.17)
"""By which NCP of LGB_NCP is below that of LGB_MDP in the paper."""
_ERRORS = {"r_error": "mean", "r_error_median": "median"}


def evaluate(found: Row) -> list[Row]:
    """Claims about the parts that were measured, whether they hold, and by what figures."""
    judges = {
        "by_k": _of_losses,
        "by_l": _of_errors,
        "by_density": _of_densities,
        "equal": _of_equal,
        "times": _of_times,
    }
    done = {
        part: [row for row in found[part] if "refused" not in row]
        for part in judges
        if part in found
    }
    return judging.rows(
        claim for part, judge in judges.items() if part in done for claim in judge(done[part])
    )


def _of_losses(all_rows: Sequence[Row]) -> Iterator[Judged]:
    for table in dict.fromkeys(row["table"] for row in all_rows):
        rows = _chosen(all_rows, table=table)
        of = f"({table})"
        for other in (STOP, FILL):
            times = _times(rows, "c_dm", other)
            own = [Figure(1.0, (1.0,) * len(each.draws)) for each in times]
            claim = f"C_DM of LGB_MDP is below {other}, which keeps equal records together {of}"
            yield claim, ranked([*zip(own, times, strict=True)])[0], _in_times(times)
            of_ours = _times(rows, "ncp", other)
            held = every(LESS[0] <= 1 - each.value <= LESS[1] for each in of_ours)
            lower = ranked([*zip(of_ours, own, strict=True)])[0]
            yield f"NCP of {other} is below LGB_MDP {of}", lower, _in_times(of_ours)
            yield f"NCP of {other} is 14 to 17 % below LGB_MDP {of}", held, _in_times(of_ours)
        for name in ("c_dm", "ncp"):
            for method in _methods(rows):
                line = _figures(rows, name, method=method, l=_least(rows, "l"))
                yield f"{name} of {method} grows with k {of}", grows(line), listed(line)
                # LGB_NCP takes cells in an order that every run draws.
                most = ROUNDED if method == MDP else DRAWN
                by_k = [_line(rows, name, by="l", method=method, k=k) for k in _given(rows, "k")]
                same = every(equal(line, most) for line in by_k)
                changes = [line[-1] / line[0] - 1 for line in by_k if len(line) > 1]
                claim = f"{name} of {method} does not depend on l, which groups do not know {of}"
                yield claim, by_definition(same), _shares(changes)


def _times(rows: Sequence[Row], name: str, other: str) -> list[Figure]:
    """The other method's figures in times of those of LGB_MDP, by k, for the least l."""
    by_k: list[dict[int, Figure]] = []
    for method in (MDP, other):
        of = _chosen(rows, method=method, l=_least(rows, "l"))
        by_k.append(dict(zip((row["k"] for row in of), judging.line(of, name), strict=True)))
    return judging.quotients((by_k[0][k], by_k[1][k]) for k in sorted(by_k[0].keys() & by_k[1]))


def _of_errors(rows: Sequence[Row]) -> Iterator[Judged]:
    ks, ls = _given(rows, "k"), _given(rows, "l")
    for name, said in _ERRORS.items():
        for by, other, fixed in (("k", "l", ls), ("l", "k", ks)):
            lines = {
                f"{m}, {other} = {value}": _figures(rows, name, by=by, method=m, **{other: value})
                for m in _methods(rows)
                for value in fixed
            }
            verdicts = {of: grows(line) for of, line in lines.items() if len(line) > 1}
            agree = [None if holds == judging.SLIGHTLY else holds for holds in verdicts.values()]
            others = [
                f"; {of}: {listed(lines[of])}"
                for of, holds in verdicts.items()
                if holds is not True
            ]
            shown = f"lines: {judging.agreeing(agree)}{''.join(others)}" if agree else ""
            yield f"{said} R_error grows with {by}", judging.of_all(agree), shown
    if rows:
        least = {"k": ks[0], "l": ls[0]}
        for name, said in _ERRORS.items():
            lines = [
                [_line(rows, name, by=by, method=m, **{other: least[other]}) for by, other in _BOTH]
                for m in _methods(rows)
            ]
            times = [[line[-1] / line[0] for line in of] for of in lines if min(map(len, of)) > 1]
            shown = "; ".join(f"times {by_k:.3g} by k, {by_l:.3g} by l" for by_k, by_l in times)
            claim = f"k matters more than l to the {said} R_error"
            claim += f" (k {ks[0]} to {ks[-1]}, l {ls[0]} to {ls[-1]})"
            yield claim, ranked([(Figure(by_l), Figure(by_k)) for by_k, by_l in times])[0], shown
    for other in (STOP, FILL):
        for name, said in _ERRORS.items():
            for k in ks:
                pairs = [_errors(rows, name, other, k=k, l=l) for l in ls]  # noqa: E741
                claim = f"{said} R_error of LGB_MDP is below {other} for small l, equal for large l"
                yield f"{claim} (k = {k})", *_less_then_equal([p for p in pairs if len(p) == 2])
    if rows:
        outside = [row["outside"] for row in rows]
        shown = f"at most {max(outside):.1%} of a seed's are not, in {_some(outside)}"
        yield "true sums lie within the paper's bounds", not any(outside), shown
        beyond = [row["beyond"] for row in rows]
        shown = f"by construction; some are not in {_some(beyond)}"
        yield "true sums lie within the certain bounds", by_definition(not any(beyond)), shown


def _at_least(share: float) -> str:
    """By which part all lines fall."""
    return f"falls by {share:.1%} at least" if share > 0 else f"grows by {-share:.1%} at most"


def _some(shares: Sequence[float]) -> str:
    return f"{sum(share > 0 for share in shares)} of {len(shares)} settings"


_BOTH = (("k", "l"), ("l", "k"))
"""What varies, and what does not."""


def _errors(rows: Sequence[Row], name: str, other: str, **fixed: Any) -> list[Figure]:
    """Of LGB_MDP and the other method."""
    return [one for m in (MDP, other) for one in _figures(rows, name, method=m, **fixed)]


def _less_then_equal(by_l: Sequence[Sequence[Figure]]) -> tuple[Verdict, str]:
    """Lower for the least l, equal for the greatest; by which part, by seed of the same queries."""
    holds = None
    if len(by_l) > 1:
        lower, last = is_lower(*by_l[0]), is_lower(*by_l[-1])
        same = True if equal([one.value for one in by_l[-1]]) else None if last is None else False
        holds = jointly([lower, same])
    gaps = [[1 - a / b for a, b in zip(*(one.draws for one in of), strict=True)] for of in by_l]
    return holds, "; ".join(
        f"{median(each):+.1%} ({min(each):+.0%} to {max(each):+.0%},"
        f" {sum(gap > 0 for gap in each)} of {len(each)} below)"
        for each in gaps
    )


def _of_densities(rows: Sequence[Row]) -> Iterator[Judged]:
    for name, said in _ERRORS.items():
        lines: dict[tuple[int, int], list[list[float]]] = {}
        for k, l in dict.fromkeys((row["k"], row["l"]) for row in rows):  # noqa: E741
            for method in _methods(rows):
                line = _figures(rows, name, by="density", method=method, k=k, l=l)
                lines.setdefault((k, l), []).append([figure.value for figure in line])
                claim = f"{said} R_error falls the more is hidden (k = {k}, l = {l}): {method}"
                yield claim, falls(line), listed(line)
        if len(lines) > 1:
            less = {
                at: min(1 - line[-1] / line[0] for line in of if line) for at, of in lines.items()
            }
            last = max(lines)
            others = max(share for at, share in less.items() if at != last)
            yield (
                f"the reduction of the {said} is the largest for k = {last[0]}, l = {last[1]}",
                less[last] > max(others, 0),
                "; ".join(f"{k}, {l}: {_at_least(share)}" for (k, l), share in less.items()),  # noqa: E741
            )


def _of_equal(rows: Sequence[Row]) -> Iterator[Judged]:
    """By how much the paper's division of equal records changes the losses."""
    for small in dict.fromkeys(row["small"] for row in rows):
        changes = [
            f"{name} "
            + _shares(
                one / whole - 1
                for whole, one in zip(
                    *(
                        _line(rows, figure, small=small, taken=taken)
                        for taken in ("cells", "records")
                    ),
                    strict=True,
                )
            )
            for name, figure in (("C_DM", "c_dm"), ("NCP", "ncp"))
        ]
        yield f"change of {small} where equal records are divided, too", None, "; ".join(changes)


def _of_times(rows: Sequence[Row]) -> Iterator[Judged]:
    for table in ("income", "colorado"):
        for method, most in MOST_SECONDS.items():
            for row in _chosen(rows, table=table, method=method):
                claim = f"{method} takes at most {most:g} s on {table} (k = l = {row['k']})"
                yield claim, row["seconds"] <= most, f"{row['seconds']:.1f} s"
    for row in _chosen(rows, table="states"):
        claim = f"LGB_MDP takes at most {MOST_COPIES:g} sorted copies on {row['records']} rows"
        yield claim, row["ratio"] <= MOST_COPIES, f"{row['ratio']:.1f}"
    if rows:
        memory = max(row["peak_mb"] for row in rows)
        claim = f"Python stays below {MOST_MEMORY:g} MB"
        yield claim, memory < MOST_MEMORY, f"{memory:.0f} MB"


def _methods(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows))


def _given(rows: Iterable[Row], name: str) -> list[int]:
    """Values of a parameter, ascending."""
    return sorted({row[name] for row in rows})


def _least(rows: Iterable[Row], name: str) -> int:
    return min(row[name] for row in rows)


def _figures(rows: Iterable[Row], name: str, by: str = "k", **fixed: Any) -> list[Figure]:
    """A line; draws of an error are those of its queries."""
    return judging.line(sorted(_chosen(rows, **fixed), key=lambda row: row[by]), name)


def _line(rows: Iterable[Row], name: str, by: str = "k", **fixed: Any) -> list[float]:
    return [figure.value for figure in _figures(rows, name, by, **fixed)]


def _chosen(rows: Iterable[Row], **fixed: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in fixed.items())]


def _in_times(values: Sequence[Figure]) -> str:
    return f"in times of LGB_MDP {listed(values)}" if values else ""


def _shares(values: Iterable[float]) -> str:
    return ", ".join(f"{value:+.1%}" for value in values)
