"""Searches against background knowledge on random inputs with ties and NULL, against oracles."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pganon.methods.background.search import posterior
from pganon.methods.background.search.buckets import (
    Planner,
    beta_partition,
    beta_split,
    bucket_limits,
    nearest,
)
from pganon.methods.background.search.dropping import by_cluster, kept, smallest_j, trim, trimmed
from pganon.methods.background.search.limits import (
    BetaLimits,
    Closeness,
    ClosenessLimits,
    Fixed,
    Likeness,
    Model,
)
from pganon.methods.background.search.linkage import (
    clusters,
    dendrogram,
    divergences,
    square,
)
from pganon.methods.background.search.pieces import joined_pieces
from pganon.methods.background.search.points import Names
from pganon.methods.background.search.reduce import js_reduce
from tests.support.oracles import background_search as oracle
from tests.support.oracles import definitions
from tests.support.oracles.background_search import Beta, Cat, Close, Num, Rule, Search, Table, Tree
from tests.support.sources import background_cases as cases

ATTRIBUTES = [
    Num(0, 7),
    Num(-3, 4),
    Num(5, 5),
    Cat(("p", "q", "r")),
    Cat(("only",)),
    Cat(tuple(range(80))),
    Tree(tuple("abcde"), ((frozenset("ab"), frozenset("cd"), frozenset("e")),)),
]


def value(rng: random.Random, attribute: oracle.Attribute) -> Any:
    if rng.random() < 0.15:
        return None
    if isinstance(attribute, Num):
        return rng.randint(int(attribute.low), int(attribute.high))
    return rng.choice(attribute.values)


def table_of(rng: random.Random, least: int, most: int = 24) -> Table:
    """Few values, so that many distances are equal."""
    attributes = tuple(rng.choices(ATTRIBUTES, k=rng.randint(1, 3)))
    size = rng.randint(least, most)
    rows = [tuple(value(rng, a) for a in attributes) for _ in range(size)]
    values = rng.randint(1, 4)
    weights = [rng.choice([1, 2, 5]) for _ in range(values)]
    sensitive = rng.choices(range(values), weights, k=size)
    sensitive[rng.randrange(size)] = values - 1
    return Table(attributes, rows, sensitive)


def shares_of(rng: random.Random, counts: list[int]) -> list[float]:
    """Of a source that has these records, and others."""
    source = [c + rng.choice([0, 0, 1, 3]) for c in counts]
    return [n / sum(source) for n in source]


def rule_of(rng: random.Random, counts: list[int]) -> Rule:
    references = [shares_of(rng, counts) for _ in range(rng.choice([1, 1, 2]))]
    for reference in references:
        # No reference lacks a value that another one has.
        reference[:] = [p if p else 1e-3 for p in reference]
    if rng.random() < 0.6:
        return Beta(rng.choice([0.3, 0.5, 1, 2, 4]), references, rng.random() < 0.7)
    return Close(rng.choice([0.05, 0.1, 0.2, 0.5]), references, rng.random() < 0.5)


def beta_of(rng: random.Random, counts: list[int]) -> Beta:
    while True:
        rule = rule_of(rng, counts)
        if isinstance(rule, Beta):
            return rule


def beta_limits(rule: Beta) -> BetaLimits:
    limits = cases.limits_of(rule)
    assert isinstance(limits, BetaLimits)
    return limits


def histogram(rng: random.Random, values: int, most: int) -> list[int]:
    counts = [rng.choice([0, rng.randint(0, most)]) for _ in range(values)]
    counts[rng.randrange(values)] += 1
    return counts


# -- limits -----------------------------------------------------------------------------------


def test_limits() -> None:
    rng = random.Random("limits")
    for _ in range(300):
        counts = histogram(rng, rng.randint(1, 5), 6)
        rule = rule_of(rng, histogram(rng, len(counts), 9))
        limits = cases.limits_of(rule)
        assert limits.load(np.array(counts)) == pytest.approx(rule.load(counts), abs=2e-12)
        assert limits.allows(np.array(counts)) == rule.holds(counts)
        assert limits.shares.tolist() == rule.p
        more = limits.loads_with(np.array(counts))
        expected = [
            rule.load([c + (v == w) for w, c in enumerate(counts)]) for v in range(len(counts))
        ]
        assert more.tolist() == pytest.approx(expected, abs=2e-12)


def test_loads_of_unions() -> None:
    """The load of a union is at most the larger of two."""
    rng = random.Random("convex")
    for _ in range(200):
        one, other = (np.array(histogram(rng, 4, 6)) for _ in range(2))
        limits = cases.limits_of(rule_of(rng, histogram(rng, 4, 9)))
        assert limits.load(one + other) <= max(limits.load(one), limits.load(other)) + 1e-9


def test_multiples_of_a_class_have_the_same_load() -> None:
    counts = np.arange(1, 200)[:, None] * np.array([1, 2, 4])
    source = np.array([3, 5, 11]) / 19
    for model in (Likeness(0.7), Closeness(0.3), Closeness(0.3, ordered=True)):
        limits = model.limits(source)
        assert len(set(limits.loads(counts).tolist())) == 1
        more = {limits.loads_with(row - [0, 0, 1])[2] for row in counts}
        assert more == {limits.loads(counts)[0]}


def test_a_distance_of_exactly_t() -> None:
    limits = Closeness(2 / 3).limits(np.full(3, 1 / 3))
    assert limits.allowed(np.array([[7, 0, 0]])).tolist() == [True]


def test_values_that_no_class_may_have() -> None:
    references = np.array([[0.5, 0.5, 0.0], [0.4, 0.5, 0.1]])
    beta, near = Likeness(1).limits(*references), Closeness(0.5, True).limits(*references)
    for limits in (beta, near):
        assert limits.shares.tolist() == [0.4, 0.5, 0]
        assert limits.allows(np.array([1, 1, 0]))
        assert not limits.allows(np.array([4, 5, 1]))
    assert beta.load(np.array([4, 5, 1])) > 1e9 > beta.load(np.array([1, 1, 0]))
    assert beta.loads_with(np.array([1, 1, 0]))[2] > 1e9


def test_no_distance_is_allowed() -> None:
    limits = Closeness(0).limits(np.array([0.5, 0.5]))
    assert limits.loads(np.array([[2, 2], [2, 1]])).tolist() == [0, np.inf]
    assert limits.allowed(np.array([[2, 2], [2, 1]])).tolist() == [True, False]


def test_a_reference_without_a_value_has_no_place_for_it() -> None:
    limits = ClosenessLimits(0.5, True, np.array([[0.5, 0.0, 0.5]]))
    assert limits.distances(np.array([[2, 0, 0]])).tolist() == [0.5]


# -- clusters ---------------------------------------------------------------------------------


def vectors_of(rng: random.Random, size: int) -> list[tuple[float, ...]]:
    """Different vectors of few different probabilities."""
    found: dict[tuple[float, ...], None] = {}
    while len(found) < size:
        weights = [rng.choice([0, 0, 1, 1, 2, 5]) for _ in range(4)]
        if sum(weights):
            found[tuple(w / sum(weights) for w in weights)] = None
    return list(found)


def test_clusters() -> None:
    rng = random.Random("linkage")
    for _ in range(60):
        vectors = vectors_of(rng, rng.randint(1, 14))
        found = dendrogram(np.array(vectors))
        assert (np.diff(found.levels) >= 0).all()
        for j in (0, 0.05, 0.2, 0.3, 0.5, 0.8, 1):
            expected = oracle.clusters(vectors, j)
            assert found.labels(j).tolist() == expected
            assert clusters(np.array(vectors), j).tolist() == expected


def test_no_pair_of_a_cluster_is_beyond_j() -> None:
    rng = random.Random("diameter")
    vectors = np.array(vectors_of(rng, 60))
    distances = square(divergences(vectors), 60)
    assert (distances == distances.T).all()
    found = dendrogram(vectors)
    for j in np.unique(found.levels).tolist():
        labels = found.labels(j)
        assert max(distances[np.ix_(labels == c, labels == c)].max() for c in set(labels)) <= j
        assert found.labels(j - 1e-6).max() > labels.max()
        assert found.labels(j - 1e-10).tolist() == labels.tolist()


def test_divergences() -> None:
    rng = random.Random("divergences")
    vectors = vectors_of(rng, 12)
    expected = [[oracle.divergence(a, b) for b in vectors] for a in vectors]
    assert square(divergences(np.array(vectors)), 12) == pytest.approx(np.array(expected))


def test_no_vectors() -> None:
    with pytest.raises(ValueError, match="no vector"):
        dendrogram(np.zeros((0, 3)))


# -- dropping ---------------------------------------------------------------------------------


def models_of(rng: random.Random) -> tuple[Model, Callable[[Any], Rule]]:
    beta, t, ordered = rng.choice([0.2, 0.4, 1]), rng.choice([0.1, 0.2, 0.3]), rng.random() < 0.5
    if rng.random() < 0.6:
        return Likeness(beta), lambda references: Beta(beta, references)
    return Closeness(t, ordered), lambda references: Close(t, references, ordered)


def test_clusters_kept() -> None:
    rng = random.Random("kept")
    rounds = 0
    for _ in range(400):
        histograms = [histogram(rng, 3, 8) for _ in range(rng.randint(1, 5))]
        source = [sum(column) for column in zip(*histograms, strict=True)]
        model, rule = models_of(rng)
        k = rng.choice([2, 4])
        expected = oracle.kept(histograms, source, k, rule)
        found = kept(np.array(histograms), np.array(source), k, model)
        assert np.flatnonzero(found.clusters).tolist() == expected
        published = [sum(histograms[c][v] for c in expected) for v in range(3)]
        assert found.published.tolist() == published
        p = [n / sum(source) for n in source]
        assert (found.limits is None) == (not expected)
        if found.limits is not None:
            q = np.array(published) / sum(published)
            assert found.limits.shares == pytest.approx(np.minimum(p, q))
        rounds += len(expected) < sum(sum(h) >= k and rule([p]).holds(h) for h in histograms)
    assert rounds > 5, "no cluster missed what is published alone"


def test_histograms_of_clusters() -> None:
    histograms = np.array([[1, 0], [2, 3], [0, 5], [4, 1]])
    found = by_cluster(histograms, np.array([0, 1, 0, 0]))
    assert found.tolist() == [[5, 6], [2, 3]]


def test_the_smallest_j() -> None:
    rng = random.Random("smallest J")
    found_at: Counter[str] = Counter()
    for _ in range(150):
        blocks = [vectors_of(rng, rng.randint(1, 9)) for _ in range(rng.choice([1, 1, 2]))]
        histograms = [np.array([histogram(rng, 3, 4) for _ in vectors]) for vectors in blocks]
        source = np.concatenate(histograms).sum(axis=0) + np.array([0, 0, rng.choice([0, 0, 9])])
        model, _ = models_of(rng)
        k = rng.choice([2, 6])

        def all_kept(j: float, given: tuple = (blocks, histograms, source, k, model)) -> bool:
            blocks, histograms, *rest = given
            labels = [np.array(oracle.clusters(vectors, j)) for vectors in blocks]
            found = np.concatenate(list(map(by_cluster, histograms, labels)))
            if j == 1:
                found = found.sum(axis=0)[None]
            return bool(kept(found, *rest).clusters.all())

        trees = [dendrogram(np.array(vectors)) for vectors in blocks]
        found = smallest_j(list(zip(trees, histograms, strict=True)), source, k, model)
        if found is None:
            assert not all_kept(1)
            found_at["never"] += 1
        else:
            assert all_kept(found)
            levels = [0.0, *np.concatenate([tree.levels for tree in trees])]
            assert not any(all_kept(j) for j in levels if j < found)
            found_at["one" if found == 1 else "between" if found else "zero"] += 1
    assert min(found_at.values()) > 5
    assert len(found_at) == 4


def test_clusters_kept_in_part() -> None:
    """Trimmed against the source, then against both until nothing changes any more."""
    rng = random.Random("trimmed")
    rounds = 0
    for _ in range(150):
        histograms = [histogram(rng, 3, 6) for _ in range(rng.randint(1, 4))]
        source = [sum(column) for column in zip(*histograms, strict=True)]
        k, beta = rng.choice([2, 4]), rng.choice([0.2, 0.4, 1])
        found = trimmed(np.array(histograms), np.array(source), k, Likeness(beta))
        expected, changes = oracle.kept_in_part(histograms, source, k, beta)
        assert found.counts.tolist() == expected
        assert found.clusters.tolist() == [sum(part) > 0 for part in expected]
        assert found.published.tolist() == [sum(column) for column in zip(*expected, strict=True)]
        assert (found.limits is None) == (not found.clusters.any())
        rounds += changes > 1
    assert rounds > 5


def test_trim() -> None:
    rng = random.Random("trim")
    for _ in range(150):
        counts = histogram(rng, 3, 6)
        rule = beta_of(rng, histogram(rng, 3, 9))
        found = trim(np.array(counts), beta_limits(rule)).tolist()
        assert found == oracle.trimmed(rule, counts)


# -- plans ------------------------------------------------------------------------------------


def test_partitions() -> None:
    rng = random.Random("partition")
    solved = 0
    for _ in range(300):
        counts = histogram(rng, rng.randint(1, 7), 5)
        rule = beta_of(rng, counts)
        found = beta_partition(np.array(counts), beta_limits(rule))
        assert found == oracle.beta_partition(rule, counts)
        assert (found is not None) == rule.holds(counts)
        solved += found is not None
    assert solved > 50


def test_splits() -> None:
    rng = random.Random("split")
    for _ in range(300):
        counts = histogram(rng, rng.randint(1, 5), 60)
        rule = beta_of(rng, counts)
        limits = beta_limits(rule)
        buckets = beta_partition(np.array(counts), limits)
        if buckets is None:
            continue
        sizes = [sum(counts[v] for v in bucket) for bucket in buckets]
        f = bucket_limits(buckets, limits)
        k = rng.randint(2, 9)
        found = beta_split(np.array(sizes), f, k)
        assert found.tolist() == oracle.beta_split(f.tolist(), sizes, k)
        assert found.sum(axis=0).tolist() == sizes


def test_plans() -> None:
    limits = Likeness(2).limits(np.array([6, 4, 8, 8]) / 26)
    buckets, leaves = Planner(4).plan(np.array([3, 2, 4, 4]), limits)
    assert buckets == [[1, 0], [2, 3]]
    assert leaves.tolist() == [[2, 4], [3, 4]]
    with pytest.raises(ValueError, match="do not satisfy"):
        Planner(4).plan(np.array([9, 0, 0, 1]), limits)


def test_plans_with_slack() -> None:
    """Buckets that leave room where they can, and the fewest buckets where they cannot."""
    rng = random.Random("slack")
    roomier = same = 0
    for _ in range(300):
        counts = np.array(histogram(rng, rng.randint(2, 7), 40))
        limits = beta_limits(beta_of(rng, counts.tolist()))
        fewest = beta_partition(counts, limits)
        if fewest is None:
            continue
        buckets, leaves = Planner(3, 0.3).plan(counts, limits)
        sizes = np.array([counts[bucket].sum() for bucket in buckets])
        room = bucket_limits(buckets, limits) * counts.sum()
        assert (leaves.sum(axis=0) == sizes).all()
        assert limits.allowed(_shown(buckets, leaves, counts)).all()
        if (sizes <= 0.7 * room).all():
            roomier += buckets != fewest
        else:
            same += 1
            assert buckets == fewest
    assert min(roomier, same) > 20


def _shown(buckets: list[list[int]], leaves: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Classes in which every bucket has its rarest value alone: the worst that can be drawn."""
    found = np.zeros((len(leaves), len(counts)), dtype=np.int64)
    found[:, [bucket[0] for bucket in buckets]] = leaves
    return found


