"""Measures of slicing and SLAMSA against worked examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles import anatomy as anatomy_oracle
from tests.support.oracles.sliced import Row
from tests.support.oracles.sliced_measures import (
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
from tests.support.oracles.sliced_risks import Membership, informed, membership
from tests.support.sources import registry
from tests.support.sources.by_hand import aligned, independent
from tests.support.sources.registry import (
    BUCKETS,
    DISEASES,
    ROWS,
    by_cancer,
    of_anatomy,
    records,
    worked,
)


def young(age: int) -> bool:
    return age < 30


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


@pytest.mark.parametrize(
    ("groups", "error", "expected", "spread"),
    [
        ([[1, 2, 3, 4], [5, 6, 7, 8]], Fraction(9, 2), 1, Fraction(1, 3)),
        ([[2, 5], [1, 8], [3, 7], [6, 4]], 4, Fraction(1, 2), Fraction(1, 4)),
    ],
)
def test_anatomy(groups: Any, error: Fraction, expected: Fraction, spread: Fraction) -> None:
    release = of_anatomy(groups)
    query = {
        "age": lambda age: age <= 30,
        "zip": lambda code: 10001 <= code <= 20000,
        "disease": equal("pneumonia"),
    }
    assert reconstruction_error(release, "disease") == error
    assert (estimate(release, query), variance(release, query)) == (expected, spread)


def test_sizes() -> None:
    release = of_anatomy([[2, 5], [1, 8], [3, 7, 6, 4]])
    assert histogram(release.sts[0]) == histogram(release.qits[0]) == {2: 2, 4: 1}
    assert discernibility(release.qits[0]) == 24
    assert additional_loss(release.sts[0], 2) == Fraction(1, 3)
    assert additional_loss([], 2) is None
    assert suppression(2, 8) == Fraction(1, 4)


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
