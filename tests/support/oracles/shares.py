"""The share of a range within limits, by going through its values one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

REACH = 8
"""Ends and finite limits are nearer to 0; values further away stand for all beyond."""


@dataclass(frozen=True)
class Range:
    """A range of numbers; an end that is None does not exist."""

    lower: Fraction | None
    upper: Fraction | None
    bounds: str

    def __str__(self) -> str:
        lower, upper = ("" if end is None else str(float(end)) for end in (self.lower, self.upper))
        return f"{self.bounds[0]}{lower},{upper}{self.bounds[1]}"

    def holds(self, value: Fraction) -> bool:
        above = (
            self.lower is None
            or value > self.lower
            or (self.bounds[0] == "[" and value == self.lower)
        )
        below = (
            self.upper is None
            or value < self.upper
            or (self.bounds[1] == "]" and value == self.upper)
        )
        return above and below

    @property
    def bounded(self) -> bool:
        return self.lower is not None and self.upper is not None


def share_of(
    range_: Range, low: float, high: float, *, whole: bool | None = None
) -> Fraction | None:
    """Share of the values of a range from low to high, None where it is not certain.

    Args:
        range_: with ends that are quarters.
        low: a whole number or half of one, or infinite; so is `high`.
        whole: whether values are whole numbers; None: if the ends are.
    """
    if whole is None:
        whole = all(end is None or end.denominator == 1 for end in (range_.lower, range_.upper))
    values = _values(range_, 1 if whole else 8)
    inside = [value for value in values if low <= value <= high]
    if not values:
        return None
    if not range_.bounded:
        # The outermost values of the grid are those beyond all limits but infinite ones.
        return _certain(inside, values, low, high)
    if whole or len(values) == 1:
        return Fraction(len(inside), len(values))
    # The middles of quarters stand for these: single values have no length.
    lengths = [value for value in values if value.numerator % 2 and value.denominator == 8]
    return Fraction(sum(low <= value <= high for value in lengths), len(lengths))


def _certain(
    inside: list[Fraction], values: list[Fraction], low: float, high: float
) -> Fraction | None:
    if not inside:
        return Fraction(0)
    return Fraction(1) if len(inside) == len(values) and low <= high else None


@cache
def _values(range_: Range, parts: int) -> list[Fraction]:
    """Multiples of a fraction of 1 that the range holds."""
    grid = (Fraction(n, parts) for n in range(-parts * REACH, parts * REACH + 1))
    return [value for value in grid if range_.holds(value)]


def limits(values: Iterable[float]) -> list[float]:
    """These and none at all, on either side."""
    return [-math.inf, *values, math.inf]
