"""What versions that are m-invariant tell, by enumerating all worlds (T4)."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import pytest

from tests.support.oracles.invariance import (
    Group,
    Value,
    Vector,
    VectorSet,
    Version,
    is_invariant,
    keeps_vectors,
    most_filled,
    posteriors,
    vector_posteriors,
)

pytestmark = pytest.mark.primary_server_only


def _system(rng: random.Random) -> list[Version]:
    """A random history of few people with invariant groups, of at most two signatures."""
    m = rng.choice((2, 3))
    sets = [tuple(range(10 * n, 10 * n + m)) for n in range(rng.choice((1, 2)))]
    of = {p: rng.choice(sets) for p in range(rng.randint(2, 6))}
    own = {p: rng.choice(values) for p, values in of.items()}
    versions: list[Version] = []
    for _ in range(rng.randint(1, 3)):
        groups: list[Group] = []
        for values in sets:
            here = [p for p in of if of[p] == values and rng.random() < 0.75]
            rng.shuffle(here)
            buckets: list[set[int]] = []
            for person in here:
                free = [b for b in buckets if all(own[q] != own[person] for q in b)]
                if not free or rng.random() < 0.2:
                    buckets.append(set())
                    free = buckets[-1:]
                rng.choice(free).add(person)
            groups += [Group(frozenset(b), values) for b in buckets]
        versions.append(groups)
    return [version for version in versions if version]


def test_posteriors_are_1_of_m_in_400_systems_of_signatures() -> None:
    rng, systems, with_counterfeits = random.Random(4), 0, 0
    while systems < 400:
        versions = _system(rng)
        if not versions:
            continue
        systems += 1
        groups = [group for version in versions for group in version]
        with_counterfeits += any(group.counterfeits for group in groups)
        assert is_invariant(versions, min(len(group.values) for group in groups))
        sets = {p: group.values for group in groups for p in group.people}
        for person, found in posteriors(versions).items():
            m = len(sets[person])
            assert found == {value: Fraction(1, m) for value in sets[person]}
    assert with_counterfeits > 350


def test_a_kept_multiset_is_not_enough_two_thirds() -> None:
    """Who takes the other three for new ones gets 2/3 for flu; with a set it is 1/3."""
    values = ("flu", "flu", "HIV", "cold")
    versions = [
        [Group(frozenset({0, 1, 2, 3}), values)],
        [Group(frozenset({0, 4, 5, 6}), values)],
    ]
    assert not is_invariant(versions, 3)
    assert posteriors(versions)[0]["flu"] == Fraction(2, 3)
    kept = ("flu", "HIV", "cold")
    versions = [[Group(frozenset({0, 1, 2}), kept)], [Group(frozenset({0, 4, 5}), kept)]]
    assert is_invariant(versions, 3)
    assert set(posteriors(versions)[0].values()) == {Fraction(1, 3)}


@pytest.mark.parametrize(
    "second",
    [
        [Group(frozenset({0, 1}), ("a", "c"))],
        [Group(frozenset({0}), ("a", "b", "c"))],
        [Group(frozenset({0, 1}), ("a", "a"))],
        [Group(frozenset({0}), ("a",))],
        [Group(frozenset({0, 1, 2}), ("a", "b"))],
    ],
)
def test_what_is_not_invariant(second: Version) -> None:
    first = [Group(frozenset({0, 1}), ("a", "b"))]
    assert is_invariant([first], 2)
    assert not is_invariant([first, second], 2)


def test_how_many_fit() -> None:
    assert most_filled({"a": 3, "b": 2}, {"a": 1}, 2) == 1
    assert most_filled({"a": 2, "b": 2}, {"a": 1}, 2) == 0  # else b had 2 of 3
    assert most_filled({"a": 2, "b": 2}, {"a": 1, "b": 1}, 2) == 2
    assert most_filled({"a": 4, "b": 1}, {"a": 2}, 2) == 2  # the others are not eligible anyway
    assert most_filled(Counter(), {"a": 2}, 2) == 0


# -- several sensitive columns --------------------------------------------------------------------


def _vector_system(rng: random.Random) -> tuple[list[Version], dict[int, Vector]]:
    """A random history of few people with sets of vectors, of two columns; the first version has
    groups of people alone."""
    m = rng.choice((2, 3))
    sets = []
    for n in range(rng.choice((1, 2))):
        names = list(range(10 * n, 10 * n + m))
        sets.append(list(zip(names, rng.sample(names, m), strict=True)))
    own: dict[int, Vector] = {}
    first: list[Group] = []
    for vectors in sets:
        for _ in range(rng.choice((1, 2)) if m == 2 else 1):
            people = range(len(own), len(own) + m)
            own |= dict(zip(people, vectors, strict=True))
            first.append(_published(people, vectors))
    kept = {p: tuple(sorted(vectors)) for vectors in sets for p in own if own[p] in vectors}
    versions: list[Version] = [first]
    for _ in range(rng.randint(1, 2)):
        groups: list[Group] = []
        for vectors in {tuple(sorted(vectors)) for vectors in sets}:
            here = [p for p in own if kept[p] == vectors and rng.random() < 0.7]
            if rng.random() < 0.3:  # a newcomer with the same vector
                person = len(own)
                own[person], kept[person] = rng.choice(vectors), vectors
                here.append(person)
            buckets: list[set[int]] = []
            for person in here:
                free = [b for b in buckets if all(own[q] != own[person] for q in b)]
                if not free:
                    buckets.append(set())
                    free = buckets[-1:]
                rng.choice(free).add(person)
            old = {p for g in versions[0] for p in g.people}
            groups += [_published(b, vectors) for b in buckets if b & old]
        versions.append(groups)
    return versions, own


def _published(people: Iterable[int], vectors: Iterable[Vector]) -> Group:
    first, *others = zip(*vectors, strict=True)
    return Group(frozenset(people), tuple(sorted(first)), tuple(tuple(sorted(v)) for v in others))


def test_posteriors_are_1_of_m_in_300_systems_of_sets_of_vectors() -> None:
    """Whatever the reader believes of which values go together."""
    rng, systems, with_counterfeits = random.Random(6), 0, 0
    while systems < 300:
        versions, own = _vector_system(rng)
        groups = [group for version in versions for group in version]
        m = min(len(group.values) for group in groups)
        kept = keeps_vectors(versions, own, m)
        if kept is None:  # a newcomer was put with newcomers alone
            continue
        systems += 1
        with_counterfeits += any(group.counterfeits for group in groups)
        beliefs: dict[VectorSet, Fraction] = {}

        def likely(vectors: VectorSet, known: dict[VectorSet, Fraction] = beliefs) -> Fraction:
            return known.setdefault(vectors, Fraction(rng.randint(1, 9)))

        for person, columns in vector_posteriors(versions, likely).items():
            size = len(kept[person])
            for place, found in enumerate(columns):
                values = {vector[place] for vector in kept[person]}
                assert found == {value: Fraction(1, size) for value in values}
    assert with_counterfeits > 200


def test_sets_of_every_column_are_not_enough_one_half() -> None:
    """Groups with the same values in both columns, but other vectors: who knows that value 1 goes
    with 1 alone has one half for it. With sets of vectors it is one third."""
    possible = {(1, 1), (2, 2), (3, 3), (2, 3), (3, 2)}
    matchings = [m for m in _all_matchings(3) if m <= possible]
    assert len(matchings) == 2
    counts: Counter[Vector] = Counter()
    for one, other in itertools.product(matchings, repeat=2):  # of two groups with person 0
        for vector in one & other:
            counts[vector] += 1
    assert Fraction(counts[1, 1], sum(counts.values())) == Fraction(1, 2)
    groups = [_published([0, 1, 2], sorted(matchings[0])), _published([0, 3, 4], matchings[0])]
    kept = vector_posteriors([groups[:1], groups[1:]], lambda m: Fraction(int(m in matchings)))
    assert kept[0][0] == {value: Fraction(1, 3) for value in (1, 2, 3)}
    own: dict[int, Vector] = {0: (1, 1), 1: (2, 2), 2: (3, 3), 3: (2, 3), 4: (3, 2)}
    assert keeps_vectors([groups[:1], groups[1:]], own, 3) is None
    assert keeps_vectors([groups[:1], groups[1:]], own | {3: (2, 2), 4: (3, 3)}, 3) is not None


def _all_matchings(size: int) -> list[VectorSet]:
    values = range(1, size + 1)
    return [frozenset(zip(values, order, strict=True)) for order in itertools.permutations(values)]


@pytest.mark.parametrize(
    "second",
    [
        Group(frozenset({0, 1}), ("a", "c"), (("x", "y"),)),
        Group(frozenset({0, 1}), ("a", "b"), (("x", "z"),)),
        Group(frozenset({0}), ("a", "b"), (("x", "y", "z"),)),
        Group(frozenset({0, 1, 2}), ("a", "b"), (("x", "y"),)),
        Group(frozenset({0, 3}), ("a", "b"), (("x", "x"),)),
        Group(frozenset({2}), ("a", "b"), (("x", "y"),)),
    ],
)
def test_what_keeps_no_vectors(second: Group) -> None:
    first = Group(frozenset({0, 1}), ("a", "b"), (("x", "y"),))
    own: dict[int, Vector] = {0: ("a", "x"), 1: ("b", "y"), 2: ("a", "x"), 3: ("b", "x")}
    assert keeps_vectors([[first], [Group(frozenset({0}), *_told(first))]], own, 2) is not None
    assert keeps_vectors([[first], [second]], own, 2) is None


def _told(group: Group) -> tuple[tuple[Value, ...], tuple[tuple[Value, ...], ...]]:
    return group.values, group.others
