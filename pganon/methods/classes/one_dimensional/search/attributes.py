"""Quasi-identifiers as the search sees them: what windows of consecutive units lose.

A unit is a cell or a record; codes of an attribute count from 1, and 0 is NULL. Losses are NCP
(Xu et al., KDD 2006) as :mod:`pganon.encode.axis` defines it, times the weight of the attribute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.distinct import Distinct
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree


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


Ints = NDArray[np.signedinteger]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Attribute(ABC):
    """A quasi-identifier.

    Attributes:
        weight: of its loss.
        size: codes are at most this.
        nulls: whether code 0 may be in a class with others.
    """

    weight: float
    size: int
    nulls: bool

    @abstractmethod
    def of_lengths(
        self, codes: Ints, lengths: Sequence[int], starts: Ints | None = None
    ) -> Iterator[Floats]:
        """Of every length, the losses of the windows of so many units that end at each unit.

        Args:
            starts: of every unit its first code, where units have several.
        """

    @abstractmethod
    def between(self, codes: Ints, first: Ints, last: Ints, starts: Ints | None = None) -> Floats:
        """The losses of the windows from the units `first` to the units `last`."""


@dataclass(frozen=True)
class Bounded(Attribute):
    """An attribute of which the least and the greatest value say what a class loses."""

    values: Ordered | Tree

    def of_lengths(
        self, codes: Ints, lengths: Sequence[int], starts: Ints | None = None
    ) -> Iterator[Floats]:
        for high, low, null in sliding(self._extremes(codes, starts), lengths):
            yield self._losses(-low, high, null)

    def between(self, codes: Ints, first: Ints, last: Ints, starts: Ints | None = None) -> Floats:
        extremes = self._extremes(codes, starts)
        high, low, null = (Ranges(values).between(first, last) for values in extremes)
        return self._losses(-low, high, null)

    def _extremes(self, codes: Ints, starts: Ints | None) -> list[Ints]:
        """Of units: the greatest code, the least above 0 negated, so that one maximum serves both,
        and whether there is NULL."""
        absent = -(self.size + 1)
        codes = codes.astype(np.int32)
        extremes = [codes, np.where(codes > 0, -codes, absent), (codes == 0).astype(np.int32)]
        if starts is None:
            return extremes
        return [np.maximum.reduceat(values, starts) for values in extremes]

    def _losses(self, low: Ints, high: Ints, null: Ints) -> Floats:
        if self.size == 0:
            return np.zeros(len(high))
        if not null.any():
            return self.weight * self.values.spans(low, high)
        high_or_first = np.maximum(high, 1)
        lost = self.values.spans(np.clip(low, 1, high_or_first), high_or_first)
        if self.nulls:
            lost = np.where(null > 0, 1.0, lost)
        return self.weight * np.where(high == 0, 0.0, lost)


@dataclass(frozen=True)
class Names(Attribute):
    """Unordered values, NULL among them."""

    values: Nominal

    def of_lengths(
        self, codes: Ints, lengths: Sequence[int], starts: Ints | None = None
    ) -> Iterator[Floats]:
        losses = self._losses(np.arange(self.size + 2))
        for number in Distinct.of_units(codes, starts).of_lengths(lengths):
            yield losses[number]

    def between(self, codes: Ints, first: Ints, last: Ints, starts: Ints | None = None) -> Floats:
        return self._losses(Distinct.of_units(codes, starts).between(first, last))

    def _losses(self, number: Ints) -> Floats:
        return self.weight * (number - 1) / max(self.values.domain - 1, 1)
