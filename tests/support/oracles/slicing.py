"""Classical slicing in plain Python: its tree of buckets, and what a tuple is told (p(t, v)).

Li, Li, Zhang and Molloy: Slicing, TKDE 2012. Nothing of pganon is imported, and nothing is fast.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.oracles.definitions import Attribute, Group, Record
from tests.support.oracles.sliced import (
    Published,
    Relation,
    Row,
    Value,
    columns,
    count,
    sizes,
    values,
)

WIDTH_DECIMALS = 9
"""Widths that differ less are ties, which the order of the attributes decides."""

# -- the tree -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slicer:
    """Buckets cut at the lower median of their widest attribute that it divides.

    Attributes:
        beside: indexes of the attributes in the sensitive column.
        l: of every sensitive value among the records with the same values of those.
        smallest: fewest records of a bucket.
    """

    attributes: Sequence[Attribute]
    beside: Sequence[int]
    l: int  # noqa: E741 (the field's own letter)
    smallest: int

    def satisfied(self, group: Group) -> bool:
        """The condition of a bucket."""
        strata: dict[tuple[Any, ...], Counter[Value]] = {}
        for record in group:
            key = tuple(record.qi[i] for i in self.beside)
            strata.setdefault(key, Counter())[record.sensitive[0]] += 1
        diverse = all(self.l * max(n.values()) <= n.total() for n in strata.values())
        return diverse and len(group) >= self.smallest

    def buckets(self, group: Group) -> list[Group]:
        """A bucket stays whole if a half misses the condition; nothing else is tried."""
        halves = self._halves(group)
        if halves is None or not all(map(self.satisfied, halves)):
            return [group]
        return [bucket for half in halves for bucket in self.buckets(half)]

    def _halves(self, group: Group) -> tuple[Group, Group] | None:
        medians = [self._median(group, i) for i in range(len(self.attributes))]
        dividing = [i for i, median in enumerate(medians) if median < self._last(group, i)]
        if not dividing:
            return None
        widest = max(dividing, key=lambda i: (self._width(group, i), -i))
        left = [r for r in group if self._place(r, widest) <= medians[widest]]
        return left, [r for r in group if r not in left]

    def _place(self, record: Record, i: int) -> tuple[bool, int]:
        """Where the value is in canonical order; NULL is last."""
        value = record.qi[i]
        return value is None, self.attributes[i].codes[value]

    def _median(self, group: Group, i: int) -> tuple[bool, int]:
        return sorted(self._place(record, i) for record in group)[(len(group) - 1) // 2]

    def _last(self, group: Group, i: int) -> tuple[bool, int]:
        return max(self._place(record, i) for record in group)

    def _width(self, group: Group, i: int) -> float:
        return round(self.attributes[i].loss(record.qi[i] for record in group), WIDTH_DECIMALS)


# -- what a tuple is told -----------------------------------------------------------------------


def candidates(p: Published) -> list[Row]:
    """Every vector of quasi-identifiers that some bucket makes possible."""
    held = [(names, values(relation, names)) for relation, names in _parts(p)]
    found: dict[tuple[Value, ...], Row] = {}
    for group in sizes(p.qits[-1]):
        for drawn in itertools.product(*[by_group[group] for _, by_group in held]):
            names = [name for part, _ in held for name in part]
            vector = tuple(itertools.chain(*drawn))
            found[vector] = dict(zip(names, vector, strict=True))
    return list(found.values())


def _parts(p: Published) -> list[tuple[Relation, list[str]]]:
    """Relations with their quasi-identifiers; the sensitive column is the last one of the ST."""
    return [*((qit, columns(qit)) for qit in p.qits), *((st, columns(st)[:-1]) for st in p.sts)]


def told(p: Published, t: Row) -> dict[Value, Fraction]:
    """p(t, v): the sensitive values of a tuple, over the buckets that it matches."""
    (st,) = p.sts
    *beside, sensitive = columns(st)
    matching = {
        group: math.prod(
            (_share(relation, names, t, group) for relation, names in _parts(p)),
            start=Fraction(1),
        )
        for group in sizes(st)
    }
    total = sum(matching.values())
    found: dict[Value, Fraction] = {}
    for group, weight in matching.items():
        if weight:
            agreeing = [r for r in st if r["group_id"] == group and _agree(r, t, beside)]
            for row in agreeing:
                share = Fraction(count(row), sum(map(count, agreeing)))
                value = row[sensitive]
                found[value] = found.get(value, Fraction(0)) + weight / total * share
    return found


def _share(relation: Iterable[Row], names: Sequence[str], t: Row, group: Any) -> Fraction:
    """f(t, B) of one column: records of the bucket that agree with the tuple."""
    here = [row for row in relation if row["group_id"] == group]
    agreeing = sum(count(row) for row in here if _agree(row, t, names))
    return Fraction(agreeing, sum(map(count, here)))


def _agree(row: Row, t: Row, names: Sequence[str]) -> bool:
    return all(row[name] == t[name] for name in names)
