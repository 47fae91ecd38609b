"""m-invariance by its definition: what a version may look like beside the ones before it.

Xiao and Tao 2007; and the posterior of values, by enumerating all worlds.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Person = int
Value = Hashable


@dataclass(frozen=True)
class Group:
    """A published group: who is in it, and its values, those of nobody included."""

    people: frozenset[Person]
    values: tuple[Value, ...]

    @property
    def counterfeits(self) -> int:
        return len(self.values) - len(self.people)


Version = Sequence[Group]


def is_invariant(versions: Sequence[Version], m: int) -> bool:
    """Whether values of a group differ, at least m, and people keep one set of values."""
    sets: dict[Person, frozenset[Value]] = {}
    for group in itertools.chain(*versions):
        found = frozenset(group.values)
        if len(found) != len(group.values) or len(found) < m or group.counterfeits < 0:
            return False
        if any(sets.setdefault(person, found) != found for person in group.people):
            return False
    return True


def posteriors(versions: Sequence[Version]) -> dict[Person, dict[Value, Fraction]]:
    """Of every person the probability of each value, all worlds being as likely.

    A world gives a value to everybody who was ever in a version, such that in every group as many
    people have a value as the group has it, or fewer where counterfeits have it.
    """
    groups = list(itertools.chain(*versions))
    counts: dict[Person, Counter[Value]] = {p: Counter() for g in groups for p in g.people}
    total = 0
    for world in _worlds(sorted(counts), groups):
        total += 1
        for person, value in world.items():
            counts[person][value] += 1
    return {p: {v: Fraction(n, total) for v, n in c.items()} for p, c in counts.items()}


def _worlds(people: Sequence[Person], groups: Sequence[Group]) -> Iterator[Mapping[Person, Value]]:
    left = [Counter(group.values) for group in groups]
    of = {p: [n for n, group in enumerate(groups) if p in group.people] for p in people}
    world: dict[Person, Value] = {}

    def go(place: int) -> Iterator[Mapping[Person, Value]]:
        if place == len(people):
            yield world
            return
        person = people[place]
        mine = [left[number] for number in of[person]]
        for value in list(mine[0]):
            if all(values[value] > 0 for values in mine):
                for values in mine:
                    values[value] -= 1
                world[person] = value
                yield from go(place + 1)
                for values in mine:
                    values[value] += 1

    return go(0)


def most_filled(newcomers: Mapping[Value, int], needed: Mapping[Value, int], m: int) -> int:
    """How many newcomers can take over a value set such that the others stay eligible.

    If they are eligible for no choice, all who fit. By trying every choice.
    """
    values = sorted(newcomers, key=repr)
    limits = [min(newcomers[v], needed.get(v, 0)) for v in values]
    best = None
    for taken in itertools.product(*[range(limit + 1) for limit in limits]):
        rest = [newcomers[v] - n for v, n in zip(values, taken, strict=True)]
        if max(rest, default=0) * m <= sum(rest):
            best = max(best or 0, sum(taken))
    return sum(limits) if best is None else best