def test_pieces_joined_to_blocks() -> None:
    rng = random.Random("pieces")
    for _ in range(300):
        curves = sorted(rng.randint(0, 2) for _ in range(rng.randint(1, 9)))
        histograms = [histogram(rng, 3, 3) for _ in curves]
        rule, k = rule_of(rng, [1, 2, 3]), rng.choice([2, 6])
        found = joined_pieces(curves, np.array(histograms), k, cases.limits_of(rule))
        assert found.tolist() == oracle.joined_pieces(rule, curves, histograms, k)


def test_nearest() -> None:
    rng = random.Random("nearest")
    for _ in range(200):
        size = rng.randint(2, 30)
        curve = [rng.randint(0, rng.choice([3, 40])) for _ in range(size)]
        buckets = [rng.randrange(3) for _ in range(size)]
        leaves = [[0, 0, 0] for _ in range(rng.randint(1, 4))]
        for bucket in buckets:
            rng.choice(leaves)[bucket] += 1
        leaves = [leaf for leaf in leaves if sum(leaf)]
        seed = rng.random()
        found = nearest(
            np.array(curve), np.array(buckets), np.array(leaves), random.Random(seed).randrange
        )
        expected = oracle.nearest(curve, buckets, leaves, random.Random(seed).randrange)
        assert [rows.tolist() for rows in found] == expected


