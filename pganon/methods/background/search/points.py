"""Quasi-identifiers of the records of a block: distances, centroids, and losses of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import DECIMALS
from pganon.methods.common.search.elements import (
    Categorical,
    Domain,
    Hierarchical,
    Numeric,
    set_sizes,
)

Rows = npt.NDArray[np.int64]
"""Numbers of records."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Names(Categorical):
    """Sets of codes whose loss is the share of the domain that they hold, 0 for one value.

    Code 0 is NULL; mixed with values it loses 1. This is the cost by which the paper merges
    classes; the statistics of a release count as those of every method.
    """

    def cost(self, part: int) -> float:
        values = part.bit_count()
        if values <= 1:
            return 0.0
        return 1.0 if part & 1 else values / self.size

    def costs(self, parts: np.ndarray) -> np.ndarray:
        values = set_sizes(parts)
        shares = np.where(parts[0] & np.uint64(1), 1.0, values / max(self.size, 1))
        return np.where(values > 1, shares, 0.0)


@dataclass(frozen=True, eq=False)
class Ordered:
    """An attribute of numbers or dates, or of any values with an order.

    Attributes:
        places: by record, the place of its value between the least value of the source, 0, and
            the greatest, 1; NaN is NULL.
    """

    places: Numbers

    @cached_property
    def domain(self) -> Domain:
        return Numeric(0.0, 1.0, nulls=bool(np.isnan(self.places).any()))

    @cached_property
    def parts(self) -> np.ndarray:
        places = self.places.tolist()
        return Numeric(0.0, 1.0, nulls=True).parts(places, places, np.isnan(places).tolist())


@dataclass(frozen=True, eq=False)
class Nominal:
    """An attribute of unordered values.

    Attributes:
        codes: by record, in the order of the values; 0 is NULL.
        size: number of values of the domain, without NULL.
    """

    codes: npt.NDArray[np.int64]
    size: int

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """By record, the number of its code among those of the block; NULL is 0."""
        return np.searchsorted(np.union1d(self.codes, [0]), self.codes)

    @cached_property
    def domain(self) -> Domain:
        return Names(self.size, int(self.numbers.max(initial=0)) + 1)

    @cached_property
    def parts(self) -> np.ndarray:
        words, bits = np.divmod(self.numbers, 64)
        parts = np.zeros((int(words.max(initial=0)) + 1, len(words)), dtype=np.uint64)
        parts[words, np.arange(len(words))] = np.uint64(1) << bits.astype(np.uint64)
        return parts

    def distances(self, number: int, rows: Rows) -> Numbers:
        """By record, whether it has another value."""
        return (self.numbers[rows] != number).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """An attribute with a hierarchy.

    Attributes:
        codes: by record, leaves from left to right; 0 is NULL.
        domain: loss of every node.
    """

    codes: npt.NDArray[np.int64]
    domain: Hierarchical

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        return self.codes

    @cached_property
    def parts(self) -> np.ndarray:
        return np.stack([self.codes, np.zeros_like(self.codes)])

    def distances(self, number: int, rows: Rows) -> Numbers:
        """By record, the level of the lowest common ancestor; the root is at 1."""
        paths = self.domain.paths
        return (paths != paths[number]).mean(axis=1)[self.codes[rows]]


Attribute = Ordered | Nominal | Hierarchy


@dataclass(frozen=True, eq=False)
class Center:
    """A point: places of the ordered attributes (NaN is NULL), numbers of the others' values."""

    places: Numbers
    values: Sequence[int]


class Points:
    """Records of a block as points, in the order in which ties are broken.

    Args:
        attributes: at least one, with as many records each.
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        lines = [a.places for a in attributes if isinstance(a, Ordered)]
        self.domains = [a.domain for a in attributes]
        self.parts = [a.parts for a in attributes]
        self.size = self.parts[0].shape[1]
        self.places = np.array(lines, dtype=np.float64).reshape(len(lines), self.size)
        self.named = [a for a in attributes if not isinstance(a, Ordered)]
        self._missing = np.isnan(self.places)
        self._nulls = bool(self._missing.any())

    def center(self, rows: Rows) -> Center:
        """Means of the numbers that are not NULL, modes of the others; the first one on a tie."""
        modes = [int(np.bincount(a.numbers[rows]).argmax()) for a in self.named]
        return Center(self._means(rows), modes)

    def distances(self, center: Center, rows: Rows) -> Numbers:
        """Distance of every record to a point, rounded.

        Euclidean over the ordered attributes, plus the distance of every other one. NULL is at
        distance 1 from any value and at 0 from NULL.
        """
        squares = self.places[:, rows]
        squares -= center.places[:, None]
        squares *= squares
        if self._nulls or np.isnan(center.places).any():
            either = self._missing[:, rows] != np.isnan(center.places)[:, None]
            squares = np.where(np.isnan(squares), either, squares)
        totals = np.sqrt(np.add.reduce(squares, axis=0))
        for attribute, value in zip(self.named, center.values, strict=True):
            totals += attribute.distances(value, rows)
        return totals.round(DECIMALS)

    def _means(self, rows: Rows) -> Numbers:
        places = self.places[:, rows]
        if not self._nulls:
            return places.mean(axis=1)
        present = ~self._missing[:, rows]
        numbers = present.sum(axis=1)
        sums = np.where(present, places, 0.0).sum(axis=1)
        return np.where(numbers > 0, sums / np.maximum(numbers, 1), np.nan)
