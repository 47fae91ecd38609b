"""Local equivalence groups: NCP, LGB_MDP and LGB_NCP, on rows of one class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from tests.support.oracles.lgb import Attribute, Extent, Key, Rank, Table, Value, by_key

Group = frozenset[Key]


def paper_loss(attribute: Attribute, values: Iterable[Value], extent: Extent) -> Fraction:
    """The paper's NCP of what a group shows of an attribute; 0 is exact."""
    held = set(values)
    if len(held) < 2:
        return Fraction(0)
    if attribute.kind == "nominal":
        return Fraction(len(held), extent.size)
    if None in held:
        return Fraction(1)
    if attribute.kind == "tree":
        below = len(attribute.leaves(ancestor(attribute, held)))
        return Fraction(below, len(attribute.leaves()))
    return Fraction(max(held) - min(held)) / Fraction(extent.width)


def ncp_of(attribute: Attribute, values: Iterable[Value], extent: Extent) -> Fraction:
    """NCP of what a group shows of an attribute, as of all methods."""
    held = set(values)
    if attribute.kind == "nominal" and held:
        return Fraction(len(held) - 1, max(extent.size - 1, 1))
    return paper_loss(attribute, held, extent)


Lost = Callable[[Attribute, Iterable[Value], Extent], Fraction]


def ancestor(attribute: Attribute, values: Iterable[Value]) -> Value:
    """The lowest node above all values; the root where NULL is among them."""
    held = list(values)
    if all(value is None for value in held):
        return None
    paths = [attribute.path(value) for value in held if value is not None]
    if None in held:
        return paths[0][-1]
    return next(node for node in paths[0] if all(node in path for path in paths))


@dataclass(frozen=True)
class Rows:
    """The rows of a class, by what they show."""

    table: Table
    extents: Sequence[Extent]
    form: str
    lost: Lost = paper_loss

    @property
    def shown(self) -> list[int]:
        return [a for a, letter in enumerate(self.form) if letter == "g"]

    def width(self, keys: Iterable[Key], a: int) -> Fraction:
        held = [self.table.values[key][a] for key in keys]
        return self.lost(self.table.attributes[a], held, self.extents[a])

    def ncp(self, keys: Iterable[Key]) -> Fraction:
        held = list(keys)
        return sum((self.width(held, a) for a in self.shown), Fraction(0))


# -- LGB_MDP --------------------------------------------------------------------------------------


def mdp(rows: Rows, keys: Iterable[Key], k: int) -> list[Group]:
    """Algorithm 3: strict cuts at the lower median of the widest attribute that allows one."""
    held = sorted(keys)
    for a in sorted(rows.shown, key=lambda a: -rows.width(held, a)):
        cut = at_median(rows, held, a)
        if all(len(half) >= k for half in cut):
            return [*mdp(rows, cut[0], k), *mdp(rows, cut[1], k)]
    return [frozenset(held)]