# -- classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("residual", ["absorb", "suppress"])
@pytest.mark.parametrize(
    "options",
    [
        {"post": "agg"},
        {"post": "agg", "cost": "sse"},
        {"post": "inc", "pick": "aware"},
        {"post": "inc", "pick": "nearest"},
    ],
    ids=lambda options: "-".join(options.values()),
)
@pytest.mark.slow
def test_k_primacy(options: dict[str, str], residual: str) -> None:
    rng = random.Random(f"{options} {residual}")
    for _ in range(60):
        k = rng.randint(2, 4)
        table = table_of(rng, k)
        rule = rule_of(rng, table.histogram)
        search = Search(table, k, rule, residual=residual, **options)  # pyright: ignore
        found = cases.searched(search)
        classes, suppressed = search.run()
        assert [rows.tolist() for rows in found.classes] == classes
        assert found.suppressed.tolist() == suppressed


def test_the_rarer_of_values_is_swapped_out() -> None:
    """The distance shrinks as much with either: 0.5 to 0.3 by an exchange of 0 or of 1 for 2."""
    rows = [(7,), (6,), (6,), (5,), (5,), *[(0,)] * 7]
    table = Table((Num(0, 7),), rows, [0, 0, 0, 1, 1, *[2] * 7])
    search = Search(table, 5, Close(0.3, [[0.3, 0.2, 0.5]]), "agg", residual="suppress")
    found = cases.searched(search)
    assert found.classes[0].tolist() == [0, 1, 2, 3, 5] == search.run()[0][0]


