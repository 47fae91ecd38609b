"""Unions of classes that violate the limits, until they satisfy them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from pganon.methods.background.search.block import Block
from pganon.methods.background.search.groups import Groups, Squares
from pganon.methods.background.search.limits import EPS
from pganon.methods.background.search.points import Points, Rows


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
