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
from pganon.methods.classes.one_dimensional.search.sliding import Ranges, sliding

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


class _Bounded(Attribute):
    """An attribute of which the least and the greatest value say what a class loses."""

    @abstractmethod
    def spans(self, low: Ints, high: Ints) -> Floats:
        """The loss between two codes, from 1."""

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
            return self.weight * self.spans(low, high)
        high_or_first = np.maximum(high, 1)
        lost = self.spans(np.clip(low, 1, high_or_first), high_or_first)
        if self.nulls:
            lost = np.where(null > 0, 1.0, lost)
        return self.weight * np.where(high == 0, 0.0, lost)


@dataclass(frozen=True)
class Line(_Bounded):
    """Numbers, dates, ordinal values. Attributes: places: of codes from 1, in 0..1."""

    places: Floats

    def spans(self, low: Ints, high: Ints) -> Floats:
        return self.places[high - 1] - self.places[low - 1]


@dataclass(frozen=True)
class Tree(_Bounded):
    """Leaves of a hierarchy by code from 1, left to right.

    Attributes:
        paths: leaves x levels: the first leaf below itself and its ancestors, without the root.
        losses: leaves x (levels + 1): the loss of itself and of its ancestors up to the root.
    """

    paths: Ints
    losses: Floats

    def spans(self, low: Ints, high: Ints) -> Floats:
        # From the lowest common ancestor on paths are the same.
        level = np.zeros(len(low), dtype=np.int64)
        for nodes in self.paths.T:
            level += nodes[low - 1] != nodes[high - 1]
        return self.losses[low - 1, level]


@dataclass(frozen=True)
class Names(Attribute):
    """Unordered values, NULL among them. Attributes: domain: how many there could be."""

    domain: int

    def of_lengths(
        self, codes: Ints, lengths: Sequence[int], starts: Ints | None = None
    ) -> Iterator[Floats]:
        losses = self._losses(np.arange(self.size + 2))
        for number in Distinct.of_units(codes, starts).of_lengths(lengths):
            yield losses[number]

    def between(self, codes: Ints, first: Ints, last: Ints, starts: Ints | None = None) -> Floats:
        return self._losses(Distinct.of_units(codes, starts).between(first, last))

    def _losses(self, number: Ints) -> Floats:
        return self.weight * (number - 1) / max(self.domain - 1, 1)
