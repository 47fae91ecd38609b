"""Predicates of slicing and SLAMSA against worked examples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles import anatomy as anatomy_oracle
from tests.support.oracles.sliced import (
    Published,
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
from tests.support.sources import registry
from tests.support.sources.by_hand import aligned, independent
from tests.support.sources.registry import BUCKETS, ROWS, WOMEN, by_cancer, of_anatomy, worked

NAMES = list(registry.COLUMNS)[1:]


def bucket(column: str, *values: Any) -> Published:
    """One group of those values."""
    rows = [{"q": i, column: value} for i, value in enumerate(values)]
    return aligned(rows, [1] * len(values), [[column]], [["q"]])


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
    assert v2(bucket("d", *"abc"), 3, "unique") == []
    assert v2(bucket("d", *"abc"), 4, "unique") == [("d", 1)]


@pytest.mark.parametrize(
    ("values", "passes"),
    [(["flu", None, None, "cold"], True), ([None, None, None, "cold"], False), ([None] * 3, False)],
)
def test_null_is_a_value(values: list[str | None], passes: bool) -> None:
    assert (v2(bucket("d", *values), 2) == []) is passes


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
    assert v3(of_anatomy([[2, 5], [1, 8], [3, 7, 6, 4]]), 3) == [
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
