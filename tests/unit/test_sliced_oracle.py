"""The oracles of slicing and SLAMSA against worked examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.support import anatomy_oracle, registry
from tests.support.by_hand import aligned, independent
from tests.support.registry import ANATOMY, BUCKETS, DISEASES, ROWS, by_cancer, records, worked
from tests.support.sliced_measures import (
    actual_pdf,
    additional_loss,
    combinations,
    discernibility,
    divergence,
    equal,
    estimate,
    estimated_pdf,
    histogram,
    kl,
    matches,
    mean_kl,
    reconstruction_error,
    same,
    suppression,
    variance,
)
from tests.support.sliced_oracle import (
    Published,
    Row,
    Rule,
    degree,
    degrees,
    v1,
    v2,
    v3,
    v4,
    v5,
    v6,
    v8,
)
from tests.support.sliced_risks import Membership, informed, membership

NAMES = list(registry.COLUMNS)[1:]
WOMEN = Rule(lambda person: person["sex"] == "F", "cancer", "Prostate")
EIGHT = records(DISEASES, ANATOMY)


def young(age: int) -> bool:
    return age < 30


def bucket(column: str, *values: Any) -> Published:
    """One group of those values."""
    rows = [{"q": i, column: value} for i, value in enumerate(values)]
    return aligned(rows, [1] * len(values), [[column]], [["q"]])


def by_hand(groups: Sequence[Sequence[int]]) -> Published:
    """Groups of the eight patients by numbers from 1."""
    of = {record: number for number, group in enumerate(groups, 1) for record in group}
    return aligned(EIGHT, [of[i] for i in range(1, 9)], [["disease"]], [["age", "sex", "zip"]])


# -- the registry -------------------------------------------------------------------------------


def test_the_worked_release() -> None:
    release = worked()
    assert v1(release) == v2(release, 3) == v3(release, 3, 3) == v4(release) == []
    assert v6(release, ["patient", "id"]) == v8(release, NAMES) == []
    assert set(degrees(release).values()) == {3}
    assert release.sts[0][:3] == [
        {"group_id": 1, "cancer": "Lung", "treatment": "Chemotherapy", "count": 1},
        {"group_id": 2, "cancer": "Colon", "treatment": "Surgery", "count": 1},
        {"group_id": 2, "cancer": "Prostate", "treatment": "Chemotherapy", "count": 1},
    ]
    link = {"group_id": 2, "st1_group_id": 2, "st2_group_id": 1, "st3_group_id": 2}
    assert {**link, "zip": 68079, "count": 1} in release.qits[1]


def test_rules_of_the_registry() -> None:
    expected = [("cancer", 1), ("cancer", 2), ("cancer", 3)]
    assert v5(worked(), [WOMEN]) == v5(by_cancer(["cancer"]), [WOMEN]) == expected
    assert v5(worked(), [replace(WOMEN, value="Colon")]) == [("cancer", 2)]
    cancers = {sex: [r["cancer"] for r in ROWS if r["sex"] == sex] for sex in "MF"}
    assert anatomy_oracle.largest_l(cancers["M"]) == 2
    assert anatomy_oracle.largest_l(cancers["F"]) == 3
    treatments = [r["treatment"] for r in ROWS if r["sex"] == "F"]
    assert not anatomy_oracle.eligible(treatments, 2)


def test_estimates_of_the_registry() -> None:
    release = by_cancer(["cancer", "treatment"])
    for query, expected, spread in (
        ({"sex": equal("M"), "cancer": equal("Lung")}, 2, Fraction(2, 3)),
        ({"age": young, "cancer": equal("Prostate")}, Fraction(5, 3), Fraction(2, 9)),
        ({"age": young, "cancer": equal("Lung"), "treatment": equal("Radiation")}, 1, 0),
    ):
        assert estimate(release, query) == expected
        assert variance(release, query) == spread


def test_estimates_over_several_tables() -> None:
    query = {"sex": equal("M"), "cancer": equal("Lung"), "symptom": equal("Cough")}
    groups = [BUCKETS["cancer"], BUCKETS["symptom"]]
    tables = [["cancer"], ["symptom"]]
    for release in (
        independent(ROWS, groups, tables, [["sex", "age", "zip"]]),
        by_cancer(*tables),
    ):
        assert estimate(release, query) == Fraction(4, 9)
    sliced = {"age": young, "zip": equal(68079), "cancer": equal("Colon")}
    assert estimate(worked(), sliced) == Fraction(2, 9)
    assert variance(worked(), sliced) == Fraction(14, 81)


def test_what_relations_join_to() -> None:
    tables = [["cancer", "treatment"], ["symptom"]]
    queries = (
        {},
        {"age": young, "zip": equal(68079), "cancer": equal("Colon")},
        {"sex": equal("F"), "cancer": equal("Lung"), "treatment": equal("Surgery")},
        {"treatment": equal("Surgery"), "symptom": equal("Cough")},
    )
    for release in (worked(), by_cancer(*tables)):
        joined = list(combinations(release))
        for query in queries:
            found = sum(n for vector, n in joined if matches(vector, query))
            assert found == estimate(release, query)


def test_variance_of_one_table_is_hypergeometric() -> None:
    release = by_cancer(["cancer", "treatment"])
    qit = [(row["group_id"], row) for row in release.qits[0]]
    st = [(row["group_id"], row["cancer"], row["count"]) for row in release.sts[0]]
    for cancer in ("Lung", "Prostate", "Liver", "Colon"):
        query = {"age": young, "cancer": equal(cancer)}
        expected = anatomy_oracle.estimate(qit, st, lambda r: young(r["age"]), equal(cancer))
        assert (estimate(release, query), variance(release, query)) == expected


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ({"sex": same}, (0, 0.405465, 0.058892, 1.098612)),
        ({"sex": same, "age": young}, (0.828302, 0.462098, 0.549306, 1.098612)),
    ],
)
def test_divergence_in_the_registry(by: Any, expected: Sequence[float]) -> None:
    release = by_cancer(["cancer"])
    for cancer, wanted in zip(("Lung", "Prostate", "Liver", "Colon"), expected, strict=True):
        assert kl(release, ROWS, by, {"cancer": equal(cancer)}) == pytest.approx(wanted, abs=1e-6)
    assert kl(release, ROWS, by, {"cancer": equal("Skin")}) is None


@pytest.mark.parametrize("names", [("sex",), ("zip",), ("zip", "sex"), ("age", "zip", "sex")])
def test_shares_are_those_of_estimates(names: Sequence[str]) -> None:
    """Cells of columns of one QIT, or of several."""
    by = {name: young if name == "age" else same for name in names}
    condition = {"cancer": equal("Lung"), "sex": equal("M"), "symptom": equal("Cough")}
    for release in (worked(), by_cancer(["cancer"], ["symptom"])):
        cells = set(actual_pdf(ROWS, by, {}))
        found = estimated_pdf(release, cells, by, condition)
        joined = list(combinations(release))
        expected = {
            cell: sum(
                n
                for vector, n in joined
                if matches(vector, condition)
                and cell == tuple(part(vector[name]) for name, part in by.items())
            )
            for cell in cells
        }
        total = sum(expected.values())
        assert found == {cell: n / total for cell, n in expected.items()}


def test_membership() -> None:
    names = ["sex", "age", "zip"]
    assert membership(worked(), ROWS, names) == Membership(9, 24, 15)
    assert membership(by_cancer(["cancer"]), ROWS, names) == Membership(9, 9, 0)
    patients = records(DISEASES, registry.SLICING)
    columns = [["age", "sex"], ["zip", "disease"]]
    release = aligned(patients, [1] * 4 + [2] * 4, [], columns)
    assert membership(release, patients, DISEASES) == Membership(8, 28, 20)


def test_who_knows_pairs() -> None:
    groups = [BUCKETS["cancer"], BUCKETS["symptom"]]
    release = independent(ROWS, groups, [["cancer"], ["symptom"]], [["sex", "age", "zip"]])
    risk = [informed(release, ROWS, row, "cancer", ["symptom"]) for row in release.qits[0]]
    assert risk[0]["Lung"] == max(risk[0].values()) == Fraction(4, 11)
    assert risk[1]["Colon"] == max(risk[1].values()) == Fraction(3, 7)
    assert risk[4] == {"Colon": 0, "Prostate": Fraction(1, 2), "Lung": Fraction(1, 2)}
    assert max(max(shares.values()) for shares in risk) == Fraction(1, 2)


# -- smaller tables -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "error", "expected", "spread"),
    [
        ([[1, 2, 3, 4], [5, 6, 7, 8]], Fraction(9, 2), 1, Fraction(1, 3)),
        ([[2, 5], [1, 8], [3, 7], [6, 4]], 4, Fraction(1, 2), Fraction(1, 4)),
    ],
)
def test_anatomy(groups: Any, error: Fraction, expected: Fraction, spread: Fraction) -> None:
    release = by_hand(groups)
    query = {
        "age": lambda age: age <= 30,
        "zip": lambda code: 10001 <= code <= 20000,
        "disease": equal("pneumonia"),
    }
    assert reconstruction_error(release, "disease") == error
    assert (estimate(release, query), variance(release, query)) == (expected, spread)


def test_sizes() -> None:
    release = by_hand([[2, 5], [1, 8], [3, 7, 6, 4]])
    assert histogram(release.sts[0]) == histogram(release.qits[0]) == {2: 2, 4: 1}
    assert discernibility(release.qits[0]) == 24
    assert additional_loss(release.sts[0], 2) == Fraction(1, 3)
    assert additional_loss([], 2) is None
    assert suppression(2, 8) == Fraction(1, 4)


def test_a_residual_group() -> None:
    values = "FGFGFHFF"
    rows = [{"q": i, "d": d} for i, d in enumerate(values)]
    release = aligned(rows, [1, 1, 2, 2, 3, 3, 4, 4], [["d"]], [["q"]])
    assert v2(release, 2) == [("d", 4)]
    assert v3(release, 2, 2) == []
    assert degree(release) == 1
    with pytest.raises(anatomy_oracle.NotEligible, match="5 of 8, allows at most 4"):
        anatomy_oracle.require(anatomy_oracle.column(*values), 2)


def test_distinct_is_not_frequency() -> None:
    release = bucket("d", *["Flu"] * 8, "HIV", "Cancer")
    assert degrees(release) == {"d": Fraction(5, 4)}
    assert v2(release, 3) == [("d", 1)]


def test_levels() -> None:
    rows = [{"q": i, "cancer": "Lung", "physician": p} for i, p in enumerate(["Ann", "Bob", "Cy"])]
    release = aligned(rows, [1] * 3, [["cancer", "physician"]], [["q"]])
    assert v2(release, 3, "tuple") == []
    assert v2(release, 3) == v2(release, 3, "unique") == [("cancer", 1)]
    assert v2(release, 4, "tuple") == [("st1", 1)]
    assert v2(release, {"physician": 3}) == []
    assert v2(release, {"cancer": 2, "physician": 3}) == [("cancer", 1)]
    assert v2(release, {}, "tuple") == []
    assert degrees(release) == {"cancer": 1, "physician": 3}
    assert v2(bucket("d", *"aabb"), 2) == []
    assert v2(bucket("d", *"aabb"), 2, "unique") == [("d", 1)]


@pytest.mark.parametrize(
    ("values", "passes"),
    [(["flu", None, None, "cold"], True), ([None, None, None, "cold"], False), ([None] * 3, False)],
)
def test_null_is_a_value(values: list[str | None], passes: bool) -> None:
    assert (v2(bucket("d", *values), 2) == []) is passes


def test_suppression_may_make_divergence_infinite() -> None:
    rows: list[Row] = [{"q": q, "s": s} for q, s in ("ax", "ay", "bx", "cz")]
    by, condition = {"q": same}, {"s": equal("x")}
    release = aligned(rows, [1, 1, 2, 2], [["s"]], [["q"]])
    actual = actual_pdf(rows, by, condition)
    assert actual == {("a",): Fraction(1, 2), ("b",): Fraction(1, 2), ("c",): 0}
    shares = estimated_pdf(release, actual, by, condition)
    assert shares == {("a",): Fraction(1, 2), ("b",): Fraction(1, 4), ("c",): Fraction(1, 4)}
    assert [estimate(release, {**condition, "q": equal(q)}) for q in "abc"] == [
        1,
        Fraction(1, 2),
        Fraction(1, 2),
    ]
    whole = divergence(actual, shares)
    assert whole == pytest.approx(0.346574, abs=1e-6)
    some = aligned(rows[:2], [1, 1], [["s"]], [["q"]])
    less = kl(some, rows, by, condition)
    assert less == math.inf
    assert mean_kl([whole, less, None, less]) == (whole, 2)
    assert mean_kl([less]) == (None, 1)


# -- what predicates find -----------------------------------------------------------------------


def changed(release: Published, *, qits: Any = None, sts: Any = None) -> Published:
    return replace(release, qits=qits or release.qits, sts=sts or release.sts)


def test_unequal_sides() -> None:
    release = by_cancer(["cancer"], ["symptom"])
    assert v1(changed(release, qits=[release.qits[0][:-1]])) == [("st1", 3), ("st2", 3)]
    more = [*release.sts[1], {"group_id": 4, "symptom": "Cough", "count": 1}]
    assert v1(changed(release, sts=[release.sts[0], more])) == [("st2", 4)]
    assert v4(changed(release, sts=[release.sts[0], more])) == [("st2", 4)]
    empty = [*release.sts[1], {"group_id": 3, "symptom": "Rash", "count": 0}]
    assert v1(changed(release, sts=[release.sts[0], empty])) == [("st2", 3)]
    sliced = worked()
    assert v1(changed(sliced, qits=[sliced.qits[0][1:], sliced.qits[1]])) == [("qit1", 1)]
    assert v1(changed(sliced, sts=[*sliced.sts[:2], sliced.sts[2][3:]])) != []


def test_small_groups() -> None:
    assert v3(worked(), 3, 4) == [(f"st{j}", g) for j in (1, 2, 3) for g in worked_groups(j)]
    assert v3(worked(), 4)[:3] == [("qit1", 1), ("qit1", 2), ("qit1", 3)]
    assert v3(by_hand([[2, 5], [1, 8], [3, 7, 6, 4]]), 3) == [
        (name, g) for name in ("qit1", "st1") for g in (2, 1)
    ]


def worked_groups(table: int) -> list[int]:
    return list(dict.fromkeys(row["group_id"] for row in worked().sts[table - 1]))


def test_not_aligned() -> None:
    groups = [BUCKETS["cancer"], BUCKETS["symptom"]]
    release = independent(ROWS, groups, [["cancer"], ["symptom"]], [["sex", "age", "zip"]])
    assert v4(release) == []
    assert ("qit1", None) in v4(replace(release, links="aligned"))


def test_rules_over_parts_of_a_sliced_qit() -> None:
    rows = [
        {"sex": "F", "age": 20, "d": "x"},
        {"sex": "M", "age": 40, "d": "y"},
        {"sex": "F", "age": 20, "d": "x"},
        {"sex": "M", "age": 20, "d": "y"},
    ]
    never = Rule(lambda r: r["sex"] == "F" and r["age"] == 40, "d", "y")
    whole = aligned(rows, [1, 1, 2, 2], [["d"]], [["sex", "age"]])
    sliced = aligned(rows, [1, 1, 2, 2], [["d"]], [["sex"], ["age"]])
    assert v5(whole, [never]) == []
    assert v5(sliced, [never]) == [("d", 1)]
    apart = independent(rows, [[1, 2, 3, 4]], [["d"]], [["sex"], ["age"]], [1, 1, 2, 2])
    assert v5(apart, [never]) == [("d", 2)]


def test_columns() -> None:
    release = by_cancer(["cancer"], ["symptom"])
    assert v6(release, ["zip"]) == [("zip", None)]
    twice = by_cancer(["cancer", "treatment"], ["cancer"])
    assert v6(twice, []) == [("cancer", None)]
    flagged = [{**row, "residual": row["group_id"] == 3} for row in release.sts[0]]
    assert v8(changed(release, sts=[flagged, release.sts[1]]), NAMES) == [("residual", None)]
    exempt = [*release.qits[0][1:], {**release.qits[0][0], "group_id": None}]
    assert v8(changed(release, qits=[exempt]), NAMES) == [("qit1", None)]
