"""What who knows the algorithm learns, over all worlds that agree with a release.

A world gives every row its hidden values. A world weighs as many orders of the rows as publish the
buckets that are seen. Where orders of attributes are independent, so are their worlds.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from tests.support.oracles.lgb import Attribute, Key, Value
from tests.support.oracles.lgb_buckets import diverse_buckets

Column = tuple[Value, ...]
"""A hidden value for every row."""
Seen = frozenset[tuple[tuple[int, ...], Column]]
"""Rows and sorted values of the buckets; their published numbers are random."""
Order = tuple[int, ...]
"""Rows from first to last."""


def columns(values: Column) -> list[Column]:
    """All that share a histogram."""
    return sorted(set(itertools.permutations(values)), key=repr)


def orders(n: int) -> Iterator[Order]:
    return itertools.permutations(range(n))


def bucketized(values: Column, l: int) -> Seen:  # noqa: E741
    """What a column shows, as one leaf, if its rows stand in their order."""
    found = diverse_buckets(dict(enumerate(values)), Attribute("x"), l, split=False)
    return frozenset((tuple(sorted(b)), tuple(sorted(values[row] for row in b))) for b in found)


def renamed(seen: Seen, order: Order) -> Seen:
    """The same with other rows in the places of those in their order."""
    return frozenset((tuple(sorted(order[row] for row in rows)), held) for rows, held in seen)


@cache
def _in_order(values: Column, l: int) -> dict[Seen, list[Column]]:  # noqa: E741
    """Worlds by what they show, if the rows stand in their order."""
    found: dict[Seen, list[Column]] = {}
    for world in columns(values):
        found.setdefault(bucketized(world, l), []).append(world)
    return found


def consistent(values: Column, observed: Seen, order: Order, l: int) -> list[Column]:  # noqa: E741
    """Worlds that show under an order what is observed."""
    place = tuple(order.index(row) for row in range(len(order)))
    worlds = _in_order(values, l).get(renamed(observed, place), [])
    return [tuple(world[at] for at in place) for world in worlds]


def shared_order(values: Sequence[Column], observed: Sequence[Seen], l: int) -> Fraction:  # noqa: E741
    """Largest posterior of a value of the first column if all columns have the same order."""
    weights: Counter[tuple[int, Value]] = Counter()
    total = 0
    for order in orders(len(values[0])):
        worlds, *others = [
            consistent(column, seen, order, l)
            for column, seen in zip(values, observed, strict=True)
        ]
        ways = math.prod(map(len, others))
        total += ways * len(worlds)
        for world in worlds:
            for row, value in enumerate(world):
                weights[row, value] += ways
    return Fraction(max(weights.values()), total)


def own_order(values: Column, observed: Seen, l: int) -> Fraction:  # noqa: E741
    """The same where every column has an order of its own: the others then say nothing."""
    return shared_order([values], [observed], l)


# -- what buckets alone allow ---------------------------------------------------------------------


def dealings(
    buckets: Mapping[str, Sequence[tuple[Sequence[Key], Sequence[Value]]]],
) -> Iterator[dict[Key, dict[str, Value]]]:
    """Every way to give the values of each bucket to its rows, over all attributes."""
    held = [(name, *bucket) for name, each in buckets.items() for bucket in each]
    ways = [sorted(set(itertools.permutations(values)), key=repr) for _, _, values in held]
    for chosen in itertools.product(*ways):
        world: dict[Key, dict[str, Value]] = {}
        for (name, keys, _), values in zip(held, chosen, strict=True):
            for key, value in zip(keys, values, strict=True):
                world.setdefault(key, {})[name] = value
        yield world


def posteriors(
    buckets: Mapping[str, Sequence[tuple[Sequence[Key], Sequence[Value]]]],
    possible: Callable[[dict[Key, dict[str, Value]]], bool],
) -> dict[Key, dict[str, dict[Value, Fraction]]]:
    """Of every hidden value, for who knows which worlds are possible."""
    counts: dict[Key, dict[str, Counter[Value]]] = {}
    worlds = 0
    for world in dealings(buckets):
        if possible(world):
            worlds += 1
            for key, held in world.items():
                for name, value in held.items():
                    counts.setdefault(key, {}).setdefault(name, Counter())[value] += 1
    return {
        key: {
            name: {value: Fraction(n, worlds) for value, n in counter.items()}
            for name, counter in held.items()
        }
        for key, held in counts.items()
    }


def pairs_exist(names: Sequence[str], known: Collection[tuple[Value, ...]]) -> Callable[..., bool]:
    """Who knows only which values occur together."""

    def possible(world: dict[Key, dict[str, Value]]) -> bool:
        return all(
            tuple(held[name] for name in names) in known
            for held in world.values()
            if all(name in held for name in names)
        )

    return possible


def surest(found: Mapping[Key, Mapping[str, Mapping[Value, Fraction]]]) -> Fraction:
    return max(p for held in found.values() for one in held.values() for p in one.values())
