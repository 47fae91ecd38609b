"""Frequency l-diversity of buckets, and of both halves at every cut of an ordering at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Condition:
    """In every bucket, l * (rows of the most frequent value) <= rows of the bucket.

    Attributes:
        l: at least 1.
        values: a code for every row of the block; NULL is one more code.
    """

    l: int  # noqa: E741 (the letter of the definition)
    values: np.ndarray

    @property
    def satisfied(self) -> bool:
        """Whether the whole block satisfies the condition."""
        _, counts = np.unique(self.values, return_counts=True)
        return self.l * int(counts.max(initial=0)) <= len(self.values)


class Codes:
    """Values of all conditions, renumbered densely so that no two conditions share a number.

    Attributes:
        values: conditions x rows.
        least: l of every condition.
        owner: the condition of every number.
        totals: rows of every number.
    """

    def __init__(self, values: np.ndarray, least: np.ndarray, owner: np.ndarray) -> None:
        self.values = values
        self.least = least
        self.owner = owner
        self.totals = np.bincount(values.ravel(), minlength=len(owner))

    @classmethod
    def of(cls, conditions: Sequence[Condition], rows: int) -> Codes:
        values = np.empty((len(conditions), rows), dtype=np.intp)
        sizes = []
        for at, condition in enumerate(conditions):
            distinct, dense = np.unique(condition.values, return_inverse=True)
            values[at] = dense.reshape(-1) + sum(sizes)
            sizes.append(len(distinct))
        least = np.array([condition.l for condition in conditions], dtype=np.intp)
        owner = np.repeat(np.arange(len(conditions)), np.array(sizes, dtype=np.intp))
        return cls(values, least, owner)

    def among(self, rows: np.ndarray) -> Codes:
        """The same for some of the rows, without numbers that do not occur there."""
        distinct, dense = np.unique(self.values[:, rows], return_inverse=True)
        values = dense.reshape(len(self.least), len(rows))
        return Codes(values, self.least, self.owner[distinct])


class Critical:
    """The few values frequent enough to break a condition when a bucket is cut at `middle`.

    All other values share one last number, which limits nothing.

    Attributes:
        values: conditions with critical values x rows.
        least: l of every number.
        owner: the row of `values` a number belongs to.
        starts: the first number of every row of `values`.
        totals: rows of every number.
    """

    def __init__(self, codes: Codes, middle: int) -> None:
        n = codes.values.shape[1]
        limits = np.array([[middle], [n - middle]]) // codes.least
        chosen = np.flatnonzero(codes.totals > limits.min(axis=0)[codes.owner])
        number = np.full(len(codes.owner), len(chosen), dtype=np.intp)
        number[chosen] = np.arange(len(chosen))
        kept, self.starts = np.unique(codes.owner[chosen], return_index=True)
        self.values = number[codes.values[kept]]
        self.owner = np.searchsorted(kept, codes.owner[chosen])
        self.least = np.append(codes.least[codes.owner[chosen]], 0)
        self.totals = np.append(codes.totals[chosen], 0)
        most_left, most_right = limits[:, codes.owner[chosen]]
        self._most = np.append(most_left, codes.values.size)
        self._fewest = np.append(codes.totals[chosen] - most_right, 0)
        self.middle = middle

    def counts(self, values: np.ndarray) -> np.ndarray:
        """Rows of every number among some columns of `values`."""
        return np.bincount(values.ravel(), minlength=len(self.least))

    def satisfied(self, order: np.ndarray) -> bool:
        """Whether the first `middle` rows of the ordering and the others both satisfy."""
        if not len(self.starts):
            return True
        counts = self.counts(self.values[:, order[: self.middle]])
        return bool(((counts <= self._most) & (counts >= self._fewest)).all())


class Cuts:
    """The cuts of orderings of one bucket into two satisfying halves.

    Args:
        codes: of the rows of the bucket.
        smallest: rows of the smallest bucket; the bucket has at least twice as many.
    """

    def __init__(self, codes: Codes, smallest: int) -> None:
        self.codes = codes
        self.smallest = smallest
        self.size = codes.values.shape[1]
        # Halves of whole multiples of the smallest bucket lose no bucket further down.
        self.middle = smallest * (self.size // smallest // 2)
        self.critical = Critical(codes, self.middle)

    def nearest(self, order: np.ndarray) -> int | None:
        """Rows of the first half at the feasible cut nearest the middle, the lower on a tie."""
        if self.critical.satisfied(order):
            return self.middle
        lengths = self._lengths
        feasible = np.flatnonzero(self._satisfied(order))
        return int(lengths[feasible[0]]) if len(feasible) else None

    @cached_property
    def _lengths(self) -> np.ndarray:
        lengths = np.arange(self.smallest, self.size - self.smallest + 1)
        return lengths[np.argsort(np.abs(lengths - self.middle), kind="stable")]

    @cached_property
    def _occurrences(self) -> np.ndarray:
        """1, 2, .. for the rows of the first number, then of the second, and so on."""
        totals = self.codes.totals
        starts = np.cumsum(totals) - totals
        return np.arange(1, totals.sum() + 1) - np.repeat(starts, totals)

    @cached_property
    def _short(self) -> np.ndarray:
        # numpy sorts 16 bits by radix, several times faster.
        small = len(self.codes.owner) <= np.iinfo(np.uint16).max
        return self.codes.values.astype(np.uint16) if small else self.codes.values

    def _satisfied(self, order: np.ndarray) -> np.ndarray:
        """For every length of `_lengths`, whether both halves satisfy.

        The most frequent value of every prefix is the running maximum of "how many rows of my
        value up to me"; of every suffix, the same from the right.
        """
        values = self._short[:, order]
        seen = np.empty(values.size, dtype=np.intp)
        seen[np.argsort(values, axis=None, kind="stable")] = self._occurrences
        seen = seen.reshape(values.shape)
        ahead = self.codes.totals[values] - seen + 1
        most_left = np.maximum.accumulate(seen, axis=1)
        most_right = np.maximum.accumulate(ahead[:, ::-1], axis=1)[:, ::-1]
        lengths, least = self._lengths, self.codes.least[:, None]
        left = least * most_left[:, lengths - 1] <= lengths
        right = least * most_right[:, lengths] <= self.size - lengths
        return (left & right).all(axis=0)
