"""What claims are held to. Nothing is asserted.

A flat line is no trend, a tie is no rank, and of nothing there is no verdict. Verdicts are True,
False, :data:`MOSTLY`, :data:`SLIGHTLY`, and None where figures do not decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product
from statistics import fmean
from typing import Any, NamedTuple

Row = dict[str, Any]
MOSTLY = "mostly"
"""Of several comparisons not all agree, but three in four do."""
SLIGHTLY = "slightly"
"""All draws agree on a trend, over less than :data:`EQUAL`."""
Verdict = bool | str | None
Judged = tuple[str, Verdict, str]
"""A claim, whether it holds, and by what figures."""

ROUNDED = 1e-9
"""Part by which figures that are the same may differ: sums of floats in any order."""
NOTHING = 1e-12
"""What rounding leaves of 0."""
EQUAL = 0.1
"""Part of the greatest of several figures by which the least is below it, where they are equal,
close, or hardly change, and make no trend."""
AGREED = 0.9
"""Part of the draws of the same seeds that must agree on which of two figures is lower: all of
three, nine of ten."""

_FEW = 3
"""Draws that can show a trend by themselves."""
AGREE = 0.75
"""Part of the comparisons that agree, where a claim on all of them mostly holds."""
NOISE = 3 / 4
"""What :data:`EQUAL` is of seconds: the same release takes up to four times as long where other
work goes on, so that less than that decides nothing."""

_HOLDS: Mapping[Verdict, str] = {True: "yes", False: "NO", None: "-"}


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
        {"claim": claim, "holds": _HOLDS.get(holds, holds), "found": figures}
        for claim, holds, figures in judged
        if holds is not None or figures
    ]


def below(low: float, high: float) -> bool:
    return low < high - max(ROUNDED * abs(high), NOTHING)


def apart(low: Figure, high: Figure, part: float = EQUAL) -> bool:
    """Whether the first is lower by more than equal figures are, and draws agree on it."""
    return (
        below(low.value, high.value)
        and not equal([low.value, high.value], part)
        and _agreed(low, high) >= AGREED
    )


def _agreed(low: Figure, high: Figure) -> float:
    """The part of the draws in which the first is lower; of figures without draws, all."""
    # Draws that failed are missing, and it is not kept which.
    of = zip if len(low.draws) == len(high.draws) else product
    agree = [below(a, b) for a, b in of(low.draws, high.draws)]
    return fmean(agree) if agree else 1.0


def grows(line: Sequence[Figure], part: float = EQUAL) -> Verdict:
    """Whether the first is apart from the last, and none from an earlier one in the other way.

    Seconds that are not apart are within their noise, and decide nothing.
    """
    if len(line) < 2:
        return None
    first, last = line[0], line[-1]
    if any(apart(later, earlier, part) for earlier, later in combinations(line, 2)):
        return False
    if apart(first, last, part):
        return True
    differ = below(first.value, last.value) or below(last.value, first.value)
    if part == NOISE or (differ and not equal([first.value, last.value])):
        return None
    same = len(first.draws) >= _FEW and len({len(figure.draws) for figure in line}) == 1
    every_step = same and all(_agreed(a, b) == 1 for a, b in pairwise(line))
    return SLIGHTLY if every_step and first.value < last.value else False


def falls(line: Sequence[Figure], part: float = EQUAL) -> Verdict:
    return grows(line[::-1], part)


def equal(line: Sequence[float], part: float = EQUAL) -> bool | None:
    return max(line) - min(line) <= part * max(map(abs, line)) if len(line) > 1 else None


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold that can be decided; None where none can."""
    decided = [each for each in verdicts if each is not None]
    return all(decided) if decided else None


def by_definition(holds: Verdict) -> Verdict:
    """What can only fail: where it holds, that says nothing."""
    return False if holds is False else None


def of_all(verdicts: Sequence[Verdict]) -> Verdict:
    """Of comparisons that agree, contradict, or are of figures that are equal or whose draws
    disagree (None).

    As draws agree by chance in some of many comparisons, a few that contradict are no verdict.
    """
    if not verdicts:
        return None
    agree, against = (sum(each is holds for each in verdicts) for holds in (True, False))
    if agree == len(verdicts):
        return True
    if agree >= AGREE * len(verdicts):
        return MOSTLY
    return False if against > min(agree, (1 - AGREE) * len(verdicts)) else None


def is_lower(low: Figure, high: Figure, part: float = EQUAL) -> bool | None:
    """Whether it is, or the other way round; None where they are equal or draws disagree."""
    return True if apart(low, high, part) else False if apart(high, low, part) else None


def jointly(verdicts: Iterable[bool | None]) -> bool | None:
    """Of a comparison that is several: False if one contradicts, None if one cannot tell."""
    known = list(verdicts)
    return False if False in known else None if None in known else True


def ranked(pairs: Sequence[tuple[Figure, Figure]], part: float = EQUAL) -> tuple[Verdict, str]:
    """Whether the first of the pairs has the lower value; of how many, and the figures."""
    if not pairs:
        return None, ""
    verdicts = [is_lower(a, b, part) for a, b in pairs]
    shown = ", ".join(f"{a} / {b}" for a, b in pairs)
    return of_all(verdicts), f"{agreeing(verdicts)}: {shown}"


def agreeing(verdicts: Sequence[Verdict]) -> str:
    """How many agree, and of how many that cannot be said."""
    same = sum(each is None for each in verdicts)
    return f"{sum(each is True for each in verdicts)} of {len(verdicts)}" + (
        f", {same} undecided" if same else ""
    )


def listed(values: Iterable[float | Figure]) -> str:
    return ", ".join(str(v) if isinstance(v, Figure) else f"{v:.3g}" for v in values)
