"""Greatest values of windows of consecutive units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.signedinteger]


def steps(lengths: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Lengths from 2 on, none more than twice the one before, and whether each is asked for.

    Args:
        lengths: ascending, from 1 or more.
    """
    reached = 1
    for length in lengths:
        while length > 2 * reached:
            reached *= 2
            yield reached, False
        if length > 1:
            yield length, True
        reached = length


def sliding(columns: Sequence[Ints], lengths: Sequence[int]) -> Iterator[list[Ints]]:
    """Of every length, the greatest value of each column in the window that ends at each unit.

    Windows that would begin before the first unit begin there.
    """
    held, reached = [column.copy() for column in columns], 1
    if lengths[0] == 1:
        yield held
    for length, asked in steps(lengths):
        # A window is two shorter ones that may overlap.
        apart = length - reached
        held = [_joined(column, apart) for column in held]
        reached = length
        if asked:
            yield held


def _joined(column: Ints, apart: int) -> Ints:
    """Of every window and the one so many units before it; the first ones begin together."""
    joined = column.copy()
    np.maximum(column[apart:], column[: max(len(column) - apart, 0)], out=joined[apart:])
    return joined


class Ranges:
    """Greatest values between any two units, from those of windows of 1, 2, 4, ... units."""

    def __init__(self, values: Ints) -> None:
        levels = max(len(values).bit_length(), 1)
        lengths = [2**level for level in range(levels)]
        self.levels = np.stack([held[0] for held in sliding([values], lengths)])

    def between(self, first: Ints, last: Ints) -> Ints:
        """Of the windows from the units `first` to the units `last`, both included."""
        level = np.frexp(last - first + 1)[1] - 1
        return np.maximum(self.levels[level, last], self.levels[level, first + (1 << level) - 1])
