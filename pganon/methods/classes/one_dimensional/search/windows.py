"""The windows that may become classes, with their objective."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.attributes import Attribute
from pganon.methods.classes.one_dimensional.search.conditions import Conditions

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SCALE = 10**9
"""Losses count in whole multiples of one by this, so that equal ones are ties."""

FORBIDDEN = 1 << 60
"""Objective of a window that is no class."""

REACH = 40
"""Longest windows, in multiples of the least size, where there are requirements beyond it."""

_BY_LENGTH = 64
"""Least size up to which windows of all lengths below twice as much are compared."""

_GROWTH = 1.15


@dataclass(frozen=True)
class Problem:
    """What a partition is about.

    Attributes:
        k: the least size of a class.
        single: whether every unit is one record.
    """

    attributes: tuple[Attribute, ...]
    k: int
    single: bool

    def objective(self, losses: Floats, records: Ints) -> Ints:
        """|C| * round(10^9 ncp(C)), from the weighted sum of the losses of all attributes."""
        weights = sum(attribute.weight for attribute in self.attributes)
        return records * np.rint(losses * (SCALE / weights)).astype(np.int64)


@dataclass(frozen=True)
class Units:
    """Cells or records in the order of a line.

    Attributes:
        codes: attributes x units.
        weights: records of each.
        conditions: requirements beyond the size; None if there are none.
        starts: of every unit its first codes, where units have several; None where each has one.
    """

    codes: Ints
    weights: Ints
    conditions: Conditions | None = None
    starts: Ints | None = None

    def __len__(self) -> int:
        return len(self.weights)

    def grouped(self, records: int) -> Units:
        """Units of about so many records, each of neighbours."""
        group = (np.cumsum(self.weights) - self.weights) // records
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        weights = np.add.reduceat(self.weights, starts)
        conditions = None if self.conditions is None else self.conditions.grouped(starts)
        return Units(self.codes, weights, conditions, starts)

    def reordered(self, order: Ints) -> Units:
        """The same in another order, or some of them."""
        conditions = None if self.conditions is None else self.conditions.reordered(order)
        return Units(self.codes[:, order], self.weights[order], conditions)


@dataclass(frozen=True)
class Windows:
    """Windows by the unit at which they end.

    Attributes:
        lengths: units of windows, by place or by unit and place; ascending by place.
        objective: units x places; :data:`FORBIDDEN` for what is no class.
        whole: by unit, of the window from the first unit of its strip; None if those are no
            different.
    """

    lengths: Ints
    objective: Ints
    whole: Ints | None = None


def windows_of_lengths(problem: Problem, units: Units, lengths: Sequence[int]) -> Windows:
    """All windows of these numbers of units."""
    return _by_length(problem, units, np.zeros(len(units), dtype=np.int64), lengths)


def windows(problem: Problem, units: Units, strips: Ints, reach: int = REACH) -> Windows:
    """The windows of strips; at every unit they begin in its own strip.

    Args:
        strips: first units of the strips, ascending from 0.
        reach: where there are requirements beyond the size, the longest window in multiples of k.
    """
    begin = np.repeat(strips, np.diff(np.append(strips, len(units))))
    if problem.k <= _BY_LENGTH:
        return _by_length(problem, units, begin, _lengths(problem, units, begin, reach))
    return _by_records(problem, units, begin, reach)


def _longer(problem: Problem, units: Units, reach: int) -> list[int]:
    """Sizes from 2 k on, where the size alone does not decide."""
    sizes: list[int] = []
    if units.conditions is not None:
        size = 2 * problem.k - 1
        while size < reach * problem.k:
            size = int(np.ceil(_GROWTH * size - 1e-9))
            sizes.append(size)
    return sizes


def _lengths(problem: Problem, units: Units, begin: Ints, reach: int) -> list[int]:
    """A piece of 2 k units or more can be cut in two, and loses no less than both."""
    shortest = problem.k if problem.single else 1
    lengths = list(range(shortest, max(2 * problem.k, 2))) + _longer(problem, units, reach)
    longest = int((np.arange(len(units)) - begin).max()) + 1
    lengths = [length for length in lengths if length <= longest] or [longest]
    if units.conditions is not None and lengths[-1] < longest <= reach * problem.k:
        lengths.append(longest)
    return lengths


def _by_length(problem: Problem, units: Units, begin: Ints, lengths: Sequence[int]) -> Windows:
    conditions = units.conditions
    if conditions is None:
        allowed = np.ones((len(units), len(lengths)), dtype=bool)
    else:
        allowed = conditions.of_lengths(lengths)
        # Long windows of neighbours may be the only ones that satisfy a model.
        some = np.flatnonzero(allowed.any(axis=0)) if allowed.any() else np.array([0])
        lengths, allowed = [lengths[place] for place in some.tolist()], allowed[:, some]
    end = np.arange(len(units))
    before = np.concatenate([[0], np.cumsum(units.weights)])
    objective = np.empty((len(lengths), len(units)), dtype=np.int64)
    columns = zip(
        *[
            attribute.of_lengths(codes, lengths, units.starts)
            for attribute, codes in zip(problem.attributes, units.codes, strict=True)
        ],
        strict=True,
    )
    for place, (length, losses) in enumerate(zip(lengths, columns, strict=True)):
        first = end - (length - 1)
        records = before[end + 1] - before[np.maximum(first, 0)]
        fits = (first >= begin) & (records >= problem.k) & allowed[:, place]
        value = problem.objective(_sum(losses), records)
        objective[place] = np.where(fits, value, FORBIDDEN)
    whole = None
    if conditions is not None and conditions.compares:
        whole = _between(problem, units, begin, end)
    return Windows(np.array(lengths), np.ascontiguousarray(objective.T), whole)


def _between(problem: Problem, units: Units, first: Ints, last: Ints) -> Ints:
    """The objective of the windows from the units `first` to the units `last`."""
    before = np.concatenate([[0], np.cumsum(units.weights)])
    records = before[last + 1] - before[first]
    fits = records >= problem.k
    if units.conditions is not None:
        fits &= units.conditions.between(first, last)
    rows = np.flatnonzero(fits)
    losses = _sum(
        attribute.between(codes, first[rows], last[rows], units.starts)
        for attribute, codes in zip(problem.attributes, units.codes, strict=True)
    )
    objective = np.full(len(first), FORBIDDEN)
    objective[rows] = problem.objective(losses, records[rows])
    return objective


def _by_records(problem: Problem, units: Units, begin: Ints, reach: int) -> Windows:
    """The shortest windows with at least so many records, for sizes evenly spread in k .. 2 k - 1.

    The window from the first unit of a strip is one of them, so that strips have a partition.
    """
    sizes = np.unique(np.linspace(problem.k, 2 * problem.k - 1, _BY_LENGTH).round().astype(int))
    sizes = np.append(sizes, _longer(problem, units, reach)).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(units.weights)])
    end = np.arange(len(units))
    # The last first unit with so many records up to the end.
    first = np.searchsorted(before, before[end + 1][:, None] - sizes[None, :], side="right") - 1
    first = np.maximum(first, begin[:, None])
    last = np.broadcast_to(end[:, None], first.shape)
    objective = _between(problem, units, first.ravel(), last.ravel()).reshape(first.shape)
    return Windows(end[:, None] - first + 1, objective, _between(problem, units, begin, end))


def _sum(losses: Iterable[Floats]) -> Floats:
    total = None
    for loss in losses:
        total = loss if total is None else total + loss
    assert total is not None
    return total
