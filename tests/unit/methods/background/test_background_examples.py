"""Worked examples of beta-likeness against background knowledge; ids have their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from pganon.methods.background.search import posterior
from pganon.methods.background.search.buckets import (
    beta_partition,
    beta_split,
    bucket_limits,
    nearest,
    swept,
)
from pganon.methods.background.search.dropping import kept, trim
from pganon.methods.background.search.limits import (
    BetaLimits,
    Closeness,
    Likeness,
    smallest_classes,
)
from pganon.methods.background.search.linkage import clusters, dendrogram, divergences
from pganon.methods.background.search.points import Nominal, Points
from pganon.methods.background.search.primacy import k_primacy
from pganon.methods.background.search.reduce import js_reduce
from tests.support.oracles.background_search import Beta, Cat, Close, Num, Search, Table
from tests.support.sources import background_cases as cases

D14 = cases.D14
D14_BETA = Beta(0.5, [D14.shares])


def numbered(groups: Iterable[Sequence[int]]) -> list[list[int]]:
    """Records from 1 on, as the examples have them; classes by their first records."""
    return sorted(sorted(int(r) + 1 for r in group) for group in groups)


def written(text: str) -> list[list[int]]:
    return [[int(r) for r in group.split(",")] for group in text.split()]


def plan(counts: Sequence[int], limits: BetaLimits, k: int) -> tuple[list[list[int]], np.ndarray]:
    buckets = beta_partition(np.array(counts), limits)
    assert buckets is not None
    sizes = np.array([sum(counts[v] for v in bucket) for bucket in buckets])
    return buckets, beta_split(sizes, bucket_limits(buckets, limits), k)


def by_bucket(sensitive: Sequence[int], buckets: Sequence[Sequence[int]]) -> np.ndarray:
    return np.array([next(i for i, b in enumerate(buckets) if v in b) for v in sensitive])


# -- G1: beta-likeness-primacy on histograms ---------------------------------------------------

# Flu, HIV, hypertension, brain.
G1_SHARES = np.array([6, 4, 8, 8]) / 26
G1_COUNTS = [3, 2, 4, 4]


@pytest.mark.parametrize(
    ("variant", "f"),
    [
        pytest.param("enhanced", [0.5692, 0.4418, 0.6704, 0.6704], id="G1-enhanced"),
        pytest.param("basic", [0.6923, 0.4615, 0.9231, 0.9231], id="G1-basic"),
    ],
)
def test_largest_shares(variant: Any, f: list[float]) -> None:
    assert Likeness(2, variant).limits(G1_SHARES).f == pytest.approx(f, abs=5e-5)


@pytest.mark.parametrize(
    ("k", "leaves"),
    [
        *[pytest.param(k, [[1, 2], [1, 2], [3, 4]], id=f"G1-k{k}") for k in (2, 3)],
        *[pytest.param(k, [[2, 4], [3, 4]], id=f"G1-k{k}") for k in (4, 5, 6)],
        *[pytest.param(k, [[5, 8]], id=f"G1-k{k}") for k in (7, 8)],
    ],
)
def test_leaves(k: int, leaves: list[list[int]]) -> None:
    buckets, found = plan(G1_COUNTS, Likeness(2).limits(G1_SHARES), k)
    assert buckets == [[1, 0], [2, 3]]
    assert found.tolist() == leaves


@pytest.mark.parametrize("k", [pytest.param(2, id="G1-basic-k2")])
def test_leaves_of_the_basic_variant(k: int) -> None:
    buckets, found = plan(G1_COUNTS, Likeness(2, "basic").limits(G1_SHARES), k)
    assert buckets == [[1, 0], [2, 3]]
    assert found.tolist() == [[1, 2], [1, 2], [3, 4]]


# -- G3: complete linkage ----------------------------------------------------------------------

G3 = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]])


@pytest.mark.parametrize(
    ("j", "labels"),
    [
        pytest.param(0.2, [0, 1, 2, 3, 4], id="G3-J0.2"),
        *[pytest.param(j, [0, 0, 1, 1, 2], id=f"G3-J{j}") for j in (0.32, 0.6, 0.99)],
        pytest.param(1.0, [0, 0, 0, 0, 0], id="G3-J1"),
    ],
)
def test_linkage_with_ties(j: float, labels: list[int]) -> None:
    assert clusters(G3, j).tolist() == labels


@pytest.mark.parametrize("g", [pytest.param(G3, id="G3")])
def test_merges(g: np.ndarray) -> None:
    found = dendrogram(g)
    assert found.levels == pytest.approx([0.311278, 0.311278, 1, 1], abs=5e-7)
    assert [sorted(pair) for pair in found.merges[:2].tolist()] == [[0, 1], [2, 3]]
    # Pairs (0,1), (0,2), (0,3), (0,4), (1,2), (1,3), ...
    assert divergences(g)[:6] == pytest.approx([0.311278, 1, 1, 1, 0.311278, 0.5], abs=5e-7)


# -- G5: k-anonymity-primacy -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "classes", "suppressed", "gcp"),
    [
        pytest.param(
            {"post": "agg", "residual": "suppress"},
            "1,3,4,8,9,10 2,5,6,11,14", [7, 12, 13], 14.243243, id="G5-agg-suppress",
        ),
        pytest.param(
            {"post": "agg"},
            "1,3,4,7,8,9,10,12,13 2,5,6,11,14", [], 21.702703, id="G5-agg-absorb",
        ),
        pytest.param(
            {"post": "agg", "cost": "sse", "residual": "suppress"},
            "1,3,4,7,12,13 2,5,6,11,14", [8, 9, 10], 15.864865, id="G5-agg-sse-suppress",
        ),
        pytest.param(
            {"post": "inc", "pick": "nearest", "residual": "suppress"},
            "1,3,4,7 2,5,6,11,14 8,9,10,13", [12], 11.864865, id="G5-inc-suppress",
        ),
        pytest.param(
            {"post": "inc", "pick": "nearest"},
            "1,3,4,7,12 2,5,6,11,14 8,9,10,13", [], 14.351351, id="G5-inc-absorb",
        ),
    ],
)  # fmt: skip
def test_k_primacy(
    options: dict[str, Any], classes: str, suppressed: list[int], gcp: float
) -> None:
    found = cases.searched(Search(D14, 3, D14_BETA, **options))
    assert numbered(found.classes) == written(classes)
    assert (found.suppressed + 1).tolist() == suppressed
    losses = cases.losses(D14, D14_BETA, [c.tolist() for c in found.classes])
    sizes = [len(c) for c in found.classes]
    assert sum(n * loss for n, loss in zip(sizes, losses, strict=True)) == pytest.approx(
        gcp, abs=5e-7
    )


@pytest.mark.parametrize(
    ("records", "sse", "ncp"),
    [
        pytest.param([2, 5, 6, 11, 14], 0.500511, 0.837838, id="G5-25"),
        pytest.param([1, 3, 4, 7], 0.108839, 0.459459, id="G5-13"),
        pytest.param([8, 9, 10, 13], 1.115413, 1.459459, id="G5-89"),
        pytest.param([1, 3, 4, 7, 12, 13], 1.673119, 1.945946, id="G5-37"),
    ],
)
def test_errors_and_losses(records: list[int], sse: float, ncp: float) -> None:
    """The sum of squared errors of a class is that of two halves together."""
    rows = np.array(records) - 1
    assert cases.losses(D14, D14_BETA, [rows.tolist()]) == [pytest.approx(ncp, abs=5e-7)]
    assert cases.joined_error(D14, D14_BETA, rows[:2], rows[2:]) == pytest.approx(sse, abs=5e-7)


@pytest.mark.parametrize("t", [pytest.param(D14, id="G5")])
def test_loads(t: Table) -> None:
    limits = cases.limits_of(D14_BETA)
    assert isinstance(limits, BetaLimits)
    assert limits.f == pytest.approx([0.642857, 0.535714, 0.321429], abs=5e-7)
    assert limits.load(np.array([2, 1, 0])) == pytest.approx(1.037037, abs=5e-7)
    assert limits.load(np.array([2, 2, 1])) == pytest.approx(0.746667, abs=5e-7)
    assert limits.allows(np.array(t.histogram))


# -- G11: losses and errors of classes ---------------------------------------------------------

PEOPLE = Table(
    (Num(20, 40), Cat(("F", "M"))),
    [(20, "F"), (22, "F"), (24, "M"), (30, "M"), (34, "M"), (40, "F")],
    [0, 1, 0, 1, 0, 1],
)


@pytest.mark.parametrize(
    ("records", "sse", "ncp"),
    [
        pytest.param([1, 2, 3], 1.02, 1.2, id="G11-123"),
        pytest.param([4, 5, 6], 1.126667, 1.5, id="G11-456"),
        pytest.param([1, 3, 5], 1.26, 1.7, id="G11-135"),
        pytest.param([2, 4, 6], 1.406667, 1.9, id="G11-246"),
    ],
)
def test_errors_and_losses_of_people(records: list[int], sse: float, ncp: float) -> None:
    rule = Beta(3, [[0.5, 0.5]])
    rows = np.array(records) - 1
    assert cases.losses(PEOPLE, rule, [rows.tolist()]) == [pytest.approx(ncp, abs=5e-7)]
    assert cases.joined_error(PEOPLE, rule, rows[:1], rows[1:]) == pytest.approx(sse, abs=5e-7)


# -- G6: classes of beta-likeness-primacy ------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "leaves"),
    [
        *[pytest.param(k, [[1, 2, 3], [2, 3, 3]], id=f"G6-k{k}") for k in (3, 4)],
        pytest.param(7, [[3, 5, 6]], id="G6-k7"),
    ],
)
def test_leaves_of_d14(k: int, leaves: list[list[int]]) -> None:
    limits = cases.limits_of(D14_BETA)
    assert isinstance(limits, BetaLimits)
    buckets, found = plan(D14.histogram, limits, k)
    assert buckets == [[2], [1], [0]]
    assert found.tolist() == leaves


@pytest.mark.parametrize(
    ("draw", "classes", "gcp"),
    [
        pytest.param(lambda n: 0, "1,2,3,4,5,7,9,12 6,8,10,11,13,14", 18.324324, id="G6-lowest"),
        pytest.param(
            lambda n: n - 1, "1,3,4,5,7,9,10,11 2,6,8,12,13,14", 25.729730, id="G6-highest"
        ),
    ],
)
def test_nearest(draw: Callable[[int], int], classes: str, gcp: float) -> None:
    buckets = by_bucket(D14.sensitive, [[2], [1], [0]])
    found = nearest(cases.D14_CURVE, buckets, np.array([[1, 2, 3], [2, 3, 3]]), draw)
    assert numbered(found) == written(classes)
    losses = cases.losses(D14, D14_BETA, [c.tolist() for c in found])
    gcp_found = sum(len(c) * loss for c, loss in zip(found, losses, strict=True))
    assert gcp_found == pytest.approx(gcp, abs=5e-7)


@pytest.mark.parametrize(
    ("leaves", "classes"),
    [
        pytest.param(
            [[1, 2, 3], [2, 3, 3]], "1,2,3,4,7,11 5,6,8,9,10,12,13,14", id="G6-sweep-in-order"
        ),
        pytest.param(
            [[2, 3, 3], [1, 2, 3]], "1,2,3,4,5,7,9,11 6,8,10,12,13,14", id="G6-sweep-reversed"
        ),
    ],
)
def test_sweep(leaves: list[list[int]], classes: str) -> None:
    buckets = by_bucket(D14.sensitive, [[2], [1], [0]])
    assert numbered(swept(cases.D14_CURVE, buckets, np.array(leaves))) == written(classes)


def test_buckets_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="as many records of every bucket"):
        swept(np.arange(3), np.array([0, 0, 1]), np.array([[1, 1]]))


# -- G7: clusters of priors, and the baseline --------------------------------------------------

G7_PRIORS = np.array([[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
G7_VECTORS = np.array([int(age >= 35) + int(age >= 50) for age, _ in D14.rows])


@pytest.mark.parametrize(
    ("j", "sizes"),
    [
        pytest.param(0.02, [5, 5, 4], id="G7-J0.02"),
        pytest.param(0.1, [10, 4], id="G7-J0.1"),
        pytest.param(0.2, [14], id="G7-J0.2"),
    ],
)
def test_clusters_of_d14(j: float, sizes: list[int]) -> None:
    assert divergences(G7_PRIORS) == pytest.approx([0.031950, 0.180482, 0.077589], abs=5e-7)
    assert np.bincount(clusters(G7_PRIORS, j)[G7_VECTORS]).tolist() == sizes


@pytest.mark.parametrize(
    ("options", "classes", "suppressed"),
    [
        pytest.param(
            {"post": "agg", "residual": "suppress"}, "1,4,7,9", [2, 3, 5, 6, 8, 10],
            id="G7-agg-suppress",
        ),
        pytest.param({"post": "agg"}, "1,2,3,4,5,6,7,8,9,10", [], id="G7-agg-absorb"),
        pytest.param(
            {"post": "inc", "pick": "nearest", "residual": "suppress"}, "1,4,7,9 2,3,5,6,8", [10],
            id="G7-inc-suppress",
        ),
        pytest.param(
            {"post": "inc", "pick": "nearest"}, "1,4,7,9,10 2,3,5,6,8", [], id="G7-inc-absorb"
        ),
    ],
)  # fmt: skip
def test_k_primacy_of_a_cluster(
    options: dict[str, Any], classes: str, suppressed: list[int]
) -> None:
    young = Table(D14.attributes, D14.rows[:10], D14.sensitive[:10])
    found = cases.searched(Search(young, 3, D14_BETA, **options))
    assert numbered(found.classes) == written(classes)
    assert (found.suppressed + 1).tolist() == suppressed


@pytest.mark.parametrize("k", [pytest.param(3, id="G7-beta-primacy")])
def test_beta_primacy_of_a_cluster(k: int) -> None:
    limits = cases.limits_of(D14_BETA)
    assert isinstance(limits, BetaLimits)
    counts = np.bincount(D14.sensitive[:10], minlength=3).tolist()
    buckets, leaves = plan(counts, limits, k)
    found = nearest(
        cases.D14_CURVE[:10], by_bucket(D14.sensitive[:10], buckets), leaves, lambda n: 0
    )
    assert numbered(found) == written("1,3,4,7 2,5,6,8,9,10")


@pytest.mark.parametrize("k", [pytest.param(3, id="G7-dropped")])
def test_a_cluster_that_misses_the_limits(k: int) -> None:
    labels = clusters(G7_PRIORS, 0.1)[G7_VECTORS]
    histograms = np.array([np.bincount(np.array(D14.sensitive)[labels == c]) for c in (0, 1)])
    found = kept(histograms, np.array(D14.histogram), k, Likeness(0.5))
    assert found.clusters.tolist() == [True, False]
    assert found.published.tolist() == histograms[0].tolist()
    limits = cases.limits_of(D14_BETA)
    assert isinstance(limits, BetaLimits)
    assert trim(histograms[1], limits).tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("t", "j", "classes", "distances"),
    [
        *[
            pytest.param(
                0.3, j, "1,3,4 2,5,6,7 8,10,11 9,13,14", [0.238095, 0.214286, 0.119048, 0.119048],
                id=f"G7-baseline-t0.3-J{j}",
            )
            for j in (0.1, 1)
        ],
        pytest.param(
            0.2, 0.1, "1,2,3,4,5,6,7,8,9,10 11,13,14", [0.114286, 0.119048],
            id="G7-baseline-t0.2-J0.1",
        ),
    ],
)  # fmt: skip
def test_baseline(t: float, j: float, classes: str, distances: list[float]) -> None:
    order = np.argsort(cases.D14_CURVE, kind="stable")
    limits = Closeness(t).limits(np.array(D14.shares))
    sensitive = np.array(D14.sensitive)
    found = js_reduce(G7_VECTORS[order], G7_PRIORS, sensitive[order], 3, limits, j)
    assert numbered(order[c] for c in found.classes) == written(classes)
    assert (order[found.suppressed] + 1).tolist() == [12]
    counts = np.array([np.bincount(sensitive[order[c]], minlength=3) for c in found.classes])
    assert sorted(limits.distances(counts)) == pytest.approx(sorted(distances), abs=5e-7)


@pytest.mark.parametrize("t", [pytest.param(0.3, id="G7-k-primacy-t0.3")])
def test_k_primacy_with_t_closeness(t: float) -> None:
    found = cases.searched(Search(D14, 3, Close(t, [D14.shares]), "agg", residual="suppress"))
    assert numbered(found.classes) == written("1,3,4 2,5,6,11,14 7,12,13 8,9,10")
    assert not len(found.suppressed)


# -- G8: J does not bound posteriors -----------------------------------------------------------


@pytest.mark.parametrize(
    ("priors", "divergence", "exact", "estimated"),
    [
        pytest.param([[1, 0], [0.95, 0.05]], 0.025462, 1, 0.672414, id="G8-certain"),
        pytest.param([[0.99, 0.01], [0.95, 0.05]], 0.010797, 0.838983, 0.629870, id="G8-two"),
        pytest.param([[0.99, 0.01]] * 3 + [[0.9, 0.1]], 0.032374, 0.785714, 0.524390, id="G8-four"),
        pytest.param([[0.7, 0.3]] * 4, 0.0, 0.25, 0.25, id="G8-equal"),
    ],
)
def test_posteriors(
    priors: list[list[float]], divergence: float, exact: float, estimated: float
) -> None:
    counts = np.array([len(priors) - 1, 1])
    vectors = np.array(priors, dtype=float)
    assert divergences(vectors)[-1] == pytest.approx(divergence, abs=5e-7)
    found, guess = posterior.exact(vectors, counts), posterior.estimated(vectors, counts)
    assert found is not None
    assert guess is not None
    assert found[-1, 1] == pytest.approx(exact, abs=5e-7)
    assert guess[-1, 1] == pytest.approx(estimated, abs=5e-7)
    most, gained = posterior.highest(found, counts)
    assert most == pytest.approx(found.max())
    assert gained == pytest.approx((found - counts / counts.sum()).max())


@pytest.mark.parametrize("prior", [pytest.param([1.0, 0.0], id="G8-impossible")])
def test_no_consistent_assignment(prior: list[float]) -> None:
    priors = np.array([prior, prior])
    assert posterior.exact(priors, np.array([1, 1])) is None
    assert posterior.estimated(priors, np.array([1, 1])) is None


def test_posteriors_that_cannot_be_computed() -> None:
    uniform = np.full((60, 4), 0.25)
    with pytest.raises(ValueError, match="too many assignments"):
        posterior.exact(uniform, np.array([20, 20, 10, 10]))
    for posteriors in (posterior.exact, posterior.estimated):
        with pytest.raises(ValueError, match="60 members cannot have 59 values"):
            posteriors(uniform, np.array([20, 20, 10, 9]))


# -- G9: caps, ties, trim, infeasible ----------------------------------------------------------


@pytest.mark.parametrize("shares", [pytest.param([1 / 2, 1 / 3, 1 / 6], id="G9-equality")])
def test_equality_is_accepted(shares: list[float]) -> None:
    limits = Likeness(1).limits(np.array(shares))
    assert limits.f == pytest.approx([0.846574, 0.666667, 0.333333], abs=5e-7)
    assert limits.load(np.array([1, 1, 1])) == 1.0
    assert limits.allows(np.array([1, 1, 1]))
    assert [limits.cap(v, 3) for v in range(3)] == [2, 2, 1]
    buckets, leaves = plan([3, 2, 1], limits, 3)
    assert buckets == [[2], [1], [0]]
    assert leaves.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("p", "f", "least"),
    [
        pytest.param(0.01, 0.04, 25, id="G9-p0.01"),
        pytest.param(0.05, 0.199787, 6, id="G9-p0.05"),
        pytest.param(0.1, 0.330259, 4, id="G9-p0.1"),
        pytest.param(0.25, 0.596574, 2, id="G9-p0.25"),
        pytest.param(0.5, 0.846574, 2, id="G9-p0.5"),
        pytest.param(0.9, 0.994824, 2, id="G9-p0.9"),
    ],
)
def test_smallest_classes(p: float, f: float, least: int) -> None:
    limits = Likeness(3).limits(np.array([p, 1 - p, 0]))
    assert limits.f[0] == pytest.approx(f, abs=5e-7)
    assert smallest_classes(limits).tolist()[::2] == [least, 0]
    assert limits.cap(0, least) >= 1
    assert limits.cap(0, least - 1) == 0


@pytest.mark.parametrize("beta", [pytest.param(3, id="G9-basic")])
def test_the_basic_variant_does_not_limit_frequent_values(beta: float) -> None:
    assert Likeness(beta, "basic").limits(np.array([0.5, 0.5])).f.tolist() == [2, 2]


@pytest.mark.parametrize("k", [pytest.param(2, id="G9-one-value")])
def test_one_value(k: int) -> None:
    limits = Likeness(1).limits(np.array([1.0]))
    points = Points([Nominal(np.ones(6, dtype=np.int64), 1)])
    found = k_primacy(points, np.zeros(6, dtype=np.int64), k, limits, post="agg")
    assert [len(c) for c in found.classes] == [2, 2, 2]
    assert plan([6], limits, k)[1].tolist() == [[3], [3]]


@pytest.mark.parametrize(
    ("counts", "left"),
    [
        pytest.param([9, 1, 2], [9, 1, 2], id="G9-trim-feasible"),
        pytest.param([4, 2, 4], [4, 2, 2], id="G9-trim"),
        pytest.param([8, 0, 0], [0, 0, 0], id="G9-trim-a8"),
        pytest.param([0, 5, 5], [0, 0, 0], id="G9-trim-b5c5"),
    ],
)
def test_trim(counts: list[int], left: list[int]) -> None:
    limits = Likeness(0.5).limits(np.array([10, 6, 4]) / 20)
    assert limits.f == pytest.approx([0.75, 0.45, 0.3])
    assert trim(np.array(counts), limits).tolist() == left


@pytest.mark.parametrize("k", [pytest.param(3, id="G9-too-few")])
def test_too_few_records(k: int) -> None:
    points = Points([Nominal(np.ones(2, dtype=np.int64), 1)])
    with pytest.raises(ValueError, match="2 records make no class of 3"):
        k_primacy(
            points, np.zeros(2, dtype=np.int64), k, Likeness(1).limits(np.ones(1)), post="inc"
        )


# -- G10: NULL ---------------------------------------------------------------------------------

G10_BETA = Beta(1, [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        pytest.param(1, 2, 1.1, id="G10-1-2"),
        pytest.param(1, 3, 0.25, id="G10-1-3"),
        pytest.param(1, 4, 2.0, id="G10-1-4"),
        pytest.param(4, 5, 1.0, id="G10-4-5"),
        pytest.param(4, 6, 0.0, id="G10-4-6"),
    ],
)
def test_distances_with_null(one: int, other: int, distance: float) -> None:
    points = cases.points_of(cases.NULLS)
    for a, b in ((one, other), (other, one)):
        found = points.distances(points.center(np.array([a - 1])), np.array([b - 1]))
        assert found.tolist() == [pytest.approx(distance)]


@pytest.mark.parametrize(
    ("records", "ncp"),
    [
        pytest.param([1, 2], 1.1, id="G10-12"),
        pytest.param([4, 6], 0, id="G10-46"),
        pytest.param([1, 3], 0.25, id="G10-13"),
        pytest.param([4, 5], 1, id="G10-45"),
        pytest.param([3, 4], 2, id="G10-34"),
        pytest.param([5, 6], 1, id="G10-56"),
    ],
)
def test_losses_with_null(records: list[int], ncp: float) -> None:
    found = cases.losses(cases.NULLS, G10_BETA, [[r - 1 for r in records]])
    assert found == [pytest.approx(ncp)]


def test_null_alone_is_no_error() -> None:
    assert cases.joined_error(cases.NULLS, G10_BETA, np.array([3]), np.array([5])) == 0
    assert cases.joined_error(cases.NULLS, G10_BETA, np.array([3]), np.array([4])) == 1


@pytest.mark.parametrize("k", [pytest.param(2, id="G10-k-primacy")])
def test_k_primacy_with_null(k: int) -> None:
    found = cases.searched(Search(cases.NULLS, k, G10_BETA, "agg"))
    assert numbered(found.classes) == written("1,2 3,4 5,6")
    limits = cases.limits_of(G10_BETA)
    assert limits.load(np.array([1, 1])) == pytest.approx(0.590616, abs=5e-7)
