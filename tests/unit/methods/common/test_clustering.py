"""Clusters of attributes: worked examples, and random matrices against brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from pganon.methods.common.search.clustering import (
    Clustering,
    aca,
    aca_then_pam,
    clustered,
    mean_silhouette,
    pam,
    sensitive_column,
)

SHORTCUT = (
    (0, 0.5, 0.9, 0.1, 0.2),
    (0.5, 0, 0.4, 0.5, 0.2),
    (0.9, 0.4, 0, 0.1, 0.9),
    (0.1, 0.5, 0.1, 0, 0.1),
    (0.2, 0.2, 0.9, 0.1, 0),
)
"""An attribute that `aca` leaves with a medoid four times as far as another one."""

AGE, SEX, ZIP, DISEASE = range(4)
MSC = {
    (AGE, SEX): Fraction(3, 4),
    (AGE, ZIP): Fraction(5, 6),
    (AGE, DISEASE): Fraction(8, 9),
    (SEX, ZIP): Fraction(1, 2),
    (SEX, DISEASE): Fraction(2, 3),
    (ZIP, DISEASE): Fraction(1, 3),
}
CANCER, TREATMENT, SYMPTOM, DATE, PHYSICIAN, METHOD = range(6)
CORRECTED = {
    (CANCER, PHYSICIAN): (5 / 6) ** 0.5,
    (CANCER, METHOD): (5 / 6) ** 0.5,
    (CANCER, SYMPTOM): 0.4**0.5,
    (SYMPTOM, PHYSICIAN): (2 / 3) ** 0.5,
    (SYMPTOM, METHOD): (2 / 3) ** 0.5,
    (PHYSICIAN, METHOD): 1.0,
}
"""Bias-corrected V of the cancer registry; 0 for the other pairs."""


def matrix(pairs: dict[tuple[int, int], float | Fraction], size: int) -> list[list[float]]:
    return [
        [1.0 if i == j else float(pairs.get((min(i, j), max(i, j)), 0)) for j in range(size)]
        for i in range(size)
    ]


def apart(association: list[list[float]]) -> list[list[float]]:
    return [[1 - value for value in row] for row in association]


def test_the_example_of_slicing() -> None:
    found = pam(apart(matrix(MSC, 4)), 2)
    assert found.medoids == (AGE, SEX)
    assert found.clusters == ((AGE, ZIP, DISEASE), (SEX,))
    assert found.cost == pytest.approx(0.277778, abs=1e-6)


def test_the_registry() -> None:
    distances = apart(matrix(CORRECTED, 6))
    expected = ((CANCER, SYMPTOM, PHYSICIAN, METHOD), (TREATMENT,), (DATE,))
    for method in (pam, aca, aca_then_pam):
        found = method(distances, 3)
        assert found.clusters == expected
        assert found.cost == pytest.approx(0.270632, abs=1e-6)
    for how in ("pam", "aca", "aca+pam"):
        assert clustered(matrix(CORRECTED, 6), 3, how) == expected


def test_the_shortcut_keeps_an_attribute_from_its_nearest_medoid() -> None:
    found = aca(SHORTCUT, 2, start=(0, 1))
    assert found.medoids == (3, 1)
    assert found.clusters == ((0, 3, 4), (1, 2))
    assert found.cost == pytest.approx(0.6)
    for better in (pam(SHORTCUT, 2), aca_then_pam(SHORTCUT, 2), aca(SHORTCUT, 2)):
        assert better.clusters == ((0, 2, 3, 4), (1,))
        assert better.medoids == (1, 3)
        assert better.cost == pytest.approx(0.3)


def test_equal_attributes_still_make_as_many_clusters() -> None:
    same = [[0.0] * 4 for _ in range(4)]
    for method in (pam, aca, aca_then_pam):
        assert method(same, 3) == Clustering((0, 1, 2), (0, 1, 2, 0), 0)


def test_sums_in_another_order_are_ties() -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point."""
    distances = [[0, 0.1, 0.2, 0.3], [0.1, 0, 0.3, 0.2], [0.2, 0.3, 0, 0.1], [0.3, 0.2, 0.1, 0]]
    assert pam(distances, 1).medoids == (0,)
    assert aca(distances, 1, start=(3,)).medoids == (3,)


def test_the_number_of_clusters_by_silhouette() -> None:
    pairs = {(0, 3): 0.9, (1, 2): 0.8, (1, 4): 0.8, (2, 4): 0.8}
    assert clustered(matrix(pairs, 5), "auto") == ((0, 3), (1, 2, 4))
    assert clustered(matrix({}, 5), "auto") == ((0, 2, 3, 4), (1,)), "a tie: fewest clusters"
    assert clustered(matrix({}, 2), "auto") == ((0, 1),)
    assert clustered(matrix({}, 1), "auto") == ((0,),)
    assert clustered([], "auto") == ()


