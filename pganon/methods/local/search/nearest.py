"""Groups of similar cells by top-down greedy division (LGB_NCP; after Xu et al. 2006).

A cell is a distinct vector of codes with the number of its records, and is never divided. Its cover
is the set of values that it shows; losses are the NCP of covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pganon.methods.common.search.attributes import Ordered, Tree

Assign = Literal["grow", "seeds"]
Small = Literal["stop", "fill"]

DECIMALS = 9
"""Losses that differ less count as equal, so that ties do not depend on rounding."""

SEED_ROUNDS = 3

_BEYOND = 2**31
"""Above every code."""


class Attribute(ABC):
    """One attribute of the cells. `cover(cell)` and unions of covers can be compared for loss."""

    @abstractmethod
    def cover(self, cell: int) -> Any: ...

    @abstractmethod
    def union(self, one: Any, other: Any) -> Any: ...

    @abstractmethod
    def loss(self, cover: Any) -> float: ...


@dataclass(frozen=True)
class Bounded(Attribute):
    """Codes of ordered values or of leaves; 0 is NULL, which mixed with others loses 1."""

    codes: Sequence[int]
    values: Ordered | Tree

    def cover(self, cell: int) -> tuple[int, int, bool]:
        code = self.codes[cell]
        return (code, code, False) if code else (_BEYOND, 0, True)

    def union(self, one: tuple[int, int, bool], other: tuple[int, int, bool]) -> tuple:
        lo = one[0] if one[0] < other[0] else other[0]
        hi = one[1] if one[1] > other[1] else other[1]
        return lo, hi, one[2] or other[2]

    def loss(self, cover: tuple[int, int, bool]) -> float:
        lo, hi, null = cover
        if hi == 0:
            return 0.0
        return 1.0 if null else self.values.span(lo, hi)


@dataclass(frozen=True)
class Names(Attribute):
    """Codes of unordered values, NULL among them; loss is the share of the values covered."""

    codes: Sequence[int]
    values: int

    def cover(self, cell: int) -> int:
        return 1 << self.codes[cell]

    def union(self, one: int, other: int) -> int:
        return one | other

    def loss(self, cover: int) -> float:
        covered = cover.bit_count()
        return 0.0 if covered < 2 else covered / self.values


@dataclass(frozen=True)
class Cells:
    """Cells of a block in a random order, which breaks ties.

    Attributes:
        weights: records of every cell.
    """

    attributes: Sequence[Attribute]
    weights: Sequence[int]

    def cover(self, cell: int) -> list[Any]:
        return [attribute.cover(cell) for attribute in self.attributes]

    def union(self, one: list[Any], other: list[Any]) -> list[Any]:
        pairs = zip(self.attributes, one, other, strict=True)
        return [attribute.union(a, b) for attribute, a, b in pairs]

    def loss(self, cover: list[Any]) -> float:
        pairs = zip(self.attributes, cover, strict=True)
        return round(sum(attribute.loss(c) for attribute, c in pairs), DECIMALS)

    def size(self, cells: Sequence[int]) -> int:
        return sum(self.weights[cell] for cell in cells)


def nearest_groups(cells: Cells, k: int, assign: Assign, small: Small) -> list[list[int]]:
    """Groups of cells of k or more records, if all together have as many.

    Args:
        assign: `grow` adds a cell to the side whose total loss grows less by it; `seeds` to the
            nearer seed.
        small: treatment of a division with a side that is too small: it is dropped (`stop`), or
            the side is filled up from the other one (`fill`).
    """
    covers = [cells.cover(cell) for cell in range(len(cells.weights))]
    groups: list[list[int]] = []
    open_ = [list(range(len(cells.weights)))] if cells.weights else []
    while open_:
        here = open_.pop()
        sides = _Division(cells, covers, here, k, assign, small).sides()
        if sides is None:
            groups.append(here)
        else:
            open_ += [sides[1], sides[0]]
    return groups


@dataclass(frozen=True)
class _Division:
    """The division of one group, whose cells are in their order."""

    cells: Cells
    covers: Sequence[list[Any]]
    here: list[int]
    k: int
    assign: Assign
    small: Small

    def sides(self) -> tuple[list[int], list[int]] | None:
        """Both sides, or None where it stays whole."""
        if self.cells.size(self.here) < 2 * self.k or len(self.here) < 2:
            return None
        seeds = self._seeds()
        if seeds is None:
            return None
        divide = self._grown if self.assign == "grow" else self._by_seeds
        sides = divide(*seeds)
        if self._large(sides):
            return sides
        if self.small == "stop":
            return None
        sides = self._filled(sides)
        return sides if self._large(sides) else None

    def _large(self, sides: tuple[list[int], list[int]]) -> bool:
        return min(self.cells.size(side) for side in sides) >= self.k

    def _seeds(self) -> tuple[int, int] | None:
        """Two cells far apart; None where all have the same cover."""
        best, seeds, start = -1.0, None, self.here[0]
        for _ in range(SEED_ROUNDS):
            others = [cell for cell in self.here if cell != start]
            apart = [self._both(start, cell) for cell in others]
            farthest = max(apart)
            if farthest <= best:
                break
            end = others[apart.index(farthest)]
            best, seeds, start = farthest, (start, end), end
        return seeds if best > 0 else None

    def _both(self, one: int, other: int) -> float:
        return self.cells.loss(self.cells.union(self.covers[one], self.covers[other]))

    def _grown(self, first: int, second: int) -> tuple[list[int], list[int]]:
        cells, weights = self.cells, self.cells.weights
        sides = ([first], [second])
        covers = [self.covers[first], self.covers[second]]
        sizes = [weights[first], weights[second]]
        losses = [cells.loss(cover) for cover in covers]
        for cell in self.here:
            if cell in (first, second):
                continue
            weight = weights[cell]
            tried = [cells.union(cover, self.covers[cell]) for cover in covers]
            wider = [cells.loss(cover) for cover in tried]
            grown = [
                round((size + weight) * after - size * before, DECIMALS)
                for size, after, before in zip(sizes, wider, losses, strict=True)
            ]
            side = 0 if (grown[0], sizes[0]) <= (grown[1], sizes[1]) else 1
            sides[side].append(cell)
            covers[side], losses[side] = tried[side], wider[side]
            sizes[side] += weight
        return sorted(sides[0]), sorted(sides[1])

    def _by_seeds(self, first: int, second: int) -> tuple[list[int], list[int]]:
        sides: tuple[list[int], list[int]] = ([first], [second])
        tied: list[int] = []
        for cell in self.here:
            if cell in (first, second):
                continue
            one, two = self._both(first, cell), self._both(second, cell)
            if one == two:
                tied.append(cell)
            else:
                sides[0 if one < two else 1].append(cell)
        fewer = 0 if self.cells.size(sides[0]) <= self.cells.size(sides[1]) else 1
        sides[fewer].extend(tied)
        return sorted(sides[0]), sorted(sides[1])

    def _filled(self, sides: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        """The small side with the nearest cells of the large one until it has k records."""
        cells = self.cells
        small, large = sorted(sides, key=cells.size)
        cover = self.covers[small[0]]
        for cell in small[1:]:
            cover = cells.union(cover, self.covers[cell])
        order = sorted(
            large, key=lambda cell: (cells.loss(cells.union(cover, self.covers[cell])), cell)
        )
        size, moved = cells.size(small), 0
        while size < self.k and moved < len(order):
            size += cells.weights[order[moved]]
            moved += 1
        filled, rest = sorted([*small, *order[:moved]]), sorted(order[moved:])
        return (filled, rest) if sides[0] is small else (rest, filled)
