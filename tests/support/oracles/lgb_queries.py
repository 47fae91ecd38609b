"""SUM over rows that satisfy predicates, from a release alone: help table, "bounds" and bounds."""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.oracles.lgb import Attribute, Key, Table, Value
from tests.support.oracles.lgb_release import Element, Release, Row

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Compare:
    """Of numbers; NULL never matches."""

    operator: str
    value: Any

    def holds(self, value: Value) -> bool:
        return value is not None and OPERATORS[self.operator](value, self.value)


@dataclass(frozen=True)
class Among:
    values: Collection[Value]

    def holds(self, value: Value) -> bool:
        return value is not None and value in self.values


@dataclass(frozen=True)
class Between:
    """Of numbers, both included."""

    low: Any
    high: Any

    def holds(self, value: Value) -> bool:
        return value is not None and self.low <= value <= self.high


Predicate = Compare | Among | Between
Query = Mapping[int, Predicate]
"""By the number of the attribute."""
Domain = Collection[Value]


def actual(table: Table, query: Query, item: int, keys: Collection[Key]) -> Any:
    held = [table.values[key] for key in keys]
    return sum(row[item] for row in held if all(p.holds(row[a]) for a, p in query.items()))


# -- how much a row matches -----------------------------------------------------------------------


def share(
    r: Release, row: Row, a: int, predicate: Predicate, domains: Mapping[int, Domain]
) -> Fraction:
    """Share of what a row shows of an attribute that satisfies a predicate."""
    if row.form[a] == "g":
        return _of_element(r.attributes[a], row.shown[a], predicate)
    if row.form[a] == "w":
        return _of_points(list(domains[a]), predicate)
    held = r.counts(a)[row.buckets[a]]  # pyright: ignore[reportArgumentType]
    return Fraction(sum(n for v, n in held.items() if predicate.holds(v)), held.total())


def _of_points(points: Sequence[Value], predicate: Predicate) -> Fraction:
    return Fraction(sum(map(predicate.holds, points)), len(points))


def _of_element(attribute: Attribute, shown: Element, predicate: Predicate) -> Fraction:
    if attribute.kind == "nominal":
        return _of_points(list(shown), predicate)
    if attribute.kind == "tree":
        if shown is None:
            return Fraction(0)
        return _of_points(attribute.leaves(shown), predicate)
    low, high, nulls = shown
    if nulls == "a":
        return Fraction(0)
    if attribute.step is None:
        assert isinstance(predicate, Compare)
        return _of_length(Fraction(low), Fraction(high), predicate)
    steps = int(Fraction(high - low) / attribute.step)
    points = [low + i * attribute.step for i in range(steps + 1)]
    return _of_points([*points, *([None] if nulls == "s" else [])], predicate)


def _of_length(low: Fraction, high: Fraction, predicate: Compare) -> Fraction:
    """Of numbers without a grid."""
    if low == high:
        return Fraction(predicate.holds(low))
    if predicate.operator in ("=", "<>"):
        return Fraction(predicate.operator == "<>")
    below = min(max(Fraction(predicate.value) - low, Fraction(0)), high - low) / (high - low)
    return below if predicate.operator in ("<", "<=") else 1 - below


def probability(r: Release, row: Row, query: Query, domains: Mapping[int, Domain]) -> Fraction:
    return math.prod((share(r, row, a, p, domains) for a, p in query.items()), start=Fraction(1))


# -- answers --------------------------------------------------------------------------------------


def help_table(r: Release, item: int) -> dict[tuple[int, int], tuple[Any, Any]]:
    """(bucket, h) -> sums of the h smallest and of the h largest values."""
    found = {}
    for bucket, held in r.counts(item).items():
        line = sorted(held.elements())
        for h in range(len(line) + 1):
            found[bucket, h] = (sum(line[:h]), sum(line[len(line) - h :]))
    return found


@dataclass(frozen=True)
class Answer:
    """Of one query.

    Attributes:
        expected: rows of every bucket that match, P_b.
        lower, upper: the paper's "bounds", which the true sum may lie outside.
        least, most: what the true sum cannot lie outside.
        estimate: the expected sum.
    """

    expected: Mapping[int, Fraction]
    lower: Any
    upper: Any
    least: Any
    most: Any
    estimate: Fraction

    def error(self, actual: Any) -> Fraction:
        return Fraction(self.upper - self.lower) / Fraction(actual)


def answer(
    r: Release, query: Query, item: int, domains: Mapping[int, Domain] | None = None
) -> Answer:
    matched: dict[int, list[Fraction]] = defaultdict(list)
    for row in r.rows:
        if (bucket := row.buckets[item]) is not None:
            matched[bucket].append(probability(r, row, query, domains or {}))
    helped, held = help_table(r, item), r.counts(item)
    expected = {b: sum(ps, Fraction(0)) for b, ps in matched.items()}
    lower = upper = least = most = 0
    estimate = Fraction(0)
    for bucket, ps in matched.items():
        around = [(bucket, f(expected[bucket])) for f in (math.floor, math.ceil)]
        lower += min(helped[at][0] for at in around)
        upper += max(helped[at][1] for at in around)
        sure, possible = sum(p == 1 for p in ps), sum(p > 0 for p in ps)
        within = [(bucket, h) for h in range(sure, possible + 1)]
        least += min(helped[at][0] for at in within)
        most += max(helped[at][1] for at in within)
        values = list(held[bucket].elements())
        estimate += expected[bucket] * Fraction(sum(values)) / len(values)
    return Answer(expected, lower, upper, least, most, estimate)
