"""Groups by cuts at the lower median of the widest attribute that allows one (LGB_MDP).

All groups of a round are cut at once. Cells, which are distinct vectors of codes with the number of
their records, are kept group by group, so that what a group covers is a reduction over neighbours.
Rounds, tries and numbers of groups are those of :mod:`pganon.methods.common.rounds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
from numpy.typing import NDArray

from pganon.methods.common.search.attributes import Nominal, Ordered, Values

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DECIMALS = 9
_SCALE = 10.0**DECIMALS
_UNSURE = 1e-3
"""Distance from a tie below which a number is rounded digit by digit."""
_EXACT = 1e11
"""Scaled numbers above which floats are too coarse to see that distance."""

_SPARSE = 4
"""Counters per cell above which values are sorted instead of counted at their place."""


@dataclass(frozen=True)
class Extents:
    """Extents of groups on one attribute.

    Attributes:
        group: of every cell, in order.
        low, high: of every group, its least code above 0 and its greatest; 0 if all are NULL.
        null: whether a group has NULL, which is code 0.
    """

    codes: Codes
    group: Ints
    low: Codes
    high: Codes
    null: Bools


@dataclass(frozen=True)
class Attribute:
    """Attributes: size: codes are below it. weight: of its loss."""

    size: int
    weight: float
    values: Values

    def loss(self, covered: Extents) -> Floats:
        """Of every group; 0 where an attribute is not to be tried."""
        if isinstance(self.values, Nominal):
            number = _distinct(covered.group, covered.codes, len(covered.high), self.size)
            return np.where(number < 2, 0.0, number / max(self.values.domain, 1))
        some = covered.high > 0
        low, high = covered.low[some], covered.high[some]
        losses = np.zeros(len(some))
        losses[some] = self.values.spans(low, high)
        if isinstance(self.values, Ordered):
            # Different values differ though their places may be the same float.
            losses[some] = np.maximum(losses[some], (low < high) * 1e-300)
        return np.where(covered.null & some, 1.0, losses)


@dataclass(frozen=True)
class Limits:
    """Attributes:
    k: fewest records of a group.
    few: a group of fewer records is tried on `several` attributes at once.
    """

    k: int
    few: int
    several: int


@dataclass(frozen=True)
class Cells:
    """Cells of groups, group by group.

    Attributes:
        codes: attributes x cells.
        weights: records of every cell.
        starts: of every group, the place of its first cell.
        again: which groups were tried on some attributes and have others left.
    """

    codes: Codes
    weights: Ints
    starts: Ints
    again: Bools


@dataclass(frozen=True)
class Round:
    """Attributes:
    active: groups at its beginning.
    final: groups that are cut no more, as (place, cells): of the n-th group, from 1, the left
        side or the whole has place 2n - 1, the right side 2n.
    """

    active: int
    final: Sequence[tuple[int, Ints]]


def median_rounds(cells: Cells, attributes: Sequence[Attribute], limits: Limits) -> Iterator[Round]:
    """Rounds until no group can be cut."""
    held = np.arange(len(cells.weights))
    while len(cells.starts):
        cuts = _Cuts(cells, attributes, limits)
        side, active = cuts.sides()
        order = np.argsort(side, kind="stable")
        side = side[order]
        held = held[order]
        starts = np.flatnonzero(np.diff(side, prepend=-1))
        ends = np.append(starts[1:], len(side))
        ended = np.flatnonzero(~active[side[starts]])
        final = [(int(side[starts[at]]) + 1, held[starts[at] : ends[at]]) for at in ended]
        yield Round(len(cells.starts), final)
        kept = active[side]
        order, side, held = order[kept], side[kept], held[kept]
        starts = np.flatnonzero(np.diff(side, prepend=-1))
        cells = Cells(
            cells.codes[:, order], cells.weights[order], starts, cuts.again[side[starts] // 2]
        )


class _Cuts:
    """The cut of every group, if it has one.

    Attributes:
        again: groups without any, of which attributes are left to try.
    """

    def __init__(self, cells: Cells, attributes: Sequence[Attribute], limits: Limits) -> None:
        self.cells, self.attributes, self.limits = cells, attributes, limits
        number = len(cells.starts)
        lengths = np.diff(cells.starts, append=len(cells.weights))
        self.group = np.repeat(np.arange(number), lengths)
        self.records = np.add.reduceat(cells.weights, cells.starts)
        self.attribute = np.full(number, -1)
        self.threshold = np.zeros(number, dtype=np.int64)
        self.left = self.records.copy()
        self._find()

    def sides(self) -> tuple[Ints, Bools]:
        """Of every cell, twice its group, and 1 more on the right of a cut; by that number,
        whether what is there goes on."""
        cut = self.attribute >= 0
        chosen = np.maximum(self.attribute, 0)[self.group]
        codes = self.cells.codes[chosen, np.arange(len(chosen))]
        right = (codes > self.threshold[self.group]) & cut[self.group]
        twice = 2 * self.limits.k
        active = np.zeros(2 * len(cut), dtype=bool)
        active[0::2] = (cut & (self.left >= twice)) | self.again
        active[1::2] = cut & (self.records - self.left >= twice)
        return 2 * self.group + right, active

    def _find(self) -> None:
        losses = np.stack([self._loss(place) for place in range(len(self.attributes))], axis=1)
        allowed = losses > 0
        available = allowed.sum(axis=1)
        tried = np.where(self.records < self.limits.few, self.limits.several, 1)
        tried = np.where(self.cells.again, available, np.minimum(tried, available))
        order = np.argsort(-np.where(allowed, rounded(losses), -1.0), axis=1, kind="stable")
        for place in range(int(tried.max())):
            open_ = (self.attribute < 0) & (tried > place)
            if not open_.any():
                break
            self._try(open_, order[:, place])
        self.again = (self.attribute < 0) & (available > tried)

    def _try(self, open_: Bools, attribute: Ints) -> None:
        """The median of an attribute for each open group, if it leaves enough on both sides."""
        at = np.flatnonzero(open_[self.group])
        group = self.group[at]
        value = self.cells.codes[attribute[group], at]
        bound = max(a.size for a in self.attributes)
        groups, threshold, left = _medians(
            group, value, self.cells.weights[at], self.records, bound
        )
        enough = self.records[groups] - left >= self.limits.k
        groups = groups[enough]
        self.attribute[groups] = attribute[groups]
        self.threshold[groups], self.left[groups] = threshold[enough], left[enough]

    def _loss(self, place: int) -> Floats:
        codes, starts = self.cells.codes[place], self.cells.starts
        attribute = self.attributes[place]
        high = np.maximum.reduceat(codes, starts)
        null = np.minimum.reduceat(codes, starts) == 0
        low = np.minimum.reduceat(np.where(codes == 0, attribute.size, codes), starts)
        low = np.where(high == 0, 0, low)
        return attribute.loss(Extents(codes, self.group, low, high, null)) * attribute.weight


def _distinct(group: Ints, codes: Codes, groups: int, size: int) -> Ints:
    """Different codes of every group."""
    keys = group * size + codes
    if groups * size <= _SPARSE * len(keys):
        there = np.bincount(keys, minlength=groups * size).reshape(groups, size) > 0
        return there.sum(axis=1)
    return np.bincount(np.unique(keys) // size, minlength=groups)


def _medians(
    group: Ints, value: Codes, weight: Ints, records: Ints, bound: int
) -> tuple[Ints, Ints, Ints]:
    """Groups in order, their lower medians, and how many records are not above these."""
    keys = group * bound + value
    if len(records) * bound <= _SPARSE * len(keys):
        counted = np.bincount(keys, weight, minlength=len(records) * bound)
        keys = np.flatnonzero(counted)
        number = counted[keys]
    else:
        keys, place = np.unique(keys, return_inverse=True)
        number = np.bincount(place, weight)
    number = number.astype(np.int64)  # exact, as there are fewer than 2^53 records
    group = keys // bound
    upto = np.cumsum(number)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = upto[first] - number[first]
    upto -= np.repeat(before, np.diff(first, append=len(group)))
    at = (2 * upto >= records[group]) & (2 * (upto - number) < records[group])
    return group[at], keys[at] % bound, upto[at]


def rounded(losses: Floats) -> Floats:
    """Losses as whole numbers of the last decimal, as the server rounds them: from 15 digits, and
    halves away from zero."""
    scaled = losses * _SCALE
    whole = np.floor(scaled + 0.5)
    unsure = (np.abs(scaled - np.floor(scaled) - 0.5) < _UNSURE) | (scaled > _EXACT)
    for place in zip(*np.nonzero(unsure), strict=True):
        exact = Decimal(f"{losses[place]:.15g}").scaleb(DECIMALS)
        whole[place] = float(exact.quantize(Decimal(1), ROUND_HALF_UP))
    return whole
