"""How far a release is from its source, column by column, and how wrong counts on it are.

A class shows of a quasi-identifier a range or set of values, or one value in their place. All
classes count as often as they have records; suppressed records count in the source alone.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Shares = Mapping[Any, float]


@dataclass(frozen=True)
class Interval:
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    def part(self, low: float, high: float) -> float:
        """Share of its numbers that are from `low` to `high`."""
        inside = math.floor(min(high, self.high)) - math.ceil(max(low, self.low)) + 1
        return max(0, inside) / (self.high - self.low + 1)


@dataclass(frozen=True)
class OneOf:
    """A set of values."""

    values: frozenset[Hashable]


@dataclass(frozen=True)
class Centre:
    """One value in place of all: a mean or a mode."""

    value: Any


Shown = Interval | OneOf | Centre


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its values in the source, and what every class shows, with its size."""

    source: Sequence[Any]
    classes: Sequence[tuple[int, Shown]]

    @property
    def numeric(self) -> bool:
        return not isinstance(self.source[0], str)

    @property
    def domain(self) -> list[Any]:
        return sorted(set(self.source))


def shares(values: Sequence[Any]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for value in values:
        found[value] = found.get(value, 0.0) + 1 / len(values)
    return found


def uniform(column: Column) -> dict[Any, float]:
    """Records spread evenly over the values of the source that their class shows."""
    domain = column.domain
    return _spread(column, lambda shown: _covered(domain, shown))


def midpoint(column: Column) -> dict[Any, float]:
    """Records in the middle of what their class shows; sets as in :func:`uniform`."""
    domain = column.domain

    def middle(shown: Shown) -> Sequence[Any]:
        if isinstance(shown, Interval):
            return [(shown.low + shown.high) / 2]
        return _covered(domain, shown)

    return _spread(column, middle)


def _spread(column: Column, values: Any) -> dict[Any, float]:
    total = sum(n for n, _ in column.classes)
    found: dict[Any, float] = {}
    for n, shown in column.classes:
        covered = values(shown)
        for value in covered:
            found[value] = found.get(value, 0.0) + n / len(covered) / total
    return found


def _covered(domain: Sequence[Any], shown: Shown) -> Sequence[Any]:
    if isinstance(shown, Centre):
        return [shown.value]
    if isinstance(shown, OneOf):
        return sorted(shown.values, key=str)
    return [value for value in domain if shown.low <= value <= shown.high]


def distance(column: Column, published: Shares) -> float:
    """Earth mover's distance from the source, in units of the column; half the L1 of texts."""
    source = shares(column.source)
    values = sorted({*source, *published})
    if not column.numeric:
        return sum(abs(source.get(v, 0.0) - published.get(v, 0.0)) for v in values) / 2
    moved = behind = 0.0
    for value, following in itertools.pairwise(values):
        behind += source.get(value, 0.0) - published.get(value, 0.0)
        moved += abs(behind) * float(following - value)
    return moved


@dataclass(frozen=True)
class Difference:
    """Of (published - source) / source share over the values of the source: the mean, half its
    95 % interval, and the mean without signs."""

    mean: float
    half_width: float
    absolute: float


def difference(column: Column, published: Shares) -> Difference:
    """Published numbers that the source does not have count as the nearest, the lower on a tie."""
    source = shares(column.source)
    snapped: dict[Any, float] = {}
    domain = column.domain
    for value, share in published.items():
        at = value if value in source else _nearest(domain, value)
        snapped[at] = snapped.get(at, 0.0) + share
    found = [(snapped.get(value, 0.0) - share) / share for value, share in source.items()]
    spread = statistics.stdev(found) if len(found) > 1 else 0.0
    return Difference(
        statistics.fmean(found),
        1.96 * spread / math.sqrt(len(found)),
        statistics.fmean(map(abs, found)),
    )


def _nearest(domain: Sequence[Any], value: Any) -> Any:
    at = bisect_left(domain, value)
    around = domain[max(0, at - 1) : at + 1]
    return min(around, key=lambda known: (abs(known - value), known))


def estimated(column: Column, low: Any, high: Any) -> float:
    """Records expected between two values."""
    found = 0.0
    for n, shown in column.classes:
        if isinstance(shown, Interval):
            found += n * shown.part(low, high)
        elif isinstance(shown, OneOf):
            found += n * len([v for v in shown.values if low <= v <= high]) / len(shown.values)
        else:
            found += n * (low <= shown.value <= high)
    return found


def query_error(
    column: Column, selectivity: float, rng: random.Random, queries: int = 100
) -> float:
    """Mean relative error of counts between the values of so many neighbouring records."""
    ordered = sorted(column.source)
    wide = math.ceil(selectivity * len(ordered))
    errors: list[float] = []
    for _ in range(queries):
        first = rng.randint(0, len(ordered) - wide)
        low, high = ordered[first], ordered[first + wide - 1]
        actual = sum(low <= value <= high for value in ordered)
        errors.append(abs(estimated(column, low, high) - actual) / actual)
    return statistics.fmean(errors)
