"""The oracle itself, on worked examples of the literature and on figures known by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.support.oracles import definitions as oracle

SALARIES = list(range(3, 12))  # 3k .. 11k, table 3 of Li, Li and Venkatasubramanian (2007)


@pytest.mark.parametrize(
    ("group", "distance"), [([3, 4, 5], Fraction(3, 8)), ([6, 8, 11], Fraction(1, 6))]
)
def test_ordered_distance_of_the_t_closeness_paper(group: list[int], distance: Fraction) -> None:
    assert oracle.t_ordered(group, SALARIES) == distance


@pytest.mark.parametrize("m", range(2, 12))
def test_entropy_l_of_m_equally_frequent_values_is_m(m: int) -> None:
    values = list(range(m)) * 3
    assert oracle.entropy_at_least(values, m)
    assert not oracle.entropy_at_least(values, m + Fraction(1, 10**9))
    assert oracle.entropy_l(values) == pytest.approx(m)


@pytest.mark.parametrize(
    ("values", "reference", "distance"),
    [
        ("aab", "aabb", Fraction(1, 6)),
        ("a", "ab", Fraction(1, 2)),
        ("aa", "aa", 0),
        ("c", "aaac", Fraction(3, 4)),
    ],
)
def test_equal_distance(values: str, reference: str, distance: Fraction) -> None:
    assert oracle.t_equal(values, reference) == distance


def test_constant_values_are_as_close_and_as_uniform_as_can_be() -> None:
    assert oracle.t_ordered("aaa", "aaa") == 0
    assert oracle.distinct_l("aaa") == 1
    assert math.isclose(oracle.entropy_l("aaa"), 1)


def test_null_is_one_value() -> None:
    assert oracle.distinct_l([None, None, 1]) == 2
    assert oracle.Nominal([None, "a", "b"]).loss([None, "a"]) == 0.5


def test_mondrian_on_a_line() -> None:
    records = [oracle.Record(i, (i,)) for i in range(10)]
    mondrian = oracle.Mondrian(
        [oracle.Ordered([r.qi[0] for r in records])], lambda group: True, smallest=3
    )
    groups = mondrian.partition(records)
    assert [[r.id for r in group] for group in groups] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
