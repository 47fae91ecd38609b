"""k-anonymity-primacy: classes of k near records, in which records are swapped for other values.

Algorithm 2 and GenerateCluster. Classes that still violate the limits are put together afterwards,
with each other (`agg`, Algorithm 3) or record by record (`inc`, Algorithm 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import DECIMALS, EPS, Counts, Limits
from pganon.methods.background.search.points import Numbers, Points, Rows
from pganon.methods.common.search.elements import Domain


@dataclass(frozen=True, eq=False)
class Block:
    """Records in the order in which ties are broken.

    Attributes:
        sensitive: by record, its sensitive value.
        limits: what every class has to satisfy.
    """

    points: Points
    sensitive: npt.NDArray[np.int64]
    limits: Limits

    @property
    def values(self) -> int:
        """Number of sensitive values."""
        return len(self.limits.shares)

    def counts(self, rows: Rows) -> Counts:
        """Records by sensitive value."""
        return np.bincount(self.sensitive[rows], minlength=self.values)


class Groups:
    """Disjoint groups, numbered from 0; a merged group keeps one number, and the other is gone.

    Attributes:
        members: by group, its records in ascending order.
        counts: groups x values, records by sensitive value.
        records: by group.
        first: by group, its first record, which breaks ties.
        active: by group, whether it is not merged into another.
    """

    def __init__(self, block: Block, members: Sequence[Rows]) -> None:
        self.points = points = block.points
        self.members = [np.sort(rows) for rows in members]
        self.counts = np.array([block.counts(rows) for rows in members])
        self.records = self.counts.sum(axis=1)
        self.first = np.array([rows[0] for rows in self.members], dtype=np.int64)
        self.active = np.ones(len(self.members), dtype=bool)
        self._parts = [
            _covers(domain, parts, self.members)
            for domain, parts in zip(points.domains, points.parts, strict=True)
        ]

    def losses(self) -> Numbers:
        """By group, its records times the NCP of what they have in common."""
        pairs = zip(self.points.domains, self._parts, strict=True)
        costs = (domain.costs(parts) for domain, parts in pairs)
        return self.records * sum(costs, np.zeros(len(self.members)))

    def joined_losses(self, group: int) -> Numbers:
        """The same of every group together with this one."""
        costs = (
            domain.joined_costs(parts, domain.part(parts, group))
            for domain, parts in zip(self.points.domains, self._parts, strict=True)
        )
        joined = sum(costs, np.zeros(len(self.members)))
        return (self.records + self.records[group]) * joined

    def merge(self, group: int, other: int) -> None:
        """Add another group, which is gone then."""
        self.members[group] = np.sort(np.concatenate([self.members[group], self.members[other]]))
        self.counts[group] += self.counts[other]
        self.records[group] += self.records[other]
        self.first[group] = min(self.first[group], self.first[other])
        for domain, parts in zip(self.points.domains, self._parts, strict=True):
            joined = domain.join(domain.part(parts, group), domain.part(parts, other))
            parts[:, group] = domain.column(joined)
        self.active[other] = False

    def least(self, costs: Numbers, among: npt.NDArray[np.bool_]) -> int:
        """The group of lowest cost, rounded; of several the one with the first record."""
        rounded = np.where(among, costs.round(DECIMALS), np.inf)
        return int(np.where(rounded == rounded.min(), self.first, _NEVER).argmin())


_NEVER = np.iinfo(np.int64).max


def _covers(domain: Domain, parts: np.ndarray, members: Sequence[Rows]) -> np.ndarray:
    """Generalized values that cover the records of each group: a column per group."""
    covers = np.zeros((len(parts), len(members)), dtype=parts.dtype)
    for group, rows in enumerate(members):
        joined = reduce(domain.join, (domain.part(parts, row) for row in rows.tolist()))
        covers[:, group] = domain.column(joined)
    return covers


class Squares:
    """Sums of squared errors of groups around their centroids, and of two groups together.

    A number counts its squared distance from the mean, any other value 1 if it is not the mode;
    NULL among numbers counts 1.

    Args:
        groups: not merged yet; each has its number here, too.
    """

    def __init__(self, groups: Groups) -> None:
        points, self.records = groups.points, groups.records.copy()
        places = np.nan_to_num(points.places)
        present = ~np.isnan(points.places)
        self._present = np.array([present[:, rows].sum(axis=1) for rows in groups.members])
        self._sums = np.array([places[:, rows].sum(axis=1) for rows in groups.members])
        self._squares = np.array([(places[:, rows] ** 2).sum(axis=1) for rows in groups.members])
        self._codes = [
            np.array([np.bincount(a.numbers[rows], minlength=most) for rows in groups.members])
            for a, most in ((a, int(a.numbers.max(initial=0)) + 1) for a in points.named)
        ]

    def joined(self, group: int) -> Numbers:
        """By group, the error of its records and of those of this group together."""
        records = self.records + self.records[group]
        present = self._present + self._present[group]
        means = (self._sums + self._sums[group]) ** 2 / np.maximum(present, 1)
        spread = self._squares + self._squares[group] - means
        nulls = np.where(present > 0, records[:, None] - present, 0)
        errors = (spread.clip(min=0) + nulls).sum(axis=1)
        for codes in self._codes:
            errors += records - (codes + codes[group]).max(axis=1)
        return errors

    def merge(self, group: int, other: int) -> None:
        for totals in (self.records, self._present, self._sums, self._squares, *self._codes):
            totals[group] += totals[other]


def agglomerated(
    block: Block, free: Sequence[Rows], cost: Literal["ncp", "sse"]
) -> tuple[list[Rows], Rows]:
    """Unions of classes (Algorithm 3); records of the last one if it still violates the limits.

    The class of the highest load is put together with the one with which it costs least.
    """
    groups = Groups(block, free)
    squares = Squares(groups) if cost == "sse" else None
    finished: list[Rows] = []
    while groups.active.sum() >= 2:
        worst = groups.least(-block.limits.loads(groups.counts), groups.active)
        others = groups.active.copy()
        others[worst] = False
        costs = groups.joined_losses(worst)
        if squares:
            costs = squares.joined(worst)
        near = groups.least(costs, others)
        groups.merge(worst, near)
        if squares:
            squares.merge(worst, near)
        if block.limits.allows(groups.counts[worst]):
            finished.append(groups.members[worst])
            groups.active[worst] = False
    return finished, _together(groups.members[last] for last in np.flatnonzero(groups.active))


def incremented(
    block: Block, free: Sequence[Rows], k: int, pick: Literal["aware", "nearest"]
) -> tuple[list[Rows], Rows]:
    """A class that grows by one record after the other (Algorithm 4), and the next; the remainder.

    `aware` looks for the nearest among records that lower the load, if there are any.
    """
    loads = block.limits.loads(np.array([block.counts(rows) for rows in free]))
    firsts = np.array([rows.min() for rows in free])
    start = int(np.where(loads == loads.max(), firsts, np.iinfo(np.int64).max).argmin())
    group = free[start]
    others = _together(rows for number, rows in enumerate(free) if number != start)
    finished: list[Rows] = []
    while True:
        group, others = _grown(block, group, others, aware=pick == "aware")
        group.sort()
        if not block.limits.allows(block.counts(group)):
            return finished, group
        finished.append(group)
        if len(others) < k:
            return finished, others
        distances = block.points.distances(block.points.center(group), others)
        group = nearest_first(block.points, int(others[distances.argmax()]), others)[:k]
        others = np.setdiff1d(others, group, assume_unique=True)


def nearest_first(points: Points, seed: int, rows: Rows) -> Rows:
    """Rows by their distance from the seed, which comes first: it is the first row of its place."""
    distances = points.distances(points.center(np.array([seed])), rows)
    return rows[np.argsort(distances, kind="stable")]


def absorbed(block: Block, classes: Sequence[Rows], residual: Rows) -> tuple[list[Rows], Rows]:
    """Classes of which some took in the residual records; these, if no union satisfies the limits.

    The residual is put together with the class with which it loses least more, of those with which
    it satisfies the limits; if there are none, with any, and so on.
    """
    groups = Groups(block, [*classes, residual])
    last = len(classes)
    losses = groups.losses()
    groups.active[last] = False
    while groups.active.any():
        allowed = groups.active & block.limits.allowed(groups.counts + groups.counts[last])
        more = groups.joined_losses(last) - losses
        near = groups.least(more, allowed if allowed.any() else groups.active)
        groups.merge(last, near)
        if allowed.any():
            break
    if block.limits.allows(groups.counts[last]):
        kept = [groups.members[number] for number in np.flatnonzero(groups.active)]
        return [*kept, groups.members[last]], np.zeros(0, dtype=np.int64)
    return list(classes), residual


def _grown(block: Block, group: Rows, others: Rows, *, aware: bool) -> tuple[Rows, Rows]:
    """The group with as many of the others as it needs, each the nearest to its centroid."""
    points, limits = block.points, block.limits
    counts = block.counts(group)
    while len(others) and not limits.allows(counts):
        distances = points.distances(points.center(group), others)
        if aware:
            lowers = limits.loads_with(counts) < limits.load(counts) - EPS
            helpful = lowers[block.sensitive[others]]
            if helpful.any():
                distances[~helpful] = np.inf
        nearest = int(distances.argmin())
        group = np.append(group, others[nearest])
        counts[block.sensitive[others[nearest]]] += 1
        others = np.delete(others, nearest)
    return group, others


def _together(groups: Iterable[Rows]) -> Rows:
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *groups]))


Post = Literal["inc", "agg"]
Cost = Literal["ncp", "sse"]
Pick = Literal["aware", "nearest"]
Residual = Literal["absorb", "suppress"]


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes in the order of their completion.

    Attributes:
        classes: records of each, ascending.
        suppressed: records in no class, ascending.
    """

    classes: Sequence[Rows]
    suppressed: Rows


