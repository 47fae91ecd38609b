"""Histories of versions for the rule about groups, and what their readers can conclude.

Readers know everything but values: who is in which group of every version, and whose shown values
changed since the version before that has them. A world gives everybody a value in each of his
*eras*, the times between two changes, such that all that was published comes out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from pganon.history.rule import Group, Told, judge
from pganon.spec.manner import Form, Manner

VALUES = ("x", "y")
COLUMNS = ("a", "b")

Era = tuple[int, str, int]
"""Person, column, number of the era."""
World = Mapping[Era, str]


def random_told(
    random: Random,
    number: int,
    values: Mapping[tuple[int, str], str],
    before: Sequence[Told] = (),
    *,
    forms: Sequence[Form] = ("classes", "exact"),
) -> Told:
    """A version of some of the people; often with groups that others had, whole or merged."""
    people = {person for person, _ in values}
    here = frozenset(person for person in people if random.random() < 0.85)
    columns = random.choice((("a",), ("b",), ("a", "b"), ("b", "a"), ("a",), ("a",)))
    manner = Manner(
        number,
        random.choice(forms),
        columns,
        ("q", *random.sample(("b", "r"), 1)) if random.random() < 0.1 else ("q",),
        random.choice(("p1", "p1", "p1", "p2")),
        random.choice((b"1", b"2")),
        random.choice(((), ((("c",),),)))[0:1] if random.random() < 0.2 else (),
    )
    reference = random.random() < 0.15
    groups: list[Group] = []
    for some, left_out in _partition(random, here, before):
        if left_out and not reference:
            groups += [Group({p: {}}, left_out=True, shown=False) for p in some]
            continue
        shown = {p: {name: values[p, name] for name in columns} for p in some}
        forgotten = not left_out and random.random() < 0.03
        groups.append(Group(shown, left_out=left_out, forgotten=forgotten))
    if reference:
        left = {p: v for group in groups if group.left_out for p, v in group.people.items()}
        groups = [group for group in groups if not group.left_out]
        groups += [Group(left, left_out=True)] if left else []
    return Told(manner, groups, here)


def _partition(
    random: Random, here: frozenset[int], before: Sequence[Told]
) -> list[tuple[list[int], bool]]:
    found: list[tuple[list[int], bool]] = []
    left = set(here)
    if before and random.random() < 0.8:
        known = [sorted(group.people) for group in random.choice(before).groups]
        random.shuffle(known)
        while known:
            taken = known.pop()
            if known and random.random() < 0.25:
                taken = [*taken, *known.pop()]
            if left.issuperset(taken):
                found.append((taken, random.random() < 0.15))
                left -= set(taken)
    rest = sorted(left)
    random.shuffle(rest)
    while rest:
        size = random.randint(1, 3)
        some, rest = rest[:size], rest[size:]
        if random.random() < 0.85:
            found.append((some, random.random() < 0.2))
    return found


def marked(told: Told, verdicts: Sequence[object]) -> Told:
    """The version as it is remembered after it was accepted."""
    groups = [replace(g, of=v.of) for g, v in zip(told.groups, verdicts, strict=True)]  # pyright: ignore
    return replace(told, groups=groups)


def random_history(random: Random, *, people: int, versions: int, accepted: bool) -> list[Told]:
    """Versions one after the other; with `accepted` those alone that the rule accepts."""
    values = {(p, c): random.choice(VALUES) for p in range(people) for c in COLUMNS}
    found: list[Told] = []
    for number in range(1, versions + 1):
        if random.random() < 0.25:
            who = random.randrange(people)
            values[who, random.choice(COLUMNS)] = random.choice(VALUES)
        told = random_told(random, number, values, found)
        verdicts = judge(told, found)
        if accepted and any(verdict.reason for verdict in verdicts):
            continue
        found.append(marked(told, verdicts))
    return found


# -- worlds ------------------------------------------------------------------------------------


def eras(history: Sequence[Told]) -> dict[tuple[int, int, str], int]:
    """The era of a column of a person in every version that shows it, by version's place."""
    found: dict[tuple[int, int, str], int] = {}
    last: dict[tuple[int, str], tuple[object, int]] = {}
    for place, told in enumerate(history):
        for group in told.groups:
            for person, values in group.people.items():
                for name, value in values.items():
                    before, era = last.get((person, name), (value, 0))
                    era += before != value
                    last[person, name] = (value, era)
                    found[place, person, name] = era
    return found


def _published(told: Told, group: Group, value_of: Mapping[tuple[int, str], object]) -> object:
    """What a group shows: rows, or, of exact quasi-identifiers, values by column together."""
    columns = told.manner.columns
    rows = sorted(tuple(str(value_of[p, name]) for name in columns) for p in group.people)
    return tuple(rows)


def worlds(history: Sequence[Told]) -> list[World]:
    known = eras(history)
    order = sorted({(person, name, era) for (_, person, name), era in known.items()})
    wanted: list[tuple[int, Group, object]] = []
    for place, told in enumerate(history):
        for group in told.groups:
            if group.shown:
                true = {(p, n): v for p, values in group.people.items() for n, v in values.items()}
                wanted.append((place, group, _published(told, group, true)))
    found: list[World] = []
    for chosen in _assigned(order):
        fits = all(
            _published(
                history[place],
                group,
                {
                    (p, n): chosen[p, n, known[place, p, n]]
                    for p, values in group.people.items()
                    for n in values
                },
            )
            == shown
            for place, group, shown in wanted
        )
        if fits:
            found.append(chosen)
    return found


def _assigned(order: Sequence[Era]) -> Iterator[dict[Era, str]]:
    for chosen in itertools.product(VALUES, repeat=len(order)):
        world = dict(zip(order, chosen, strict=True))
        if all(world.get((p, n, e - 1)) != value for (p, n, e), value in world.items()):
            yield world


def blocks(history: Sequence[Told]) -> dict[int, tuple[int, Group]]:
    """The first group of every person that no other version explains."""
    found: dict[int, tuple[int, Group]] = {}
    for place, told in enumerate(history):
        for group in told.groups:
            if group.of is None and group.shown:
                for person in group.people:
                    found.setdefault(person, (place, group))
    return found


def posteriors(
    history: Sequence[Told], possible: Sequence[World], random: Random
) -> Counter[tuple[Era, str]]:
    """Of every value of every era, for a belief that is exchangeable in blocks."""
    inside = blocks(history)
    weights: dict[object, float] = {}
    sums: Counter[tuple[Era, str]] = Counter()
    total = 0.0
    for world in possible:
        paths: dict[object, list[object]] = {}
        for person in sorted({person for person, _, _ in world}):
            own = tuple((n, e, v) for (p, n, e), v in sorted(world.items()) if p == person)
            home = inside.get(person)
            key = ("alone", person) if home is None else tuple(sorted(home[1].people))
            paths.setdefault(key, []).append(own)
        key = tuple(sorted((str(k), tuple(sorted(v))) for k, v in paths.items()))  # pyright: ignore
        weight = weights.setdefault(key, random.choice((0.0, 1.0, random.random() ** 3)))
        total += weight
        for era, value in world.items():
            sums[era, value] += weight  # pyright: ignore
    return Counter({key: weight / total for key, weight in sums.items()} if total else {})
