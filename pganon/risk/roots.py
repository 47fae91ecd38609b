"""Zeros of functions of one variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

_PARTS = 64
_HALVINGS = 56
"""Bisections that bring an interval of some ten to the rounding of float64."""


def zeros(function: Function, points: Floats) -> list[float]:
    """One zero between any two neighbouring points where the sign changes, ascending.

    Args:
        function: continuous; takes and returns arrays of one shape.
        points: ascending.
    """
    found = []
    for i in _changes(function(points)):
        low, high = float(points[i]), float(points[i + 1])
        while high - low > 4 * np.spacing(max(abs(low), abs(high))):
            parts = np.linspace(low, high, _PARTS + 1)
            change = next(iter(_changes(function(parts))), None)
            if change is None:  # the ends agree but for rounding
                break
            low, high = float(parts[change]), float(parts[change + 1])
        found.append((low + high) / 2)
    return found


def _changes(values: Floats) -> list[int]:
    return np.flatnonzero(np.diff(values >= 0)).tolist()


def falling_zeros(function: Function, low: Floats, high: Floats) -> Floats:
    """The zero of every element of a function that falls from `low` to `high`, by bisection."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2
