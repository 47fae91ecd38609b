"""Posteriors of readers of a release that grows, from all worlds; nothing here is pganon's.

A world gives every person a value. People arrive in batches; a rule decides from the values which
groups appear and when. What a reader sees is who is in which group, and how often each value is in
it. Beliefs are exchangeable inside batches: the weight of a world depends on the histograms of its
batches alone.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

Batches = Sequence[Sequence[int]]
World = tuple[str, ...]
Group = frozenset[int]
Rule = Callable[[Batches, World], list[tuple[int, Group]]]
"""(time, people) of every group that appears."""

Seen = tuple[tuple[int, Group, tuple[tuple[str, int], ...]], ...]


def each_once(enough: Callable[[Sequence[str]], bool]) -> Rule:
    """Every batch appears as one group, or its people are permanently suppressed."""

    def rule(batches: Batches, world: World) -> list[tuple[int, Group]]:
        return [
            (time, frozenset(batch))
            for time, batch in enumerate(batches)
            if enough([world[person] for person in batch])
        ]

    return rule


def beside_first(close: Callable[[Sequence[str], Sequence[str]], bool]) -> Rule:
    """Every later batch appears as one group if it is close to the first, or never."""

    def rule(batches: Batches, world: World) -> list[tuple[int, Group]]:
        first = [world[person] for person in batches[0]]
        return [
            (time, frozenset(batch))
            for time, batch in enumerate(batches)
            if time == 0 or close([world[person] for person in batch], first)
        ]

    return rule


def waiting(enough: Callable[[Sequence[str]], bool]) -> Rule:
    """Who does not satisfy the models waits for the next batch."""

    def rule(batches: Batches, world: World) -> list[tuple[int, Group]]:
        found: list[tuple[int, Group]] = []
        pending: list[int] = []
        for time, batch in enumerate(batches):
            pending += batch
            if enough([world[person] for person in pending]):
                found.append((time, frozenset(pending)))
                pending = []
        return found

    return rule


def seen(rule: Rule, batches: Batches, world: World) -> Seen:
    return tuple(
        (time, group, tuple(sorted(Counter(world[person] for person in group).items())))
        for time, group in rule(batches, world)
    )


def posteriors(
    rule: Rule,
    batches: Batches,
    values: str,
    weight: Callable[[int, Mapping[str, int]], int],
) -> Iterator[tuple[Seen, int, str, Fraction, Fraction]]:
    """(what is seen, person, value, posterior, share in the person's group) of the released.

    Args:
        weight: of a histogram of a batch, by the number of the batch.
    """
    people = sum(map(len, batches))
    told: dict[Seen, dict[World, int]] = defaultdict(dict)
    for world in itertools.product(values, repeat=people):
        whole = 1
        for number, batch in enumerate(batches):
            whole *= weight(number, Counter(world[person] for person in batch))
        told[seen(rule, batches, world)][world] = whole
    for what, worlds in told.items():
        total = sum(worlds.values())
        if total == 0:
            continue
        for _, group, histogram in what:
            for person in group:
                for value, count in histogram:
                    has = sum(w for world, w in worlds.items() if world[person] == value)
                    yield what, person, value, Fraction(has, total), Fraction(count, len(group))


def leaving(rule: Rule, left: Mapping[int, int], versions: int, *, whole: bool) -> Rule:
    """A group is in every version from when it appears until somebody of it left.

    Args:
        left: the first version in which somebody is in the source no more.
        whole: whether the group goes then, or only the row of who left.
    """

    def shown(batches: Batches, world: World) -> list[tuple[int, Group]]:
        found: list[tuple[int, Group]] = []
        for time, group in rule(batches, world):
            for version in range(time, versions):
                there = frozenset(p for p in group if left.get(p, versions) > version)
                if there == group or not whole:
                    found.append((version, there))
        return found

    return shown
