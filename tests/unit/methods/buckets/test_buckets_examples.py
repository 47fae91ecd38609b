"""Worked examples of the partition into buckets, by the search and by its oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pganon.methods.buckets.search import Condition, Nominal, Ordered, encode, partition
from pganon.methods.buckets.search.firefly import Flight, move, ordering, scores
from pganon.methods.buckets.search.tree import Halves, base_split
from tests.support.oracles import buckets as oracle
from tests.support.oracles.buckets import Table
from tests.support.sources.buckets_cases import (
    REGISTRY_AGE,
    REGISTRY_SENSITIVE,
    REGISTRY_SEX,
    REGISTRY_ZIP,
    coded,
    from_one,
    medicine,
    places,
    scaled,
    search,
    sets,
    whole,
)

MEDICINE_BASE = sets((1, 7, 8), (2, 9, 11), (3, 10, 12), (4, 5, 6))
MEDICINE_BEST = sets((1, 4, 12), (2, 6, 8), (3, 5, 10), (7, 9, 11))
POSITION = [0.25, 0.25, 0.75, 0.75]
EXPECTED_SCORES = {
    1: -0.707107,
    3: -0.705501,
    5: -0.500222,
    7: -0.388552,
    9: -0.026308,
    2: 0.003393,
    11: 0.009771,
    4: 0.040328,
    6: 0.361133,
    8: 0.502672,
    12: 0.706923,
    10: 0.707035,
}
DECODED = [3, 5, 7, 9, 2, 11], [1, 4, 6, 8, 12, 10]


def registry() -> Table:
    codes = np.column_stack([coded(REGISTRY_AGE), coded(REGISTRY_ZIP), coded(REGISTRY_SEX)])
    attributes = [
        Ordered(places(REGISTRY_AGE), False),
        Ordered(places(REGISTRY_ZIP), False),
        Nominal(2, False),
    ]
    columns = [(3, coded(values)) for values in REGISTRY_SENSITIVE]
    return Table(encode(attributes, codes, 2).tolist(), columns, 3)


def both(table: Table, seed: int, *, fly: bool = True) -> tuple[set[frozenset[int]], float, float]:
    """Buckets (rows from 1), J and J of the median tree; the oracle says the same."""
    found = search(table, seed, fly=fly)
    slow = oracle.partition(table, seed, oracle.DEFAULTS if fly else None)
    assert found.buckets == slow[0]
    assert (found.objective, found.baseline) == pytest.approx(slow[1:], abs=1e-9)
    return from_one(found.buckets), found.objective, found.baseline


def optimum(table: Table) -> tuple[int, float]:
    """Feasible partitions into smallest buckets, and the lowest J among them."""
    found = [p for p in oracle.every_partition(table) if all(len(b) == table.s for b in p)]
    return len(found), min(sum(map(table.dispersion, buckets)) for buckets in found)


# -- partitions ---------------------------------------------------------------------------------


def test_medicine_median_tree():
    first = whole(medicine()).halves(base_split(whole(medicine())))
    assert [sorted((half + 1).tolist()) for half in first] == [
        [1, 4, 5, 6, 7, 8],
        [2, 3, 9, 10, 11, 12],
    ]
    buckets, objective, baseline = both(medicine(), 1, fly=False)
    assert buckets == MEDICINE_BASE
    assert objective == baseline == pytest.approx(6.103886, abs=5e-7)


@pytest.mark.parametrize("seed", [1, 2, 3, 42])
def test_medicine_fireflies_find_the_optimum(seed: int):
    buckets, objective, baseline = both(medicine(), seed)
    assert buckets == MEDICINE_BEST
    assert objective == pytest.approx(4.538987, abs=5e-7)
    assert baseline == pytest.approx(6.103886, abs=5e-7)


def test_medicine_optimum():
    assert optimum(medicine()) == (16, pytest.approx(4.538987, abs=5e-7))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_registry(seed: int):
    base = sets((1, 4, 6), (2, 3, 5), (7, 8, 9))
    assert both(registry(), seed, fly=False)[:2] == (base, pytest.approx(4.826201, abs=5e-7))
    best = sets((1, 4, 6), (2, 3, 8), (5, 7, 9))
    assert both(registry(), seed)[:2] == (best, pytest.approx(4.514238, abs=5e-7))
    assert optimum(registry()) == (4, pytest.approx(4.514238, abs=5e-7))


# -- single steps -------------------------------------------------------------------------------


def test_scores_order_the_rows():
    bucket, position = whole(medicine()), np.array(POSITION).reshape(2, 2, 1)
    order = ordering(bucket, position)
    assert (order + 1).tolist() == list(EXPECTED_SCORES)
    found = scores(bucket, position)[order] / 10**12
    assert found == pytest.approx(list(EXPECTED_SCORES.values()), abs=5e-7)
    slow = oracle.scores(medicine(), range(12), POSITION)
    assert found == pytest.approx([slow[row] for row in order.tolist()], abs=1e-11)
    assert bucket.cuts.nearest(order) is None


def test_repair_exchanges():
    order = np.array(list(EXPECTED_SCORES)) - 1
    bucket, log = whole(medicine()), []
    oracle.repair(medicine(), order[:6].tolist(), order[6:].tolist(), log)
    assert [(i + 1, j + 1, left) for i, j, left in log] == [(2, 11, 6), (9, 2, 3), (1, 9, 0)]
    halves = Halves(bucket.cuts.critical, order, 50)
    excess, seconds = [halves.excess], []
    while halves.excess:
        assert halves.improve()
        excess.append(halves.excess)
        seconds.append(set((order[halves.second] + 1).tolist()))
    assert excess == [12, 6, 3, 0]
    assert seconds == [
        {2, 4, 6, 8, 10, 12},
        {9, 4, 6, 8, 10, 12},
        {1, 4, 6, 8, 10, 12},
    ]


def test_decoded_halves_and_their_light():
    bucket = whole(medicine())
    flight = Flight(bucket, random.Random(1).random, None)
    intensity = flight.intensity(np.array(POSITION).reshape(2, 2, 1))
    assert flight.best is not None
    halves = bucket.halves(flight.best)
    assert tuple((half + 1).tolist() for half in halves) == DECODED
    assert flight.cost == pytest.approx(5.141213, abs=5e-7)
    assert intensity == pytest.approx(0.162834, abs=5e-7)


def test_a_move_without_noise():
    here, there = np.array([0.2, 0.2, 0.8, 0.8]), np.array([0.4, 0, 0.6, 1])
    expected = [0.392158, 0.007842, 0.607842, 0.992158]
    assert move(here, there, np.zeros(4), 2) == pytest.approx(expected, abs=5e-7)
    assert here.tolist() == [0.2, 0.2, 0.8, 0.8]
    slow = oracle.move(here.tolist(), there.tolist(), [0] * 4, oracle.DEFAULTS, 2)
    assert slow == pytest.approx(expected, abs=5e-7)


def test_a_move_stays_in_the_cube():
    moved = move(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([-9.0, 9.0]), 2)
    assert moved.tolist() == [0, 1]


# -- edge cases ---------------------------------------------------------------------------------


def test_null_quasi_identifiers():
    age, sex = [20, None, 22, 60, None, 64], ["F", "F", "M", "M", "M", None]
    attributes = [Ordered(places(age), True), Nominal(2, True)]
    z = encode(attributes, np.column_stack([coded(age), coded(sex)]), 2)
    disease = coded(["flu", "cold", "flu", "cold", "flu", "ulcer"])
    table = Table(z.tolist(), [(2, disease)], 2)
    for fly in (False, True):
        buckets, objective, _ = both(table, 1, fly=fly)
        assert buckets == sets((1, 6), (2, 5), (3, 4))
        assert objective == pytest.approx(3.277850, abs=5e-7)


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (["flu", None, None, "cold"], True),
        ([None, None, None, "cold"], False),
        ([None, None, None], False),
    ],
)
def test_null_is_one_more_sensitive_value(values: list[str | None], holds: bool):
    condition = Condition(2, np.array(coded(values)))
    assert condition.satisfied is holds
    table = Table([[0.0]] * len(values), [(2, coded(values))], 1)
    assert table.satisfied(list(range(len(values)))) is holds


@pytest.mark.parametrize("fly", [False, True])
def test_exact_ties_go_by_rank(fly: bool):
    disease = coded(["flu", "flu", "cold", "cold", "ulcer", "flu"])
    table = Table([[0.0]] * 6, [(2, disease)], 2)
    assert both(table, 1, fly=fly)[:2] == (sets((1, 3), (2, 4), (5, 6)), 0)


def test_without_conditions_buckets_are_as_small_as_allowed():
    table = Table([[x] for x in scaled(range(8))], [], 1)
    assert both(table, 1)[0] == sets(*[(row,) for row in range(1, 9)])


def run(values: list[int], least: int, smallest: int) -> None:
    z = np.zeros((len(values), 1))
    partition(z, [Condition(least, np.array(values))], smallest, swarm=False, seed=1)


def test_a_block_that_satisfies_no_condition_is_refused():
    with pytest.raises(ValueError, match="does not satisfy"):
        run([1, 1, 1], 2, 1)


def test_a_block_smaller_than_a_bucket_is_refused():
    with pytest.raises(ValueError, match="2 rows, but a bucket needs 3"):
        run([1, 2], 1, 3)
    with pytest.raises(ValueError, match="1 rows, but a bucket needs 2"):
        run([1], 2, 1)
