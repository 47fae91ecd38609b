"""Exchanges of rows between two halves until both satisfy the conditions."""

from __future__ import annotations

import numpy as np

from pganon.methods.buckets.search.conditions import Critical


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
