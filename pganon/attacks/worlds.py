"""Which assignments of a group's values to its members remain for who knows the method.

A world gives every member of a group one of the rows of sensitive values that it shows. All are
equally likely, but those in which the method would have cut the group: then it were two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EXACT = 10_000
"""Different worlds of a group up to which all of them are tried; of more, so many are drawn."""

DRAWN, ENOUGH, FEWEST = 1_000, 500, 30
"""Worlds that are drawn at a time, up to 20 times; how many that remain are enough; and of fewer
the attacker concludes nothing."""

LARGEST = 100
"""Members of a group."""


@dataclass(frozen=True)
class Group:
    """A group as it is published, and who is in it.

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


@dataclass(frozen=True)
class Condition:
    """A requirement: `holds` says it of counts, sides x values of a column."""

    column: int
    holds: Callable[[Any], Any]


Shares = list[list[dict[int, float]]]
"""By cell and column: values with the share of worlds in which a member of the cell has them."""


def remaining(
    group: Group, least: int, conditions: Sequence[Condition], draw: np.random.Generator
) -> Shares | None:
    """None where nothing follows: no size allows a cut, or too little is known of the worlds.

    Args:
        least: fewest members that a side of a cut must have.
    """
    cuts = _cuts(group, least)
    if not cuts or group.size > LARGEST:
        return None
    kinds = np.repeat(np.arange(len(group.rows)), [n for _, n in group.rows])
    number = factorial(group.size) // prod(factorial(n) for _, n in group.rows)
    if number <= EXACT:
        found = _uncut(group, np.array(list(_arrangements(kinds.tolist()))), cuts, conditions)
    else:
        found = _drawn(group, kinds, cuts, conditions, draw)
        if len(found) < FEWEST:
            return None
    return _shares(group, found)


def _cuts(group: Group, least: int) -> list[Bools]:
    """Cells on one side of every different cut with members enough on both."""
    weights = np.array(group.weights)
    found: dict[bytes, Bools] = {}
    for positions in group.positions.values():
        places = np.array(positions)
        for last in sorted(set(positions))[:-1]:
            left = places <= last
            if least <= weights[left].sum() <= group.size - least:
                # Both sides are asked the same.
                found.setdefault((left == left[0]).tobytes(), left)
    return list(found.values())


def _arrangements(kinds: list[int]) -> Iterator[list[int]]:
    """All different orders, from the first, which is sorted, to the last."""
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
    group: Group,
    kinds: Ints,
    cuts: Sequence[Bools],
    conditions: Sequence[Condition],
    draw: np.random.Generator,
) -> Ints:
    """Worlds that remain, of those drawn."""
    found: list[Ints] = []
    for _ in range(20):
        drawn = draw.permuted(np.tile(kinds, (DRAWN, 1)), axis=1)
        found.append(_uncut(group, drawn, cuts, conditions))
        if sum(map(len, found)) >= ENOUGH:
            break
    return np.concatenate(found)


def _uncut(
    group: Group, worlds: Ints, cuts: Sequence[Bools], conditions: Sequence[Condition]
) -> Ints:
    """The worlds in which of every cut a side misses a condition."""
    values = np.array([row for row, _ in group.rows])
    for cut in cuts:
        left = np.repeat(cut, group.weights)
        allowed = np.ones(len(worlds), dtype=bool)
        for condition in conditions:
            of = values[:, condition.column]
            for side in (left, ~left):
                allowed &= condition.holds(_counts(of[worlds[:, side]], int(of.max()) + 1))
        worlds = worlds[~allowed]
    return worlds


def _counts(values: Ints, size: int) -> Ints:
    """Worlds x values: how many members have each."""
    worlds = len(values)
    flat = (np.arange(worlds)[:, None] * size + values).ravel()
    return np.bincount(flat, minlength=worlds * size).reshape(worlds, size)


def _shares(group: Group, worlds: Ints) -> Shares:
    owners = np.repeat(np.arange(len(group.weights)), group.weights)
    columns = range(len(group.rows[0][0]))
    found: Shares = []
    for cell, weight in enumerate(group.weights):
        kinds = np.bincount(worlds[:, owners == cell].ravel(), minlength=len(group.rows))
        by_column: list[dict[int, float]] = []
        for column in columns:
            counted: Counter[int] = Counter()
            for (row, _), n in zip(group.rows, kinds.tolist(), strict=True):
                counted[row[column]] += n
            by_column.append({v: n / (len(worlds) * weight) for v, n in counted.items() if n})
        found.append(by_column)
    return found