def test_fewer_than_k_records_make_no_class() -> None:
    """The two that are left would satisfy the limits; three never do."""
    table = Table((Num(0, 9),), [(0,), (1,), (2,), (7,), (8,), (9,)], [0, 0, 1, 0, 1, 1])
    search = Search(table, 3, Beta(0.2, [[0.5, 0.5]]), "inc", residual="suppress")
    found = cases.searched(search)
    assert [len(rows) for rows in found.classes] == [4]
    assert found.suppressed.tolist() == search.run()[1]


def test_nobody_is_suppressed_if_all_together_satisfy_the_limits() -> None:
    rng = random.Random("absorb")
    absorbed = 0
    for _ in range(100):
        table = table_of(rng, 6)
        rule = rule_of(rng, table.histogram)
        search = Search(table, 3, rule, rng.choice(["agg", "inc"]))
        found = cases.searched(search)
        sizes = [len(rows) for rows in found.classes]
        assert sum(sizes) + len(found.suppressed) == len(table.rows)
        assert min(sizes, default=3) >= 3
        assert all(search.holds(rows.tolist()) for rows in found.classes)
        if rule.holds(table.histogram):
            assert not len(found.suppressed)
            absorbed += 1
    assert absorbed > 20


def test_losses_and_errors_of_groups() -> None:
    rng = random.Random("groups")
    for _ in range(100):
        table = table_of(rng, 2)
        rule = rule_of(rng, table.histogram)
        rows = list(range(len(table.rows)))
        rng.shuffle(rows)
        cut = rng.randint(1, len(rows) - 1)
        parts = [np.array(rows[:cut]), np.array(rows[cut:])]
        expected = [table.ncp(rows[:cut]), table.ncp(rows[cut:])]
        assert cases.losses(table, rule, parts) == pytest.approx(expected)
        assert cases.joined_error(table, rule, *parts) == pytest.approx(table.sse(rows))


