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


# -- periods ---------------------------------------------------------------------------------------

ROWS = list(product((1, 2), "ab"))
"""A row of one of two periods, with one of two values."""


def of_period(world: World, period: int) -> World:
    return tuple(frozenset(value for at, value in facts if at == period) for facts in world)


def periods(rule: Rule) -> Any:
    """What is published of both, of the second one if it is good; None where the first is not."""

    def published(world: World) -> Any:
        first = one_slice(rule)(of_period(world, 1))
        return first and (first, one_slice(rule)(of_period(world, 2)))

    return published


@pytest.mark.parametrize("beta", [HALF, TWO_THIRDS])
@pytest.mark.slow
def test_periods_tell_the_shares_of_each(beta: Fraction) -> None:
    """n_b / m, and n_b / N for who knows of a row in the period, whatever the other one shows."""
    rule, told = Rule(2, 2, beta), 0
    for period, value in ROWS:
        for knows in (False, True):
            found = posteriors(
                worlds(3, ROWS),
                periods(rule),
                lambda facts, fact=(period, value): fact in facts,
                lambda facts, p=period, k=knows: not k or any(at == p for at, _ in facts),
            )
            for shown, believed in found.items():
                if shown[period - 1] is None:
                    continue
                people, holders, counted = shown[period - 1]
                count = dict(counted).get(value, 0)
                assert believed == Fraction(count, holders if knows else people)
                assert not knows or believed <= beta
                told += 1
    assert told > 20


def test_one_histogram_of_all_periods_tells_of_new_rows() -> None:
    """Beside that of the first: who has a row since then has what is there more often."""
    rule = Rule(2, 2, TWO_THIRDS)

    def so_far(world: World) -> Any:
        first = one_slice(rule)(of_period(world, 1))
        whole = one_slice(rule)(tuple(frozenset(v for _, v in facts) for facts in world))
        return (first, whole) if first and whole else None

    new = posteriors(
        worlds(3, ROWS),
        so_far,
        lambda facts: any(value == "a" for _, value in facts),
        lambda facts: any(at == 2 for at, _ in facts),
    )
    above = {s: b for s, b in new.items() if b > Fraction(dict(s[1][2]).get("a", 0), s[1][1])}
    assert max(above.values()) > TWO_THIRDS


def test_a_group_that_is_left_out_of_a_period_tells_a_little() -> None:
    """That few have rows there, or most the same value: not promised, as refusals are not."""
    for beta, most in ((HALF, Fraction(15, 22)), (TWO_THIRDS, Fraction(23, 32))):
        found = posteriors(
            worlds(3, ROWS),
            periods(Rule(2, 2, beta)),
            lambda facts: (2, "a") in facts,
            lambda facts: any(at == 2 for at, _ in facts),
        )
        left_out = {believed for shown, believed in found.items() if shown[1] is None}
        assert left_out == {most}  # of a holder 2/3 are believed to have it before


def test_a_period_that_waits_for_the_next_tells_whose_a_value_is() -> None:
    """Two with a are no good slice, and are one with who has the first row of the next period."""
    rule = Rule(2, 2, TWO_THIRDS)
    rows = [frozenset([(1, "a")]), frozenset([(1, "b")])]
    later = [frozenset([(2, "a")]), frozenset([(2, "b")])]

    def waiting(world: World) -> Any:
        first = one_slice(rule)(of_period(world, 1))
        both = one_slice(rule)(tuple(frozenset(v for _, v in facts) for facts in world))
        return ("first", first) if first else ("both", both)

    found = posteriors(product(later, rows, rows), waiting, lambda facts: (2, "b") in facts)
    assert found["both", (3, 3, (("a", 2), ("b", 1)))] == 1
