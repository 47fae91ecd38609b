"""Worlds of classes for who knows the method, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from typing import Any

from pganon.attacks.worlds import Family

Holds = Callable[[Sequence[tuple[Any, ...]]], bool]
"""Whether rows of sensitive values satisfy all requirements."""


def _splits(family: Family) -> Iterator[tuple[list[int], list[int]]]:
    """Members on either side of all cuts that cannot have been allowed."""
    first = 0
    members: list[list[list[int]]] = []
    for one in family.classes:
        cells = []
        for weight in one.weights:
            cells.append(list(range(first, first + weight)))
            first += weight
        members.append(cells)
        for positions in one.positions.values():
            for last in set(positions):
                yield _divided(cells, positions, last)
    for cut in family.cuts:
        cells = [cell for place in cut.classes for cell in members[place]]
        size = sum(map(len, cells))
        for last in set(cut.positions):
            left, right = _divided(cells, cut.positions, last)
            if (abs(len(left) - len(right)), len(left)) < (abs(2 * cut.left - size), cut.left):
                yield left, right


def _divided(
    cells: list[list[int]], positions: Sequence[int], last: int
) -> tuple[list[int], list[int]]:
    sides: tuple[list[int], list[int]] = ([], [])
    for cell, position in zip(cells, positions, strict=True):
        sides[position > last].extend(cell)
    return sides


def remaining(family: Family, least: int, holds: Holds) -> list[list[dict[Any, float]]] | None:
    """By cell and column the share of the members' values in all worlds that remain; None if the
    sizes of sides forbid all cuts."""
    owners = [w for one in family.classes for w in one.weights]
    owner = [cell for cell, weight in enumerate(owners) for _ in range(weight)]
    large = [sides for sides in _splits(family) if min(map(len, sides)) >= least]
    if not large:
        return None
    columns = len(family.classes[0].rows[0][0])
    counted: list[list[Counter[int]]] = [[Counter() for _ in range(columns)] for _ in owners]
    parts = [[row for row, n in one.rows for _ in range(n)] for one in family.classes]
    for orders in product(*[permutations(part) for part in parts]):
        world = [row for order in orders for row in order]
        if any(all(holds([world[n] for n in side]) for side in sides) for sides in large):
            continue
        for cell, row in zip(owner, world, strict=True):
            for column, value in enumerate(row):
                counted[cell][column][value] += 1
    return [[{v: n / by.total() for v, n in by.items()} for by in cell] for cell in counted]
