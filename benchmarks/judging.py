"""What claims are held to. Nothing is asserted.

A flat line is no trend, a tie is no rank, and of nothing there is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Judged = tuple[str, bool | None, str]
"""A claim, whether it holds, and by what figures; None where that cannot be said."""

ROUNDED = 1e-9
"""Part by which figures that are the same may differ: sums of floats in any order."""
EQUAL = 0.1
"""Part of the greatest of several figures by which the least is below it, where they are to be
equal, close, or hardly to change."""
NOISE = 0.1
"""Part by which seconds may go against a trend, and by which they must follow it in the end."""

_HOLDS = {True: "yes", False: "NO", None: "-"}


def rows(judged: Iterable[Judged]) -> list[Row]:
    """Of what has figures."""
    return [
        {"claim": claim, "holds": _HOLDS[holds], "found": figures}
        for claim, holds, figures in judged
        if holds is not None or figures
    ]


def below(low: float, high: float) -> bool:
    return low < high - ROUNDED * abs(high)


def grows(line: Sequence[float], noise: float = 0.0) -> bool | None:
    """Step by step, and from the first value to the last."""
    if len(line) < 2:
        return None
    steps = all(below(a * (1 - noise), b) if noise else below(a, b) for a, b in pairwise(line))
    return steps and below(line[0] * (1 + noise), line[-1])


def falls(line: Sequence[float], noise: float = 0.0) -> bool | None:
    return grows(line[::-1], noise)


def equal(line: Sequence[float], part: float = EQUAL) -> bool | None:
    return max(line) - min(line) <= part * max(map(abs, line)) if len(line) > 1 else None


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold that can be decided; None where none can."""
    decided = [each for each in verdicts if each is not None]
    return all(decided) if decided else None


def by_definition(holds: bool | None) -> bool | None:
    """What can only fail: where it holds, that says nothing."""
    return False if holds is False else None


def ranked(pairs: Sequence[tuple[float, float]]) -> tuple[bool | None, str]:
    """Whether the first of every pair is below the second; of how many, and the figures."""
    if not pairs:
        return None, ""
    less = sum(below(a, b) for a, b in pairs)
    shown = ", ".join(f"{a:.3g} / {b:.3g}" for a, b in pairs)
    return less == len(pairs), f"{less} of {len(pairs)}: {shown}"


def listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
