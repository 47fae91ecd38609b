"""Groups of rows that differ in every column: by hand, against all partitions, within blocks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from pganon.methods.buckets.search.conditions import Codes, Condition
from pganon.methods.buckets.search.partition import distinct_groups, partition

pytestmark = pytest.mark.primary_server_only

Rows = Sequence[tuple[int, ...]]


def groups_of(rows: Rows, size: int) -> list[list[int]]:
    values = np.array(rows).T
    codes = Codes.of([Condition(1, column) for column in values], len(rows))
    return [group.tolist() for group in distinct_groups(codes.values, size)]


def drawn(rng: random.Random, columns: int, most: int) -> tuple[Rows, int]:
    """Rows of which no value of any column is too frequent for groups of a size."""
    while True:
        size = rng.choice((2, 3, 4))
        rows = rng.randint(size, most)
        shapes = [rng.randint(size, 3 * size) for _ in range(columns)]
        found = [tuple(rng.randrange(many) for many in shapes) for _ in range(rows)]
        lists = [[row[c] for row in found] for c in range(columns)]
        if all(max(map(one.count, one)) * size <= rows for one in lists):
            return found, size


def check(rows: Rows, size: int, groups: Sequence[Sequence[int]]) -> int:
    """Rows that are in no group."""
    placed = [row for group in groups for row in group]
    assert len(set(placed)) == len(placed)
    for group in groups:
        assert len(group) >= size
    assert _all_different(rows, groups)
    return len(rows) - len(placed)


@pytest.mark.parametrize("columns", [1, 2])
def test_all_rows_have_groups_of_one_or_two_columns(columns: int) -> None:
    """And there are as many groups as there can be; 1,500 tables."""
    rng = random.Random(columns)
    for _ in range(1500):
        rows, size = drawn(rng, columns, 40)
        groups = groups_of(rows, size)
        assert check(rows, size, groups) == 0
        assert len(groups) == len(rows) // size


def test_few_rows_are_left_over_of_three_columns() -> None:
    rng, all_rows, left = random.Random(3), 0, 0
    for _ in range(1000):
        rows, size = drawn(rng, 3, 40)
        all_rows += len(rows)
        left += check(rows, size, groups_of(rows, size))
    assert 0 < left < all_rows / 200


def test_an_exchange_along_a_chain() -> None:
    """Five rows in two groups: the last one has a free value in neither as the others lie, so
    neighbours have to change places."""
    rows = [(1, 1), (1, 2), (2, 2), (3, 1), (2, 3)]
    assert groups_of(rows, 2) in ([[0, 2], [1, 3, 4]], [[0, 2], [1, 3, 4]][::-1])


def test_no_groups_where_each_two_share_a_value() -> None:
    assert groups_of([(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)], 2) == []


def test_what_is_left_over_of_three_columns_has_no_groups() -> None:
    """Against all partitions of up to six rows: wherever some rows are left over, no partition has
    all of them in most cases."""
    rng, left, missed = random.Random(7), 0, 0
    for _ in range(800):
        rows, size = drawn(rng, 3, 6)
        if check(rows, size, groups_of(rows, size)):
            left += 1
            missed += any(_all_different(rows, halves) for halves in _halves(rows, size))
    assert left > 10
    assert missed == 0


def _halves(rows: Rows, size: int) -> itertools.chain[tuple[list[int], list[int]]]:
    numbers = range(len(rows))
    sizes = range(size, len(rows) - size + 1)
    return itertools.chain.from_iterable(
        (
            (list(one), [n for n in numbers if n not in one])
            for one in itertools.combinations(numbers, k)
        )
        for k in sizes
    )


def _all_different(rows: Rows, groups: Sequence[Sequence[int]]) -> bool:
    return all(
        len(set(values)) == len(values)
        for group in groups
        for values in zip(*(rows[row] for row in group), strict=True)
    )


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.slow
def test_buckets_of_a_block_have_no_value_twice(public: bool) -> None:
    rng = random.Random(5)
    for number in range(60):
        rows, size = drawn(rng, 2, 60)
        z = np.array([[rng.random(), rng.random()] for _ in rows])
        conditions = [Condition(size, column) for column in np.array(rows).T]
        found = partition(
            z, conditions, 1, swarm=False, seed=number, public=public, distinct=True
        ).labels
        groups = [np.flatnonzero(found == label).tolist() for label in range(found.max() + 1)]
        assert check(rows, size, groups) == 0
        again = partition(
            z, conditions, 1, swarm=False, seed=number, public=public, distinct=True
        ).labels
        assert (found == again).all()


def test_rows_without_a_bucket() -> None:
    values = np.array([(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)]).T
    conditions = [Condition(2, column) for column in values]
    found = partition(np.zeros((4, 1)), conditions, 1, swarm=False, seed=1, distinct=True)
    assert found.labels.tolist() == [-1] * 4
