"""What readers of a release that grows can believe, from all worlds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from tests.support.oracles.definitions import t_equal
from tests.support.oracles.increments import (
    beside_first,
    each_once,
    leaving,
    posteriors,
    waiting,
)


def diverse(l: int):  # noqa: E741 - the letter of the definition
    def enough(values: Sequence[str]) -> bool:
        return len(set(values)) >= l

    return enough


def rare(most: Fraction):
    def enough(values: Sequence[str]) -> bool:
        return max(values.count(value) for value in set(values)) <= most * len(values)

    return enough


def any_belief(drawn: random.Random):
    known: dict[tuple[object, ...], int] = {}

    def weight(number: int, histogram: Mapping[str, int]) -> int:
        key = (number, *sorted(histogram.items()))
        return known.setdefault(key, drawn.randint(0, 5))

    return weight


MODELS = [diverse(2), diverse(3), rare(Fraction(1, 2)), rare(Fraction(2, 3))]


@pytest.mark.parametrize("seed", range(12))
def test_the_posterior_is_the_share_in_the_group(seed: int) -> None:
    """T5."""
    drawn = random.Random(seed)
    people = list(range(6))
    drawn.shuffle(people)
    cuts = sorted(drawn.sample(range(1, 6), drawn.randint(0, 2)))
    batches = [people[a:b] for a, b in zip([0, *cuts], [*cuts, 6], strict=True)]
    rule = each_once(drawn.choice(MODELS))
    found = list(posteriors(rule, batches, "xyz", any_belief(drawn)))
    assert all(believed == share for *_, believed, share in found)


@pytest.mark.parametrize("seed", range(6))
def test_decisions_that_compare_with_the_first_version(seed: int) -> None:
    """T5 under t-closeness: they depend on nothing but histograms that were published before."""
    drawn = random.Random(seed)
    people = list(range(6))
    drawn.shuffle(people)
    most = drawn.choice((Fraction(1, 3), Fraction(1, 2)))
    rule = beside_first(lambda values, first: t_equal(values, first) <= most)
    batches = [people[:2], people[2:4], people[4:]]
    found = list(posteriors(rule, batches, "xyz", any_belief(drawn)))
    assert {len(what) for what, *_ in found} == {1, 2, 3}
    assert all(believed == share for *_, believed, share in found)


def test_waiting_until_the_models_hold_is_unsafe() -> None:
    """G4: {x, x, y, y} waits for three values, {z} comes, {x 2, y 2, z} is released."""
    batches = [[0, 1, 2, 3], [4]]
    found = {
        (person, value): believed
        for seen, person, value, believed, _ in posteriors(
            waiting(diverse(3)), batches, "xyz", lambda number, histogram: 1
        )
        if seen == ((1, frozenset(range(5)), (("x", 2), ("y", 2), ("z", 1))),)
    }
    assert found[4, "z"] == 1
    assert found[0, "z"] == 0
    once = posteriors(each_once(diverse(3)), batches, "xyz", lambda n, h: 1)
    assert 4 not in {person for _, person, *_ in once}


def test_waiting_is_wrong_for_many_beliefs() -> None:
    drawn = random.Random(7)
    wrong = [
        believed
        for _ in range(20)
        for *_, believed, share in posteriors(
            waiting(diverse(3)), [[0, 1, 2], [3], [4]], "xyz", any_belief(drawn)
        )
        if believed != share
    ]
    assert len(wrong) > 100
    assert 1 in wrong


@pytest.mark.parametrize("seed", range(6))
def test_groups_that_go_as_a_whole_tell_nothing(seed: int) -> None:
    """Whoever leaves takes the group along; what is believed of its people stays the share."""
    drawn = random.Random(seed)
    batches = [[0, 1, 2], [3, 4, 5]]
    left = {person: drawn.randint(1, 3) for person in drawn.sample(range(6), 2)}
    rule = leaving(each_once(drawn.choice(MODELS)), left, 4, whole=True)
    found = list(posteriors(rule, batches, "xyz", any_belief(drawn)))
    assert found
    assert all(believed == share for *_, believed, share in found)


def test_rows_that_go_alone_tell_a_value() -> None:
    """The difference of the two versions is the value of who left."""
    rule = leaving(each_once(diverse(2)), {0: 1}, 2, whole=False)
    found = list(posteriors(rule, [[0, 1, 2]], "xyz", lambda number, histogram: 1))
    assert {believed for _, person, _, believed, _ in found if person == 0} == {0, 1}