def test_equal_costs_whatever_their_rounding() -> None:
    table = Table((Num(0, 9),), [(1,), (2,), (3,)], [0, 0, 0])
    groups = cases.groups_of(table, Beta(1, [[1.0]]), [np.array([1]), np.array([0])])
    everyone = np.ones(2, dtype=bool)
    assert groups.least(np.array([0.3, 0.1 + 0.2]), everyone) == 1
    assert groups.least(np.array([0.3, 0.3 + 1e-9]), everyone) == 0


def test_losses_of_sets() -> None:
    """Alone and in an array; NULL is code 0."""
    names = Names(size=5, codes=4)
    sets = [{0}, {2}, {1, 2}, {1, 2, 3}, {0, 2}, {0, 1, 2, 3}]
    parts = names.parts(sets)
    assert names.costs(parts).tolist() == [0, 0, 0.4, 0.6, 1, 1]
    assert [names.cost(names.part(parts, at)) for at in range(6)] == [0, 0, 0.4, 0.6, 1, 1]


@pytest.mark.slow
def test_the_baseline() -> None:
    rng = random.Random("baseline")
    suppressed = 0
    for _ in range(150):
        # Some longer than what is looked at together.
        size = rng.choice([rng.randint(1, 20), 150])
        vectors = vectors_of(rng, rng.randint(1, 6))
        own = [rng.randrange(len(vectors)) for _ in range(size)]
        sensitive = [rng.randrange(3) for _ in range(size)]
        rule = rule_of(rng, [sensitive.count(v) for v in range(3)])
        k, j = rng.choice([2, 3, 70]), rng.choice([0, 0.2, 0.5, 1])
        found = js_reduce(
            np.array(own), np.array(vectors), np.array(sensitive), k, cases.limits_of(rule), j
        )
        classes, left = oracle.js_reduce([vectors[v] for v in own], sensitive, k, rule, j)
        assert [rows.tolist() for rows in found.classes] == classes
        assert found.suppressed.tolist() == left
        suppressed += bool(left) and bool(classes)
    assert suppressed > 20