def k_primacy(
    points: Points,
    sensitive: npt.NDArray[np.int64],
    k: int,
    limits: Limits,
    *,
    post: Post,
    cost: Cost = "ncp",
    pick: Pick = "aware",
    residual: Residual = "absorb",
) -> Classes:
    """Classes of k or more records that satisfy the limits.

    With `absorb` nobody is suppressed if all records together satisfy the limits.

    Args:
        sensitive: by record, its sensitive value.
        post: how classes that violate the limits are put together.
        cost: of two classes put together by `agg`: loss, or sum of squared errors.
        pick: which records `inc` adds: the nearest of those that help, or the nearest.
        residual: what becomes of records in no class in the end.

    Raises:
        ValueError: there are fewer than k records.
    """
    if points.size < k:
        raise ValueError(f"{points.size} records make no class of {k}")
    block = Block(points, np.asarray(sensitive), limits)
    finished: list[Rows] = []
    free: list[Rows] = []
    remaining = np.arange(points.size)
    while len(remaining):
        group = _generated(block, remaining, k)
        (finished if limits.allows(block.counts(group)) else free).append(np.sort(group))
        remaining = np.setdiff1d(remaining, group, assume_unique=True)
    if free:
        made, remaining = (
            agglomerated(block, free, cost) if post == "agg" else incremented(block, free, k, pick)
        )
        finished += made
    if len(remaining) and residual == "absorb":
        finished, remaining = absorbed(block, finished, remaining)
    return Classes(finished, remaining)


