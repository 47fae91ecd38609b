"""Metrics of utility in plain Python, straight from docs/reference/measures.md.

Nothing of pganon is imported. A release is a list of :class:`Class`: its records and what is
published for them. Values are looked at one by one; nothing is fast.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from psycopg.types.range import Range

from tests.support.oracles import definitions as oracle
from tests.support.oracles.definitions import Record

EPSILON = 1e-9


@dataclass(frozen=True)
class Class:
    """Records of a class, and per attribute (published value, whether NULL is among them)."""

    records: tuple[Record, ...]
    shown: tuple[tuple[Any, bool], ...]

    @property
    def size(self) -> int:
        return len(self.records)


@dataclass
class Release:
    """A source with the classes that were published of it."""

    attributes: Sequence[oracle.Attribute]
    source: Sequence[Record]
    classes: Sequence[Class]

    @cached_property
    def released(self) -> list[tuple[Record, Class]]:
        return [(record, c) for c in self.classes for record in c.records]

    @cached_property
    def suppressed(self) -> list[Record]:
        kept = {record.id for record, _ in self.released}
        return [record for record in self.source if record.id not in kept]

    def column(self, i: int) -> list[Any]:
        return [record.qi[i] for record in self.source]

    # -- coverage -----------------------------------------------------------------------------

    def domain(self, i: int) -> list[Any]:
        """Different values of the source in order, NULL first if there is one."""
        found = self.attributes[i].domain
        return [None, *found] if None in self.column(i) else list(found)

    def covers(self, i: int, value: Any, shown: tuple[Any, bool]) -> bool:
        published, null = shown
        if value is None:
            return null
        if published is None:
            return False
        if isinstance(published, Range):
            return inside(value, published)
        attribute = self.attributes[i]
        if isinstance(published, list) and isinstance(attribute, oracle.Ordinal):
            key = attribute.sort_key
            return key(published[0]) <= key(value) <= key(published[-1])
        if isinstance(published, list):
            return value in published
        tree = self.attributes[i]
        assert isinstance(tree, oracle.Tree)
        return published in tree.paths[value]

    def covered(self, i: int, shown: tuple[Any, bool]) -> list[Any]:
        return [v for v in self.domain(i) if self.covers(i, v, shown)]

    def on_line(self, i: int) -> bool:
        return isinstance(self.attributes[i], oracle.Ordered | oracle.Intervals)

    def at(self, i: int, value: Any) -> float:
        """Place of a value, from 0 for the first to 1 for the last of the source."""
        attribute = self.attributes[i]
        if isinstance(attribute, oracle.Ordered):
            return attribute.position(value)
        first, last = attribute.domain[0], attribute.domain[-1]
        return (value - first) / (last - first) if last > first else 0.0

    # -- loss ---------------------------------------------------------------------------------

    def glm(self, i: int) -> float:
        attribute, domain = self.attributes[i], self.attributes[i].domain
        lost = float(len(self.suppressed))
        for c in self.classes:
            values = [record.qi[i] for record in c.records]
            loss = attribute.loss(values)
            tree = isinstance(attribute, oracle.Tree) and not self.on_line(i)
            if tree and len(domain) > 1 and None not in values:
                below = [v for v in self.covered(i, c.shown[i]) if v is not None]
                loss = (len(below) - 1) / (len(domain) - 1)
            lost += c.size * loss
        return lost / len(self.source)

    def height(self, i: int) -> float:
        attribute = self.attributes[i]
        assert isinstance(attribute, oracle.Tree)
        if not attribute.domain:
            return 0.0
        sum_ = len(self.suppressed) * attribute.top()
        for c in self.classes:
            values = {record.qi[i] for record in c.records}
            if values == {None}:
                continue
            sum_ += c.size * (attribute.top() if None in values else attribute.level(values))
        return sum_ / len(self.source)

    def entropy(self, i: int) -> float:
        counts = Counter(self.column(i))
        n = len(self.source)
        everything = sum(math.log2(n / counts[record.qi[i]]) for record in self.source)
        if not everything:
            return 0.0
        lost = sum(math.log2(n / counts[record.qi[i]]) for record in self.suppressed)
        for record, c in self.released:
            mass = sum(counts[v] for v in self.covered(i, c.shown[i]))
            lost += math.log2(mass / counts[record.qi[i]])
        return lost / everything

    def ncp(self, records: Sequence[Record]) -> float:
        """Sum over the attributes of weight times NCP."""
        return sum(
            a.weight * a.loss([record.qi[i] for record in records])
            for i, a in enumerate(self.attributes)
        )

    # -- distributions ------------------------------------------------------------------------

    def source_shares(self, i: int) -> dict[Any, Fraction]:
        return oracle.shares(self.column(i))

    def published_shares(self, i: int) -> dict[Any, Fraction]:
        shares = dict.fromkeys(self.domain(i), Fraction(0))
        for _, c in self.released:
            found = self.covered(i, c.shown[i])
            for value in found:
                shares[value] += Fraction(1, len(found) * len(self.released))
        return shares

    def compared(self, i: int) -> tuple[dict[Any, Fraction], dict[Any, Fraction]] | None:
        """Both distributions, on lines without NULL; None if nothing is left of one."""
        p, q = self.source_shares(i), self.published_shares(i)
        if not self.on_line(i):
            return p, q
        p.pop(None, None)
        q.pop(None, None)
        if not sum(p.values()) or not sum(q.values()):
            return None
        return (
            {v: share / sum(p.values()) for v, share in p.items()},
            {v: share / sum(q.values()) for v, share in q.items()},
        )

    def emd(self, i: int) -> float | None:
        both = self.compared(i)
        if both is None:
            return None
        p, q = both
        if not self.on_line(i):
            return float(sum(abs(p[v] - q[v]) for v in p) / 2)
        values, earth, work = sorted(p, key=self.attributes[i].sort_key), Fraction(0), 0.0
        for value, following in itertools.pairwise(values):
            earth += p[value] - q[value]
            work += abs(float(earth)) * (self.at(i, following) - self.at(i, value))
        return work

    def relative(self, i: int) -> tuple[float, float, float] | None:
        """Mean difference, half the interval, mean absolute difference."""
        both = self.compared(i)
        if both is None:
            return None
        p, q = both
        found = [float((q[v] - p[v]) / p[v]) for v in p]
        half = 1.96 * statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else 0.0
        return statistics.mean(found), half, statistics.mean(map(abs, found))

    def kl(self, i: int) -> float | None:
        return divergence(self.source_shares(i), self.published_shares(i))

    def joint_kl(self) -> float | None:
        p = oracle.shares([record.qi for record in self.source])
        q = dict.fromkeys(p, Fraction(0))
        for combination in p:
            for _, c in self.released:
                pairs = list(zip(combination, c.shown, strict=True))
                if all(self.covers(i, v, s) for i, (v, s) in enumerate(pairs)):
                    many = math.prod(len(self.covered(i, s)) for i, (_, s) in enumerate(pairs))
                    q[combination] += Fraction(1, many * len(self.released))
        return divergence(p, q)

    # -- distances ----------------------------------------------------------------------------

    def distance(self, record: Record, c: Class, *, box: bool = False) -> float:
        squares = others = 0.0
        for i, value in enumerate(record.qi):
            found = self.covered(i, c.shown[i])
            members = [r.qi[i] for r in c.records if r.qi[i] is not None]
            known = self.knows(i, c, box=box)
            if not self.on_line(i):
                others += 1 if value not in found else 0 if len(found) == 1 else 0.5
            elif value is None:
                others += 1 if not c.shown[i][1] else 0.5 if known else 0
            elif not known:
                others += 1
            elif box:
                squares += self._outside(i, value, c.shown[i][0]) ** 2
            else:
                mean = statistics.fmean(self.at(i, v) for v in members)
                squares += (self.at(i, value) - mean) ** 2
        return math.sqrt(squares) + others

    def knows(self, i: int, c: Class, *, box: bool) -> bool:
        """Whether a class has a place on a line."""
        return any(record.qi[i] is not None for record in c.records)

    def _outside(self, i: int, value: Any, published: Any) -> float:
        """Distance to a published range or array, scaled as the values are."""
        if isinstance(published, list):
            ends = self.at(i, published[0]), self.at(i, published[-1])
        else:
            attribute = self.attributes[i]
            ordered = isinstance(attribute, oracle.Ordered)
            first, last = attribute.span if ordered else (attribute.domain[0], attribute.domain[-1])
            low, high = points(published)
            width = number(last) - number(first)
            if not width:
                return 0.0
            ends = ((low - number(first)) / width, (high - number(first)) / width)
        return max(0.0, float(ends[0]) - self.at(i, value), self.at(i, value) - float(ends[1]))

    def links(self, *, box: bool = False) -> float:
        expected = 0.0
        for record, own in self.released:
            far = {id(c): self.distance(record, c, box=box) for c in self.classes}
            near = [c for c in self.classes if far[id(c)] <= min(far.values()) + EPSILON]
            if any(c is own for c in near):
                expected += 1 / sum(c.size for c in near)
        return expected

    def rgcp(self) -> float | None:
        """None where a suppressed record is equally near to classes of one size."""
        joined = {id(c): list(c.records) for c in self.classes}
        for record in self.suppressed:
            far = {id(c): round(self.distance(record, c), 9) for c in self.classes}
            near = [c for c in self.classes if far[id(c)] == min(far.values())]
            smallest = [c for c in near if c.size == min(c.size for c in near)]
            if len(smallest) > 1:
                return None
            joined[id(smallest[0])].append(record)
        return sum(
            len(joined[id(c)]) * self.ncp(joined[id(c)]) * (2 if len(joined[id(c)]) > c.size else 1)
            for c in self.classes
        )

    # -- queries ------------------------------------------------------------------------------

    def exact(self, asked: dict[int, list[Any]]) -> tuple[int, int]:
        """Number and sum of the sensitive values of the records whose values are asked for."""
        found = [r for r in self.source if all(r.qi[i] in values for i, values in asked.items())]
        return len(found), sum(r.sensitive[0] or 0 for r in found)

    def estimate(self, asked: dict[int, list[Any]]) -> tuple[float, float]:
        count = total = 0.0
        for c in self.classes:
            share = math.prod(self.share(i, values, c.shown[i]) for i, values in asked.items())
            count += share * c.size
            total += share * sum(record.sensitive[0] or 0 for record in c.records)
        return count, total

    def share(self, i: int, values: list[Any], shown: tuple[Any, bool]) -> float:
        published, null = shown
        if published is None:
            return 0.0
        if not isinstance(published, Range):
            covered = self.covered(i, shown)
            return len([v for v in covered if v in values]) / len(covered)
        low, high = points(published)
        first, last = number(min(values)), number(max(values))
        if isinstance(values[0], Decimal):
            if low == high:
                return (first <= low <= last) / (1 + null)
            return float(max(Fraction(0), min(high, last) - max(low, first)) / (high - low))
        whole = range(math.ceil(low), math.floor(high) + 1)
        return len([n for n in whole if first <= n <= last]) / (len(whole) + null)


def divergence(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> float | None:
    if any(not q[v] for v in p):
        return None
    return sum(float(share) * math.log(share / q[v]) for v, share in p.items())


def number(value: Any) -> Fraction:
    return Fraction(value.toordinal() if isinstance(value, dt.date) else value)


def inside(value: Any, published: Range[Any]) -> bool:
    v, low, high = number(value), number(published.lower), number(published.upper)
    return low <= v <= high if published.bounds == "[]" else low <= v < high


def points(published: Range[Any]) -> tuple[Fraction, Fraction]:
    """First and last whole number of a range; the bounds of a closed one as they are."""
    low, high = number(published.lower), number(published.upper)
    return (low, high) if published.bounds == "[]" else (low, high - 1)


def vulnerable(groups: Iterable[Sequence[Any]], threshold: float) -> float:
    """Share of the groups in which a value has more than the share `threshold`."""
    found = [max(Counter(values).values()) / len(values) > threshold for values in groups]
    return sum(found) / len(found)
