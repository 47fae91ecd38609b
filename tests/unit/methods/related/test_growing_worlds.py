"""What readers may believe of new people of related tables, from all worlds."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tests.support.oracles.related import Rule, posteriors, worlds
from tests.unit.methods.related.test_related_worlds import HALF, TWO_THIRDS, World, one_slice


@pytest.mark.parametrize("seed", range(8))
def test_cohorts_that_are_tested_once_tell_their_shares(seed: int) -> None:
    """Whatever is believed of cohorts together, as long as their people are alike."""
    draw = random.Random(seed)
    rule, sizes = Rule(2, 2, draw.choice((HALF, TWO_THIRDS))), draw.choice(((2, 3), (3, 2)))
    weights: dict[Any, int] = {}
    told: dict[Any, Counter[bool]] = defaultdict(Counter)
    for found in product(*[worlds(size, "ab") for size in sizes]):
        alike = tuple(tuple(sorted("".join(sorted(facts)) for facts in cohort)) for cohort in found)
        weight = weights.setdefault(alike, draw.randint(0, 5))
        shown = tuple(one_slice(rule)(cohort) for cohort in found)
        told[shown]["a" in found[1][0]] += weight
    for shown, held in told.items():
        if shown[1] is None or not held.total():
            continue
        people, _, counted = shown[1]
        assert Fraction(held[True], held.total()) == Fraction(dict(counted).get("a", 0), people)


def test_people_who_wait_for_others_tell_whose_a_value_is() -> None:
    """Two people with a are no good group, and are one with the next who comes: he has b."""
    rule = Rule(2, 2, TWO_THIRDS)

    def waiting(world: World) -> Any:
        cohort = world[1:]
        first = one_slice(rule)(cohort)
        return ("first", first) if first else ("all", one_slice(rule)(world))

    def once(world: World) -> Any:
        return one_slice(rule)(world[1:]), None  # who comes alone is no group

    found = posteriors(worlds(3, "ab"), waiting, lambda facts: facts == {"b"}, known=bool)
    assert found["all", (3, 3, (("a", 2), ("b", 1)))] == 1
    kept = posteriors(worlds(3, "ab"), once, lambda facts: facts == {"b"}, known=bool)
    assert max(kept.values()) < HALF


def test_another_test_after_new_rows_tells_whose_they_are() -> None:
    """Two people with a are no good group, and are one once somebody else has a row, who has b."""
    rule = Rule(2, 2, TWO_THIRDS)
    sets = [frozenset(), frozenset("a"), frozenset("b")]
    new = [(sets[0], now) for now in sets[1:]]
    stay = [(now, now) for now in sets[1:]]  # who has rows, and since when, is known
    found = list(product(new, stay, stay))

    def again(world: Any) -> Any:
        first = one_slice(rule)(tuple(then for then, _ in world))
        return ("first", first) if first else ("again", one_slice(rule)(tuple(n for _, n in world)))

    def once(world: Any) -> Any:
        return one_slice(rule)(tuple(now for _, now in world))

    shown = (3, 3, (("a", 2), ("b", 1)))
    assert posteriors(found, again, lambda p: "b" in p[1])["again", shown] == 1
    assert posteriors(found, once, lambda p: "b" in p[1])[shown] == Fraction(1, 3)
