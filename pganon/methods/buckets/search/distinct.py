"""Rows divided into groups of which all rows differ in every condition's values.

The rows of a group have different values, so groups are colours of a graph in which rows that share
a value are neighbours. Rows get colours one by one; where none is free, and where groups are too
small, two colours are exchanged along a chain of neighbours (Kempe). Of two conditions the graph is
the line graph of a bipartite one: where no value has more rows than there are groups, all rows find
a colour (Koenig), and all groups become as large as each other, to one row (de Werra). With more
conditions both may fail, and rows may remain without a group.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

TRIES = 200
"""Most exchanges that are tried for a row, or for a group that is too small. With two conditions
one of the first succeeds.
"""


def distinct_groups(values: np.ndarray, size: int) -> list[np.ndarray]:
    """Groups of at least `size` rows; other rows are in no group.

    Args:
        values: conditions x rows; numbers that no two conditions share. The order of the rows
            decides ties.
    """
    colours = _Colours(values, values.shape[1] // size)
    frequency = np.bincount(values.ravel())
    for row in np.argsort(-frequency[values].sum(axis=0), kind="stable"):
        colours.place(int(row))
    colours.level(size)
    return [np.sort(np.array(rows, dtype=np.intp)) for rows in colours.dissolved(size)]


class _Colours:
    """Rows by colour, and the row of every colour that has a value."""

    def __init__(self, values: np.ndarray, number: int) -> None:
        self.values: list[list[int]] = values.T.tolist()
        self.rows: list[set[int]] = [set() for _ in range(number)]
        self.holders: list[dict[int, int]] = [{} for _ in range(number)]
        self.remaining: list[int] = []

    def place(self, row: int) -> None:
        free = self._smallest(row)
        if free is None:
            free = self._freed(row)
        if free is None:
            self.remaining.append(row)
        else:
            self._add(row, free)

    def level(self, size: int) -> None:
        """Enlarge the colours with fewer than `size` rows as long as that is possible."""
        while any(len(rows) < size for rows in self.rows) and self._levelled():
            pass

    def dissolved(self, size: int) -> list[list[int]]:
        """Colours of at least `size` rows; rows of the others join them where possible."""
        small = [number for number, rows in enumerate(self.rows) if len(rows) < size]
        loose = sorted(row for number in small for row in self.rows[number]) + self.remaining
        for row in loose:
            free = self._smallest(row, small)
            if free is not None:
                self._add(row, free)
        return [sorted(rows) for n, rows in enumerate(self.rows) if n not in small]

    def _add(self, row: int, colour: int) -> None:
        self.rows[colour].add(row)
        for value in self.values[row]:
            self.holders[colour][value] = row

    def _remove(self, row: int, colour: int) -> None:
        self.rows[colour].remove(row)
        for value in self.values[row]:
            del self.holders[colour][value]

    def _neighbours(self, row: int, colour: int) -> set[int]:
        """Rows of a colour that share a value with the row."""
        holders = self.holders[colour]
        return {holders[value] for value in self.values[row] if value in holders}

    def _smallest(self, row: int, but: Sequence[int] = ()) -> int | None:
        """The smallest colour without a value of the row, the first on a tie."""
        free = [
            (len(rows), number)
            for number, rows in enumerate(self.rows)
            if number not in but and self.holders[number].keys().isdisjoint(self.values[row])
        ]
        return min(free)[1] if free else None

    def _freed(self, row: int) -> int | None:
        """A colour that an exchange freed of the values of the row; None if no exchange does.

        Where two colours have the same value of the row, their rows with it stay neighbours.
        """
        shared = [holders.keys() & self.values[row] for holders in self.holders]
        order = sorted(range(len(self.rows)), key=lambda number: (len(shared[number]), number))
        tries = 0
        for one, other in itertools.product(order, order):
            if shared[one] & shared[other]:
                continue
            chain = self._chain(self._neighbours(row, one), one, other)
            if chain[1].isdisjoint(self._neighbours(row, other)):
                self._exchange(chain, one, other)
                return one
            tries += 1
            if tries == TRIES:
                break
        return None

    def _chain(self, start: set[int], one: int, other: int) -> tuple[set[int], set[int]]:
        """Rows of either colour that are connected with some of the first one."""
        sides: tuple[set[int], set[int]] = (set(start), set())
        side, ends = 0, set(start)
        while ends:
            colour, side = (other, 1) if side == 0 else (one, 0)
            ends = {near for row in ends for near in self._neighbours(row, colour)} - sides[side]
            sides[side].update(ends)
        return sides

    def _exchange(self, chain: tuple[set[int], set[int]], one: int, other: int) -> None:
        for row in chain[0]:
            self._remove(row, one)
        for row in chain[1]:
            self._remove(row, other)
        for row in chain[0]:
            self._add(row, other)
        for row in chain[1]:
            self._add(row, one)

    def _levelled(self) -> bool:
        """Whether an exchange made the smallest colour larger, by rows of a larger one."""
        order = sorted(range(len(self.rows)), key=lambda number: (len(self.rows[number]), number))
        small, tries = order[0], 0
        for large in reversed(order):
            difference = len(self.rows[large]) - len(self.rows[small])
            if difference < 2 or tries >= TRIES:
                return False
            for row in sorted(self.rows[large]):
                chain = self._chain({row}, large, small)
                if 0 < len(chain[0]) - len(chain[1]) < difference:
                    self._exchange(chain, large, small)
                    return True
                tries += 1
        return False
