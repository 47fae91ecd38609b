"""Answers from all possible worlds of a release, by the definition, in fractions.

Nothing of pganon is imported. A bucket has slices: columns whose values are known together. Of an
exact slice all rows are known; of a box, which values are possible and which are had by a record at
least. A world puts them together: every slice in any order, each order equally likely. The
histogram of a box is Dirichlet-multinomial: every attained value once, the rest with weights that
add up to the number of possible values. Equal weights make all histograms equally likely.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Exact:
    """All rows of a bucket."""

    rows: tuple[tuple[tuple[str, Any], ...], ...]

    def histograms(self, n: int) -> list[tuple[Fraction, list[Any]]]:
        return [(Fraction(1), list(self.rows))]

    def record(self, row: Any) -> Record:
        return dict(row)


@dataclass(frozen=True)
class Boxed:
    """A column of which only possible and attained values are known; None: the value is missing.

    Attributes:
        weights: by possible value.
        endless: whether each stands for any number of values. Then records are independent.
    """

    column: str
    weights: tuple[tuple[Any, Fraction], ...]
    attained: tuple[Any, ...]
    endless: bool = False

    def histograms(self, n: int) -> list[tuple[Fraction, list[Any]]]:
        values = [value for value, _ in self.weights]
        total = sum((weight for _, weight in self.weights), Fraction(0))
        alphas = {value: weight * len(values) / total for value, weight in self.weights}
        found = []
        for drawn in itertools.combinations_with_replacement(values, n - len(self.attained)):
            counts = Counter(drawn)
            chance = Fraction(1)
            for value, count in counts.items():
                for i in range(count):
                    chance *= alphas[value] + (0 if self.endless else i)
                chance /= factorial(count)
            found.append((chance, [*self.attained, *drawn]))
        all_chances = sum((chance for chance, _ in found), Fraction(0))
        return [(chance / all_chances, values) for chance, values in found if chance]

    def record(self, row: Any) -> Record:
        return {self.column: row}


@dataclass(frozen=True)
class Bucket:
    n: int
    slices: tuple[Exact | Boxed, ...]


def worlds(bucket: Bucket) -> list[tuple[Fraction, list[Record]]]:
    """All worlds of a bucket with their probabilities."""
    columns = []
    for place, part in enumerate(bucket.slices):
        columns.append(
            [
                (chance / len(orders), [part.record(row) for row in order])
                for chance, rows in part.histograms(bucket.n)
                for orders in [_orders(rows) if place else [tuple(rows)]]
                for order in orders
            ]
        )
    found = []
    for chosen in itertools.product(*columns):
        chance = Fraction(1)
        for c, _ in chosen:
            chance *= c
        records = [
            {name: value for _, rows in chosen for name, value in rows[i].items()}
            for i in range(bucket.n)
        ]
        found.append((chance, records))
    return found


def _orders(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Different orders; every one comes from equally many permutations."""
    return list(set(itertools.permutations(rows)))


@dataclass(frozen=True)
class Answer:
    """Bounds, mean, variance and sum of deviations of a sum over buckets; None for no value."""

    lower: Any
    upper: Any
    estimate: Fraction | None
    variance: Fraction | None
    deviations: float | None


Added = Callable[[Record], Any]
"""What a record adds to a sum; None: nothing."""


def total(buckets: Sequence[Bucket], added: Added) -> Answer:
    """The sum of what records add."""
    lower = upper = mean = variance = Fraction(0)
    deviations = 0.0
    for bucket in buckets:
        sums = [
            (chance, sum((Fraction(added(r) or 0) for r in records), Fraction(0)))
            for chance, records in worlds(bucket)
        ]
        own = sum(chance * s for chance, s in sums)
        spread = sum(chance * s * s for chance, s in sums) - own * own
        lower += min(s for _, s in sums)
        upper += max(s for _, s in sums)
        mean += own
        variance += spread
        deviations += float(spread) ** 0.5
    return Answer(lower, upper, mean, variance, deviations)


