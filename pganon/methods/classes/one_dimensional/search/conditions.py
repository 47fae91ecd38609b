"""Requirements beyond the size of a class, for windows of consecutive units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.distinct import Distinct
from pganon.methods.classes.one_dimensional.search.measures import Reference, holds
from pganon.privacy.base import Model

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

COUNTERS = 1 << 24
"""Counters of values at units that a block may have."""

_FEW = 64
"""Values up to which all of them are counted at every unit."""

_TOGETHER = 1024
"""Windows that are measured at a time, where there are more."""


@dataclass(frozen=True)
class Values:
    """Sensitive values of units, in their order.

    Attributes:
        starts: of every unit its first element, and in the end the number of elements.
        values: of every element the code, from 0 to below `size`.
        counts: how many records of the unit have it.
    """

    starts: Ints
    values: Ints
    counts: Ints
    size: int

    def reordered(self, order: Ints) -> Values:
        """Those of the units in another order, or of some of them."""
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[order] - starts[:-1], lengths)
        return Values(starts, self.values[places], self.counts[places], self.size)

    def between(self, first: int, last: int) -> Values:
        """Those of the units from one to another, numbered by the values that these have."""
        begin, end = self.starts[first], self.starts[last + 1]
        present, values = np.unique(self.values[begin:end], return_inverse=True)
        starts = self.starts[first : last + 2] - begin
        return Values(starts, values, self.counts[begin:end], len(present))

    def grouped(self, starts: Ints) -> Values:
        """Those of units that are joined; a unit may have a value several times then."""
        bounds = np.append(self.starts[starts], self.starts[-1])
        return Values(bounds, self.values, self.counts, self.size)

    @property
    def units(self) -> Ints:
        """Of every element its unit."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def cumulative(self) -> NDArray[np.int32]:
        """(units + 1) x values: the records before each unit."""
        units = len(self.starts) - 1
        held = np.zeros((units + 1) * self.size, dtype=np.int32)
        np.add.at(held, (self.units + 1) * self.size + self.values, self.counts)
        held = held.reshape(units + 1, self.size)
        return np.cumsum(held, axis=0, out=held)


@dataclass(frozen=True)
class Condition:
    """A requirement on a sensitive column.

    Attributes:
        column: of :class:`Values`, by number.
        references: the distributions to compare with, if the model does.
    """

    model: Model
    column: int
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """All of them, with the sensitive values of units in order."""

    conditions: tuple[Condition, ...]
    values: tuple[Values, ...]

    def reordered(self, order: Ints) -> Conditions:
        return Conditions(self.conditions, tuple(v.reordered(order) for v in self.values))

    def grouped(self, starts: Ints) -> Conditions:
        """Of units that are joined. Args: starts: the first of each."""
        return Conditions(self.conditions, tuple(v.grouped(starts) for v in self.values))

    @property
    def compares(self) -> bool:
        """Whether classes are compared with the distribution of all."""
        return any(condition.references for condition in self.conditions)

    @property
    def counters(self) -> int:
        """Of all values at all units, where classes are compared; these count all of them."""
        sizes = [self.values[c.column].size for c in self.conditions if c.references]
        return (len(self.values[0].starts) - 1) * max(sizes, default=0)

    def of_lengths(self, lengths: Sequence[int]) -> Bools:
        """Units x lengths: whether the window of so many units that ends there is allowed.

        Windows that would begin before the first unit begin there.
        """
        units = len(self.values[0].starts) - 1
        last = np.arange(units)
        allowed = np.ones((units, len(lengths)), dtype=bool)
        for condition in self.conditions:
            if condition.model.counts_distinct:
                numbers = self._distinct(condition).of_lengths(lengths)
                for place, number in enumerate(numbers):
                    allowed[:, place] &= number >= condition.model.parameter
        for place, length in enumerate(lengths):
            first = np.maximum(last - (length - 1), 0)
            self._forbid(allowed[:, place], first, last)
        return allowed

    def between(self, first: Ints, last: Ints) -> Bools:
        """Whether each of the windows from the units `first` to the units `last` is allowed."""
        allowed = np.ones(len(first), dtype=bool)
        for condition in self.conditions:
            if condition.model.counts_distinct:
                number = self._distinct(condition).between(first, last)
                allowed &= number >= condition.model.parameter
        self._forbid(allowed, first, last)
        return allowed

    def _distinct(self, condition: Condition) -> Distinct:
        held = self.values[condition.column]
        return Distinct.of_elements(held.units, held.values, len(held.starts) - 1)

    def _forbid(self, allowed: Bools, first: Ints, last: Ints) -> None:
        """Of what is still allowed, what misses a condition on counts."""
        for condition in self.conditions:
            if condition.model.counts_distinct:
                continue
            tests = [holds(condition.model, r) for r in condition.references or (None,)]
            for rows, counts in self._counted(condition, allowed, first, last):
                for test in tests:
                    allowed[rows] &= test(counts)

    def _counted(
        self, condition: Condition, allowed: Bools, first: Ints, last: Ints
    ) -> Iterator[tuple[Ints, Ints]]:
        """Windows with their counts, as many at a time as is bounded.

        Few of many values are in windows that lie together, and the others are not counted, unless
        a distribution of all is to be compared.
        """
        held = self.values[condition.column]
        whole = bool(condition.references) or held.size <= _FEW
        rows = np.flatnonzero(allowed)
        at_once = max(COUNTERS // 16 // held.size, 1) if whole else _TOGETHER
        for some in range(0, len(rows), at_once):
            part = rows[some : some + at_once]
            begin = 0 if whole else int(first[part].min())
            near = held if whole else held.between(begin, int(last[part].max()))
            before = near.cumulative
            counts = before[last[part] + 1 - begin] - before[first[part] - begin]
            yield part, counts.astype(np.int64)
