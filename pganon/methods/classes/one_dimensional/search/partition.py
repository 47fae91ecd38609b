"""The partition of a line into the pieces that lose least, exactly, by dynamic programming.

    best(0) = 0;  best(i) = min over L of best(i - L) + f(units i-L+1..i)

where the piece satisfies every requirement. f(C) = |C| * round(10^9 ncp(C)) is a whole number, so
that equal losses are ties, which the smallest L wins. (Ghinita et al., VLDB 2007; Hansen and
Mukherjee, TKDE 2003.) A line is cut into strips first, which are partitioned side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.conditions import COUNTERS
from pganon.methods.classes.one_dimensional.search.windows import (
    FORBIDDEN,
    REACH,
    Problem,
    Units,
    Windows,
    windows,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOST_COUNTERS = 4 * COUNTERS

_STRIP = 3_000
_STRIP_OF_K = 60


@dataclass(frozen=True)
class Strips:
    """Strips of a line that have partitions.

    Attributes:
        starts: first units, ascending from 0.
        reach: of the longest windows, in multiples of k.
        begins: of every unit, whether it is the first of a piece.
    """

    starts: Ints
    reach: int
    begins: Bools


@dataclass(frozen=True)
class Pieces:
    """The best pieces of strips.

    Attributes:
        totals: objective of every strip; :data:`FORBIDDEN` if it has no partition.
        begins: of every unit, whether it is the first of a piece; none of a strip without one.
        objective: of every piece.
        left: of every unit, whether it is left out.
    """

    totals: Ints
    begins: Bools
    objective: Ints
    left: Bools


def countable(units: Units) -> bool:
    """Whether all that a model compares with can be counted at every unit."""
    return units.conditions is None or units.conditions.counters <= _MOST_COUNTERS


def strips(problem: Problem, units: Units) -> Ints:
    """First units of strips of about equal length, to one.

    One strip, where classes are compared with the distribution of all and so become long.
    """
    count = len(units)
    if units.conditions is not None and units.conditions.compares:
        return np.zeros(1, dtype=np.int64)
    number = max(1, round(count / max(_STRIP, _STRIP_OF_K * problem.k)))
    return np.arange(number) * count // number


def best(table: Windows, starts: Ints, prices: Ints | None = None) -> Pieces:
    """The best pieces of strips, by their windows.

    Args:
        starts: first units of the strips, ascending from 0.
        prices: of every unit, what it costs to leave it out, which a piece wins ties with; None if
            all stay.
    """
    count = len(table.objective)
    ends = np.append(starts[1:], count)
    sizes = ends - starts
    longest_first = np.argsort(-sizes, kind="stable")
    active = np.searchsorted(-sizes[longest_first], -np.arange(1, sizes.max() + 1), side="right")
    # Of strip s, best(0) is at base[s] and the others follow.
    base = starts + np.arange(len(starts))
    value = np.zeros(count + len(starts), dtype=np.int64)
    chosen = np.zeros(count, dtype=np.int64)
    firsts, bases = starts[longest_first], base[longest_first]
    for place, number in enumerate(active.tolist()):
        unit = firsts[:number] + place
        lengths, objective = _up_to(table, unit, place + 1)
        here = bases[:number] + place + 1
        least, length = _least(lengths, objective, value, here)
        if table.whole is not None:
            length = np.where(table.whole[unit] < least, place + 1, length)
            least = np.minimum(table.whole[unit], least)
        if prices is not None:
            out = value[here - 1] + prices[unit]
            length = np.where(out < least, 0, length)
            least = np.minimum(out, least)
        value[here], chosen[unit] = np.minimum(least, FORBIDDEN), length
    totals = value[base + sizes]
    begins, left = _chosen(chosen, starts, ends, totals < FORBIDDEN)
    return Pieces(totals, begins, _of_pieces(value, starts, ends, begins, left), left)


def _least(lengths: Ints, objective: Ints, value: Ints, here: Ints) -> tuple[Ints, Ints]:
    """The least objective up to the places `here`, and the length of its last piece."""
    if lengths.shape[-1] == 0:
        return np.full(len(here), FORBIDDEN), np.zeros(len(here), dtype=np.int64)
    sums = objective + value[here[:, None] - lengths]
    least = sums.argmin(axis=1)
    rows = np.arange(len(here))
    return sums[rows, least], lengths[least] if lengths.ndim == 1 else lengths[rows, least]


def _up_to(table: Windows, unit: Ints, most: int) -> tuple[Ints, Ints]:
    """Lengths and objectives of the windows that end at units, of at most so many."""
    if table.lengths.ndim == 2:
        return table.lengths[unit], table.objective[unit]
    number = int(np.searchsorted(table.lengths, most, side="right"))
    return table.lengths[:number], table.objective[unit, :number]


def _chosen(chosen: Ints, starts: Ints, ends: Ints, complete: Bools) -> tuple[Bools, Bools]:
    """Which units begin pieces, and which are left out, from the last ones on."""
    begins, left = np.zeros(len(chosen), dtype=bool), np.zeros(len(chosen), dtype=bool)
    at, first = ends[complete], starts[complete]
    while len(at):
        length = chosen[at - 1]
        left[at[length == 0] - 1] = True
        at = at - np.maximum(length, 1)
        begins[at[length > 0]] = True
        going = at > first
        at, first = at[going], first[going]
    return begins, left


def _of_pieces(value: Ints, starts: Ints, ends: Ints, begins: Bools, left: Bools) -> Ints:
    """What the pieces add to the best objective of their strips."""
    first = np.flatnonzero(begins)
    strip = np.searchsorted(starts, first, side="right") - 1
    bounds = np.flatnonzero(begins | left)
    after = np.append(bounds, len(begins))[np.searchsorted(bounds, first, side="right")]
    last = np.minimum(after, ends[strip])
    return value[last + strip] - value[first + strip]


def partition(problem: Problem, units: Units, starts: Ints) -> Strips:
    """The best pieces of a line, strip by strip.

    A strip that has no partition is joined with the next, the last with the one before, and tried
    again with windows twice as long. At worst the line is one piece; the caller knows that it
    satisfies every requirement. So is a line with too many counters, of blocks that were joined.

    Args:
        starts: first units of the strips, ascending from 0.
    """
    begins = np.zeros(len(units), dtype=bool)
    reach = REACH
    if not countable(units):
        begins[0] = True
        return Strips(starts[:1], reach, begins)
    if units.conditions is not None and units.conditions.compares:
        reach = -(-len(units) // problem.k)
    pending = np.ones(len(starts), dtype=bool)
    while pending.any():
        made = _tried(problem, units, starts, pending, reach)
        ends = np.append(starts[1:], len(units))
        failed = pending.copy()
        failed[pending] = made.totals >= FORBIDDEN
        for begin, end in zip(starts[pending].tolist(), ends[pending].tolist(), strict=True):
            begins[begin:end] = False
        begins[_members(starts, ends, pending)] = made.begins
        if failed.any() and len(starts) == 1 and reach * problem.k >= len(units):
            begins[:] = False
            begins[0] = True
            break
        starts, pending = _joined(starts, failed)
        if pending.any():
            reach *= 2
    return Strips(starts, reach, begins)


def _tried(problem: Problem, units: Units, starts: Ints, pending: Bools, reach: int) -> Pieces:
    if pending.all():
        return best(windows(problem, units, starts, reach), starts)
    ends = np.append(starts[1:], len(units))
    some = units.reordered(_members(starts, ends, pending))
    sizes = (ends - starts)[pending]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return best(windows(problem, some, first, reach), first)


def _members(starts: Ints, ends: Ints, some: Bools) -> Ints:
    """The units of some of the strips."""
    return np.flatnonzero(np.repeat(some, ends - starts))


def _joined(starts: Ints, failed: Bools) -> tuple[Ints, Bools]:
    """Strips, each failed one joined with the next, and which of them have to be tried again."""
    first = np.concatenate([[True], ~failed[:-1]])
    if failed[-1] and len(starts) > 1:
        first[np.flatnonzero(first)[-1]] = first.sum() == 1
    group = np.cumsum(first) - 1
    pending = np.zeros(group[-1] + 1, dtype=bool)
    pending[group[failed]] = True
    return starts[first], pending
