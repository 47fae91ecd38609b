"""Buckets halved again and again: the median tree, and the tree of any other way to halve.

Rows are exchanged between two halves until both satisfy the conditions.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pganon.methods.buckets.search.conditions import Codes, Critical, Cuts


def repair(critical: Critical, order: np.ndarray, budget: int) -> np.ndarray | None:
    """The ordering, cut at the middle, with rows exchanged until both halves satisfy.

    Every exchange lowers the total excess, so the repair ends. Halves keep the sequence of the
    ordering given.

    Args:
        critical: of the bucket; its `middle` is the length of the first half.
        order: rows of the bucket.
        budget: exchanges tried, good or not.

    Returns:
        The new ordering, or None if the budget is spent or no exchange helps.
    """
    state = Halves(critical, order, budget)
    while state.excess > 0:
        if not state.improve():
            return None
    return np.concatenate([order[~state.second], order[state.second]])


class Halves:
    """Two halves by place in the ordering before any exchange, and their counts."""

    def __init__(self, critical: Critical, order: np.ndarray, budget: int) -> None:
        self.critical = critical
        self.values = critical.values[:, order]
        self.second = np.arange(len(order)) >= critical.middle
        self.sizes = (critical.middle, len(order) - critical.middle)
        first = critical.counts(self.values[:, : critical.middle])
        self.counts = np.stack([first, critical.totals - first])
        self.excess = int(self._excess(0, first) + self._excess(1, self.counts[1]))
        self.remaining = budget

    def improve(self) -> bool:
        """The first exchange that lowers the excess; False if none within the budget."""
        return any(self._relieve(side, number) for side, number in self._violations())

    def _violations(self) -> list[tuple[int, int]]:
        over = self.critical.least * self.counts - np.array(self.sizes)[:, None]
        sides, numbers = np.nonzero(over > 0)
        worst = np.argsort(-over[sides, numbers], kind="stable")
        return list(zip(sides[worst].tolist(), numbers[worst].tolist(), strict=True))

    def _relieve(self, side: int, number: int) -> bool:
        has = self.values[self.critical.owner[number]] == number
        here = self.second if side else ~self.second
        one, other = np.flatnonzero(has & here), np.flatnonzero(~(has | here))
        one, other = closest_pairs(one, other, len(has), self.remaining)
        change = self._presence(other) - self._presence(one)
        excess = self._excess(side, self.counts[side] + change)
        excess += self._excess(1 - side, self.counts[1 - side] - change)
        better = np.flatnonzero(excess < self.excess)
        self.remaining -= better[0] + 1 if len(better) else len(one)
        if not len(better):
            return False
        at = better[0]
        self.counts[side] += change[at]
        self.counts[1 - side] -= change[at]
        self.excess = int(excess[at])
        self.second[one[at]], self.second[other[at]] = not side, bool(side)
        return True

    def _presence(self, places: np.ndarray) -> np.ndarray:
        """pairs x numbers: 1 where the row at the place has the value."""
        present = np.zeros((len(places), len(self.critical.least)), dtype=np.intp)
        present[np.arange(len(places)), self.values[:, places]] = 1
        return present

    def _excess(self, side: int, counts: np.ndarray) -> np.ndarray:
        """Sum over the conditions of the excess of the most frequent value, in rows * l."""
        most = np.maximum.reduceat(self.critical.least * counts, self.critical.starts, axis=-1)
        return np.maximum(most - self.sizes[side], 0).sum(axis=-1)


def closest_pairs(
    one: np.ndarray, other: np.ndarray, places: int, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """At most `number` pairs of two disjoint ascending sets of places, the closest first.

    Ties by the place in `one`, then in `other`.
    """
    if not (len(one) and len(other) and number):
        return one[:0], other[:0]
    # A pair among the first `number` consists of places whose best pairs are among them too.
    if len(one) > number:
        left, right = _neighbours(one, other)
        best = np.minimum(_key(one, left, places), _key(one, right, places))
        one = one[np.argpartition(best, number)[:number]]
    if len(other) > number:
        left, right = _neighbours(other, np.sort(one))
        best = np.minimum(_key(left, other, places), _key(right, other, places))
        other = other[np.argpartition(best, number)[:number]]
    keys = _key(one[:, None], other, places).ravel()
    first = np.argsort(keys)[:number]
    return one[first // len(other)], other[first % len(other)]


def _key(one: np.ndarray, other: np.ndarray, places: int) -> np.ndarray:
    return (np.abs(one - other) * places + one) * places + other


def _neighbours(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.searchsorted(other, one)
    return other[np.maximum(at - 1, 0)], other[np.minimum(at, len(other) - 1)]


def striped(codes: Codes) -> Iterator[np.ndarray]:
    """Orderings by group, one per binding condition, the one nearest to its limit first.

    Rows are dealt out in stripes, the most frequent values first, to one group after the other (the
    stripe form of Anatomy, Xiao and Tao 2006). With floor(n / l) groups no value of an eligible
    condition comes to a group twice. Any first groups and the others then satisfy the condition,
    however near to its limit the bucket is. Similar rows are not kept together.

    Rows of a group are in the order of the frequency of their value, the value and their rank.
    """
    rows = codes.values.shape[1]
    starts = np.searchsorted(codes.owner, np.arange(len(codes.least)))
    most = np.maximum.reduceat(codes.totals, starts) if len(starts) else codes.totals
    for condition in np.argsort(-codes.least * most, kind="stable"):
        least = int(codes.least[condition])
        if least > 1:
            values = codes.values[condition]
            by_frequency = np.lexsort((values, -codes.totals[values]))
            groups = np.arange(rows) % (rows // least)
            yield by_frequency[np.argsort(groups, kind="stable")]


DECIMALS = 12
"""Ranges and scores closer than this are ties, so that rounding decides nothing."""


@dataclass(frozen=True, eq=False)
class Block:
    """A block of rows to divide: points, conditions and limits.

    Attributes:
        z: D x n, contiguous; columns in the order of the rank of the rows.
        codes: of the conditions.
        smallest: rows of the smallest bucket.
        p: order of the Minkowski distance.
        repair_budget: exchanges one repair may try.
    """

    z: np.ndarray
    codes: Codes
    smallest: int
    p: float
    repair_budget: int


@dataclass(frozen=True, eq=False)
class Split:
    """An ordering of the rows of a bucket (by place in `Bucket.rows`), cut after `length`."""

    order: np.ndarray
    length: int


class Bucket:
    """Some rows of a block.

    Attributes:
        members: the rows in the sequence in which the bucket was made.
        rows: the same by rank.
        z: their points, D x rows.
    """

    def __init__(self, block: Block, members: np.ndarray) -> None:
        self.block = block
        self.members = members
        self.rows = np.sort(members)
        self.z = block.z[:, self.rows]

    @property
    def divisible(self) -> bool:
        return len(self.rows) >= 2 * self.block.smallest

    @cached_property
    def codes(self) -> Codes:
        return self.block.codes.among(self.rows)

    @cached_property
    def cuts(self) -> Cuts:
        return Cuts(self.codes, self.block.smallest)

    def cut(self, order: np.ndarray) -> Split | None:
        """The feasible cut of an ordering, else the repaired cut at the middle."""
        length = self.cuts.nearest(order)
        return self.repaired(order) if length is None else Split(order, length)

    def repaired(self, order: np.ndarray) -> Split | None:
        exchanged = repair(self.cuts.critical, order, self.block.repair_budget)
        return None if exchanged is None else Split(exchanged, self.cuts.middle)

    def cost(self, split: Split) -> float:
        """Dispersion of both halves."""
        z, p = self.z[:, split.order], self.block.p
        return dispersion(z[:, : split.length], p) + dispersion(z[:, split.length :], p)

    def halves(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        members = self.rows[split.order]
        return members[: split.length], members[split.length :]


def base_split(bucket: Bucket) -> Split | None:
    """The first axis, by range, whose ordering has a feasible cut; else a repair on the widest.

    If that fails, too, rows are dealt out in stripes, wherever they are: a bucket that is a
    hundred times as large as it has to be is worse. With one condition stripes can be cut in any
    case that no larger `minimum_size` is asked for. None if the bucket is too small or nothing
    helps.
    """
    if not bucket.divisible:
        return None
    ranges = np.round(np.ptp(bucket.z, axis=1), DECIMALS)
    axes = np.argsort(-ranges, kind="stable")
    for axis in axes:
        order = np.argsort(bucket.z[axis], kind="stable")
        length = bucket.cuts.nearest(order)
        if length is not None:
            return Split(order, length)
    split = bucket.repaired(np.argsort(bucket.z[axes[0]], kind="stable"))
    return split or next(filter(None, map(bucket.cut, striped(bucket.codes))), None)


def grow(
    block: Block, split: Callable[[Bucket, str], Split | None], path: str = ""
) -> list[np.ndarray]:
    """Divide the block until no bucket can be divided.

    Args:
        block: satisfies its own conditions.
        split: halves of a bucket; gets the path of the bucket too.
        path: of the root; a half adds 0 or 1.

    Returns:
        The rows of every bucket, by rank.
    """
    queue = deque([(np.arange(block.z.shape[1]), path)])
    done = []
    while queue:
        members, at = queue.popleft()
        bucket = Bucket(block, members)
        halves = split(bucket, at)
        if halves is None:
            done.append(bucket.rows)
            continue
        first, second = bucket.halves(halves)
        queue += [(first, at + "0"), (second, at + "1")]
    return done


def objective(block: Block, buckets: list[np.ndarray]) -> float:
    """J: the dispersion of all buckets."""
    return math.fsum(dispersion(block.z[:, rows], block.p) for rows in buckets)


def dispersion(z: np.ndarray, p: float) -> float:
    """Sum of the distances of points (D x rows) to their mean."""
    mean = np.add.reduce(z, axis=1, keepdims=True) / z.shape[1]
    return float(np.add.reduce(distances(z - mean, p)))


def distances(difference: np.ndarray, p: float) -> np.ndarray:
    """Minkowski lengths along the last axis but one; the argument is overwritten."""
    if p == 2:
        np.multiply(difference, difference, out=difference)
        return np.sqrt(np.add.reduce(difference, axis=-2))
    np.abs(difference, out=difference)
    return np.add.reduce(difference**p, axis=-2) ** (1 / p)
