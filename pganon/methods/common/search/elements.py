"""Identity elements: what a class of individuals has in common in its quasi-identifiers.

An element has one part per attribute: a range of numbers, a set of codes, or a node of a hierarchy.
Its cost is the information lost by publishing it, from 0 to 1 per attribute (Wang, Du, Luo and Li
2019, equations 5, 11 and 12). NULL is one more code; of numbers it is apart from the line, and a
part that mixes NULL with numbers costs 1.

Parts of many elements lie in one array per attribute, one column per element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pganon.methods.common.search.attributes import Tree
from pganon.methods.common.search.masks import mask_of

Node = tuple[int, int]
"""Code of a leaf, and how many levels above it the node lies."""


class Hierarchical:
    """A category with a hierarchy; parts are its nodes, the join is the lowest common ancestor.

    Args:
        paths: codes x levels, numbers of the nodes over every code from the value itself to the
            node below the root. Code 0 is NULL. Leaves less deep repeat their node.
        costs: codes x (levels + 1), cost of the same nodes and of the root.
    """

    def __init__(self, paths: np.ndarray, costs: np.ndarray) -> None:
        self.paths = np.asarray(paths, dtype=np.int64)
        self.costs_over = np.asarray(costs, float)

    @classmethod
    def of(cls, leaves: Tree, *, nulls: bool) -> Hierarchical:
        """NULL has nothing above it but the root, which loses everything where there is NULL."""
        levels = leaves.paths.shape[1]
        paths = np.vstack([np.zeros((1, levels), dtype=np.int64), leaves.paths])
        costs = np.vstack([np.zeros((1, levels + 1)), leaves.losses])
        costs[slice(None) if nulls else 0, levels] = 1.0
        return cls(paths, costs)

    def parts(self, sets: Iterable[Iterable[int]]) -> np.ndarray:
        """2 x n array of the nodes over sets of codes."""
        nodes: list[Node] = []
        for codes in sets:
            leaves = sorted(set(map(int, codes)))
            node = (leaves[0], 0)
            for code in leaves[1:]:
                node = self.join(node, (code, 0))
            nodes.append(node)
        return np.array(nodes, dtype=np.int64).reshape(-1, 2).T

    def part(self, parts: np.ndarray, at: int) -> Node:
        code, level = parts[:, at].tolist()
        return code, level

    def column(self, part: Node) -> np.ndarray:
        return np.array(part, dtype=np.int64)

    def join(self, one: Node, other: Node) -> Node:
        # Paths that have met stay together up to the root.
        apart = int((self.paths[one[0]] != self.paths[other[0]]).sum())
        return one[0], max(apart, one[1], other[1])

    def cost(self, part: Node) -> float:
        return float(self.costs_over[part])

    def costs(self, parts: np.ndarray) -> np.ndarray:
        return self.costs_over[parts[0], parts[1]]

    def joined_costs(self, parts: np.ndarray, part: Node) -> np.ndarray:
        apart = (self.paths != self.paths[part[0]]).sum(axis=1)
        levels = np.maximum(apart[parts[0]], parts[1])
        return self.costs_over[part[0]][np.maximum(levels, part[1])]


WORD = 64
_ALL = (1 << WORD) - 1


class Domain(Protocol):
    """A quasi-identifier over the whole table: how its parts are joined, and what they cost."""

    def part(self, parts: np.ndarray, at: int) -> Any:
        """The part in one column of the array; equal parts are equal."""
        ...

    def column(self, part: Any) -> np.ndarray:
        """The column of the array that holds the part."""
        ...

    def join(self, one: Any, other: Any) -> Any:
        """The smallest part that covers both."""
        ...

    def cost(self, part: Any) -> float: ...

    def costs(self, parts: np.ndarray) -> np.ndarray:
        """Cost of every part of the array."""
        ...

    def joined_costs(self, parts: np.ndarray, part: Any) -> np.ndarray:
        """Cost of the join of every part of the array with this one."""
        ...


Range = tuple[float, float, bool]
"""Least and greatest number, and whether there is NULL; (inf, -inf, True) is NULL alone."""


@dataclass(frozen=True)
class Numeric:
    """A number or date.

    Attributes:
        low: least value of the domain, in the unit of the parts.
        high: the greatest.
        nulls: whether the column has NULL anywhere in the table.
    """

    low: float
    high: float
    nulls: bool = False

    def parts(
        self, low: Sequence[float], high: Sequence[float], null: Sequence[bool] | None = None
    ) -> np.ndarray:
        """3 x n array of ranges. NaN as least and greatest is no number."""
        parts = np.array([low, high, np.zeros(len(low)) if null is None else null], dtype=float)
        none = np.isnan(parts[0])
        parts[0, none], parts[1, none] = np.inf, -np.inf
        return parts

    def part(self, parts: np.ndarray, at: int) -> Range:
        low, high, null = parts[:, at].tolist()
        return low, high, bool(null)

    def column(self, part: Range) -> np.ndarray:
        return np.array(part, dtype=float)

    def join(self, one: Range, other: Range) -> Range:
        return min(one[0], other[0]), max(one[1], other[1]), one[2] or other[2]

    def cost(self, part: Range) -> float:
        low, high, null = part
        if null:
            return 1.0 if low <= high else 0.0
        return (high - low) * self._unit

    def costs(self, parts: np.ndarray) -> np.ndarray:
        low, high, null = parts
        if not self.nulls:
            return (high - low) * self._unit
        return np.where((null > 0) & (low <= high), 1.0, np.maximum(high - low, 0.0) * self._unit)

    def joined_costs(self, parts: np.ndarray, part: Range) -> np.ndarray:
        joined = np.maximum(parts, [[-np.inf], [part[1]], [part[2]]])
        np.minimum(parts[0], part[0], out=joined[0])
        return self.costs(joined)

    @property
    def _unit(self) -> float:
        return 1 / (self.high - self.low) if self.high > self.low else 0.0


@dataclass(frozen=True)
class Categorical:
    """A category without a hierarchy; parts are sets of codes, as bit masks.

    Attributes:
        size: number of values in the domain; NULL counts if the table has it.
        codes: one more than the greatest code. Codes start at 0, which is NULL.
    """

    size: int
    codes: int

    def parts(self, sets: Iterable[Iterable[int]]) -> np.ndarray:
        """words x n array of masks."""
        masks = [mask_of(map(int, codes)) for codes in sets]
        words = [[mask >> shift & _ALL for mask in masks] for shift in self._shifts]
        return np.array(words, dtype=np.uint64)

    def part(self, parts: np.ndarray, at: int) -> int:
        words = parts[:, at].tolist()
        return sum(word << shift for word, shift in zip(words, self._shifts, strict=True))

    def column(self, part: int) -> np.ndarray:
        return np.array([part >> shift & _ALL for shift in self._shifts], dtype=np.uint64)

    def join(self, one: int, other: int) -> int:
        return one | other

    def cost(self, part: int) -> float:
        return (part.bit_count() - 1) * self._unit

    def costs(self, parts: np.ndarray) -> np.ndarray:
        return (set_sizes(parts) - 1.0) * self._unit

    def joined_costs(self, parts: np.ndarray, part: int) -> np.ndarray:
        return self.costs(parts | self.column(part)[:, None])

    @property
    def _shifts(self) -> range:
        return range(0, self.codes, WORD)

    @property
    def _unit(self) -> float:
        return 1 / (self.size - 1) if self.size > 1 else 0.0


def set_sizes(parts: np.ndarray) -> np.ndarray:
    """Number of codes of every set in a words x n array of masks."""
    counts = count_bits(parts)
    return counts[0] if len(counts) == 1 else counts.sum(axis=0, dtype=np.int64)


def _count_bits(words: np.ndarray) -> np.ndarray:
    """Number of bits of every 64-bit word; for numpy below 2.0."""
    quarters = np.ascontiguousarray(words)[..., None].view(np.uint16)
    return _BITS[quarters].sum(axis=-1, dtype=np.uint8)


_BITS = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)
count_bits = getattr(np, "bitwise_count", _count_bits)
