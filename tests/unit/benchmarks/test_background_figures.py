"""Figures of the benchmark against background knowledge; ids have the numbers of the examples."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.background_figures import (
    Centre,
    Column,
    Interval,
    OneOf,
    difference,
    distance,
    estimated,
    midpoint,
    query_error,
    uniform,
)

AGES = [20, 22, 24, 30, 34, 40]
MIXED = Column(AGES, [(3, Interval(20, 34)), (3, Interval(22, 40))])
MEANS = Column(AGES, [(3, Centre(26)), (3, Centre(92 / 3))])
FIRST = Column(AGES, [(3, Interval(20, 24))])
PAIR = Column(AGES, [(2, Interval(20, 22)), (4, Interval(24, 40))])
SEXES = Column(
    ["F", "F", "M", "M", "M", "F"], [(2, OneOf(frozenset("F"))), (4, OneOf(frozenset("FM")))]
)


def close(value: float) -> Any:
    return pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("column", "published", "emd"),
    [
        pytest.param(MIXED, uniform, 0.733333, id="G11-uniform"),
        pytest.param(MIXED, midpoint, 4.666667, id="G11-midpoint"),
        pytest.param(MEANS, uniform, 4.222222, id="G11-means"),
        pytest.param(FIRST, uniform, 6.333333, id="G11-suppressed"),
        pytest.param(SEXES, uniform, 0.166667, id="G11-sex"),
    ],
)
def test_distances(column: Column, published: Callable[[Column], Any], emd: float) -> None:
    assert distance(column, published(column)) == close(emd)


def test_uniform() -> None:
    assert list(uniform(MIXED).values()) == pytest.approx([0.1, 0.2, 0.2, 0.2, 0.2, 0.1])


@pytest.mark.parametrize(
    ("column", "mean", "half_width", "absolute"),
    [
        pytest.param(MIXED, 0, 0.247923, 0.266667, id="G11-uniform"),
        pytest.param(MEANS, 0, 1.239613, 1.333333, id="G11-means"),
    ],
)
def test_differences(column: Column, mean: float, half_width: float, absolute: float) -> None:
    found = difference(column, uniform(column))
    assert (found.mean, found.half_width, found.absolute) == (
        close(mean),
        close(half_width),
        close(absolute),
    )


@pytest.mark.parametrize(
    ("low", "high", "estimate"),
    [
        pytest.param(22, 30, 2.313725, id="G11-22-30"),
        pytest.param(35, 40, 1.411765, id="G11-35-40"),
        pytest.param(20, 22, 2, id="G11-20-22"),
    ],
)
def test_estimates(low: int, high: int, estimate: float) -> None:
    assert estimated(PAIR, low, high) == close(estimate)


@pytest.mark.parametrize("sex", [pytest.param("F", id="G11-F")])
def test_estimate_of_a_set(sex: str) -> None:
    assert estimated(SEXES, sex, sex) == 4


def test_query_errors() -> None:
    """A query for all records is never wrong, one for a single value of a range is."""
    assert query_error(PAIR, 1.0, random.Random(1)) == pytest.approx(0)
    known = {low: abs(estimated(PAIR, low, low) - 1) for low in AGES}
    several = query_error(PAIR, 1 / 6, random.Random(1), queries=4000)
    assert several == pytest.approx(sum(known.values()) / 6, rel=0.05)