# -- posteriors -------------------------------------------------------------------------------


def test_posteriors() -> None:
    rng = random.Random("posterior")
    impossible = 0
    for _ in range(60):
        counts = histogram(rng, 3, 2)
        members = sum(counts)
        vectors = vectors_of(rng, 10)
        priors = [rng.choice(vectors)[:3] for _ in range(members)]
        expected = oracle.posterior(priors, counts)
        found = posterior.exact(np.array(priors), np.array(counts))
        assert (found is None) == (expected is None)
        impossible += found is None
        if found is not None:
            assert found == pytest.approx(np.array(expected))
    assert 5 < impossible < 55


# -- against the first version ----------------------------------------------------------------


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_distances_from_given_distributions(ordered: bool, seed: int) -> None:
    """Whatever is released; values that neither of them has are in their places all the same."""
    rng = random.Random(seed)
    many = rng.randint(2, 6)
    places = list(range(many))
    known = [[rng.choice((0, 0, 3, 8)) for _ in places] for _ in range(2)]
    known = [counts if sum(counts) else [1] * many for counts in known]
    counts = np.array([rng.randint(0, 4) for _ in places])
    counts[rng.choice(places)] += 1
    limits = Fixed.to(Closeness(0.4, ordered), *known).limits(np.ones(many) / many)
    of = [[v for v, n in enumerate(found) for _ in range(n)] for found in (*known, counts)]
    *references, values = of

    def distance(reference: list[int]) -> float:
        if ordered:
            return float(definitions.t_ordered(values, reference, places))
        return float(definitions.t_equal(values, reference))

    worst = max(map(distance, references))
    assert limits.load(counts) == pytest.approx(worst / 0.4)
    assert limits.allows(counts) == (worst <= 0.4 + 1e-9)


def test_gains_over_given_distributions() -> None:
    """The smaller of both shares decides, and a value that one of them lacks may not come."""
    limits = Fixed.to(Likeness(1, "basic"), [6, 2, 2], [8, 2, 0]).limits()
    assert limits.allows(np.array([8, 2, 0]))
    assert not limits.allows(np.array([6, 4, 1]))
    assert limits.allows(np.array([6, 4, 0]))
    assert not limits.allows(np.array([5, 5, 0]))
