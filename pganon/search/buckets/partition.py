"""A block of rows divided into compact buckets that satisfy conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pganon.search.buckets.conditions import Codes, Condition
from pganon.search.buckets.firefly import IMPROVEMENT, Swarm, mfa_split
from pganon.search.buckets.tree import Block, base_split, grow, objective

REPAIR_BUDGET = 50


@dataclass(frozen=True, eq=False)
class Buckets:
    """A partition of a block.

    Attributes:
        labels: number of the bucket of every row, from 0 in the order of first rows.
        objective: J, the sum of the distances of all points to the mean of their bucket.
        baseline: J of the median tree; never lower than `objective`.
    """

    labels: np.ndarray
    objective: float
    baseline: float


def partition(
    z: np.ndarray,
    conditions: Sequence[Condition],
    minimum_size: int,
    *,
    swarm: Swarm | None,
    seed: int,
    path: str = "",
    repair_budget: int = REPAIR_BUDGET,
) -> Buckets:
    """Divide a block of rows; same arguments, same buckets.

    Args:
        z: n x D points; the order of the rows is the order of ties.
        conditions: hold for the block as a whole, and then in every bucket.
        minimum_size: rows of the smallest bucket; at least the largest l in any case.
        swarm: None for the median tree alone, with J in the Euclidean distance.
        seed: of the random numbers of the swarm.
        path: name of the block; blocks with different names draw different numbers.
        repair_budget: exchanges tried by one repair.

    Raises:
        ValueError: the block does not satisfy the conditions or is too small.
    """
    smallest = max([1, minimum_size, *(condition.l for condition in conditions)])
    _check(z, conditions, smallest)
    norm = 2.0 if swarm is None else swarm.norm
    columns = np.ascontiguousarray(z.T, dtype=np.float64)
    block = Block(columns, Codes.of(conditions, len(z)), smallest, norm, repair_budget)
    base = grow(block, lambda bucket, _: base_split(bucket), path)
    baseline = objective(block, base)
    if swarm is not None:
        found = grow(block, lambda bucket, at: mfa_split(bucket, at, seed, swarm), path)
        reached = objective(block, found)
        # Better halves everywhere need not make a better partition.
        if reached < baseline - IMPROVEMENT:
            return Buckets(_labels(found, len(z)), reached, baseline)
    return Buckets(_labels(base, len(z)), baseline, baseline)


def _check(z: np.ndarray, conditions: Sequence[Condition], smallest: int) -> None:
    if len(z) < smallest:
        raise ValueError(f"{len(z)} rows, but a bucket needs {smallest}")
    if any(len(condition.values) != len(z) for condition in conditions):
        raise ValueError("a condition needs one value for every row")
    if not all(condition.holds for condition in conditions):
        raise ValueError("the block as a whole does not satisfy the conditions")


def _labels(buckets: list[np.ndarray], rows: int) -> np.ndarray:
    labels = np.empty(rows, dtype=np.intp)
    for number, members in enumerate(sorted(buckets, key=lambda members: members[0])):
        labels[members] = number
    return labels
