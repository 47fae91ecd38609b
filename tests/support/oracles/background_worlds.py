"""What who knows the algorithm learns of releases against background knowledge, over all worlds.

A world gives every row its sensitive value. Rows are places along a curve, from 0, so that equal
ranges of rows are equal ranges of it. The adversary knows everybody's row, how often each value
occurs, and the algorithm; he does not know the random choices. All worlds are equally likely.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Literal

from tests.support.oracles.background_search import (
    EPS,
    Beta,
    Search,
    beta_partition,
    beta_split,
    trimmed,
)

World = tuple[int, ...]
"""A value for every row."""

Seen = frozenset[tuple[tuple[int, ...], tuple[int, ...]]]
"""Rows and sorted values of the classes; their numbers are random."""

Drawn = Iterator[tuple[Fraction, list[list[int]]]]
"""Probabilities of ways to make classes."""

Select = Literal["random", "sweep", "nearest"]
Division = Literal["public", "eligible", "none"]
Algorithm = Callable[[World], Drawn]


def worlds(counts: Sequence[int]) -> list[World]:
    """All that share a histogram."""
    return list(_arranged(counts))


def _arranged(counts: Sequence[int]) -> Iterator[World]:
    if not any(counts):
        yield ()
    for value, count in enumerate(counts):
        if count:
            rest = [c - (v == value) for v, c in enumerate(counts)]
            for others in _arranged(rest):
                yield (value, *others)


def seen(world: World, classes: Sequence[Sequence[int]]) -> Seen:
    return frozenset((tuple(sorted(c)), tuple(sorted(world[r] for r in c))) for c in classes)


def histogram(world: World, rows: Sequence[int], values: int) -> list[int]:
    found = Counter(world[row] for row in rows)
    return [found[v] for v in range(values)]


# -- algorithms -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BetaPrimacy:
    """beta-likeness first, over one cluster; who is released is public."""

    rule: Beta
    k: int
    select: Select
    division: Division = "none"

    def __call__(self, world: World) -> Drawn:
        for parts in product(*(list(self._block(world, block)) for block in self.blocks(world))):
            probability = math.prod((p for p, _ in parts), start=Fraction(1))
            yield probability, [rows for _, classes in parts for rows in classes]

    def blocks(self, world: World) -> list[list[int]]:
        rows = list(range(len(world)))
        if self.division == "none":
            return [rows]
        pieces = 2 ** int(math.log2(len(rows) // self.k))
        return self._divided(world, rows, range(pieces), pieces)

    def _divided(
        self, world: World, rows: list[int], pieces: Sequence[int], number: int
    ) -> list[list[int]]:
        if len(pieces) == 1:
            return [rows]
        middle = len(pieces) // 2
        halves = [
            [r for r in rows if r * number // len(world) in part]
            for part in (pieces[:middle], pieces[middle:])
        ]
        if not self._divides(world, rows, halves):
            return [rows]
        both = zip(halves, (pieces[:middle], pieces[middle:]), strict=True)
        return [block for half, part in both for block in self._divided(world, half, part, number)]

    def _divides(self, world: World, rows: list[int], halves: list[list[int]]) -> bool:
        values = len(self.rule.p)
        if min(map(len, halves)) < self.k:
            return False
        if self.division == "eligible":
            return all(self.rule.holds(histogram(world, half, values)) for half in halves)
        least = min(map(len, halves))
        counts = histogram(world, rows, values)
        f = [self.rule.f(p) for p in self.rule.p]
        return all(c <= f_v * least + EPS for c, f_v in zip(counts, f, strict=True))

    def _block(self, world: World, rows: list[int]) -> Drawn:
        buckets = beta_partition(self.rule, histogram(world, rows, len(self.rule.p)))
        assert buckets is not None
        held = [[row for row in rows if world[row] in bucket] for bucket in buckets]
        f = [self.rule.f(self.rule.p[bucket[0]]) for bucket in buckets]
        leaves = beta_split(f, list(map(len, held)), self.k)
        match self.select:
            case "random":
                yield from _dealt(held, leaves)
            case "sweep":
                orders = list(permutations(leaves))
                for order in orders:
                    yield Fraction(1, len(orders)), _swept(held, order)
            case "nearest":
                yield from _nearest(held, leaves)


def _swept(held: Sequence[Sequence[int]], leaves: Sequence[Sequence[int]]) -> list[list[int]]:
    starts = [0] * len(held)
    classes = []
    for leaf in leaves:
        made: list[int] = []
        for bucket, size in enumerate(leaf):
            made += held[bucket][starts[bucket] : starts[bucket] + size]
            starts[bucket] += size
        classes.append(made)
    return classes


def _dealt(held: Sequence[Sequence[int]], leaves: Sequence[Sequence[int]]) -> Drawn:
    """Every way to give a leaf so many rows of every bucket is as likely as the others."""
    each = [
        list(_portions(rows, [leaf[bucket] for leaf in leaves])) for bucket, rows in enumerate(held)
    ]
    probability = Fraction(1, math.prod(map(len, each)))
    for ways in product(*each):
        yield probability, [_together(parts) for parts in zip(*ways, strict=True)]


def _together(parts: Sequence[Sequence[int]]) -> list[int]:
    return [row for part in parts for row in part]


def _portions(rows: Sequence[int], sizes: Sequence[int]) -> Iterator[list[list[int]]]:
    if not sizes:
        yield []
        return
    for part in combinations(rows, sizes[0]):
        for others in _portions([r for r in rows if r not in part], sizes[1:]):
            yield [list(part), *others]


def _nearest(held: Sequence[Sequence[int]], leaves: Sequence[Sequence[int]]) -> Drawn:
    if not leaves:
        yield Fraction(1), []
        return
    first = next(bucket for bucket, size in enumerate(leaves[0]) if size)
    for middle in held[first]:
        made: list[list[int]] = []
        for rows, size in zip(held, leaves[0], strict=True):
            near = _together(made) or [middle]
            made.append(sorted(rows, key=lambda r: (min(abs(r - m) for m in near), r))[:size])
        left = [[r for r in rows if r not in m] for rows, m in zip(held, made, strict=True)]
        for p, others in _nearest(left, leaves[1:]):
            yield p / len(held[first]), [_together(made), *others]


@dataclass(frozen=True)
class Trimmed:
    """What of clusters is suppressed so that the rest satisfies beta-likeness, drawn by value.

    What remains is one class per cluster, which tells no more than its rows and values.
    """

    rule: Beta
    k: int
    clusters: Sequence[Sequence[int]]

    def __call__(self, world: World) -> Drawn:
        each = [list(self._parts(world, rows)) for rows in self.clusters]
        probability = Fraction(1, math.prod(map(len, each)))
        for classes in product(*each):
            yield probability, [rows for rows in classes if rows]

    def _parts(self, world: World, rows: Sequence[int]) -> Iterator[list[int]]:
        values = len(self.rule.p)
        left = trimmed(self.rule, histogram(world, rows, values))
        if sum(left) < self.k:
            left = [0] * values
        each = [combinations([r for r in rows if world[r] == v], n) for v, n in enumerate(left)]
        for parts in product(*each):
            yield _together(parts)


def primacy(search: Callable[[World], Search]) -> Algorithm:
    """k-anonymity first: nothing is random, as long as no two distances are equal."""

    def algorithm(world: World) -> Drawn:
        classes, _ = search(world).run()
        yield Fraction(1), classes

    return algorithm


# -- what is learnt -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learnt:
    """Posteriors of all rows of a release, with its probability before it was seen."""

    seen: Seen
    probability: Fraction
    posteriors: dict[int, dict[int, Fraction]]

    def shares(self, row: int) -> dict[int, Fraction]:
        """Of the values in the class of a row; nothing for one that is in none."""
        for rows, values in self.seen:
            if row in rows:
                return {v: Fraction(values.count(v), len(values)) for v in set(values)}
        return {}

    @property
    def missing(self) -> list[int]:
        shown = {row for rows, _ in self.seen for row in rows}
        return [row for row in self.posteriors if row not in shown]


def learnt(algorithm: Algorithm, counts: Sequence[int]) -> list[Learnt]:
    """Of every release that may come out."""
    all_worlds = worlds(counts)
    weights: dict[Seen, dict[World, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for world in all_worlds:
        for probability, classes in algorithm(world):
            weights[seen(world, classes)][world] += probability
    return [
        Learnt(shown, sum(held.values(), Fraction(0)) / len(all_worlds), _posteriors(held))
        for shown, held in weights.items()
    ]


def _posteriors(weights: Mapping[World, Fraction]) -> dict[int, dict[int, Fraction]]:
    total = sum(weights.values(), Fraction(0))
    found: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for world, weight in weights.items():
        for row, value in enumerate(world):
            found[row][value] += weight / total
    return {row: dict(held) for row, held in found.items()}


def above(found: Sequence[Learnt], rule: Beta) -> tuple[Fraction, Fraction]:
    """Shares of the records with a posterior above the limit of the value, and with one of 1."""
    return (
        _share(found, lambda p, v: p > rule.f(rule.p[v]) + EPS),
        _share(found, lambda p, v: p == 1),
    )


def _share(found: Sequence[Learnt], test: Callable[[Fraction, int], bool]) -> Fraction:
    rows = len(found[0].posteriors)
    return sum(
        (
            release.probability / rows
            for release in found
            for held in release.posteriors.values()
            if any(test(p, v) for v, p in held.items())
        ),
        Fraction(0),
    )


def deviation(found: Sequence[Learnt]) -> Fraction:
    """The most that a posterior is above the value's share in its class."""
    return max(
        (p - release.shares(row).get(value, Fraction(0)))
        for release in found
        for row, held in release.posteriors.items()
        if row not in release.missing
        for value, p in held.items()
    )


def certain_of_missing(found: Sequence[Learnt]) -> Fraction:
    """Of the rows that are in no class, the share whose value is certain."""
    missing = certain = Fraction(0)
    for release in found:
        for row in release.missing:
            missing += release.probability
            certain += release.probability * (max(release.posteriors[row].values()) == 1)
    return certain / missing
