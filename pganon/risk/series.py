"""Sums and products of long progressions, without the cancellation of gamma functions.

The series are those of Abramowitz and Stegun (1964), 6.1.41 and 6.3.18, as differences. They are
used from :data:`ENOUGH` on, where what they leave out is below the rounding of float64.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ENOUGH = 10
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def harmonic(start: Floats, terms: Floats | float) -> Floats:
    """Sums of 1 / (start + i) for i from 0 to terms - 1.

    Args:
        start: above 0.
        terms: whole numbers from 0; broadcast with `start`.
    """
    start, terms = np.broadcast_arrays(start, terms)
    total = np.zeros(start.shape)
    for i in range(ENOUGH):
        total += np.where(i < terms, 1 / (start + i), 0.0)
    first = start + ENOUGH
    last = np.maximum(start + terms, first)
    total += np.log1p((last - first) / first) + _below_log(first) - _below_log(last)
    return total


def _below_log(x: Floats) -> Floats:
    """log(x) - digamma(x)."""
    inverse = 1 / x
    square = inverse * inverse
    series = np.zeros(x.shape)
    for coefficient in reversed(_DIGAMMA):
        series = (series + coefficient) * square
    return inverse / 2 + series


def log_gamma_ratio(x: float, step: float) -> float:
    """log(Gamma(x + step) / Gamma(x)); x and x + step are above 0."""
    if min(x, x + step) < ENOUGH:
        return math.lgamma(x + step) - math.lgamma(x)
    moved = x + step
    total = step * math.log(x) + (moved - 0.5) * math.log1p(step / x) - step
    for power, coefficient in enumerate(_LOG_GAMMA):
        total += coefficient * (moved ** (-2 * power - 1) - x ** (-2 * power - 1))
    return total
