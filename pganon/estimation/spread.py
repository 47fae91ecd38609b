"""The spread of a generalized column: how often each value is had, fitted to the release.

Expectation maximization for grouped data (Turnbull, JRSS B 1976): every record that need not have
an attained value has a value of its box with the probability that the spread gives it there. The
result is a function of the release alone. So it discloses nothing, and it enters no bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-6
ROUNDS = 100

Array = np.ndarray
_Sum = Callable[[Array], Array]


@dataclass(frozen=True)
class Box:
    """Classes that show the same of a column.

    Attributes:
        values: places of its possible values: first and last of a range, or every one of a set;
            empty where all records lack the value.
        missing: whether records may lack the value.
        attained: places of values that at least one record of each class has; each as often as it
            has such values.
        missing_attained: whether at least one record of each class lacks the value.
        classes, records: how many of them, together.
    """

    values: tuple[int, ...]
    missing: bool
    attained: tuple[int, ...]
    missing_attained: bool
    classes: int
    records: int

    @property
    def free(self) -> int:
        """Records that are not needed for the attained values."""
        return self.records - self.classes * (len(self.attained) + self.missing_attained)


def _sums(boxes: Sequence[Box], size: int, *, ranges: bool) -> tuple[_Sum, _Sum]:
    """Functions of shares of values and of numbers of boxes.

    The first has the share of every box's values, but for missing ones; the second, by value, the
    sum of the numbers of the boxes that have it.
    """
    if not ranges:
        box = np.repeat(np.arange(len(boxes)), [len(box.values) for box in boxes])
        value = np.array([value for box in boxes for value in box.values], dtype=np.intp)
        return (
            lambda shares: np.bincount(box, weights=shares[value], minlength=len(boxes)),
            lambda densities: np.bincount(value, weights=densities[box], minlength=size),
        )
    first = np.array([box.values[0] if box.values else 0 for box in boxes])
    end = np.array([box.values[1] + 1 if box.values else 0 for box in boxes])

    def masses(shares: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(shares)])
        return sums[end] - sums[first]

    def spread(densities: Array) -> Array:
        steps = np.zeros(size + 1)
        np.add.at(steps, first, densities)
        np.add.at(steps, end, -densities)
        return np.maximum(np.cumsum(steps)[:-1], 0.0)

    return masses, spread


def fit(boxes: Sequence[Box], size: int, *, ranges: bool) -> tuple[list[float], float]:
    """Shares of `size` values and of missing ones, which add up to 1.

    Args:
        ranges: whether boxes have the first and last of consecutive values.
    """
    if not boxes:
        return [1.0 / size] * size, 0.0
    masses_of, spread = _sums(boxes, size, ranges=ranges)
    missing = np.array([box.missing for box in boxes], dtype=float)
    free = np.array([max(0, box.free) for box in boxes], dtype=float)
    fixed = np.zeros(size)
    for box in boxes:
        for place in box.attained:
            fixed[place] += box.classes
    fixed_missing = float(sum(box.classes for box in boxes if box.missing_attained))
    some_missing = bool(missing.any())
    start = 1.0 / (size + some_missing)
    shares, lacking = np.full(size, start), start if some_missing else 0.0
    for _ in range(ROUNDS):
        masses = masses_of(shares) + missing * lacking
        densities = np.divide(free, masses, out=np.zeros_like(free), where=masses > 0)
        new = fixed + shares * spread(densities)
        new_lacking = fixed_missing + lacking * float(densities @ missing)
        total = float(new.sum()) + new_lacking
        new, new_lacking = new / total, new_lacking / total
        change = float(np.abs(new - shares).sum()) + abs(new_lacking - lacking)
        shares, lacking = new, new_lacking
        if change < TOLERANCE:
            break
    return shares.tolist(), lacking
