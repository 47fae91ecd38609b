"""Histories of versions for the rule about groups, and what their readers can conclude.

Readers know everything but values: who is in which source, version and group, quasi-identifiers,
which people were left out together because of a value, and whose shown values changed since the
version before that has them. A world gives everybody a value in each of his *eras*, the times
between two changes, such that all that was published comes out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from pganon.resolved.presentation import UNION, Form, Presentation
from tests.support.oracles.verdicts import Group, Verdict, VersionGroups, clashing, judge

VALUES = ("x", "y")
COLUMNS = ("a", "b")

Era = tuple[int, str, int]
"""Person, column, number of the era."""
World = Mapping[Era, str]
Values = Mapping[tuple[int, str], str]
"""By person and column."""

PARTS = ("forgotten", "everybody", "failed", "alone", "roles", "source", "gained")
"""What a history can be made without: who was forgotten stays out; a distribution tells of all that
it counts; it is refused if somebody failed; who failed is a group alone; columns keep their roles,
for everybody in the source; who comes to read a version is judged."""


@dataclass(frozen=True)
class Failed:
    """People who were left out together, since all have the same value; one alone has `x`."""

    people: tuple[int, ...]
    column: str


@dataclass(frozen=True)
class Seen:
    """A version as it was, and as it is remembered.

    Attributes:
        known: values of quasi-identifiers of everybody in the source.
        failed: units that were left out because of values, with these.
        readers: who has it.
        explained: by reader, groups that follow from other versions that he had before this one.
    """

    told: VersionGroups
    remembered: VersionGroups
    known: Values
    failed: Mapping[Failed, Values]
    readers: frozenset[int]
    explained: Mapping[int, frozenset[int]] = field(default_factory=dict)


def random_told(
    random: Random,
    number: int,
    values: Values,
    before: Sequence[VersionGroups] = (),
    *,
    forms: Sequence[Form] = ("classes", "exact"),
    without: str = "",
    gone: frozenset[int] = frozenset(),
) -> tuple[VersionGroups, VersionGroups, tuple[Failed, ...]]:
    """A version of some of the people, often with groups that others had, whole or merged: as it
    is, as the rule is told, and who failed."""
    people = {person for person, _ in values} - gone
    here = frozenset(person for person in people if random.random() < 0.85)
    columns = random.choice((("a",), ("b",), ("a", "b"), ("b", "a"), ("a",), ("a",)))
    known = ("q", "b") if "b" not in columns and random.random() < 0.15 else ("q",)
    manner = Presentation(
        number,
        random.choice(forms),
        columns,
        known,
        random.choice(("p1", "p1", "p1", "p2")),
        random.choice((b"1", b"2")),
        (("c",),) if random.random() < 0.1 else (),
    )

    def shown(some: Iterable[int]) -> Mapping[int, Mapping[str, object]]:
        return {p: {name: values[p, name] for name in columns} for p in some}

    groups: list[Group] = []
    failed: list[Failed] = []
    nowhere: list[int] = []
    reference = random.random() < 0.15
    for some, left_out in _partition(random, here, before):
        if not left_out:
            groups.append(Group(shown(some), forgotten=random.random() < 0.02))
            continue
        held = {values[p, columns[0]] for p in some}
        fails = len(held) == 1 and (len(some) > 1 or held == {"x"})
        if fails and (not reference or without == "failed"):
            failed.append(Failed(tuple(some), columns[0]))
        if fails and not reference and without != "alone":
            groups += [Group({p: {}}, left_out=True, shown=False) for p in some]
        else:
            nowhere += some
    nowhere += sorted(here - {p for group in groups for p in group.people} - set(nowhere))
    whole = told = VersionGroups(manner, groups, here)
    if reference and nowhere:
        whole = replace(told, groups=[*groups, Group(shown(nowhere), left_out=True)])
        some = nowhere[1:] if without == "everybody" else nowhere
        told = replace(
            told, groups=[*groups, Group(shown(some), left_out=True)] if some else groups
        )
    return whole, told, tuple(failed)


def _partition(
    random: Random, here: frozenset[int], before: Sequence[VersionGroups]
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


def random_history(
    random: Random,
    *,
    people: int,
    versions: int,
    accepted: bool,
    readers: int = 1,
    without: str = "",
    forms: Sequence[Form] = ("classes", "exact"),
) -> list[Seen]:
    """Versions one after the other; with `accepted` those alone that the rule accepts.

    Args:
        without: one of :data:`PARTS`.
    """
    values = {(p, c): random.choice(VALUES) for p in range(people) for c in COLUMNS}
    everybody = frozenset(range(readers))
    found: list[Seen] = []
    gone: set[int] = set()
    for number in range(1, versions + 1):
        if random.random() < 0.25:
            who = random.randrange(people)
            values[who, random.choice(COLUMNS)] = random.choice(VALUES)
        if found and random.random() < 0.1:
            who = random.randrange(people)
            gone |= set() if without == "forgotten" else {who}
            found = [_forgetting(seen, who, number) for seen in found]
        before = [seen.told for seen in found]
        whole, told, failed = random_told(
            random, number, values, before, forms=forms, without=without, gone=frozenset(gone)
        )
        seen = Seen(
            whole,
            told,
            {(p, n): values[p, n] for p in told.source for n in told.manner.quasi if n in COLUMNS},
            {one: {(p, one.column): values[p, one.column] for p in one.people} for one in failed},
            frozenset(),
        )
        mine = random.sample(sorted(everybody), random.randint(1, readers))
        seen = _let_in(seen, found, mine, accepted=accepted, without=without, publishes=True)
        if seen is None:
            continue
        found.append(seen)
        if readers > 1 and random.random() < 0.4:
            found = _gaining(random, found, everybody, without)
    return found


def _forgetting(seen: Seen, who: int, number: int) -> Seen:
    """Another digest instead of that of somebody, in a group that is no other group any more."""
    ghost = -100 * number - who
    groups = [
        replace(
            group,
            people={ghost if p == who else p: v for p, v in group.people.items()},
            forgotten=True,
        )
        if who in group.people
        else group
        for group in seen.remembered.groups
    ]
    source = frozenset(ghost if p == who else p for p in seen.remembered.source)
    return replace(seen, remembered=replace(seen.remembered, groups=groups, source=source))


def _let_in(
    seen: Seen,
    others: Sequence[Seen],
    readers: Iterable[int],
    *,
    accepted: bool,
    without: str,
    publishes: bool,
) -> Seen | None:
    """With these readers, or None if it is refused for one of them."""
    explained = dict(seen.explained)
    of: list[set[int]] = [set() for _ in seen.remembered.groups]
    for reader in readers:
        had = [other.remembered for other in others if reader in other.readers]
        verdicts = judge(seen.remembered, had)
        if accepted and (_refused(verdicts) or _clashing(seen.remembered, had, without)):
            return None
        for place, verdict in enumerate(verdicts):
            if verdict.of is not None:
                of[place].add(verdict.of)
        mine = frozenset(place for place, verdict in enumerate(verdicts) if verdict.of is not None)
        explained[reader] = explained.get(reader, frozenset()) | mine
    remembered = seen.remembered
    if publishes:
        groups = zip(remembered.groups, of, strict=True)
        remembered = replace(
            remembered, groups=[replace(group, of=frozenset(found)) for group, found in groups]
        )
    return replace(
        seen,
        remembered=remembered,
        readers=seen.readers | frozenset(readers),
        explained=explained,
    )


def _refused(verdicts: Sequence[Verdict]) -> bool:
    return any(verdict.reason for verdict in verdicts)


def _clashing(told: VersionGroups, had: Sequence[VersionGroups], without: str) -> bool:
    if without == "roles":
        return False
    if without == "source":
        return clashing(_in_groups(told), [_in_groups(other) for other in had])
    return clashing(told, had)


def _in_groups(told: VersionGroups) -> VersionGroups:
    return replace(told, source=frozenset(p for group in told.groups for p in group.people))


def _gaining(
    random: Random, found: list[Seen], everybody: frozenset[int], without: str
) -> list[Seen]:
    """Somebody is let read a version that he has not, if he may."""
    lacking = [
        (place, reader) for place, seen in enumerate(found) for reader in everybody - seen.readers
    ]
    if not lacking:
        return found
    place, reader = random.choice(lacking)
    others = [seen for at, seen in enumerate(found) if at != place]
    gained = _let_in(
        found[place],
        others,
        [reader],
        accepted=without != "gained",
        without=without,
        publishes=False,
    )
    return found if gained is None else [*found[:place], gained, *found[place + 1 :]]


# -- worlds ------------------------------------------------------------------------------------


def _values_in(seen: Seen) -> Iterator[tuple[int, str, object]]:
    """What is shown or known of people, and what they were left out for."""
    for group in seen.told.groups:
        for person, values in group.people.items():
            yield from ((person, name, value) for name, value in values.items())
    for values in (seen.known, *seen.failed.values()):
        yield from ((person, name, value) for (person, name), value in values.items())


def eras(history: Sequence[Seen]) -> dict[tuple[int, int, str], int]:
    """The era of a column of a person in every version that has it, by the version's place."""
    found: dict[tuple[int, int, str], int] = {}
    last: dict[tuple[int, str], tuple[object, int]] = {}
    for place, seen in enumerate(history):
        for person, name, value in _values_in(seen):
            before, era = last.get((person, name), (value, 0))
            era += before != value
            last[person, name] = (value, era)
            found[place, person, name] = era
    return found


