"""The spread of a generalized column: how often each value is had, fitted to the release.

Expectation maximization for grouped data (Turnbull, JRSS B 1976): every record that need not have
an attained value has a value of its box with the probability that the spread gives it there. The
result is a function of the release alone. So it discloses nothing, and it enters no bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

TOLERANCE = 1e-6
ROUNDS = 100

Array = np.ndarray


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


class _Boxes(Protocol):
    def masses(self, shares: Array) -> Array:
        """The share of every box's values, but for missing ones."""
        ...

    def spread(self, densities: Array) -> Array:
        """By value, the sum of the numbers of the boxes that have it."""
        ...


class _Ranges:
    """Boxes whose values are consecutive."""

    def __init__(self, boxes: Sequence[Box], size: int) -> None:
        empty = [not box.values for box in boxes]
        self.first = np.array([0 if e else b.values[0] for b, e in zip(boxes, empty, strict=True)])
        self.end = np.array(
            [0 if e else b.values[1] + 1 for b, e in zip(boxes, empty, strict=True)]
        )
        self.size = size

    def masses(self, shares: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(shares)])
        return sums[self.end] - sums[self.first]

    def spread(self, densities: Array) -> Array:
        steps = np.zeros(self.size + 1)
        np.add.at(steps, self.first, densities)
        np.add.at(steps, self.end, -densities)
        return np.maximum(np.cumsum(steps)[:-1], 0.0)


class _Sets:
    """Boxes with any values."""

    def __init__(self, boxes: Sequence[Box], size: int) -> None:
        self.box = np.repeat(np.arange(len(boxes)), [len(box.values) for box in boxes])
        self.value = np.array([value for box in boxes for value in box.values], dtype=np.intp)
        self.count = len(boxes)
        self.size = size

    def masses(self, shares: Array) -> Array:
        return np.bincount(self.box, weights=shares[self.value], minlength=self.count)

    def spread(self, densities: Array) -> Array:
        return np.bincount(self.value, weights=densities[self.box], minlength=self.size)


def fit(boxes: Sequence[Box], size: int, *, ranges: bool) -> tuple[list[float], float]:
    """Shares of `size` values and of missing ones, which add up to 1.

    Args:
        ranges: whether boxes have the first and last of consecutive values.
    """
    if not boxes:
        return [1.0 / size] * size, 0.0
    held: _Boxes = _Ranges(boxes, size) if ranges else _Sets(boxes, size)
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
        masses = held.masses(shares) + missing * lacking
        densities = np.divide(free, masses, out=np.zeros_like(free), where=masses > 0)
        new = fixed + shares * held.spread(densities)
        new_lacking = fixed_missing + lacking * float(densities @ missing)
        total = float(new.sum()) + new_lacking
        new, new_lacking = new / total, new_lacking / total
        change = float(np.abs(new - shares).sum()) + abs(new_lacking - lacking)
        shares, lacking = new, new_lacking
        if change < TOLERANCE:
            break
    return shares.tolist(), lacking
