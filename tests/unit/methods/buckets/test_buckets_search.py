"""The partition into buckets against its oracle and against all partitions."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.methods.buckets.search import Condition, Partition, partition
from pganon.methods.buckets.search.firefly import lowest_cost
from pganon.methods.buckets.search.tree import closest_pairs
from tests.support.oracles import buckets as oracle
from tests.support.sources.buckets_cases import conditions, members, random_table, search, whole

SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(SEEDS)
def test_the_search_is_the_oracle(seed: int):
    table = random_table(seed, norm=(2.0, 2.0, 1.0, 3.0)[seed % 4])
    found = search(table, seed, path="7:")
    buckets, objective, baseline = oracle.partition(table, seed, oracle.DEFAULTS, "7:")
    assert found.buckets == buckets
    assert (found.objective, found.baseline) == pytest.approx((objective, baseline), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_the_search_is_the_oracle_in_larger_blocks(seed: int):
    table = random_table(seed, rows=(80, 120))
    found = search(table, seed)
    buckets, objective, baseline = oracle.partition(table, seed, oracle.DEFAULTS)
    assert found.buckets == buckets
    assert (found.objective, found.baseline) == pytest.approx((objective, baseline), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_median_tree_is_the_oracle(seed: int):
    table = random_table(seed, rows=(4, 40), norm=(2.0, 1.0, 3.0)[seed % 3])
    found = search(table, fly=False)
    assert (found.buckets, found.objective) == (
        (expected := oracle.partition(table, seed))[0],
        pytest.approx(expected[1], abs=1e-9),
    )


@FEW
@given(SEEDS)
def test_what_holds_of_every_partition(seed: int):
    table = random_table(seed)
    found = search(table, seed)
    assert sorted(row for rows in found.buckets for row in rows) == list(range(len(table.z)))
    assert all(table.satisfied(sorted(rows)) for rows in found.buckets)
    assert found.objective <= found.baseline
    total = math.fsum(table.dispersion(sorted(rows)) for rows in found.buckets)
    assert found.objective == pytest.approx(total, abs=1e-9)
    assert search(table, seed) == found


@FEW
@given(SEEDS)
def test_all_partitions_of_a_few_rows(seed: int):
    table = random_table(seed, rows=(3, 8))
    every = {frozenset(map(frozenset, buckets)) for buckets in oracle.every_partition(table)}
    found = search(table, seed)
    assert found.buckets in every
    lowest = min(sum(table.dispersion(sorted(rows)) for rows in buckets) for buckets in every)
    assert found.objective >= lowest - 1e-9


@FEW
@given(SEEDS)
def test_the_cheapest_halves_of_a_small_bucket(seed: int):
    table = random_table(seed, rows=(3, 8))
    bucket = whole(table)
    if not bucket.divisible:
        return
    pairs = [buckets for buckets in _halves(table) if all(map(table.satisfied, buckets))]
    expected = min((table.cost(pair) for pair in pairs), default=math.inf)
    assert lowest_cost(bucket) == pytest.approx(expected, abs=1e-9)


def _halves(table: oracle.Table) -> list[tuple[list[int], list[int]]]:
    rows = range(len(table.z))
    chosen = [[row for row in rows if mask >> row & 1] for mask in range(1, 2 ** len(rows) - 1)]
    return [(some, [row for row in rows if row not in some]) for some in chosen]


def test_large_buckets_are_not_searched_exhaustively():
    assert lowest_cost(whole(random_table(3, rows=(40, 40)))) == 0


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.integers(0, 6))
def test_closest_pairs(seed: int, number: int):
    draw = random.Random(seed)
    places = draw.randint(1, 30)
    kinds = [draw.choice("xyz") for _ in range(places)]
    own, other = ([at for at in range(places) if kinds[at] == kind] for kind in "xy")
    pairs = sorted((abs(i - j), i, j) for i in own for j in other)[:number]
    found = closest_pairs(np.array(own, dtype=int), np.array(other, dtype=int), places, number)
    assert [*zip(*(part.tolist() for part in found), strict=True)] == [(i, j) for _, i, j in pairs]


# -- stripes --------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(SEEDS)
@pytest.mark.slow
def test_one_condition_leaves_no_large_bucket(seed: int):
    """However near to its limit: with one condition every bucket is as small as it can be."""
    draw = random.Random(seed)
    least, n = draw.randint(2, 4), draw.randint(4, 300)
    values = [0] * (n // least) + [draw.randint(1, 3 * least) for _ in range(n - n // least)]
    draw.shuffle(values)
    if least * max(Counter(values).values()) > n:
        return
    z = np.array([[draw.random()] for _ in range(n)])
    found = partition(z, [Condition(least, np.array(values))], 1, swarm=False, seed=1)
    assert max(np.bincount(found.labels)) < 2 * least


# -- parts that everybody can compute -----------------------------------------------------------


def public(table: oracle.Table, seed: int = 1, swarm: bool = False) -> Partition:
    return partition(
        np.array(table.z),
        conditions(table),
        table.s,
        swarm=swarm,
        norm=table.p,
        seed=seed,
        public=True,
    )


@settings(max_examples=60, deadline=None)
@given(SEEDS)
@pytest.mark.slow
def test_public_parts_are_the_oracle(seed: int):
    """Buckets lie within the parts that points and frequencies alone lead to."""
    table = random_table(seed, rows=(4, 60))
    found = public(table, seed)
    buckets = members(found)
    assert all(table.satisfied(sorted(bucket)) for bucket in buckets)
    for part in oracle.public_parts(table):
        inside = [bucket for bucket in buckets if bucket & set(part)]
        assert set().union(*inside) == set(part)
    total = math.fsum(table.dispersion(sorted(rows)) for rows in buckets)
    assert found.objective == pytest.approx(total, abs=1e-9)
    assert public(table, seed).labels.tolist() == found.labels.tolist()


def test_public_buckets_are_drawn_at_random():
    """Within a part buckets follow neither points nor the order of the rows, but the seed."""
    n = 40
    table = oracle.Table([[i / n] for i in range(n)], [(2, [i % 2 for i in range(n)])], 2)
    drawn = {tuple(public(table, seed).labels.tolist()) for seed in range(4)}
    assert len(drawn) == 4
    assert len(oracle.public_parts(table)) == 1
    for labels in drawn:
        widths = [np.ptp(np.flatnonzero(np.array(labels) == b)) for b in range(max(labels) + 1)]
        assert max(widths) > n / 2


def test_fireflies_find_better_public_parts():
    draw = random.Random(4)
    z = [[draw.random(), draw.random()] for _ in range(120)]
    table = oracle.Table(z, [(2, list(range(120)))], 2)
    with_swarm, without = public(table, 1, swarm=True), public(table, 1)
    assert with_swarm.objective < without.objective == with_swarm.baseline


# -- determinism --------------------------------------------------------------------------------


def _block(seed: int) -> tuple[np.ndarray, list[Condition]]:
    draw = np.random.default_rng(seed)
    return draw.random((120, 3)), [Condition(3, draw.permutation(np.arange(120) % 6))]


def _labels(seed: int, path: str) -> list[int]:
    z, conditions = _block(seed)
    return partition(z, conditions, 3, swarm=True, seed=5, path=path).labels.tolist()


@pytest.mark.slow
def test_blocks_do_not_depend_on_the_others():
    ahead = [_labels(block, f"{block}:") for block in range(3)]
    random.seed(0)
    assert [_labels(block, f"{block}:") for block in reversed(range(3))] == ahead[::-1]


def test_seed_and_path_matter():
    z, conditions = _block(1)
    found = {
        tuple(partition(z, conditions, 3, swarm=True, seed=seed, path=path).labels.tolist())
        for seed, path in [(5, "0:"), (6, "0:"), (5, "1:")]
    }
    assert len(found) == 3


def test_buckets_are_numbered_by_their_first_row():
    labels = _labels(2, "")
    assert list(dict.fromkeys(labels)) == list(range(max(labels) + 1))


def test_results_do_not_change_from_version_to_version():
    draw = random.Random(11)
    z = np.array([[draw.random() for _ in range(4)] for _ in range(150)])
    codes = [np.array([int(8 * draw.random() ** 1.3) for _ in range(150)]) for _ in range(2)]
    conditions = [Condition(3, values) for values in codes]
    found = partition(z, conditions, 3, swarm=True, seed=1)
    digest = hashlib.sha256(repr(found.labels.tolist()).encode()).hexdigest()
    assert (digest[:16], round(found.objective, 6)) == ("703d37d9a88dc23a", 29.739042)