def test_silhouettes() -> None:
    distances = [[0, 1, 4], [1, 0, 3], [4, 3, 0]]
    assert mean_silhouette(distances, [0, 0, 1]) == pytest.approx((3 / 4 + 2 / 3) / 3)
    assert mean_silhouette(distances, [0, 0, 0]) == 0
    assert mean_silhouette([[0, 0], [0, 0]], [0, 1]) == 0


def test_the_sensitive_column() -> None:
    association = [float(MSC[a, DISEASE]) for a in (AGE, SEX, ZIP)]
    assert sensitive_column(association, 1) == ()
    assert sensitive_column(association, 2) == (AGE,)
    assert sensitive_column([0.2, 0.5, 0.5, 0.1], 2) == (1,)
    assert sensitive_column([0.2, 0.5, 0.5, 0.6], 4) == (1, 2, 3)


# -- random matrices --------------------------------------------------------------------------


def cost(distances: Sequence[Sequence[int]], medoids: Sequence[int]) -> int:
    return sum(min(row[medoid] for medoid in medoids) for row in distances)


def naive_aca(
    d: Sequence[Sequence[int]], medoids: list[int], costs: list[int]
) -> tuple[list[int], list[int]]:
    """As it is written down; `costs` gets the cost after every round."""
    number = range(len(medoids))
    label: dict[int, int] = {}
    stored: dict[int, int] = {}
    for a in range(len(d)):
        label[a] = medoids.index(a) if a in medoids else min(number, key=lambda c: d[a][medoids[c]])
        stored[a] = d[a][medoids[label[a]]]
    while True:
        before = list(medoids), dict(label)
        for c in number:
            members = [a for a in label if label[a] == c]
            totals = {a: sum(d[a][b] for b in members) for a in members}
            if totals[medoids[c]] > min(totals.values()):
                medoids[c] = min(members, key=lambda a: totals[a])
        for a in label:
            if a in medoids:
                continue
            if d[a][medoids[label[a]]] > stored[a]:
                nearest = min(d[a][medoids[c]] for c in number)
                if d[a][medoids[label[a]]] != nearest:
                    label[a] = next(c for c in number if d[a][medoids[c]] == nearest)
            stored[a] = d[a][medoids[label[a]]]
        costs.append(sum(d[a][medoids[label[a]]] for a in label))
        if before == (medoids, label):
            return medoids, [label[a] for a in label]


def instances(number: int, seed: int) -> list[tuple[list[list[int]], int]]:
    """Small whole distances, so that ties are frequent; no triangle inequality."""
    rng = random.Random(seed)
    found = []
    for _ in range(number):
        size = rng.randint(1, 9)
        distances = [[0] * size for _ in range(size)]
        for i, j in itertools.combinations(range(size), 2):
            distances[i][j] = distances[j][i] = rng.randint(0, rng.choice([2, 5, 40]))
        found.append((distances, rng.randint(1, size)))
    return found


def test_pam_is_a_local_optimum_with_nearest_medoids() -> None:
    optimal = 0
    for distances, clusters in instances(300, 1):
        attributes = range(len(distances))
        for found in (pam(distances, clusters), aca_then_pam(distances, clusters)):
            assert list(found.medoids) == sorted(set(found.medoids))
            assert found.cost == cost(distances, found.medoids)
            for out, new in itertools.product(found.medoids, attributes):
                exchanged = [new if medoid == out else medoid for medoid in found.medoids]
                assert cost(distances, exchanged) >= found.cost
            for a, label in enumerate(found.labels):
                own = distances[a][found.medoids[label]]
                assert own == min(distances[a][medoid] for medoid in found.medoids)
                assert a not in found.medoids or found.medoids[label] == a
        best = min(cost(distances, m) for m in itertools.combinations(attributes, clusters))
        optimal += pam(distances, clusters).cost == best
    assert optimal > 270


def test_one_medoid_is_the_best_one_and_the_first_on_a_tie() -> None:
    for distances, _ in instances(100, 2):
        found = pam(distances, 1)
        assert found.cost == min(cost(distances, [a]) for a in range(len(distances)))
        assert found.medoids[0] == min(
            range(len(distances)), key=lambda a: (cost(distances, [a]), a)
        )


def test_aca_is_as_written_and_its_cost_never_rises() -> None:
    rng = random.Random(3)
    for distances, clusters in instances(400, 3):
        start = rng.sample(range(len(distances)), clusters)
        costs: list[int] = []
        medoids, labels = naive_aca(distances, list(start), costs)
        found = aca(distances, clusters, start)
        assert (list(found.medoids), list(found.labels)) == (medoids, labels)
        assert costs == sorted(costs, reverse=True)
        assert found.cost == costs[-1]
        assert aca_then_pam(distances, clusters).cost <= aca(distances, clusters).cost


def test_clusters_cover_every_attribute_once() -> None:
    for distances, clusters in instances(200, 4):
        association = [[1 - value / 40 for value in row] for row in distances]
        for number in (clusters, "auto"):
            found = clustered(association, number)
            assert sorted(itertools.chain(*found)) == list(range(len(distances)))
            assert [list(c) for c in found] == sorted(sorted(c) for c in found)
            assert number == "auto" or len(found) == number
