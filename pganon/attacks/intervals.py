"""Shares of successful attacks with intervals that hold with a confidence of 95 %."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z = 1.959963984540054
"""Two-sided quantile of the normal distribution for 95 %."""


@dataclass(frozen=True)
class Rate:
    """Successes among attempts, with Wilson's score interval.

    Attributes:
        attempts: at least one.
    """

    successes: int
    attempts: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """Of two shares, with Newcombe's interval (hybrid score, without continuity correction), or
    another figure with its interval."""

    value: float
    low: float
    high: float


def rate(successes: int, attempts: int, z: float = Z) -> Rate | None:
    """Wilson (1927); None without any attempt."""
    if not attempts:
        return None
    share, square = successes / attempts, z * z
    middle = successes + square / 2
    spread = z * sqrt(successes * (attempts - successes) / attempts + square / 4)
    whole = attempts + square
    # At both ends the interval is closed, whatever rounding makes of it.
    low = 0.0 if successes == 0 else (middle - spread) / whole
    high = 1.0 if successes == attempts else (middle + spread) / whole
    return Rate(successes, attempts, share, low, high)


def difference(one: Rate | None, other: Rate | None) -> Difference | None:
    """Newcombe (1998), method 10: of independent shares."""
    if one is None or other is None:
        return None
    value = one.share - other.share
    below = sqrt((one.share - one.low) ** 2 + (other.high - other.share) ** 2)
    above = sqrt((one.high - one.share) ** 2 + (other.share - other.low) ** 2)
    return Difference(value, value - below, value + above)
