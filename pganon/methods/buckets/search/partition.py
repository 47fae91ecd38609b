"""A block of rows divided into compact buckets that satisfy conditions."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pganon.methods.buckets.search.conditions import Codes, Condition
from pganon.methods.buckets.search.distinct import distinct_groups
from pganon.methods.buckets.search.firefly import IMPROVEMENT, mfa_split
from pganon.methods.buckets.search.tree import Block, Bucket, Split, base_split, grow, objective

REPAIR_BUDGET = 50


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of a block.

    Attributes:
        labels: number of the bucket of every row, from 0 in the order of first rows; -1 for none.
        objective: J, the sum of the distances of all points to the mean of their bucket.
        baseline: J of the median tree; never lower than `objective`, unless the rows of compact
            parts are dealt out, or buckets divided so that all values are different.
    """

    labels: np.ndarray
    objective: float
    baseline: float


def partition(
    z: np.ndarray,
    conditions: Sequence[Condition],
    minimum_size: int,
    *,
    swarm: bool,
    seed: int,
    norm: float = 2.0,
    path: str = "",
    repair_budget: int = REPAIR_BUDGET,
    public: bool = False,
    distinct: bool = False,
) -> Partition:
    """Divide a block of rows; same arguments, same buckets.

    Args:
        z: n x D points; the order of the rows is the order of ties.
        conditions: satisfied by the block as a whole, and then by every bucket.
        minimum_size: rows of the smallest bucket; at least the largest l in any case.
        swarm: whether fireflies look for better halves than those of the median tree.
        seed: of the random numbers.
        norm: order of the Minkowski distance, at least 1.
        path: name of the block; blocks with different names draw different numbers.
        repair_budget: exchanges tried by one repair.
        public: divide by `z` only where the halves satisfy the conditions wherever the values
            are, and deal out the rows of the remaining parts at random. A reader who knows the
            points and the buckets then learns nothing from the procedure.
        distinct: rows of a bucket also differ in the values of every condition, all of which have
            the same l; rows that fit in no such bucket are in none.

    Raises:
        ValueError: the block does not satisfy the conditions or is too small.
    """
    smallest = max([1, minimum_size, *(condition.l for condition in conditions)])
    _check(z, conditions, smallest, norm)
    columns = np.ascontiguousarray(z.T, dtype=np.float64)
    block = Block(columns, Codes.of(conditions, len(z)), smallest, norm, repair_budget)
    divided = PublicBisection(block, seed, path) if public else Bisection(block, seed, path)
    base = divided.parts(swarm=False)
    parts = divided.parts(swarm=True) if swarm else base
    # Better halves everywhere need not make a better partition.
    if objective(block, parts) >= objective(block, base) - IMPROVEMENT:
        parts = base
    compact, plain = divided.buckets(parts), divided.buckets(base)
    if distinct:
        compact, plain = _different(block, compact), _different(block, plain)
    return Partition(_labels(compact, len(z)), objective(block, compact), objective(block, plain))


@dataclass(frozen=True, eq=False)
class Bisection:
    """Repeated halving while both halves satisfy the conditions: all parts are buckets."""

    block: Block
    seed: int
    path: str

    def parts(self, *, swarm: bool) -> list[np.ndarray]:
        return grow(self.block, self._splits(swarm=swarm), self.path)

    def buckets(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        return parts

    def _splits(self, *, swarm: bool) -> Callable[[Bucket, str], Split | None]:
        if not swarm:
            return lambda bucket, at: base_split(bucket)
        return lambda bucket, at: mfa_split(bucket, at, self.seed)


@dataclass(frozen=True, eq=False)
class PublicBisection(Bisection):
    """Halving by points only while every value fits into the smaller half; then buckets of each
    part regardless of its points.

    The records per value of a part can be read off the buckets, so the decision to divide it
    discloses nothing. Buckets of a part follow its values and a random order that nothing else
    depends on. So exchanging members of a bucket does not change how likely the buckets are.
    """

    def parts(self, *, swarm: bool) -> list[np.ndarray]:
        block, split = self.block, self._splits(swarm=swarm)
        free = dataclasses.replace(block, codes=Codes.of([], block.z.shape[1]))

        def where_sure(bucket: Bucket, at: str) -> Split | None:
            return split(bucket, at) if _sure(bucket, block.codes) else None

        return grow(free, where_sure, self.path)

    def buckets(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        rank = np.argsort(self._shuffled())
        return [bucket for part in parts for bucket in self._dealt(part[np.argsort(rank[part])])]

    def _shuffled(self) -> np.ndarray:
        digest = hashlib.sha256(f"{self.seed}|{self.path}deal".encode()).digest()
        draw = random.Random(int.from_bytes(digest[:8], "big")).random  # noqa: S311
        return np.argsort([draw() for _ in range(self.block.z.shape[1])], kind="stable")

    def _dealt(self, rows: np.ndarray) -> list[np.ndarray]:
        """Buckets of a part in which all rows are at one point."""
        nowhere = np.zeros((1, len(rows)))
        part = dataclasses.replace(self.block, z=nowhere, codes=self.block.codes.among(rows))
        buckets = grow(part, lambda bucket, at: base_split(bucket))
        return [np.sort(rows[members]) for members in buckets]


def _sure(bucket: Bucket, codes: Codes) -> bool:
    """Whether both halves satisfy the conditions wherever the values of the bucket are."""
    if not bucket.divisible:
        return False
    mine = codes.among(bucket.rows)
    return bool((mine.least[mine.owner] * mine.totals <= bucket.cuts.middle).all())


def _check(z: np.ndarray, conditions: Sequence[Condition], smallest: int, norm: float) -> None:
    if norm < 1:
        raise ValueError(f"the order of a distance must be at least 1, not {norm}")
    if len(z) < smallest:
        raise ValueError(f"{len(z)} rows, but a bucket needs {smallest}")
    if any(len(condition.values) != len(z) for condition in conditions):
        raise ValueError("a condition needs one value for every row")
    if not all(condition.satisfied for condition in conditions):
        raise ValueError("the block as a whole does not satisfy the conditions")


def _different(block: Block, buckets: list[np.ndarray]) -> list[np.ndarray]:
    """Buckets in which all values differ; buckets that satisfy this already stay as they are."""
    differing: list[np.ndarray] = []
    for rows in buckets:
        codes = block.codes.among(rows)
        if codes.totals.max(initial=0) <= 1:
            differing.append(rows)
        else:
            differing += [rows[group] for group in distinct_groups(codes.values, block.smallest)]
    return differing


def _labels(buckets: list[np.ndarray], rows: int) -> np.ndarray:
    labels = np.full(rows, -1, dtype=np.intp)
    for number, members in enumerate(sorted(buckets, key=lambda members: members[0])):
        labels[members] = number
    return labels
