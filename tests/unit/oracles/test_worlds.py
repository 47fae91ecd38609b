"""Worlds of slicing and SLAMSA: worked examples."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.oracles.sliced import Published, degree, v2, v5
from tests.support.oracles.worlds import Adversary, knows, number, of_person, posteriors
from tests.support.sources.by_hand import aligned, independent
from tests.support.sources.registry import (
    BUCKETS,
    LINKED,
    QUASI,
    ROWS,
    WOMEN,
    by_cancer,
    records,
    worked,
)

HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
PEOPLE = [{name: row[name] for part in QUASI for name in part} for row in ROWS]
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


def test_equal_rows_are_dealt_in_many_ways() -> None:
    rows = [{"q": i, "d": d, "e": d} for i, d in enumerate("aab")]
    release = aligned(rows, [1] * 3, [["d"], ["e"]], [["q"]])
    assert release.sts[0][0]["count"] == 2
    assert number(release) == 36
    assert number(release, knows("de", {("a", "a"), ("b", "b")})) == 12


def test_a_person_of_several_candidates() -> None:
    """One record matches in every world, another in half of them."""
    rows = [
        {"q": "m", "r": 1, "d": "x"},
        {"q": "m", "r": 1, "d": "y"},
        {"q": "n", "r": 2, "d": "z"},
    ]
    release = independent(rows, [[1, 2, 3]], [["d"]], [["q"], ["r"]], [1, 2, 2])
    found = of_person(release, {"q": "m", "r": 1}, "d")
    assert found == {"x": Fraction(3, 4), "y": QUARTER}
    everybody = [{"q": row["q"], "r": row["r"]} for row in rows]
    found = of_person(release, everybody[0], "d", Adversary(population=everybody))
    assert found == {"x": HALF, "y": HALF}


def test_a_prior_of_all_records() -> None:
    """Weights of vectors are a prior, too."""
    rng = random.Random(12)
    vectors = {(a["cancer"], b["symptom"]): rng.randint(0, 3) for a in FOUR for b in FOUR}
    known = Adversary(BOTH, vectors)
    prior = Adversary(prior=lambda world: math.prod(known.weight({}, held) for held in world))
    groups = [[1, 1, 2, 2], [1, 2, 1, 2]]
    release = independent(FOUR, groups, [["cancer"], ["symptom"]], [["person"]])
    found = posteriors(release, "cancer", known)
    assert found == posteriors(release, "cancer", prior) != posteriors(release, "cancer")
    assert {} not in found


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
