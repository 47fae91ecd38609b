"""Sums from a release of local generalization and bucketization: numbers worked out by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tests.support.oracles.lgb import Table, nominal, numeric
from tests.support.oracles.lgb_groups import discernibility, ncp
from tests.support.oracles.lgb_queries import (
    Among,
    Compare,
    Query,
    actual,
    answer,
    help_table,
    share,
)
from tests.support.oracles.lgb_release import Diversity, Outcome, driver, publish
from tests.support.sources import lgb_cases as cases

PRINCIPLES = {"age": Diversity(2), "salary": Diversity(2)}
SEX, AGE, SALARY = 0, 1, 2
FEMALE = Among({"f"})

QUERIES: dict[
    str, tuple[Query, int, list[Fraction], tuple[int, int], Fraction, tuple[int, int]]
] = {
    "sex=f and age>=30": (
        {SEX: FEMALE, AGE: Compare(">=", 30)},
        800,
        [Fraction(1), Fraction(2), Fraction(0), Fraction(0)],
        (800, 900),
        Fraction(1, 8),
        (800, 900),
    ),
    "age>=30": (
        {AGE: Compare(">=", 30)},
        3000,
        [Fraction(1), Fraction(2), Fraction(1), Fraction(2)],
        (2900, 3100),
        Fraction(1, 15),
        (2900, 3100),
    ),
    "age<>31": (
        {AGE: Compare("<>", 31)},
        2700,
        [Fraction(7, 4), Fraction(5, 4), Fraction(2), Fraction(3, 2)],
        (2200, 3700),
        Fraction(5, 9),
        (1900, 3700),
    ),
    "age=31": (
        {AGE: Compare("=", 31)},
        1000,
        [Fraction(1, 4), Fraction(3, 4), Fraction(0), Fraction(1, 2)],
        (0, 1500),
        Fraction(3, 2),
        (0, 1800),
    ),
    "sex=f and age=34": (
        {SEX: FEMALE, AGE: Compare("=", 34)},
        700,
        [Fraction(1, 4), Fraction(3, 4), Fraction(0), Fraction(0)],
        (0, 600),
        Fraction(6, 7),
        (0, 900),
    ),
    "sex=f and age<=32": (
        {SEX: FEMALE, AGE: Compare("<=", 32)},
        600,
        [Fraction(1, 2), Fraction(1), Fraction(1), Fraction(0)],
        (800, 1200),
        Fraction(2, 3),
        (500, 1500),
    ),
}


@pytest.fixture
def pay() -> Outcome:
    return driver(cases.PAY, 2, PRINCIPLES)


def test_5_9_release(pay: Outcome) -> None:
    assert set(pay.groups) == cases.PAY_GROUPS
    assert list(pay.buckets[AGE]) == [frozenset({3, 4}), frozenset({5, 6})]
    assert list(pay.buckets[SALARY]) == [frozenset(b) for b in ({1, 3}, {2, 5}, {4, 8}, {6, 7})]
    assert discernibility(pay.groups) == 16
    assert ncp(cases.PAY, pay.extents, pay.groups).ncp == 1
    rows = publish(cases.PAY, pay.groups, pay.buckets)
    assert (rows[1].shown[AGE], rows[7].shown[AGE]) == ((31, 34, "n"), (41, 45, "n"))


def test_5_9_help_table(pay: Outcome) -> None:
    found = help_table(pay.release(cases.PAY), SALARY)
    sums = [(100, 200, 300), (300, 400, 700), (500, 600, 1100), (700, 900, 1600)]
    for bucket, (low, high, both) in enumerate(sums, 1):
        assert [found[bucket, h] for h in (0, 1, 2)] == [(0, 0), (low, high), (both, both)]


@pytest.mark.parametrize("name", QUERIES, ids=[f"5.9 {name}" for name in QUERIES])
def test_5_9_queries(pay: Outcome, name: str) -> None:
    query, truth, expected, around, error, within = QUERIES[name]
    found = answer(pay.release(cases.PAY), query, SALARY)
    assert actual(cases.PAY, query, SALARY, list(cases.PAY.values)) == truth
    assert [found.expected[bucket] for bucket in (1, 2, 3, 4)] == expected
    assert (found.lower, found.upper) == around
    assert found.error(truth) == error
    assert (found.least, found.most) == within
    assert found.least <= truth <= found.most
    assert (found.lower <= truth <= found.upper) == (name not in list(QUERIES)[4:])


@pytest.mark.parametrize(
    ("step", "shown", "predicate", "expected"),
    [
        (Fraction(1), (31, 34), Compare("<", 33), Fraction(1, 2)),
        (Fraction(1), (31, 34), Compare("=", 33), Fraction(1, 4)),
        (None, (Fraction(1), Fraction(3)), Compare("<", 2), Fraction(1, 2)),
        (None, (Fraction(1), Fraction(3)), Compare(">=", Fraction(3, 2)), Fraction(3, 4)),
        (None, (Fraction(1), Fraction(3)), Compare("=", 2), Fraction(0)),
        (None, (Fraction(1), Fraction(3)), Compare("<>", 2), Fraction(1)),
        (None, (Fraction(2), Fraction(2)), Compare("=", 2), Fraction(1)),
        (None, (Fraction(2), Fraction(2)), Compare("<", 2), Fraction(0)),
        (None, (Fraction(2), Fraction(2)), Compare("<>", 2), Fraction(0)),
    ],
)
def test_4_3_shares_of_ranges(
    step: Fraction | None, shown: tuple[Fraction, Fraction], predicate: Compare, expected: Fraction
) -> None:
    table = Table(
        (numeric("x", step=step),),
        {1: (shown[0],), 2: (shown[1],)},
        dict.fromkeys((1, 2), frozenset()),
    )
    r = Outcome({frozenset({1, 2}): "g"}, {}).release(table)
    assert share(r, r.rows[0], 0, predicate, {}) == expected


def test_4_3_null_and_withheld() -> None:
    table = cases.read((numeric("x"), nominal("y")), "1 1 a\n2 3 -\n3 - -\n4 - -")
    groups = {frozenset({1, 2, 3}): "gg", frozenset({4}): "gw"}
    r = Outcome(groups, {}).release(table)
    first, last = r.rows[0], r.rows[3]
    assert share(r, first, 0, Compare("<", 3), {}) == Fraction(1, 2)
    assert share(r, first, 1, Among({"a"}), {}) == Fraction(1, 2)
    assert share(r, last, 0, Compare("<>", 5), {}) == 0
    assert share(r, last, 1, Among({"a", "b"}), {1: "abcd"}) == Fraction(1, 2)


def test_guaranteed_bounds_are_never_missed() -> None:
    """The paper's are."""
    rng = random.Random(3)
    missed = asked = 0
    for _ in range(60):
        values = {
            key: (rng.choice("fm"), rng.randint(20, 40), rng.randint(-5, 20)) for key in range(24)
        }
        hidden = {key: frozenset({2, *([1] if rng.random() < 0.4 else [])}) for key in values}
        table = Table(cases.PAY.attributes, values, hidden)
        try:
            outcome = driver(table, 2, PRINCIPLES)
        except ValueError:
            continue
        r = outcome.release(table)
        keys = [key for group in outcome.groups for key in group]
        for _ in range(5):
            operator = rng.choice(["<", "<=", "=", "<>", ">=", ">"])
            query: Query = {AGE: Compare(operator, rng.randint(20, 40)), SEX: FEMALE}
            truth = actual(table, query, SALARY, keys)
            found = answer(r, query, SALARY)
            assert found.least <= truth <= found.most
            asked += 1
            missed += not found.lower <= truth <= found.upper
    assert asked > 100
    assert missed > 0
