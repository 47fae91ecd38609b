"""m-invariance by its definition: what a version may look like beside the ones before it.

Xiao and Tao 2007; and the posterior of values, by enumerating all worlds. Of several sensitive
columns people keep a set of vectors, of which groups publish the values of each column.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Person = int
Value = Hashable


@dataclass(frozen=True)
class Group:
    """A published group: who is in it, and its values, those of nobody included.

    Attributes:
        values: of the first sensitive column, `others` of the others.
    """

    people: frozenset[Person]
    values: tuple[Value, ...]
    others: tuple[tuple[Value, ...], ...] = ()

    @property
    def columns(self) -> tuple[tuple[Value, ...], ...]:
        """The values of every column."""
        return (self.values, *self.others)

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
    """How many newcomers can take over a signature such that the others stay eligible.

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


# -- several sensitive columns --------------------------------------------------------------------

Vector = tuple[Value, ...]
VectorSet = frozenset[Vector]


def keeps_vectors(
    versions: Sequence[Version], own: Mapping[Person, Vector], m: int
) -> dict[Person, VectorSet] | None:
    """The set of vectors that everybody keeps; None if somebody keeps none.

    Values of every column differ in a group, and are at least m. The set of a group is what its
    people have, where nothing in it is nobody's; else that of one of them in a version before.
    """
    sets: dict[Person, VectorSet] = {}
    for version in versions:
        for group in version:
            mine = frozenset(own[person] for person in group.people)
            if len(mine) < len(group.people) or group.counterfeits < 0:
                return None
            if any(len(set(v)) != len(v) or len(v) < m for v in group.columns):
                return None
            if len({len(values) for values in group.columns}) > 1:
                return None
            known = {sets[person] for person in group.people if person in sets}
            if len(known) > 1 or (group.counterfeits and not known):
                return None
            kept = known.pop() if known else mine
            told = tuple(frozenset(values) for values in group.columns)
            if not mine <= kept or tuple(map(frozenset, zip(*kept, strict=True))) != told:
                return None
            sets |= dict.fromkeys(group.people, kept)
    return sets


def vector_posteriors(
    versions: Sequence[Version], likely: Callable[[VectorSet], Fraction]
) -> dict[Person, list[dict[Value, Fraction]]]:
    """Of every person and column the probability of each value, for who knows which values go
    together: by their belief in the set of vectors that people who were together keep.

    All worlds are enumerated in which the same people have one set of vectors in all their groups,
    and no two of a group the same vector.
    """
    groups = list(itertools.chain(*versions))
    found: dict[Person, list[dict[Value, Fraction]]] = {}
    for system in _systems(groups):
        people = sorted({person for group in system for person in group.people})
        weights: dict[Person, Counter[Vector]] = {person: Counter() for person in people}
        total = Fraction(0)
        for kept in _matchings(system[0].columns):
            flat = [Group(g.people, tuple(kept)) for g in system]
            for world in _worlds(people, flat):
                weight = likely(kept)
                total += weight
                for person, vector in world.items():
                    weights[person][vector] += weight  # type: ignore[assignment]
        for person in people:
            columns: list[dict[Value, Fraction]] = [{} for _ in system[0].columns]
            for vector, weight in weights[person].items():
                for place, value in enumerate(vector):
                    columns[place][value] = columns[place].get(value, Fraction(0)) + weight / total
            found[person] = columns
    return found


def _systems(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups that are connected by people, and so have the same set."""
    systems: list[tuple[set[Person], list[Group]]] = []
    for group in groups:
        touched = [one for one in systems if one[0] & group.people]
        systems = [one for one in systems if not one[0] & group.people]
        people = set(group.people).union(*(one[0] for one in touched))
        systems.append((people, [*itertools.chain(*(one[1] for one in touched)), group]))
    return [members for _, members in systems]


def _matchings(columns: Sequence[Sequence[Value]]) -> Iterator[VectorSet]:
    first, *others = columns
    for orders in itertools.product(*[itertools.permutations(values) for values in others]):
        yield frozenset(zip(first, *orders, strict=True))
