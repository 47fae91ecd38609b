"""The cheapest halves of a small bucket, by looking at all of them.

No search has to go on past it. In a tree most buckets are small, so this saves most of the work
of a swarm without changing what it finds.
"""

from __future__ import annotations

import math

import numpy as np

from pganon.methods.buckets.search.conditions import Codes
from pganon.methods.buckets.search.tree import Bucket, distances

WORK = 250_000
"""Distances times coordinates; larger buckets are not looked at."""


def lowest_cost(bucket: Bucket) -> float:
    """Cost of the cheapest satisfying halves of a divisible bucket; inf if there are none.

    For buckets that are too large for it, 0, which is also a lower bound.
    """
    dimensions, rows = bucket.z.shape
    if rows > 20 or (rows * dimensions) << (rows - 1) > WORK:
        return 0.0
    first = _subsets(rows)
    first = first[_satisfied(bucket, first) & _satisfied(bucket, ~first)]
    if not len(first):
        return math.inf
    return float(np.min(_dispersions(bucket, first) + _dispersions(bucket, ~first)))


def _subsets(rows: int) -> np.ndarray:
    """All sets (sets x rows) that hold the first row: one half of every pair of halves."""
    numbers = np.arange(1, 1 << rows, 2)
    return (numbers[:, None] >> np.arange(rows) & 1).astype(bool)


def _satisfied(bucket: Bucket, chosen: np.ndarray) -> np.ndarray:
    sizes = chosen.sum(axis=1)
    codes = bucket.codes
    counts = chosen.astype(np.float64) @ _presence(codes)
    frequent = codes.least[codes.owner] * counts <= sizes[:, None]
    return frequent.all(axis=1) & (sizes >= bucket.block.smallest)


def _presence(codes: Codes) -> np.ndarray:
    """rows x numbers, 1 where the row has the value."""
    present = np.zeros((codes.values.shape[1], len(codes.owner)))
    present[np.arange(len(present)), codes.values] = 1
    return present


def _dispersions(bucket: Bucket, chosen: np.ndarray) -> np.ndarray:
    sizes = chosen.sum(axis=1, keepdims=True)
    means = chosen @ bucket.z.T / sizes
    each = distances(bucket.z - means[:, :, None], bucket.block.p)
    return np.where(chosen, each, 0).sum(axis=1)
