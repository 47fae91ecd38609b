"""The oracle of QS k-anonymity on a worked example, and what follows from the listings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.oracles.qs import (
    Cluster,
    Condition,
    Infeasible,
    QsSets,
    absorb,
    attributes,
    build_efficient,
    build_greedy,
    constants,
    distance,
    efficient,
    farthest,
    gcp,
    greedy,
    increase,
    ncp,
    ncp_cluster,
    ncp_total,
    nearest,
    product,
    publish,
    reachable,
    supported,
    verify,
)
from tests.support.sources.qs_cases import (
    COLOURS,
    EFFICIENT_ORDER,
    Case,
    cases,
    numeric,
    records,
    tree,
    vehicles,
)


def losses(clusters: Sequence[Cluster], sets: QsSets) -> list[float]:
    return [round(float(ncp_cluster(cluster, sets)), 6) for cluster in clusters]


def products(clusters: Sequence[Cluster], sets: QsSets) -> list[tuple[int, ...]]:
    return [tuple(product(cluster, s) for s in sets.values()) for cluster in clusters]


def supports(clusters: Sequence[Cluster], sets: QsSets) -> list[tuple[int, ...]]:
    return [tuple(supported(cluster, s) for s in sets.values()) for cluster in clusters]


# -- the worked example ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("r", "s", "expected"),
    [
        (1, 2, 1.910256),
        (1, 3, 3.025641),
        (1, 4, 3.923077),
        (1, 5, 0.743590),
        (1, 6, 2.833333),
        (2, 3, 3.115385),
        (2, 4, 3.012821),
        (2, 5, 1.166667),
        (2, 6, 2.423077),
        (3, 4, 1.897436),
        (3, 5, 2.782051),
        (3, 6, 2.307692),
        (4, 5, 3.679487),
        (4, 6, 1.243590),
        (5, 6, 3.089744),
    ],
)
def test_distances(r: int, s: int, expected: float):
    sets = vehicles()
    assert round(float(distance(r, s, sets)), 6) == expected
    assert distance(s, r, sets) == distance(r, s, sets) == ncp_cluster([r, s], sets)


@pytest.mark.parametrize(
    ("k", "clusters", "loss", "sizes", "total"),
    [
        (
            2,
            [[4, 6], [5, 1], [3, 2]],
            [1.243590, 0.743590, 3.115385],
            [(4, 2), (4, 2), (4, 4)],
            0.425214,
        ),
        (4, [[4, 6, 3], [2, 5, 1]], [2.474359, 1.910256], [(9, 6), (6, 4)], 0.548077),
        (9, [[4, 6, 3, 2, 1, 5]], [4.0], [(20, 20)], 1.0),
    ],
)
def test_greedy(
    k: int,
    clusters: list[Cluster],
    loss: list[float],
    sizes: list[tuple[int, int]],
    total: float,
):
    sets = vehicles()
    found = greedy(records(sets), sets, k, "product", start=1)
    assert found == clusters
    assert losses(found, sets) == loss
    assert products(found, sets) == sizes
    assert round(float(gcp(found, sets)), 6) == total
    assert ncp_total(found, sets) == gcp(found, sets) * 6 * 4


@pytest.mark.parametrize(
    ("k", "clusters", "total"),
    [
        (2, [[1, 5], [2, 6], [4, 3]], 0.422009),
        (4, [[1, 5, 2], [6, 4, 3]], 0.548077),
        (9, [[1, 5, 2, 6, 4, 3]], 1.0),
    ],
)
def test_efficient(k: int, clusters: list[Cluster], total: float):
    sets = vehicles()
    found = efficient(records(sets), sets, k, "product", order=EFFICIENT_ORDER)
    assert found == clusters
    assert round(float(gcp(found, sets)), 6) == total


def test_records_that_do_not_reach_k_join_the_only_cluster():
    sets = vehicles()
    condition = Condition(sets, 9, "product")
    assert build_greedy(records(sets), condition, 1) == ([[4, 6, 3, 2]], {1, 5})
    assert products([[4, 6, 3, 2], [1, 5]], sets) == [(12, 12), (4, 2)]
    found = greedy(records(sets), sets, 9, "product", start=1, residual_order=[6, 5, 4, 3, 2, 1])
    assert found == [[4, 6, 3, 2, 5, 1]]


def test_supported_combinations():
    sets = vehicles()
    assert supports([[4, 6], [5, 1], [3, 2]], sets) == [(2, 2), (2, 2), (2, 2)]
    assert supports([[4, 6, 3], [2, 5, 1]], sets) == [(3, 3), (4, 3)]
    assert supports([records(sets)], sets) == [(6, 6)]


def test_clusters_grow_until_the_combinations_are_supported():
    sets = vehicles()
    found = greedy(records(sets), sets, 4, "supported", start=1)
    assert found == [[4, 6, 3, 2, 1, 5]]
    assert supports([[4, 6, 3, 2]], sets) == [(4, 4)]
    assert supports([[1, 5]], sets) == [(2, 2)]
    assert greedy(records(sets), sets, 2, "supported", start=1) == [[4, 6], [5, 1], [3, 2]]


def test_combinations_of_a_public_relation_count_instead_of_those_of_the_input():
    sets = vehicles()
    public = {"QS1": {(2018, "black"), (2018, "white"), (2019, "white"), (2019, "pink")}}
    assert supported([4, 6], sets["QS1"], public["QS1"]) == 2
    assert reachable(records(sets), sets, "supported", public) == {"QS1": 3, "QS2": 6}
    assert greedy(records(sets), sets, 2, start=1, combinations=public) == [[4, 6, 3], [5, 1, 2]]


def test_largest_k_of_each_set():
    sets = vehicles()
    assert reachable(records(sets), sets, "product") == {"QS1": 20, "QS2": 20}
    assert reachable(records(sets), sets, "supported") == {"QS1": 6, "QS2": 6}
    with pytest.raises(Infeasible, match="QS1 has only 20 value combinations"):
        greedy(records(sets), sets, 40, "product", start=1)
    with pytest.raises(Infeasible, match="QS1 has only 6 value combinations"):
        efficient(records(sets), sets, 7, order=EFFICIENT_ORDER)


def test_attributes_that_are_constant_in_a_cluster():
    sets = vehicles()
    assert constants([[4, 6], [5, 1], [3, 2]], sets) == 2
    found = greedy(records(sets), sets, 2, "product", 2, start=1)
    assert constants(found, sets) == 0
    assert found == [[4, 6, 3], [2, 5, 1]]
    with pytest.raises(Infeasible, match="colour has only 4 values"):
        greedy(records(sets), sets, 2, "product", 5, start=1)


# -- further cases -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", ["product", "supported"])
def test_a_set_of_constants_is_infeasible(count: Any):
    sets = {"A": [numeric("a", 1, 2, 3)], "B": [tree("b", "x", "x", "x"), numeric("c", 7, 7, 7)]}
    assert reachable(records(sets), sets, count) == {"A": 3, "B": 1}
    with pytest.raises(Infeasible, match="B has only 1 value combinations"):
        greedy(records(sets), sets, 2, count, start=1)
    with pytest.raises(Infeasible, match="B has only 1 value combinations"):
        efficient(records(sets), sets, 2, count, order=[1, 2, 3])
    assert distance(1, 3, sets) == 1


@pytest.mark.parametrize("count", ["product", "supported"])
def test_k_of_one_leaves_every_record_alone(count: Any):
    sets = vehicles()
    found = greedy(records(sets), sets, 1, count, start=1)
    assert sorted(found) == [[1], [2], [3], [4], [5], [6]]
    assert gcp(found, sets) == 0
    assert efficient(records(sets), sets, 1, count, order=EFFICIENT_ORDER) == [
        [record] for record in EFFICIENT_ORDER
    ]


def test_duplicates_never_close_a_cluster():
    sets = {"A": [numeric("a", 1, 1, 1, 1, 9, 9)], "B": [tree("b", *"xxxxyy")]}
    assert product([1, 2, 3, 4], sets["A"]) == supported([1, 2, 3, 4], sets["A"]) == 1
    # The start is the record farthest from record 1, all duplicates of which come before another.
    assert greedy(records(sets), sets, 2, start=1) == [[5, 6, 1, 2, 3, 4]]
    assert efficient(records(sets), sets, 2, order=[1, 2, 3, 4, 5, 6]) == [[1, 2, 3, 4, 5, 6]]


def test_null_is_a_value_of_its_own():
    sets = {
        "A": [
            numeric("a", 0, 10, None, None),
            tree("b", "white", None, None, "red", paths=COLOURS),
        ],
        "B": [numeric("c", 5, None, 5, 5)],
    }
    a, b, c = attributes(sets)
    assert [ncp(a, column) for column in ([0, 10], [0, None], [None, None], [0, 10, None])] == [
        1,
        1,
        0,
        1,
    ]
    assert (ncp(b, [None, "red"]), ncp(b, [None]), ncp(b, ["red", "blue"])) == (
        1,
        0,
        Fraction(1, 2),
    )
    assert (ncp(c, [5, None]), ncp(c, [5])) == (1, 0)
    assert distance(1, 2, sets) == 3
    assert distance(2, 3, sets) == 2
    assert distance(3, 4, sets) == 1
    assert product([1, 2, 3, 4], sets["A"]) == 9
    assert supported([1, 2, 3, 4], sets["A"]) == 4
    assert supported([1, 3], sets["A"]) == 2
    assert reachable(records(sets), sets, "product") == {"A": 9, "B": 2}


def test_an_attribute_with_one_value_costs_nothing():
    days = [dt.date(2024, 1, 1).toordinal()] * 3
    sets = {"A": [numeric("a", 0, 5, 10)], "B": [numeric("day", *days)]}
    assert ncp_cluster([1, 2, 3], sets) == 1
    assert distance(1, 2, sets) == Fraction(1, 2)


def test_loss_in_a_tree_is_the_height_of_the_common_ancestor():
    paths = {
        "a": ("ab", "abc", "root"),
        "b": ("ab", "abc", "root"),
        "c": ("c'", "abc", "root"),
        "d": ("d'", "d''", "root"),
    }
    attribute = tree("t", *"abcd", paths=paths)
    assert [ncp(attribute, column) for column in ("a", "ab", "abc", "bc", "ad", "abcd")] == [
        0,
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(2, 3),
        1,
        1,
    ]
    assert ncp(tree("flat", *"abcd"), "ab") == 1


def test_every_one_of_three_sets_has_to_reach_k():
    sets = {**vehicles(), "QS3": [tree("owner", *"ppppqq")]}
    # Records 3 and 4 have one owner, so together they reach k in the first two sets alone.
    condition = Condition(sets, 2, "product")
    assert build_greedy(records(sets), condition, 1) == ([[4, 3, 6], [1, 5]], {2})
    assert products([[4, 3], [4, 3, 6], [1, 5], [2]], sets) == [
        (4, 4, 1),
        (9, 6, 2),
        (4, 2, 2),
        (1, 1, 1),
    ]
    assert greedy(records(sets), sets, 2, "product", start=1) == [[4, 3, 6], [1, 5, 2]]
    assert efficient(records(sets), sets, 2, "product", order=EFFICIENT_ORDER) == [
        [1, 5],
        [2, 6, 4, 3],
    ]


def test_a_record_in_no_cluster_loses_everything():
    sets = vehicles()
    assert gcp([], sets) == 1
    assert gcp([[4, 6], [5, 1]], sets) == (
        2 * ncp_cluster([4, 6], sets) + 2 * ncp_cluster([5, 1], sets) + 2 * 4
    ) / Fraction(24)


def test_residual_record_joins_where_the_weighted_loss_increases_least():
    sets = {"A": [numeric("a", 0, 4, 6, 10, 7)], "B": [numeric("b", 0, 4, 6, 10, 7)]}
    assert increase([1, 2], 5, sets) == 3 * Fraction(14, 10) - 2 * Fraction(8, 10)
    assert increase([3, 4], 5, sets) == Fraction(8, 10)
    assert absorb([[1, 2], [3, 4]], [5], sets) == [[1, 2], [3, 4, 5]]
    tie = {"A": [numeric("a", 0, 2, 3)], "B": [numeric("b", 0, 2, 3)]}
    assert absorb([[1], [2]], [3], tie) == [[1], [2, 3]]
    assert absorb([[3], [1]], [2], {"A": [numeric("a", 0, 1, 2)]}) == [[3, 2], [1]]


# -- verifier ----------------------------------------------------------------------------------


NAMES = {"QS1": ["reg_year", "colour"], "QS2": ["zone", "hour"]}


def test_verifier_accepts_what_the_algorithms_publish():
    sets = vehicles()
    rows = publish(greedy(records(sets), sets, 4, "product", start=1), sets)
    assert rows[0].values == {
        "reg_year": [2015, 2018, 2019],
        "colour": ["blue", "red", "white"],
        "zone": ["Z3", "Z4"],
        "hour": [17, 20, 21],
    }
    known = Condition(sets, 1).known
    assert verify(rows, NAMES, 6, 4) == []
    assert verify(rows, NAMES, 6, 3, 2, known) == []
    assert verify(rows, NAMES, 6, 4, 1, known) == [
        "cluster 1: only 3 records, not 4",
        "cluster 1: QS1 has 3 combinations, not 4",
        "cluster 1: QS2 has 3 combinations, not 4",
        "cluster 2: only 3 records, not 4",
        "cluster 2: QS2 has 3 combinations, not 4",
    ]
    assert verify(rows, NAMES, 6, 4, 3) == [
        "cluster 1: zone has fewer than 3 values",
        "cluster 2: colour has fewer than 3 values",
        "cluster 2: zone has fewer than 3 values",
        "cluster 2: hour has fewer than 3 values",
    ]


def test_verifier_rejects():
    sets = vehicles()
    first, second = publish(greedy(records(sets), sets, 4, "product", start=1), sets)
    assert verify([first, replace(second, cluster_no=1)], NAMES, 6, 4) == [
        "cluster 1 occurs 2 times"
    ]
    assert verify([first], NAMES, 6, 4) == ["the sizes sum to 3, not 6"]

    def changed(hour: list[int | None]) -> list[str]:
        row = replace(first, values={**first.values, "hour": hour})
        return verify([row, second], NAMES, 6, 4)

    assert changed([17, 21, None]) == []
    assert changed([None, 17, 21]) == ["cluster 1: hour is not sorted"]
    assert changed([17, 17, 21]) == ["cluster 1: hour repeats a value"]
    assert changed([]) == [
        "cluster 1: hour is empty",
        "cluster 1: hour has fewer than 1 values",
        "cluster 1: QS2 has 0 combinations, not 4",
    ]


# -- what follows from the listings ------------------------------------------------------------


def feasible(case: Case) -> bool:
    return case.condition.holds(case.records)


def grow_greedily(case: Case) -> tuple[list[Cluster], set[int]]:
    """Greedy without a test of the free records."""
    free, clusters, last = set(case.records), [], case.start
    while free:
        last = farthest(free, last, case.sets)
        cluster = [last]
        free.remove(last)
        while case.holds_not(cluster) and free:
            last = nearest(free, cluster, case.sets)
            cluster.append(last)
            free.remove(last)
        if case.holds_not(cluster):
            return clusters, set(cluster)
        clusters.append(cluster)
    return clusters, set()


def grow_in_order(case: Case, order: Sequence[int]) -> tuple[list[Cluster], list[int]]:
    """Efficient without a test of the free records."""
    clusters, cluster = [], []
    for record in order:
        cluster.append(record)
        if not case.holds_not(cluster):
            clusters.append(cluster)
            cluster = []
    return clusters, cluster


def assert_equal_records_come_together(case: Case, clusters: list[Cluster]) -> None:
    """In the order of joining, all that equal a record that did not close its cluster follow it,
    up to the one that closes it: where people are counted, an equal record may."""
    free = set(case.records)
    for cluster in clusters:
        due: list[int] = []
        for i, record in enumerate(cluster, 1):
            free.remove(record)
            if due:
                assert record == due.pop(0)
                due = due if case.holds_not(cluster[:i]) else []
            elif case.holds_not(cluster[:i]):
                due = [s for s in sorted(free) if case.row(s) == case.row(record)]
        assert not due


def assert_equal_residuals_stay_together(
    case: Case, clusters: list[Cluster], left: Sequence[int]
) -> None:
    home = {
        record: i
        for i, cluster in enumerate(absorb(clusters, left, case.sets))
        for record in cluster
    }
    for record, following in pairwise(left):
        if case.row(record) == case.row(following):
            assert home[record] == home[following]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_growing_until_nothing_is_left_gives_the_same_clusters(case: Case, random: Any):
    order = random.sample(case.records, len(case.records))
    if not feasible(case):
        assert grow_greedily(case)[0] == grow_in_order(case, order)[0] == []
        return
    assert grow_greedily(case) == build_greedy(case.records, case.condition, case.start)
    assert grow_in_order(case, order) == build_efficient(case.records, case.condition, order)


@settings(max_examples=150, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_equal_records_are_taken_together(case: Case, random: Any):
    if not feasible(case):
        return
    rank = {row: random.random() for row in map(case.row, case.records)}
    order = sorted(case.records, key=lambda record: (rank[case.row(record)], record))

    clusters, left = build_greedy(case.records, case.condition, case.start)
    assert_equal_records_come_together(case, clusters)
    assert_equal_residuals_stay_together(case, clusters, [r for r in order if r in left])

    clusters, residual = build_efficient(case.records, case.condition, order)
    assert_equal_records_come_together(case, clusters)
    assert_equal_residuals_stay_together(case, clusters, residual)


def test_what_differs_less_than_losses_are_rounded_may_come_between_equal_records():
    """Record 1 is at distance zero of 2 and 3 when it comes to joining, not when it comes to
    starting."""
    a = [Fraction(4, 10**10), 0, 0, Fraction(5000000006, 10**10), 1]
    sets = {"A": [numeric("a", *a)], "B": [tree("b", *"xxxyx")]}
    clusters, _ = build_greedy([1, 2, 3, 4], Condition(sets, 2), 4)
    assert clusters == [[2, 1, 3, 4]]
