"""Quasi-identifiers as searches see them: arrays by code, from 1; code 0 is NULL.

Losses are NCP (Xu et al., KDD 2006) as :mod:`pganon.encode.axis` defines it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ordered:
    """Numbers, dates, ordinal values.

    Attributes:
        places: between 0 and 1.
        length: of what is shown of the line.
    """

    places: Floats
    length: float = 1.0

    def spans(self, low: Ints, high: Ints) -> Floats:
        """What is lost between two codes."""
        return (self.places[high - 1] - self.places[low - 1]) / self.length

    def span(self, low: int, high: int) -> float:
        """The same, of one pair."""
        return (self._places[high - 1] - self._places[low - 1]) / self.length

    @cached_property
    def _places(self) -> list[float]:
        return self.places.tolist()


@dataclass(frozen=True, eq=False)
class Tree:
    """Leaves of a hierarchy, left to right.

    Attributes:
        paths: leaves x levels: the first leaf below itself and its ancestors, without the root.
        losses: leaves x (levels + 1): the loss of itself and of its ancestors up to the root.
    """

    paths: NDArray[np.int64]
    losses: Floats

    def spans(self, low: Ints, high: Ints) -> Floats:
        """The loss of the lowest common ancestors, from which on paths are the same."""
        level = np.zeros(len(low), dtype=np.int64)
        for nodes in self.paths.T:
            level += nodes[low - 1] != nodes[high - 1]
        return self.losses[low - 1, level]

    def span(self, low: int, high: int) -> float:
        """The same, of one pair."""
        paths, losses = self.paths.tolist(), self.losses.tolist()
        pairs = zip(paths[low - 1], paths[high - 1], strict=True)
        return losses[low - 1][sum(one != other for one, other in pairs)]


@dataclass(frozen=True)
class Nominal:
    """Unordered values, NULL among them. Attributes: domain: how many there could be."""

    domain: int


Values = Ordered | Tree | Nominal