def _published(
    told: VersionGroups, group: Group, value_of: Mapping[tuple[int, str], object]
) -> object:
    """The rows of a group."""
    columns = told.manner.columns
    return sorted(tuple(str(value_of[p, name]) for name in columns) for p in group.people)


def worlds(history: Sequence[Seen]) -> list[World]:
    known = eras(history)
    order = sorted({(person, name, era) for (_, person, name), era in known.items()})
    return [chosen for chosen in _assigned(order) if _fits(chosen, history, known)]


def _fits(
    chosen: World, history: Sequence[Seen], known: Mapping[tuple[int, int, str], int]
) -> bool:
    for place, seen in enumerate(history):
        mine = {(p, n): chosen[p, n, era] for (at, p, n), era in known.items() if at == place}
        if any(mine[key] != value for key, value in seen.known.items()):
            return False
        for unit in seen.failed:
            held = {mine[p, unit.column] for p in unit.people}
            if len(held) > 1 or (len(unit.people) == 1 and held != {"x"}):
                return False
        for group in seen.told.groups:
            if not group.shown:
                continue
            true = {(p, n): v for p, values in group.people.items() for n, v in values.items()}
            if _published(seen.told, group, mine) != _published(seen.told, group, true):
                return False
    return True


def _assigned(order: Sequence[Era]) -> Iterator[dict[Era, str]]:
    for chosen in itertools.product(VALUES, repeat=len(order)):
        world = dict(zip(order, chosen, strict=True))
        if all(world.get((p, n, e - 1)) != value for (p, n, e), value in world.items()):
            yield world


