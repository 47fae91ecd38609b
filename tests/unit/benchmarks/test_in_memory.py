"""What benchmarks compute by themselves, without a release."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks import lgb_queries, lgb_tables
from benchmarks.lgb_queries import Column, Release
from benchmarks.slamsa import _optimum
from pganon.methods.buckets.search import Condition


def _partitions(rows: list[int]) -> list[list[list[int]]]:
    if not rows:
        return [[]]
    first, *others = rows
    found = []
    for rest in _partitions(others):
        found.append([[first], *rest])
        found += [[*rest[:at], [first, *rest[at]], *rest[at + 1 :]] for at in range(len(rest))]
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_partitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, values = rng.random((6, 2)), rng.integers(3, size=6)
    condition = Condition(2, values)

    def cost(part: list[int]) -> float:
        if max(list(values[part]).count(value) for value in values[part]) * 2 > len(part):
            return math.inf
        middle = points[part].mean(axis=0)
        return sum(math.dist(point, middle) for point in points[part])

    least = min(sum(map(cost, parts)) for parts in _partitions(list(range(6))))
    assert _optimum(points, condition) == pytest.approx(least)


def test_equal_records_are_divided_where_they_are_taken_one_by_one() -> None:
    records = np.array([[0, 0]] * 9 + [[1, 1]] * 2)
    whole = lgb_tables.losses(records, 2, "stop", whole=True)
    assert whole == {"c_dm": 9**2 + 2**2, "ncp": 0}
    one = lgb_tables.losses(records, 2, "stop", whole=False)
    assert one == {"c_dm": 3**2 + 3 * 2**2 + 2**2, "ncp": 0}


def test_loss_of_a_group_of_different_records() -> None:
    """Two of two values of one column, of three records with two columns."""
    found = lgb_tables.losses(np.array([[0, 0], [1, 0], [0, 0]]), 2, "stop", whole=True)
    assert found == {"c_dm": 9, "ncp": pytest.approx(0.5)}


def test_errors_are_medians_over_seeds() -> None:
    values = np.arange(4)
    column = Column(values, True, np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]),
                    csr_array(np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])))  # fmt: skip
    low, high = (np.array([[0.0, *line]] * 2).T for line in ((1.0, 3.0), (2.0, 3.0)))
    release = Release([column], np.array([0, 0, 1, 1]), low, high, np.array([1.5, 1.5]),
                      np.array([1.0, 2.0, 1.0, 2.0]))  # fmt: skip
    asked = lgb_queries.asked(release, 5, 3)
    found = lgb_queries.errors(asked)
    drawn = found["r_error_drawn"]
    assert len(drawn) == 3
    assert len(set(drawn)) > 1
    assert found["r_error"] == sorted(drawn)[1]
    assert (found["r_error_least"], found["r_error_most"]) == (min(drawn), max(drawn))
    assert asked == lgb_queries.asked(release, 5, 3)
    alone = lgb_queries.errors(asked[:1])
    assert alone["r_error"] == drawn[0]


def test_bounds_of_a_sum() -> None:
    """Of a bucket of 1 and 3, whose two records may have either, and of one of 5 alone."""
    shares = csr_array(np.array([[0.5, 0.5, 0], [0, 0, 1]]))
    column = Column(np.arange(3), True, np.arange(3), np.array([0, 0, 1]), shares)
    low, high = np.array([[0.0, 0], [1, 5], [4, 5]]), np.array([[0.0, 0], [3, 5], [4, 5]])
    release = Release([column], np.array([0, 0, 1]), low, high, np.array([2.0, 5.0]),
                      np.array([1.0, 3.0, 5.0]))  # fmt: skip

    def asked(*wanted: bool) -> lgb_queries.Answer:
        return lgb_queries.ask(release, [(column, np.array(wanted))])

    assert asked(True, False, False) == lgb_queries.Answer(1, 3, 0, 4, 2, 1)
    assert asked(False, True, True) == lgb_queries.Answer(6, 8, 5, 9, 7, 8)
    assert asked(True, True, True) == lgb_queries.Answer(9, 9, 9, 9, 9, 9)
