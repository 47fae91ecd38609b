"""What slicing and SLAMSA promise, on random releases and all of their worlds."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.oracles import anatomy as anatomy_oracle
from tests.support.oracles.sliced import Published, Row, Rule, holder, v2, values
from tests.support.oracles.sliced_measures import Query, equal, estimate, matches, variance
from tests.support.oracles.worlds import Adversary, Weight, of_person, posteriors, worlds
from tests.support.sources.by_hand import aligned, independent

CONDITIONS: Query = {
    "q": equal("m"),
    "r": lambda number: number % 2 == 0,
    "a": equal("x"),
    "b": equal(None),
}


def table(rng: random.Random, size: int) -> list[Row]:
    return [
        {"q": rng.choice("mno"), "r": i, "a": rng.choice("xyz"), "b": rng.choice(["u", "v", None])}
        for i in range(size)
    ]


def partition(rng: random.Random, size: int, most: int = 3) -> list[int]:
    """Groups of at most that many records."""
    groups = [i // most for i in range(size)]
    rng.shuffle(groups)
    return groups


def random_release(rng: random.Random, size: int, *, shared: bool, sliced: bool) -> Published:
    rows, quasi = table(rng, size), [["q"], ["r"]] if sliced else [["q", "r"]]
    if shared:
        return aligned(rows, partition(rng, size), [["a"], ["b"]], quasi)
    groups = [partition(rng, size), partition(rng, size)]
    slices = partition(rng, size, 2) if sliced else None
    return independent(rows, groups, [["a"], ["b"]], quasi, slices)


def frequencies(p: Published, column: str) -> list[dict[object, Fraction]]:
    """Share of every value in the group of every record."""
    j, st = holder(p, column)
    held = values(st, [column])
    groups = [held[p.link(row, j)] for row in p.qits[-1]]
    return [{v: Fraction(n, g.total()) for (v,), n in g.items()} for g in groups]


def test_worlds_against_permutations() -> None:
    """Dealing rows one by one gives what permutations of whole groups give."""
    rng = random.Random(3)
    impossible = 0
    for _ in range(60):
        rows, groups = table(rng, 6), partition(rng, 6)
        release = aligned(rows, groups, [["a"]], [["q", "r"]])
        qit = [(row["group_id"], row["q"]) for row in release.qits[0]]
        st = [(row["group_id"], row["a"], row["count"]) for row in release.sts[0]]
        never = Rule(lambda person: person["q"] == "m", "a", "x")

        def possible(world: Sequence[str], qit: Sequence[tuple[int, str]] = qit) -> bool:
            return all(q != "m" or v != "x" for (_, q), v in zip(qit, world, strict=True))

        expected = anatomy_oracle.posteriors(qit, st, possible)
        found = posteriors(release, "a", Adversary(rules=[never]))
        assert found == [{v: n for v, n in shares.items() if n} for shares in expected]
        impossible += found == [{}] * 6
        assert posteriors(release, "a") == anatomy_oracle.posteriors(qit, st)
    assert 0 < impossible < 40


@pytest.mark.parametrize("shared", [True, False])
def test_frequencies_bound_one_column(shared: bool) -> None:
    """Without knowledge, a value is as probable as it is frequent in the group."""
    rng = random.Random(4)
    for _ in range(100):
        release = random_release(rng, rng.randint(2, 9), shared=shared, sliced=False)
        for column in "ab":
            found = posteriors(release, column)
            assert found == frequencies(release, column)
            for l in (1, 2, 3):  # noqa: E741
                bounded = all(l * p <= 1 for shares in found for p in shares.values())
                assert bounded == (not v2(release, {column: l}))


@pytest.mark.parametrize("shared", [True, False])
def test_frequencies_bound_one_column_of_a_sliced_qit(shared: bool) -> None:
    """Whoever matches several records has a mean of the shares of their groups."""
    rng = random.Random(5)
    for _ in range(40):
        release = random_release(rng, 4, shared=shared, sliced=True)
        most = max(p for shares in frequencies(release, "a") for p in shares.values())
        for row in release.qits[-1]:
            found = of_person(release, {"r": row["r"]}, "a")
            group = row["group_id"] if shared else row["st1_group_id"]
            held = values(release.sts[0], ["a"])[group]
            assert found == {v: Fraction(n, held.total()) for (v,), n in held.items()}
        found = of_person(release, {"q": release.qits[0][0]["q"]}, "a")
        assert max(found.values()) <= most


@pytest.mark.parametrize("shared", [True, False])
def test_columns_of_different_tables_are_independent(shared: bool) -> None:
    rng = random.Random(6)
    for _ in range(40):
        release = random_release(rng, 4, shared=shared, sliced=False)
        alone = {column: posteriors(release, column) for column in "ab"}
        joint: list[dict[object, Weight]] = [defaultdict(int) for _ in range(4)]
        total: Weight = 0
        for weight, world in worlds(release):
            total += weight
            for counts, (_, held) in zip(joint, world, strict=True):
                counts[held["a"], held["b"]] += weight
        for record, counts in enumerate(joint):
            for a, b in itertools.product("xyz", ["u", "v", None]):
                expected = alone["a"][record].get(a, 0) * alone["b"][record].get(b, 0)
                assert Fraction(counts[a, b]) / total == expected


def weights(rng: random.Random) -> Adversary:
    """Random weights of the vectors; none is impossible."""
    return Adversary("ab", {v: rng.randint(1, 9) for v in itertools.product("xyz", "uvN")})


def exchangeable(rng: random.Random) -> Adversary:
    """A mixture of populations, each with weights of its own: people are not independent."""
    parts = [weights(rng) for _ in range(2)]

    def prior(world: Sequence[Row]) -> Fraction | int:
        return sum(math.prod(part.weight({}, held) for held in world) for part in parts)

    return Adversary(prior=prior)


@pytest.mark.parametrize("prior", [weights, exchangeable])
def test_aligned_groups_withstand_knowledge_of_vectors(prior: object) -> None:
    """Any exchangeable prior leaves the frequencies, and the release of the table too."""
    rng = random.Random(7)
    for _ in range(40):
        size = rng.randint(2, 6)
        rows = [{**row, "b": row["b"] or "N"} for row in table(rng, size)]
        release = aligned(rows, partition(rng, size), [["a"], ["b"]], [["q", "r"]])
        known = prior(rng)  # type: ignore[operator]
        for column in "ab":
            assert posteriors(release, column, known) == frequencies(release, column)


def test_aligned_groups_of_a_sliced_qit_withstand_it() -> None:
    rng = random.Random(10)
    for _ in range(12):
        rows = [{**row, "b": row["b"] or "N", "r": rng.choice("ij")} for row in table(rng, 5)]
        release = aligned(rows, partition(rng, 5), [["a"], ["b"]], [["q"], ["r"]])
        people = [{"q": row["q"], "r": row["r"]} for row in rows]
        for person in people:
            expected = of_person(release, person, "a", Adversary(population=people))
            known = replace(weights(rng), population=people)
            assert of_person(release, person, "a", known) == expected


def test_independent_groups_do_not_withstand_it() -> None:
    rng = random.Random(8)
    moved = 0
    for _ in range(12):
        rows = [{**row, "b": row["b"] or "N"} for row in table(rng, 5)]
        groups = [partition(rng, 5), partition(rng, 5)]
        release = independent(rows, groups, [["a"], ["b"]], [["q", "r"]])
        moved += posteriors(release, "a", weights(rng)) != frequencies(release, "a")
    assert moved > 6


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("sliced", [True, False])
def test_estimates_are_moments_over_all_worlds(shared: bool, sliced: bool) -> None:
    rng = random.Random(9)
    for _ in range(15):
        release = random_release(rng, 4, shared=shared, sliced=sliced)
        for asked in ("qa", "qab", "ra", "ab", "qr", "rqab"):
            query = {name: CONDITIONS[name] for name in asked}
            counts = [
                (weight, sum(matches(vector | held, query) for vector, held in world))
                for weight, world in worlds(release)
            ]
            total = sum(weight for weight, _ in counts)
            mean = Fraction(sum(weight * n for weight, n in counts), total)
            square = Fraction(sum(weight * n * n for weight, n in counts), total)
            assert estimate(release, query) == mean
            assert variance(release, query) == square - mean**2