def at_median(rows: Rows, keys: Sequence[Key], a: int) -> tuple[list[Key], list[Key]]:
    """Rows up to the lower median, NULL first, and the others."""

    def place(key: Key) -> Any:
        return rows.table.attributes[a].null_first(rows.table.values[key][a])

    median = sorted(map(place, keys))[(len(keys) - 1) // 2]
    return [k for k in keys if place(k) <= median], [k for k in keys if place(k) > median]


# -- LGB_NCP --------------------------------------------------------------------------------------

Assign = Literal["grow", "seeds"]
Small = Literal["stop", "fill"]
Cell = tuple[Key, ...]
"""Rows that show the same."""


@dataclass(frozen=True)
class Greedy:
    """Algorithm 4; `divisions` notes (inc1, inc2, side) of every cell in the order of growth."""

    rows: Rows
    k: int
    assign: Assign = "grow"
    small: Small = "stop"
    rank: Rank = by_key
    rounds: int = 3
    note: Callable[[Cell, Fraction, Fraction, int], None] = lambda *_: None

    def groups(self, keys: Iterable[Key]) -> list[Group]:
        held = list(keys)
        if len(held) < 2 * self.k:
            return [frozenset(held)]
        cells = self._cells(held)
        seeds = self._seeds(cells)
        if seeds is None:
            return [frozenset(held)]
        sides = self._grown(cells, seeds) if self.assign == "grow" else self._near(cells, seeds)
        if self.small == "fill":
            self._fill(sides, cells)
        if min(map(_size, sides)) < self.k:
            return [frozenset(held)]
        return [group for side in sides for group in self.groups(_keys(side))]

    def _cells(self, keys: Iterable[Key]) -> list[Cell]:
        found: dict[Any, list[Key]] = {}
        for key in sorted(keys, key=lambda key: self.rank("cells", key)):
            shown = tuple(self.rows.table.values[key][a] for a in self.rows.shown)
            found.setdefault(shown, []).append(key)
        return [tuple(cell) for cell in found.values()]

    def _ncp(self, *cells: Cell) -> Fraction:
        return self.rows.ncp(_keys(cells))

    def _seeds(self, cells: Sequence[Cell]) -> tuple[Cell, Cell] | None:
        """Two cells far from each other; None where all are alike."""
        u, best, seeds = cells[0], Fraction(-1), None
        for _ in range(self.rounds):
            v = max(cells, key=lambda cell: self._ncp(u, cell))
            if self._ncp(u, v) <= best:
                break
            best, seeds, u = self._ncp(u, v), (u, v), v
        return seeds if best > 0 else None

    def _grown(self, cells: Sequence[Cell], seeds: tuple[Cell, Cell]) -> list[list[Cell]]:
        """Each cell joins the side whose total penalty it raises least."""
        sides = [[seeds[0]], [seeds[1]]]
        for cell in cells:
            if cell in seeds:
                continue
            rise = [
                (_size(side) + len(cell)) * self._ncp(*side, cell) - _size(side) * self._ncp(*side)
                for side in sides
            ]
            at = min((0, 1), key=lambda i: (rise[i], _size(sides[i]), i))
            self.note(cell, rise[0], rise[1], at)
            sides[at].append(cell)
        return sides

    def _near(self, cells: Sequence[Cell], seeds: tuple[Cell, Cell]) -> list[list[Cell]]:
        """Each cell joins the nearer seed; those as near to both, together, the smaller side."""
        sides, tied = [[seeds[0]], [seeds[1]]], []
        for cell in cells:
            if cell in seeds:
                continue
            one, other = (self._ncp(seed, cell) for seed in seeds)
            (tied if one == other else sides[one > other]).append(cell)
        min(sides, key=_size).extend(tied)
        return sides

    def _fill(self, sides: list[list[Cell]], cells: Sequence[Cell]) -> None:
        """Cells of the large side move to the small one, the nearest first, until it has k rows."""
        small, large = sorted(sides, key=_size)
        start = list(small)
        near = sorted(large, key=lambda cell: (self._ncp(*start, cell), cells.index(cell)))
        while near and _size(small) < self.k:
            small.append(near[0])
            large.remove(near.pop(0))


def _keys(cells: Iterable[Cell]) -> list[Key]:
    return [key for cell in cells for key in cell]


def _size(cells: Iterable[Cell]) -> int:
    return sum(map(len, cells))


# -- loss of a partition --------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """NCP of a release, and the cells that count; ratio None: there are none."""

    ncp: Fraction
    cells: int

    @property
    def ratio(self) -> Fraction | None:
        return self.ncp / self.cells if self.cells else None


def ncp(
    table: Table,
    extents: Sequence[Extent],
    groups: Mapping[Group, str],
    suppressed: Iterable[Key] = (),
    loss: Lost = paper_loss,
) -> Loss:
    """Withheld cells count 1, those in buckets nothing, suppressed ones 1 if they were shown."""
    lost = [len(keys) * Rows(table, extents, form, loss).ncp(keys) for keys, form in groups.items()]
    held = sum(len(keys) * form.count("w") for keys, form in groups.items())
    left = sum(table.form(key).count("g") for key in suppressed)
    shown = sum(len(keys) * form.count("g") for keys, form in groups.items())
    return Loss(sum(lost, Fraction(0)) + held + left, shown + held + left)


def discernibility(groups: Iterable[Group], suppressed: int = 0, rows: int = 0) -> int:
    """C_DM; a suppressed row is like every row of the source."""
    return sum(len(group) ** 2 for group in groups) + suppressed * rows
