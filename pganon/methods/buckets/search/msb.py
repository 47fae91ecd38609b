"""Multi-sensitive bucketization (Yang et al. 2008): groups of l records that share no sensitive
value in any column. Greedy; records may remain without a group although a partition exists.

    mbf     the most records with the same vector first
    msdcf   the vector with the most frequent single value first
    mmdcf   the vector with the highest sum of frequencies first
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Vector = tuple[int, ...]
Priority = Literal["mbf", "msdcf", "mmdcf"]


@dataclass(frozen=True)
class MsbGroups:
    """Rows by their numbers.

    Attributes:
        groups: rows in the order in which they joined; at least l rows each.
        suppressed: rows that fit in no group, in ascending order.
    """

    groups: list[list[int]]
    suppressed: list[int]


def msb(vectors: Sequence[Vector], l: int, priority: Priority) -> MsbGroups:  # noqa: E741
    """Groups of rows that are pairwise different in every sensitive column.

    Args:
        vectors: codes of sensitive values per row, in canonical order of the values; rows in the
            order in which equal ones are taken.
        l: rows per group; a remaining row may join a group that has none of its values.
        priority: which vector comes first. The larger cell wins a tie, then the lower vector.
    """
    if not vectors:
        return MsbGroups([], [])
    cells = _Cells(vectors, priority)
    groups: list[list[int]] = []
    while (picked := cells.pick(l)) is not None:
        groups.append([cells.take(cell) for cell in picked])
        cells.refresh(picked)
    suppressed = _residue(vectors, groups, sorted(cells.remaining()))
    return MsbGroups(groups, suppressed)


class _Cells:
    """Ungrouped rows by vector, in canonical order, and the key by which each cell is chosen.

    Keys do not change while a group is picked: a pick only lowers the frequency of its values, and
    cells with one of these values cannot be in the group.
    """

    def __init__(self, vectors: Sequence[Vector], priority: Priority) -> None:
        rows: dict[Vector, list[int]] = defaultdict(list)
        for row, vector in enumerate(vectors):
            rows[vector].append(row)
        self.vectors = sorted(rows)
        # Lowest row last, where it is taken from.
        self.rows = [rows[vector][::-1] for vector in self.vectors]
        self.priority = priority
        self.scale = len(vectors) + 1
        table = np.array(self.vectors, dtype=np.int64)
        # Values of all columns numbered together, so that one array holds their frequencies.
        self.values = np.empty_like(table)
        first = 0
        for column in range(table.shape[1]):
            distinct, numbers = np.unique(table[:, column], return_inverse=True)
            self.values[:, column] = numbers + first
            first += len(distinct)
        self.sizes = np.array([len(cell) for cell in self.rows], dtype=np.int64)
        self.frequency = np.zeros(first, dtype=np.int64)
        np.add.at(self.frequency, self.values, self.sizes[:, None])
        order = np.argsort(self.values, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(self.values.ravel(), minlength=first))
        self.sharing = np.split(order // self.values.shape[1], ends[:-1])
        self.keys = self._keys(np.arange(len(self.vectors)))

    def pick(self, l: int) -> list[int] | None:  # noqa: E741
        """Cells of a new group in the order of choice, None if there are fewer than l."""
        keys = self.keys.copy()
        picked: list[int] = []
        while len(picked) < l:
            cell = int(keys.argmax())
            if keys[cell] < 0:
                return None
            picked.append(cell)
            for value in self.values[cell]:
                keys[self.sharing[value]] = -1
        return picked

    def take(self, cell: int) -> int:
        return self.rows[cell].pop()

    def refresh(self, picked: list[int]) -> None:
        """Sizes, frequencies and keys after rows were taken."""
        self.sizes[picked] -= 1
        touched = self.values[picked].ravel()
        self.frequency[touched] -= 1
        changed = np.concatenate([self.sharing[value] for value in touched])
        self.keys[changed] = self._keys(changed)

    def remaining(self) -> list[int]:
        return [row for rows in self.rows for row in rows]

    def _keys(self, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Priority, then size; -1 for an empty cell."""
        sizes = self.sizes[cells]
        if self.priority == "mbf":
            first = sizes
        else:
            frequencies = self.frequency[self.values[cells]]
            most = self.priority == "msdcf"
            first = frequencies.max(axis=1) if most else frequencies.sum(axis=1)
        return np.where(sizes > 0, first * self.scale + sizes, -1)


def _residue(vectors: Sequence[Vector], groups: list[list[int]], remaining: list[int]) -> list[int]:
    """Let rows join the smallest group without their values; return those that cannot."""
    holders: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for row in group:
            for value in enumerate(vectors[row]):
                holders[value].append(number)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    never = len(vectors) + 1
    suppressed: list[int] = []
    for row in remaining:
        available = sizes.copy()
        for value in enumerate(vectors[row]):
            available[holders[value]] = never
        number = int(available.argmin()) if groups else 0
        if not groups or available[number] == never:
            suppressed.append(row)
            continue
        groups[number].append(row)
        sizes[number] += 1
        for value in enumerate(vectors[row]):
            holders[value].append(number)
    return suppressed
