"""Identity elements of attributes with a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pganon.methods.common.search.attributes import Tree

Node = tuple[int, int]
"""Code of a leaf, and how many levels above it the node lies."""


class Hierarchical:
    """A category with a hierarchy; parts are its nodes, the join is the lowest common ancestor.

    Args:
        paths: codes x levels, numbers of the nodes over every code from the value itself to the
            node below the root. Code 0 is NULL. Leaves less deep repeat their node.
        costs: codes x (levels + 1), cost of the same nodes and of the root; None for the share of
            the domain's values below the node, (leaves - 1) / (|X| - 1).
        nulls: whether code 0 counts as a value of the domain.
    """

    def __init__(self, paths: np.ndarray, *, nulls: bool, costs: np.ndarray | None = None) -> None:
        self.paths = np.asarray(paths, dtype=np.int64)
        self.costs_over = _shares(self.paths, nulls) if costs is None else np.asarray(costs, float)
        if self.costs_over.shape != (len(self.paths), self.paths.shape[1] + 1):
            raise ValueError("a cost is needed for every node over a code, and for the root")

    @classmethod
    def of(cls, leaves: Tree, *, nulls: bool) -> Hierarchical:
        """NULL has nothing above it but the root, which loses everything where there is NULL."""
        levels = leaves.paths.shape[1]
        paths = np.vstack([np.zeros((1, levels), dtype=np.int64), leaves.paths])
        costs = np.vstack([np.zeros((1, levels + 1)), leaves.losses])
        costs[slice(None) if nulls else 0, levels] = 1.0
        return cls(paths, nulls=nulls, costs=costs)

    def parts(self, sets: Iterable[Iterable[int]]) -> np.ndarray:
        """2 x n array of the nodes over sets of codes.

        Raises:
            ValueError: a set is empty, or has a code outside the domain.
        """
        nodes: list[Node] = []
        for codes in sets:
            leaves = sorted(set(map(int, codes)))
            if not leaves or leaves[0] < 0 or leaves[-1] >= len(self.paths):
                raise ValueError("a set of codes is empty, or has a code outside the domain")
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


def _shares(paths: np.ndarray, nulls: bool) -> np.ndarray:
    first = 0 if nulls else 1
    leaves = np.full((len(paths), paths.shape[1] + 1), len(paths) - first)
    for level, nodes in enumerate(paths.T):
        _, number = np.unique(nodes, return_inverse=True)
        leaves[:, level] = np.bincount(number[first:], minlength=len(paths))[number]
    return np.maximum(leaves - 1, 0) / max(1, len(paths) - first - 1)