def _generated(block: Block, remaining: Rows, k: int) -> Rows:
    """The record farthest from the centroid, with near records that suit it."""
    if len(remaining) < 2 * k:
        return remaining
    points = block.points
    seed = remaining[points.distances(points.center(remaining), remaining).argmax()]
    order = nearest_first(points, int(seed), remaining)
    places = _swapped(block, block.sensitive[order], k)
    return order[places]


def _swapped(block: Block, values: npt.NDArray[np.int64], k: int) -> list[int]:
    """Places of the first k records, after swaps with later ones that lower the load.

    Each record is tried once, in its order: it replaces the farthest record of the value that
    is best replaced. The first record stays.

    Args:
        values: by place, the sensitive value.
    """
    limits = block.limits
    places = list(range(k))
    counts = np.bincount(values[:k], minlength=block.values)
    at = k
    while not limits.allows(counts):
        held = np.unique(values[places[1:]])
        out, lowers = _best_swaps(limits, counts, held)
        useful = lowers[values[at:]]
        if not useful.any():
            break
        at += int(useful.argmax())
        leaving = next(p for p in reversed(places) if values[p] == out[values[at]])
        places.remove(leaving)
        places.append(at)
        counts[values[leaving]] -= 1
        counts[values[at]] += 1
        at += 1
    return places


def _best_swaps(
    limits: Limits, counts: Counts, held: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """By value, which of the values held it had best replace, and whether that lowers the load."""
    held = held[np.argsort(limits.shares[held], kind="stable")]
    # A value in its own place lowers nothing, so it needs no exception.
    loads = np.array([limits.loads_with(_without(counts, value)) for value in held.tolist()])
    best = loads.argmin(axis=0)
    lowest = np.take_along_axis(loads, best[None], axis=0)[0]
    return held[best], lowest < limits.load(counts) - EPS


def _without(counts: Counts, value: int) -> Counts:
    less = counts.copy()
    less[value] -= 1
    return less
