"""Quasi-identifiers as points: worked example and edge cases."""

from __future__ import annotations

import numpy as np
import pytest

from pganon.methods.buckets.search import Nominal, Ordered, encode
from tests.support.sources.buckets_cases import coded, places

HALF = 2**-0.5


def distance(z: np.ndarray, a: int, b: int) -> float:
    """Of two rows, counted from 1."""
    return float(np.linalg.norm(z[a - 1] - z[b - 1]))


def test_null_is_a_place_and_a_category_of_its_own():
    age = [20, None, 22, 60, None, 64]
    sex = ["F", "F", "M", "M", "M", None]
    codes = np.column_stack([coded(age), coded(sex)])
    z = encode([Ordered(places(age), True), Nominal(2, True)], codes, 2)
    expected = [
        [0, 0, HALF, 0, 0],
        [0.5, 1, HALF, 0, 0],
        [1 / 22, 0, 0, HALF, 0],
        [20 / 22, 0, 0, HALF, 0],
        [0.5, 1, 0, HALF, 0],
        [1, 0, 0, 0, HALF],
    ]
    assert z == pytest.approx(np.array(expected))
    assert distance(z, 1, 3) == pytest.approx(1.001033, abs=5e-7)
    assert distance(z, 1, 2) == pytest.approx(1.118034, abs=5e-7)
    assert distance(z, 2, 5) == pytest.approx(1)
    assert distance(z, 4, 6) == pytest.approx(1.004124, abs=5e-7)


@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_two_categories_are_at_distance_one(p: float):
    z = encode([Nominal(3, False)], np.array([[1], [2], [3]]), p)
    assert (np.abs(z[0] - z[2]) ** p).sum() ** (1 / p) == pytest.approx(1)


def test_many_categories_are_placed_by_rank_with_null_last():
    codes = np.array([[1], [2], [32], [0]])
    assert encode([Nominal(32, True)], codes, 2)[:, 0] == pytest.approx([0, 1 / 32, 31 / 32, 1])
    assert encode([Nominal(32, False)], codes[:3], 2).shape == (3, 32)
    assert encode([Nominal(31, True)], codes[[0, 1, 3]], 2).shape == (3, 32)


def test_a_constant_column_tells_nothing_apart():
    ones = np.array([[1], [1]])
    assert encode([Nominal(1, False)], ones, 2).tolist() == [[0], [0]]
    assert encode([Ordered([0.0], False)], ones, 2).tolist() == [[0], [0]]
    nulls = np.array([[1], [0]])
    assert encode([Ordered([0.0], True)], nulls, 2).tolist() == [[0, 0], [0.5, 1]]
    assert encode([Nominal(0, True), Nominal(4, False)], np.array([[0, 1]]), 2).shape == (1, 4)


def test_no_attribute_is_one_coordinate():
    assert encode([], np.empty((3, 0), dtype=int), 2).tolist() == [[0], [0], [0]]