def average(buckets: Sequence[Bucket], added: Added) -> Answer:
    """The mean of what records add that add anything: the ratio of two estimates."""

    def one(record: Record) -> Any:
        return None if added(record) is None else 1

    count = total(buckets, one).estimate
    assert count is not None
    if not count:
        return Answer(None, None, None, None, None)
    ratio = total(buckets, added).estimate / count  # pyright: ignore[reportOptionalOperand]

    def differs(record: Record) -> Any:
        value = added(record)
        return None if value is None else Fraction(value) - ratio

    about = total(buckets, differs)
    assert about.variance is not None
    assert about.deviations is not None
    means = _means(buckets, added)
    return Answer(
        min(means),
        max(means),
        ratio,
        about.variance / count**2,
        about.deviations / float(count),
    )


def extreme(buckets: Sequence[Bucket], added: Added, best: Any) -> tuple[Any, Any]:
    """Bounds of the least or greatest value (`best` is min or max).

    An end is None if there may be no value: the lower one of a greatest value, the upper one of a
    least one. Both are if there is none in any world.
    """
    reached: set[Any] = {None}
    for bucket in buckets:
        own = {
            best(values, default=None)
            for _, records in worlds(bucket)
            for values in [[v for v in map(added, records) if v is not None]]
        }
        reached = {
            best((v for v in (one, other) if v is not None), default=None)
            for one in reached
            for other in own
        }
    known = [value for value in reached if value is not None]
    low, high = min(known, default=None), max(known, default=None)
    if None in reached:
        return (None, high) if best is max else (low, None)
    return low, high


def _means(buckets: Sequence[Bucket], added: Added) -> set[Fraction]:
    """Means of all worlds of all buckets together."""
    reached = {(Fraction(0), 0)}
    for bucket in buckets:
        own = set()
        for _, records in worlds(bucket):
            values = [Fraction(v) for v in map(added, records) if v is not None]
            own.add((sum(values, Fraction(0)), len(values)))
        reached = {(s + t, n + m) for s, n in reached for t, m in own}
    return {s / n for s, n in reached if n}


@dataclass(frozen=True)
class Partitioned:
    """Records in the buckets of several partitions.

    Attributes:
        rows: what is known of every record.
        buckets: by partition and bucket, numbers of rows, and slices of what is known apart.
    """

    rows: tuple[Record, ...]
    buckets: Mapping[str, Mapping[int, tuple[tuple[int, ...], tuple[Exact | Boxed, ...]]]]

    def worlds(self) -> list[tuple[Fraction, list[Record]]]:
        """Every bucket by itself, each of its rows with anything that its slices allow."""
        apart = [
            worlds(Bucket(len(rows), (Exact(tuple((("row", i),) for i in rows)), *slices)))
            for partition in self.buckets.values()
            for rows, slices in partition.values()
        ]
        found = []
        for chosen in itertools.product(*apart):
            chance = Fraction(1)
            records = [dict(row) for row in self.rows]
            for own, parts in chosen:
                chance *= own
                for part in parts:
                    records[part["row"]] |= part
            found.append((chance, records))
        return found

    def total(self, added: Added) -> tuple[Answer, dict[str, float]]:
        """The sum of what records add, and sums of deviations over the buckets of a partition."""
        every = self.worlds()

        def variance(rows: Sequence[int]) -> tuple[Fraction, Fraction, list[Fraction]]:
            sums = [sum((Fraction(added(r[i]) or 0) for i in rows), Fraction(0)) for _, r in every]
            mean = sum((c * s for (c, _), s in zip(every, sums, strict=True)), Fraction(0))
            square = sum((c * s * s for (c, _), s in zip(every, sums, strict=True)), Fraction(0))
            return mean, square - mean * mean, sums

        mean, spread, sums = variance(range(len(self.rows)))
        deviations = {
            name: sum(float(variance(rows)[1]) ** 0.5 for rows, _ in partition.values())
            for name, partition in self.buckets.items()
        }
        return Answer(min(sums), max(sums), mean, spread, None), deviations
