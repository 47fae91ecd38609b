"""What readers of several versions can conclude, by going through all possible worlds.

A history says per version who is in which group, or is left out, or absent, and who has which
values. Readers know everything of it but the values: who is where, whose values changed since they
were last looked at, and the histogram of every group. A world gives everybody values for each of
his *eras*, the times between two changes, so that all histograms come out and values of
consecutive eras differ. Only eras in which somebody was in a group are told.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Person = int
Values = tuple[str, ...]
"""Of a person, sorted; one value where everybody has one record."""

Signature = tuple[tuple[int, bool], ...]
Era = tuple[Person, int]


@dataclass(frozen=True)
class Seen:
    """A person in the source of a version: group from 1, 0 or -1 if left out, and values."""

    group: int
    values: Values


History = Sequence[Mapping[Person, Seen]]
World = Mapping[Era, Values]


def eras(history: History) -> dict[Era, list[int]]:
    """The versions in which an era of a person was in a group, of those that ever were."""
    found: dict[Era, list[int]] = {}
    for person in people(history):
        for version, era in enumerate(_era_numbers(history, person)):
            seen = history[version].get(person)
            if seen is not None and seen.group > 0:
                found.setdefault((person, era), []).append(version)
    return found


def people(history: History) -> list[Person]:
    return sorted({person for version in history for person in version})


def _era_numbers(history: History, person: Person) -> list[int]:
    """The era of every version; a person who is absent stays in the last one."""
    found, era, last = [], 0, None
    for version in history:
        seen = version.get(person)
        if seen is not None:
            if last is not None and set(seen.values) != set(last):
                era += 1
            last = seen.values
        found.append(era)
    return found


def current_era(history: History, person: Person) -> int:
    return _era_numbers(history, person)[-1]


def cells(history: History) -> dict[Signature, set[Person]]:
    """People by all that readers know of them: groups, and when their values changed."""
    found: dict[Signature, set[Person]] = {}
    for person in people(history):
        numbers = _era_numbers(history, person)
        before = [numbers[0], *numbers]
        signature = tuple(
            (version[person].group if person in version else 0, numbers[at] != before[at])
            for at, version in enumerate(history)
        )
        found.setdefault(signature, set()).add(person)
    return found


def was_seen(signature: Signature) -> bool:
    return any(group > 0 for group, _ in signature)


def worlds(history: History, domain: Sequence[str], *, several: bool = False) -> list[World]:
    """All worlds that agree with what was published."""
    told = eras(history)
    left = _histograms(history)
    choices: list[Values] = [(value,) for value in domain]
    if several:
        sizes = range(1, len(domain) + 1)
        choices = [chosen for n in sizes for chosen in itertools.combinations(domain, n)]
    order = sorted(told)
    expected = {
        (version, group): sum(1 for s in history[version].values() if s.group == group)
        for version, group in left
    }
    return list(_extended(history, told, order, 0, {}, left, expected, choices))


def _histograms(history: History) -> dict[tuple[int, int], Counter[str]]:
    found: dict[tuple[int, int], Counter[str]] = {}
    for number, version in enumerate(history):
        for seen in version.values():
            if seen.group > 0:
                counts = found.setdefault((number, seen.group), Counter())
                counts.update(set(seen.values))
    return found


def _extended(
    history: History,
    told: Mapping[Era, list[int]],
    order: Sequence[Era],
    place: int,
    world: dict[Era, Values],
    left: dict[tuple[int, int], Counter[str]],
    waiting: dict[tuple[int, int], int],
    choices: Sequence[Values],
) -> Iterator[World]:
    if place == len(order):
        yield dict(world)
        return
    person, era = order[place]
    groups = [(version, history[version][person].group) for version in told[person, era]]
    for chosen in choices:
        if world.get((person, era - 1)) == chosen:
            continue  # it would be no change
        for group in groups:
            left[group].subtract(chosen)
            waiting[group] -= 1
        fits = all(all(0 <= n <= waiting[group] for n in left[group].values()) for group in groups)
        if fits:
            world[person, era] = chosen
            yield from _extended(history, told, order, place + 1, world, left, waiting, choices)
            del world[person, era]
        for group in groups:
            left[group].update(chosen)
            waiting[group] += 1


def truth(history: History) -> World:
    """The world that is the case."""
    return {
        (person, era): tuple(sorted(set(history[versions[0]][person].values)))
        for (person, era), versions in eras(history).items()
    }


def number_having(world: World, members: set[Person], era_of: Mapping[Person, int]) -> Counter[str]:
    """How many of the members have each value in an era of each."""
    found: Counter[str] = Counter()
    for person in members:
        found.update(world.get((person, era_of[person]), ()))
    return found


def posteriors(
    history: History, found: Sequence[World], random: Random
) -> dict[tuple[Era, str], float]:
    """The probability of every value of every era, for a prior that is exchangeable in cells.

    The weight of a world is a random function of what people of each cell have together.
    """
    told = cells(history)
    weights: dict[object, float] = {}
    total, sums = 0.0, Counter[tuple[Era, str]]()
    for world in found:
        weight = 1.0
        for signature, members in told.items():
            paths = sorted(
                tuple(
                    sorted((era, values) for (who, era), values in world.items() if who == person)
                )
                for person in members
            )
            key = (signature, tuple(paths))
            weight *= weights.setdefault(key, random.random() ** 3 + 1e-9)
        total += weight
        for era, values in world.items():
            for value in values:
                sums[era, value] += weight
    return {key: weight / total for key, weight in sums.items()}


def random_history(
    random: Random,
    *,
    most_people: int,
    versions: int,
    domain: Sequence[str],
    changes: bool = True,
    several: bool = False,
    left_out: bool = True,
    most_groups: int = 2,
) -> History:
    """Of at least two people, of whom some are absent, left out or changed."""
    count = random.randint(2, most_people)

    def drawn() -> Values:
        return tuple(sorted(random.choices(domain, k=random.randint(1, 3 if several else 1))))

    values = {person: drawn() for person in range(count)}
    found: list[dict[Person, Seen]] = []
    for _ in range(versions):
        version: dict[Person, Seen] = {}
        for person in range(count):
            if changes and random.random() < 0.15:
                values[person] = drawn()
            kind = random.random()
            if kind < 0.15:
                continue
            if left_out and kind < 0.3:
                version[person] = Seen(random.choice((0, -1)), values[person])
            else:
                version[person] = Seen(random.randint(1, most_groups), values[person])
        found.append(version)
    return found
