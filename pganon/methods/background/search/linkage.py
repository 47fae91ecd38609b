"""Clusters of prior beliefs that are nowhere further apart than J: complete linkage.

Pairs of vectors are ranked by Jensen-Shannon divergence, ties by the numbers of the vectors, and
ranks are the distances. No two are equal, so there is one dendrogram, whoever computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import DECIMALS, EPS

Vectors = npt.NDArray[np.float64]
"""One probability distribution per row."""

MOST = 3000
"""Vectors that are clustered together; the matrix of distances has as many rows and columns."""

_TINY = 1e-300
_NONE = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """All merges of complete linkage.

    Attributes:
        merges: vectors - 1 pairs of vectors whose clusters are merged, the nearest first.
        levels: divergence at which each merge happens: the largest within the merged cluster.
    """

    merges: npt.NDArray[np.int64]
    levels: npt.NDArray[np.float64]

    def labels(self, j: float) -> npt.NDArray[np.int64]:
        """By vector, the number of its cluster if merges beyond j are not made.

        Clusters are numbered from 0 in the order of their first vectors.
        """
        parent = list(range(len(self.merges) + 1))

        def root(vector: int) -> int:
            while parent[vector] != vector:
                parent[vector] = parent[parent[vector]]
                vector = parent[vector]
            return vector

        for one, other in self.merges[self.levels <= j + EPS].tolist():
            first, second = sorted((root(one), root(other)))
            parent[second] = first
        roots = [root(vector) for vector in range(len(parent))]
        return np.unique(roots, return_inverse=True)[1].reshape(-1)


def clusters(probabilities: Vectors, j: float) -> npt.NDArray[np.int64]:
    """By vector, the number of its cluster: within a cluster no divergence is above j.

    Args:
        probabilities: in the order in which ties are broken, at least one.
    """
    return dendrogram(probabilities).labels(j)


def dendrogram(probabilities: Vectors) -> Dendrogram:
    """Complete linkage by the nearest-neighbour chain (Murtagh 1983), in O(D^2)."""
    size = len(probabilities)
    if size == 0:
        raise ValueError("there is no vector to cluster")
    values = divergences(probabilities)
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    levels = values[order]
    del values, order  # as large as the matrix
    matrix = square(ranks, size)
    np.fill_diagonal(matrix, _NONE)
    merges, ranks = _chain(matrix)
    first = np.argsort(ranks)
    return Dendrogram(merges[first], levels[ranks[first]])


def divergences(probabilities: Vectors) -> npt.NDArray[np.float64]:
    """Jensen-Shannon divergence of all pairs (0,1), (0,2), .. (D-2,D-1), base 2, rounded."""
    entropies = _entropy(probabilities)
    size = len(probabilities)
    found = np.empty(size * (size - 1) // 2)
    place = 0
    for one in range(size - 1):
        rest = slice(one + 1, None)
        middle = _entropy((probabilities[one] + probabilities[rest]) / 2)
        after = place + size - 1 - one
        found[place:after] = middle - (entropies[one] + entropies[rest]) / 2
        place = after
    return found.clip(min=0, out=found).round(DECIMALS, out=found)


def square(pairs: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """The symmetric matrix of the values of all pairs, 0 in the diagonal."""
    matrix = np.zeros((size, size), dtype=pairs.dtype)
    place = 0
    for one in range(size - 1):
        after = place + size - 1 - one
        matrix[one, one + 1 :] = matrix[one + 1 :, one] = pairs[place:after]
        place = after
    return matrix


def _entropy(shares: Vectors) -> npt.NDArray[np.float64]:
    return -(shares * np.log2(np.maximum(shares, _TINY))).sum(axis=-1)


def _chain(
    ranks: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pairs of vectors whose clusters are merged, and the ranks of the merges, in no order.

    A cluster has the row and the column of one of its vectors; `ranks` is used up.
    """
    merges: list[tuple[int, int]] = []
    levels: list[int] = []
    active = np.ones(len(ranks), dtype=bool)
    chain: list[int] = []
    while len(merges) < len(ranks) - 1:
        if not chain:
            chain.append(int(active.argmax()))
        top = chain[-1]
        nearest = int(ranks[top].argmin())
        if len(chain) < 2 or nearest != chain[-2]:
            chain.append(nearest)
            continue
        del chain[-2:]
        merges.append((nearest, top))
        levels.append(int(ranks[top, nearest]))
        joined = np.maximum(ranks[top], ranks[nearest])
        ranks[top], ranks[:, top] = joined, joined
        ranks[nearest], ranks[:, nearest] = _NONE, _NONE
        active[nearest] = False
    return np.array(merges, dtype=np.int64).reshape(-1, 2), np.array(levels, dtype=np.int64)
