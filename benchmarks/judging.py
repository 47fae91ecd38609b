"""What claims are held to. Nothing is asserted.

A flat line is no trend, a tie is no rank, and of nothing there is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

Row = dict[str, Any]
Judged = tuple[str, bool | None, str]
"""A claim, whether it holds, and by what figures; None where that cannot be said."""

ROUNDED = 1e-9
"""Part by which figures that are the same may differ: sums of floats in any order."""
EQUAL = 0.1
"""Part of the greatest of several figures by which the least is below it, where they are equal,
close, or hardly change, and make no trend."""
AGREED = 0.9
"""Part of the draws of the same seeds that must agree on which of two figures is lower: all of
three, nine of ten."""

_HOLDS = {True: "yes", False: "NO", None: "-"}


class Figure(NamedTuple):
    """What several draws say together, and each of them by its seed; none where these are not
    kept, or there is one release."""

    value: float
    draws: tuple[float, ...] = ()

    def __str__(self) -> str:
        ends = [f"{end:.3g}" for end in (min(self.draws), max(self.draws))] if self.draws else []
        drawn = f" ({ends[0]} to {ends[1]})" if len(set(ends)) > 1 else ""
        return f"{self.value:.3g}{drawn}"


def line(rows: Iterable[Row], name: str) -> list[Figure]:
    """Figures of the rows that have one."""
    return [
        Figure(row[name], tuple(row.get(f"{name}_drawn", ())))
        for row in rows
        if row.get(name) is not None
    ]


def quotients(pairs: Iterable[tuple[Figure, Figure]]) -> list[Figure]:
    """Second by first, of the means and of each draw; of nothing there is none."""
    return [
        Figure(b.value / a.value, tuple(y / x for x, y in zip(a.draws, b.draws, strict=False)))
        for a, b in pairs
        if a.value and all(a.draws)
    ]


def rows(judged: Iterable[Judged]) -> list[Row]:
    """Of what has figures."""
    return [
        {"claim": claim, "holds": _HOLDS[holds], "found": figures}
        for claim, holds, figures in judged
        if holds is not None or figures
    ]


def below(low: float, high: float) -> bool:
    return low < high - ROUNDED * abs(high)


def apart(low: Figure, high: Figure) -> bool:
    """Whether the first is lower by more than equal figures are, and draws agree on it."""
    # Draws that failed are missing, and it is not kept which.
    of = zip if len(low.draws) == len(high.draws) else product
    agree = [below(a, b) for a, b in of(low.draws, high.draws)]
    return (
        low.value < high.value
        and not equal([low.value, high.value])
        and sum(agree) >= AGREED * len(agree)
    )


def grows(line: Sequence[Figure]) -> bool | None:
    """Whether the first is apart from the last, and none from an earlier one in the other way."""
    if len(line) < 2:
        return None
    back = any(apart(later, earlier) for earlier, later in combinations(line, 2))
    return apart(line[0], line[-1]) and not back


def falls(line: Sequence[Figure]) -> bool | None:
    return grows(line[::-1])


def equal(line: Sequence[float], part: float = EQUAL) -> bool | None:
    return max(line) - min(line) <= part * max(map(abs, line)) if len(line) > 1 else None


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold that can be decided; None where none can."""
    decided = [each for each in verdicts if each is not None]
    return all(decided) if decided else None


def by_definition(holds: bool | None) -> bool | None:
    """What can only fail: where it holds, that says nothing."""
    return False if holds is False else None


def ranked(pairs: Sequence[tuple[Figure, Figure]]) -> tuple[bool | None, str]:
    """Whether the first of every pair has the lower value; of how many, and the figures."""
    if not pairs:
        return None, ""
    less = sum(below(a.value, b.value) for a, b in pairs)
    shown = ", ".join(f"{a} / {b}" for a, b in pairs)
    return less == len(pairs), f"{less} of {len(pairs)}: {shown}"


def listed(values: Iterable[float | Figure]) -> str:
    return ", ".join(str(v) if isinstance(v, Figure) else f"{v:.3g}" for v in values)
