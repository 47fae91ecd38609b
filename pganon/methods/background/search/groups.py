"""Groups of records that are merged again and again, with what a merge would cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.block import Block
from pganon.methods.background.search.limits import DECIMALS
from pganon.methods.background.search.points import Numbers, Rows
from pganon.methods.common.search.elements import Domain


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
