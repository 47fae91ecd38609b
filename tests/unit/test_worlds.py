"""Worlds of slicing and SLAMSA: worked examples, and theorems on random releases."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support import anatomy_oracle
from tests.support.by_hand import aligned, independent
from tests.support.registry import BUCKETS, LINKED, QUASI, ROWS, by_cancer, records, worked
from tests.support.sliced_measures import Query, equal, estimate, matches, variance
from tests.support.sliced_oracle import Published, Row, Rule, degree, holder, v2, v5, values
from tests.support.worlds import Adversary, Weight, knows, number, of_person, posteriors, worlds

HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
PEOPLE = [{name: row[name] for part in QUASI for name in part} for row in ROWS]
WOMEN = Rule(lambda person: person["sex"] == "F", "cancer", "Prostate")
BOTH = ("cancer", "symptom")
ADVANCED = knows(BOTH, {(row["cancer"], row["symptom"]) for row in ROWS})
FOUR = records(("person", *BOTH), LINKED)
PAIRS = knows(BOTH, {(row["cancer"], row["symptom"]) for row in FOUR})


def two_partitions() -> Published:
    """Cancers and symptoms of the registry, without dates."""
    groups = [BUCKETS[name] for name in BOTH]
    return independent(ROWS, groups, [["cancer"], ["symptom"]], [["sex", "age", "zip"]])


# -- the registry -------------------------------------------------------------------------------


def test_who_knows_nothing() -> None:
    for release, known in ((worked(), Adversary(population=PEOPLE)), (by_cancer(["cancer"]), None)):
        found = of_person(release, PEOPLE[1], "cancer", known or Adversary())
        assert found == {"Colon": THIRD, "Prostate": THIRD, "Lung": THIRD}
    bucket = aligned([ROWS[i] for i in (1, 2, 4)], [2] * 3, [["cancer"]], [["sex", "age"]])
    assert number(bucket) == 6
    assert number(bucket, Adversary(rules=[WOMEN])) == 4


def test_a_rule_breaks_the_bound() -> None:
    """No woman has prostate cancer: the group with one woman says more of all three."""
    release = by_cancer(["cancer"])
    assert number(release, Adversary(rules=[WOMEN])) == 4**3
    found = posteriors(release, "cancer", Adversary(rules=[WOMEN]))
    assert found[1] == {"Colon": HALF, "Lung": HALF}
    assert found[2] == found[4] == {"Prostate": HALF, "Lung": QUARTER, "Colon": QUARTER}
    for person, shares in zip(ROWS, found, strict=True):
        assert shares.get("Prostate", 0) == (HALF if person["sex"] == "M" else 0)
        assert person["sex"] == "M" or set(shares.values()) == {HALF}
        assert person["sex"] == "F" or sorted(shares.values()) == [QUARTER, QUARTER, HALF]


def test_a_rule_where_the_qit_is_sliced() -> None:
    known = Adversary(rules=[WOMEN], population=PEOPLE)
    whole = posteriors(by_cancer(["cancer"]), "cancer", Adversary(rules=[WOMEN]))
    for person, expected in zip(PEOPLE, whole, strict=True):
        assert of_person(worked(), person, "cancer", known) == expected


def test_strata_keep_a_rule_harmless() -> None:
    """With two cancers per group and no group of both sexes, the rule tells nothing."""
    groups = [1, 0, 1, 0, 2, 3, 3, 0, 2]
    release = aligned(ROWS, groups, [["cancer"]], [["sex", "age", "zip"]])
    assert v2(release, 2) == v5(release, [WOMEN]) == []
    known = Adversary(rules=[WOMEN])
    assert posteriors(release, "cancer", known) == posteriors(release, "cancer")


# -- independent groups and what goes together --------------------------------------------------


def test_linking_discloses_everything() -> None:
    groups = [[1, 1, 2, 2], [1, 2, 1, 2]]
    release = independent(FOUR, groups, [["cancer"], ["symptom"]], [["person"]])
    assert v2(release, 2) == []
    assert number(release) == 16
    for column in BOTH:
        assert all(set(s.values()) == {HALF} for s in posteriors(release, column))
    assert number(release, PAIRS) == 1
    assert posteriors(release, "cancer", PAIRS) == [{row["cancer"]: 1} for row in FOUR]
    shared = aligned(FOUR, groups[0], [["cancer"], ["symptom"]], [["person"]])
    assert number(shared, PAIRS) == 4
    assert all(set(s.values()) == {HALF} for s in posteriors(shared, "cancer", PAIRS))


def test_linking_in_the_registry() -> None:
    release = two_partitions()
    assert number(release) == 46_656
    assert number(release, ADVANCED) == 16
    found = posteriors(release, "cancer", ADVANCED)
    assert found[0] == found[4] == {"Lung": HALF, "Prostate": HALF}
    assert found[1] == {"Colon": HALF, "Lung": QUARTER, "Prostate": QUARTER}
    eighths = Fraction(3, 8)
    assert found[6] == {"Liver": QUARTER, "Lung": eighths, "Prostate": eighths}
    counts = Counter((row["cancer"], row["symptom"]) for row in ROWS)
    assert posteriors(release, "cancer", Adversary(BOTH, counts)) == found


def test_aligned_groups_in_the_registry() -> None:
    release = by_cancer(["cancer"], ["symptom"])
    assert number(release, ADVANCED) == 216
    found = posteriors(release, "cancer", ADVANCED)
    assert all(sorted(shares.values()) == [THIRD] * 3 for shares in found)


def test_a_second_release_discloses_everything() -> None:
    """Both releases are aligned; the same cancer is dealt twice, and must be the same."""
    twice = [{**row, "again": row["cancer"]} for row in FOUR]
    first, second = [1, 1, 2, 2], [1, 2, 2, 1]
    for column, groups in (("cancer", first), ("again", second)):
        alone = aligned(twice, groups, [[column]], [["person"]])
        assert degree(alone) == 2
        assert all(set(s.values()) == {HALF} for s in posteriors(alone, column))
    release = independent(twice, [first, second], [["cancer"], ["again"]], [["person"]])
    same = knows(["cancer", "again"], {(row["cancer"],) * 2 for row in FOUR})
    assert number(release, same) == 1
    assert posteriors(release, "cancer", same) == [{row["cancer"]: 1} for row in FOUR]


# -- small groups -------------------------------------------------------------------------------


def test_frequent_values() -> None:
    rows = [{"q": i, "d": d} for i, d in enumerate(["Flu"] * 8 + ["HIV", "Cancer"])]
    found = posteriors(aligned(rows[2:], [1] * 8, [["d"]], [["q"]]), "d")
    assert found[0]["Flu"] == Fraction(6, 8)
    residual = [{"q": i, "d": d} for i, d in enumerate("FGFGFHFF")]
    found = posteriors(aligned(residual, [1, 1, 2, 2, 3, 3, 4, 4], [["d"]], [["q"]]), "d")
    assert found[6] == found[7] == {"F": 1}


def test_tuple_level_bounds_no_column() -> None:
    rows = [{"q": i, "cancer": "Lung", "physician": p} for i, p in enumerate(["Ann", "Bob", "Cy"])]
    release = aligned(rows, [1] * 3, [["cancer", "physician"]], [["q"]])
    assert v2(release, 3, "tuple") == []
    assert posteriors(release, "cancer") == [{"Lung": 1}] * 3
    assert all(set(s.values()) == {THIRD} for s in posteriors(release, "physician"))


def test_null_is_a_value() -> None:
    rows = [{"q": i, "d": d} for i, d in enumerate(["flu", None, None, "cold"])]
    release = aligned(rows, [1] * 4, [["d"]], [["q"]])
    assert posteriors(release, "d")[0] == {"flu": QUARTER, None: HALF, "cold": QUARTER}


def test_impossible_knowledge() -> None:
    release = aligned(FOUR, [1] * 4, [["cancer"]], [["person"]])
    assert number(release, knows(["cancer"], {("Lung",)})) == 0
    assert posteriors(release, "cancer", knows(["cancer"], {("Lung",)})) == [{}] * 4
    with pytest.raises(ValueError, match="different numbers"):
        number(replace(release, qits=[release.qits[0][:3]]))


# -- random releases ----------------------------------------------------------------------------


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
