"""What a release of classes tells of its people, over all tables that publish the same."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest

from pganon.privacy.base import Model
from pganon.privacy.frequency import RecursiveCLDiversity, RelativeFrequency
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from tests.support.oracles import model as oracle
from tests.support.oracles.definitions import distinct_l, shares, t_equal

World = tuple[str, ...]
"""A value for every person."""

Values = Sequence[str]
CLASSES = [range(3), range(3, 5)], [range(4), range(4, 6)], [range(5)]


def published(classes: Sequence[range], world: World) -> tuple[Values, ...]:
    return tuple(sorted(world[person] for person in people) for people in classes)


def releases() -> Iterator[tuple[Sequence[range], list[World]]]:
    """People of classes, and all worlds that publish the same of them."""
    for classes in CLASSES:
        same: dict[str, list[World]] = defaultdict(list)
        for world in itertools.product("abc", repeat=classes[-1].stop):
            same[repr(published(classes, world))].append(world)
        for worlds in same.values():
            yield classes, worlds


def posterior(worlds: Sequence[World], person: int) -> dict[str, Fraction]:
    return shares([world[person] for world in worlds])


def of_groups() -> Iterator[tuple[dict[str, Fraction], Values, Values]]:
    """The posterior of everybody, the values of the class, and those of all people."""
    for classes, worlds in releases():
        for people, values in zip(classes, published(classes, worlds[0]), strict=True):
            for person in people:
                yield posterior(worlds, person), values, worlds[0]


def test_a_value_is_as_likely_as_it_is_frequent() -> None:
    """So a row that nobody else has is a person's with one in the size of the class."""
    for found, values, _ in of_groups():
        assert found == shares(values)


HALF = Fraction(1, 2)
BOUNDS: list[tuple[Model, Callable[[Values, Values], bool]]] = [
    (RelativeFrequency(0.5), lambda v, w: oracle.alpha(v) <= HALF),
    (RecursiveCLDiversity.of(1.5, 2), lambda v, w: oracle.recursive_c(v, 2) < 1.5),
    (RecursiveCLDiversity.of(2, 3), lambda v, w: oracle.recursive_c(v, 3) < 2),
    (TCloseness.of(0.2), lambda v, w: t_equal(v, w) <= Fraction(1, 5)),
    (BetaLikeness.of(0.5, "basic"), lambda v, w: oracle.beta_basic(v, w) <= HALF),
    (BetaLikeness.of(0.5), lambda v, w: oracle.beta_enhanced(v, w) <= HALF),
    (DeltaDisclosure.of(0.5), lambda v, w: oracle.delta(v, w) < HALF),
]


@pytest.mark.parametrize(("model", "holds"), BOUNDS, ids=[model.label for model, _ in BOUNDS])
def test_a_model_bounds_the_posterior(
    model: Model, holds: Callable[[Values, Values], bool]
) -> None:
    """By the largest share that the model says a value may have, which others are above."""
    judged = Counter[bool]()
    above = 0
    for found, values, whole in of_groups():
        everybody = shares(whole)
        over = [p > (model.most(float(everybody[v])) or 0) + 1e-12 for v, p in found.items()]
        judged[holds(values, whole)] += 1
        above += any(over)
        assert not (holds(values, whole) and any(over))
    assert min(judged[True], judged[False], above) > 0


def test_recursive_diversity_holds_after_l_less_two_values_are_ruled_out() -> None:
    """A reader knows that a person does not have one of three values."""
    asked = 0
    for classes, worlds in releases():
        for people, values in zip(classes, published(classes, worlds[0]), strict=True):
            if oracle.recursive_c(values, 3) >= 2:
                continue
            for person, out in itertools.product(people, "abc"):
                left = [world for world in worlds if world[person] != out]
                assert max(posterior(left, person).values()) < Fraction(2, 3)
                asked += 1
    assert asked > 0


def test_distinct_values_leave_nothing_certain() -> None:
    for found, values, _ in of_groups():
        n = len(values)
        assert max(found.values()) <= Fraction(n - distinct_l(values) + 1, n)
