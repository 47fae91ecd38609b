"""What versions that keep value sets tell, by enumerating all worlds (T4)."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from tests.support.oracles.invariance import Group, Version, is_invariant, most_filled, posteriors

pytestmark = pytest.mark.primary_server_only


def _system(rng: random.Random) -> list[Version]:
    """A random history of few people with invariant groups, of at most two value sets."""
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


def test_posteriors_are_1_of_m_in_400_systems_of_value_sets() -> None:
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
