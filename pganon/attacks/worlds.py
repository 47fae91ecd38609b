"""Which assignments of values to the members of classes remain for who knows the method.

A world gives every member of a class one of the rows of sensitive values that the class shows. All
are equally likely, but those in which the method would have cut otherwise. Classes that come from
one cut group are a family: what is known of the group is known of all of them together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EXACT = 10_000
"""Different worlds up to which all of them are tried; of more, some are drawn."""

DRAWN, TIMES, ENOUGH, FEWEST = 1_000, 10, 500, 30
"""Worlds that are drawn at a time, and how often at most; how many that remain are enough; and of
fewer the attacker concludes nothing."""

LARGEST = 50
"""Members of a family."""


@dataclass(frozen=True)
class Class:
    """A class as it is published, and who is in it.

    Attributes:
        weights: members of every cell: they have the same quasi-identifiers.
        positions: by attribute that of every cell; a cut is between two of them.
        rows: values of every sensitive column, as numbers from 0, and how many members have them.
    """

    weights: Sequence[int]
    positions: Mapping[int, Sequence[int]]
    rows: Sequence[tuple[tuple[int, ...], int]]

    @property
    def size(self) -> int:
        return sum(self.weights)

    @property
    def arrangements(self) -> int:
        """In how many different orders its rows can be."""
        return factorial(self.size) // prod(factorial(n) for _, n in self.rows)


@dataclass(frozen=True)
class Cut:
    """A cut that was made: of all that are allowed on its attribute, the nearest to balance.

    Attributes:
        classes: places in the family of those that the group became.
        positions: of the cells of these classes, one class after the other.
        left: members on its left.
    """

    classes: Sequence[int]
    positions: Sequence[int]
    left: int


@dataclass(frozen=True)
class Family:
    """Classes, and the cuts by which one group became them."""

    classes: Sequence[Class]
    cuts: Collection[Cut] = ()

    @property
    def size(self) -> int:
        return sum(one.size for one in self.classes)


@dataclass(frozen=True)
class Condition:
    """A requirement: `holds` says it of counts, sides x values of a column."""

    column: int
    holds: Callable[[Any], Any]


Side = tuple[Bools, Bools]
"""Cells of the family on either side of a cut that was not allowed."""

Shares = list[list[dict[int, float]]]
"""By cell and column: values with the share of worlds in which a member of the cell has them."""


def remaining(
    family: Family, least: int, conditions: Sequence[Condition], draw: np.random.Generator
) -> Shares | None:
    """By cell, one class after the other; None where no cut says anything, or too little is known.

    Args:
        least: fewest members that a side of a cut must have.
    """
    failed = list(_failed(family, least))
    if not failed or family.size > LARGEST:
        return None
    if prod(one.arrangements for one in family.classes) <= EXACT:
        found = _uncut(family, _every(family), failed, conditions)
    else:
        found = _drawn(family, failed, conditions, draw)
        if len(found) < FEWEST:
            return None
    return _shares(family, found)


# -- cuts that were not allowed -----------------------------------------------------------------


def _failed(family: Family, least: int) -> Iterator[Side]:
    """Each once: both sides of a cut are asked the same."""
    seen: set[frozenset[bytes]] = set()
    for left, right in (*_of_classes(family), *_nearer(family)):
        key = frozenset((left.tobytes(), right.tobytes()))
        if key not in seen and min(_members(family, left), _members(family, right)) >= least:
            seen.add(key)
            yield left, right


def _of_classes(family: Family) -> Iterator[Side]:
    """No cut of a class was allowed."""
    for place, one in enumerate(family.classes):
        inside = _inside(family, [place])
        for positions in one.positions.values():
            for last in sorted(set(positions))[:-1]:
                left = inside.copy()
                left[inside] = np.array(positions) <= last
                yield left, inside & ~left


def _nearer(family: Family) -> Iterator[Side]:
    """None that is nearer to balance than the one that was made; of two the first one is."""
    for cut in family.cuts:
        inside = _inside(family, cut.classes)
        size = _members(family, inside)
        made = abs(2 * cut.left - size)
        for last in sorted(set(cut.positions))[:-1]:
            left = inside.copy()
            left[inside] = np.array(cut.positions) <= last
            members = _members(family, left)
            distance = abs(2 * members - size)
            if distance < made or (distance == made and members < cut.left):
                yield left, inside & ~left


def _inside(family: Family, places: Collection[int]) -> Bools:
    """The cells of some classes, which are in the order of the family."""
    return np.repeat(
        [place in places for place in range(len(family.classes))],
        [len(one.weights) for one in family.classes],
    )


def _weights(family: Family) -> Ints:
    return np.concatenate([one.weights for one in family.classes])


def _members(family: Family, cells: Bools) -> int:
    return int(_weights(family)[cells].sum())


# -- worlds ---------------------------------------------------------------------------------------


def _kinds(family: Family) -> list[Ints]:
    """By class the numbers of its rows, of all rows of the family, one per member."""
    numbers, first = [], 0
    for one in family.classes:
        last = first + len(one.rows)
        numbers.append(np.repeat(np.arange(first, last), [n for _, n in one.rows]))
        first = last
    return numbers


def _every(family: Family) -> Ints:
    orders = [list(_orders(kinds.tolist())) for kinds in _kinds(family)]
    return np.array([[n for part in world for n in part] for world in product(*orders)])


def _orders(kinds: list[int]) -> Iterator[list[int]]:
    """All different ones, from the first, which is sorted, to the last."""
    order = list(kinds)
    while True:
        yield list(order)
        place = len(order) - 2
        while place >= 0 and order[place] >= order[place + 1]:
            place -= 1
        if place < 0:
            return
        other = len(order) - 1
        while order[other] <= order[place]:
            other -= 1
        order[place], order[other] = order[other], order[place]
        order[place + 1 :] = reversed(order[place + 1 :])


def _drawn(
    family: Family,
    failed: Sequence[Side],
    conditions: Sequence[Condition],
    draw: np.random.Generator,
) -> Ints:
    """Worlds that remain, of those drawn."""
    found: list[Ints] = []
    kinds = _kinds(family)
    for time in range(TIMES):
        drawn = [draw.permuted(np.tile(one, (DRAWN, 1)), axis=1) for one in kinds]
        found.append(_uncut(family, np.hstack(drawn), failed, conditions))
        if sum(map(len, found)) >= ENOUGH or (time == 1 and not any(map(len, found))):
            break
    return np.concatenate(found)


def _uncut(
    family: Family, worlds: Ints, failed: Sequence[Side], conditions: Sequence[Condition]
) -> Ints:
    """The worlds in which of every cut that failed a side misses a condition."""
    values = np.array([row for one in family.classes for row, _ in one.rows])
    weights = _weights(family)
    for sides in failed:
        allowed = np.ones(len(worlds), dtype=bool)
        for condition in conditions:
            of = values[:, condition.column]
            for side in sides:
                members = np.repeat(side, weights)
                allowed &= condition.holds(_counts(of[worlds[:, members]], int(of.max()) + 1))
        worlds = worlds[~allowed]
    return worlds


def _counts(values: Ints, size: int) -> Ints:
    """Worlds x values: how many members have each."""
    worlds = len(values)
    flat = (np.arange(worlds)[:, None] * size + values).ravel()
    return np.bincount(flat, minlength=worlds * size).reshape(worlds, size)


def _shares(family: Family, worlds: Ints) -> Shares:
    weights = _weights(family)
    owners = np.repeat(np.arange(len(weights)), weights)
    rows = [row for one in family.classes for row, _ in one.rows]
    found: Shares = []
    for cell, weight in enumerate(weights.tolist()):
        kinds = np.bincount(worlds[:, owners == cell].ravel(), minlength=len(rows)).tolist()
        by_column: list[dict[int, float]] = []
        for column in range(len(rows[0])):
            counted: Counter[int] = Counter()
            for row, n in zip(rows, kinds, strict=True):
                counted[row[column]] += n
            by_column.append({v: n / (len(worlds) * weight) for v, n in counted.items() if n})
        found.append(by_column)
    return found