def blocks(history: Sequence[Seen], reader: int) -> dict[int, tuple[int, Group]]:
    """The first group of every person that no other version of this reader explains."""
    has = {seen.told.manner.run_id for seen in history}
    found: dict[int, tuple[int, Group]] = {}
    for place, seen in enumerate(history):
        for number, group in enumerate(seen.told.groups):
            remembered = seen.remembered.groups
            of = remembered[number].of if number < len(remembered) else frozenset[int]()
            follows = number in seen.explained.get(reader, ()) or of & {UNION, *has}
            if group.shown and not follows:
                for person in group.people:
                    found.setdefault(person, (place, group))
    return found


def posteriors(
    history: Sequence[Seen], reader: int, possible: Sequence[World], random: Random
) -> Counter[tuple[Era, str]]:
    """Of every value of every era, for a belief that is exchangeable in blocks, whatever their
    quasi-identifiers are."""
    inside = blocks(history, reader)
    place_of = eras(history)
    certain = {
        (p, n, place_of[place, p, n]) for place, seen in enumerate(history) for p, n in seen.known
    }
    weights: dict[object, float] = {}
    sums: Counter[tuple[Era, str]] = Counter()
    total = 0.0
    for world in possible:
        paths: dict[object, list[object]] = {}
        for person in sorted({person for person, _, _ in world}):
            own = tuple(
                (n, e, v)
                for (p, n, e), v in sorted(world.items())
                if p == person and (p, n, e) not in certain
            )
            home = inside.get(person)
            key = ("alone", person) if home is None else tuple(sorted(home[1].people))
            paths.setdefault(key, []).append(own)
        key = tuple(sorted((str(k), tuple(sorted(v))) for k, v in paths.items()))  # pyright: ignore
        weight = weights.setdefault(key, random.choice((0.0, 1.0, random.random() ** 3)))
        total += weight
        for era, value in world.items():
            sums[era, value] += weight  # pyright: ignore
    return Counter({key: weight / total for key, weight in sums.items()} if total else {})
