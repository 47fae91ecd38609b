"""KACA (Li et al. 2006): k-anonymous classes by merging the nearest ones, bottom up.

The distance of two classes is the increase of the loss by merging them. The loss of a class is its
number of records times its NCP. The NCP of a number is the width of its range as a share of the
whole range; that of a category is the level of the lowest common ancestor as a share of the tree's
height. NULL is not on the line of numbers; a class that has both loses the whole attribute. As a
category NULL is one more value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

TIE = 1e-9
"""Costs that differ by less are equal, and the class with the lowest row wins."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Number:
    """A number or date: its place per row, in any unit; None is NULL.

    Attributes:
        width: of the whole range, if there are more rows than these; None: that of the places.
    """

    places: Sequence[float | None]
    width: float | None = None


@dataclass(frozen=True)
class Category:
    """A category: per row the codes of its value and of the ancestors below the root, leaf first.

    All paths have the same length, the height of the tree. Without a hierarchy it is 1.
    """

    paths: Sequence[tuple[int, ...]]


Coordinates = Number | Category


@dataclass(frozen=True)
class Merge:
    """Two classes became one: their lowest rows, and the loss that was added, in records."""

    row: int
    other: int
    cost: float


@dataclass(frozen=True)
class Kaca:
    """Classes of rows, both in ascending order, and the merges that led to them."""

    classes: list[list[int]]
    merges: list[Merge]


def kaca(attributes: Sequence[Coordinates], k: int) -> Kaca:
    """Classes of at least k rows. Rows are numbers from 0, in the order in which ties are broken.

    While a class is smaller than k, the smallest one is merged with the one that costs least.

    Raises:
        ValueError: fewer than k rows.
    """
    columns = [item.places if isinstance(item, Number) else item.paths for item in attributes]
    keys: list[Hashable] = list(zip(*columns, strict=True))
    if len(keys) < k:
        raise ValueError(f"too few rows: {len(keys)}, need at least {k}")
    rows: dict[Hashable, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    classes = _Classes(attributes, list(rows.values()))
    merges: list[Merge] = []
    while len(classes.members) > 1 and (merge := classes.next(k)) is not None:
        merges.append(merge)
    return Kaca([sorted(members) for members in classes.members], merges)


class _Classes:
    """Classes in the order of their lowest rows; their ranges and ancestors are in arrays."""

    def __init__(self, attributes: Sequence[Coordinates], members: list[list[int]]) -> None:
        self.members = members
        first = [rows[0] for rows in members]
        self.extents = [
            _Ranges(a, first) if isinstance(a, Number) else _Nodes(a, first) for a in attributes
        ]
        self.sizes = np.array([len(rows) for rows in members], dtype=np.int64)
        self.losses = np.zeros(len(members))

    def next(self, k: int) -> Merge | None:
        """Merge the smallest class with its nearest; None if all have k rows."""
        smallest = int(self.sizes.argmin())
        if self.sizes[smallest] >= k:
            return None
        losses = sum((extent.union(smallest) for extent in self.extents), np.zeros(len(self.sizes)))
        losses *= self.sizes + self.sizes[smallest]
        costs = losses - self.losses - self.losses[smallest]
        costs[smallest] = np.inf
        nearest = int(np.argmax(costs <= costs.min() + TIE))
        merge = Merge(self.members[smallest][0], self.members[nearest][0], float(costs[nearest]))
        self._unite(*sorted((smallest, nearest)), loss=losses[nearest])
        return merge

    def _unite(self, kept: int, gone: int, *, loss: float) -> None:
        self.members[kept] += self.members.pop(gone)
        self.sizes[kept] += self.sizes[gone]
        self.losses[kept] = loss
        self.sizes, self.losses = np.delete(self.sizes, gone), np.delete(self.losses, gone)
        for extent in self.extents:
            extent.unite(kept, gone)


class _Ranges:
    """Least and greatest place per class as shares of the whole range, and whether it has NULL."""

    def __init__(self, line: Number, first: list[int]) -> None:
        present = [place for place in line.places if place is not None]
        base = min(present, default=0.0)
        span = max(present, default=0.0) - base
        whole = (span if line.width is None else line.width) or 1.0
        places = [line.places[row] for row in first]
        self.null = np.array([place is None for place in places])
        # A class that has only NULLs has an empty range.
        self.low = np.array([np.inf if p is None else (p - base) / whole for p in places])
        self.high = np.where(self.null, -np.inf, self.low)

    def union(self, number: int) -> Floats:
        """NCP of the union of this class with every class."""
        low, high = np.minimum(self.low, self.low[number]), np.maximum(self.high, self.high[number])
        mixed = (self.null | self.null[number]) & (low <= high)
        return np.where(mixed, 1.0, np.maximum(high - low, 0.0))

    def unite(self, kept: int, gone: int) -> None:
        self.low[kept] = min(self.low[kept], self.low[gone])
        self.high[kept] = max(self.high[kept], self.high[gone])
        self.null[kept] |= self.null[gone]
        self.low, self.high = np.delete(self.low, gone), np.delete(self.high, gone)
        self.null = np.delete(self.null, gone)


class _Nodes:
    """Level of the lowest common ancestor per class, and the path of one of its rows."""

    def __init__(self, tree: Category, first: list[int]) -> None:
        self.paths = np.array([tree.paths[row] for row in first], dtype=np.int64)
        self.levels = np.zeros(len(first), dtype=np.int64)

    def union(self, number: int) -> Floats:
        """NCP of the union of this class with every class."""
        return self._levels(number) / max(1, self.paths.shape[1])

    def unite(self, kept: int, gone: int) -> None:
        self.levels[kept] = self._levels(kept)[gone]
        self.levels, self.paths = np.delete(self.levels, gone), np.delete(self.paths, gone, axis=0)

    def _levels(self, number: int) -> npt.NDArray[np.int64]:
        # Paths that have met stay together up to the root.
        apart = (self.paths != self.paths[number]).sum(axis=1)
        return np.maximum(apart, np.maximum(self.levels, self.levels[number]))
