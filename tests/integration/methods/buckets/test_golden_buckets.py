"""Worked examples of Anatomy, slicing and SLAMSA, on releases that were made and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from pganon.forms.request import Request
from pganon.methods.buckets.metrics.report import BucketMetrics
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.oracles.sliced import Published, v5
from tests.support.oracles.sliced_measures import Query, equal, estimate, variance
from tests.support.oracles.worlds import Adversary, Shares, knows, posteriors
from tests.support.sources import registry
from tests.support.sources.builders import make_table, policy
from tests.support.sources.given_buckets import run_with
from tests.support.sources.registry import ANATOMY, BUCKETS, DISEASES, ROWS, SENSITIVE, WOMEN
from tests.support.sources.slamsa import Asked, buckets, check, shown

pytestmark = pytest.mark.primary_server_only

HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
PATIENTS = dict(zip(DISEASES, ("integer", "text", "integer", "text"), strict=True))

# -- Anatomy ------------------------------------------------------------------------------------

STRIPES = {
    2: ["dyspepsia pneumonia", "dyspepsia pneumonia", "bronchitis flu", "flu gastritis"],
    3: ["bronchitis dyspepsia flu pneumonia", "dyspepsia flu gastritis pneumonia"],
    4: ["bronchitis dyspepsia flu pneumonia", "dyspepsia flu gastritis pneumonia"],
}


def of_anatomy(db: Database, l: int, *more: Sequence[Any]) -> Any:  # noqa: E741 (the field's letter)
    make_table(db.connect("source_owner"), PATIENTS, [*ANATOMY, *more])
    roles = {"age": "q", "sex": "q", "zip": "q", "disease": "s"}
    model = {"model": "anatomy_l_diversity", "column": "disease", "l": l}
    return run(db.owner(), policy(roles, [model], method={"name": "anatomy"}))


@pytest.mark.parametrize("l", STRIPES)
def test_groups_of_the_patients_of_anatomy(db: Database, l: int) -> None:  # noqa: E741
    staged = of_anatomy(db, l)
    held: dict[int, list[str]] = {}
    for row in staged.table("st"):
        held.setdefault(row["group_id"], []).append(row["disease"])
    found = [" ".join(sorted(diseases)) for diseases in held.values()]
    assert sorted(found) == sorted(STRIPES[l])
    error = staged.utility.sensitive["disease"].reconstruction_error
    assert error == pytest.approx(8 - len(held))


def test_where_no_groups_exist(db: Database) -> None:
    with refused("infeasible") as errors:
        of_anatomy(db, 5)
    assert "2 of 8 records, l = 5 allows at most 1" in str(errors[0])
    with refused("infeasible") as errors:
        of_anatomy(db, 4, (44, "F", 13000, "flu"))
    assert "3 of 9 records, l = 4 allows at most 2" in str(errors[0])


YOUNG_HERE: Query = {
    "age": lambda age: age <= 30,
    "zip": lambda code: 10001 <= code <= 20000,
    "disease": equal("pneumonia"),
}


@pytest.mark.parametrize(
    ("groups", "error", "expected", "spread", "sizes"),
    [
        ([1, 1, 1, 1, 2, 2, 2, 2], Fraction(9, 2), 1, THIRD, {"4": 2}),
        ([2, 1, 3, 4, 1, 4, 3, 2], 4, HALF, QUARTER, {"2": 4}),
    ],
)
def test_given_groups_of_the_patients(
    db: Database,
    monkeypatch: pytest.MonkeyPatch,
    groups: list[int],
    error: Fraction,
    expected: Fraction,
    spread: Fraction,
    sizes: dict[str, int],
) -> None:
    make_table(db.connect("source_owner"), PATIENTS, ANATOMY)
    declared = policy(
        {"age": "q", "sex": "q", "zip": "q", "disease": "s"},
        [{"model": "slicing_l_diversity", "l": 2}],
        method={"name": "slamsa"},
    )
    staged = run_with(monkeypatch, db.owner(), declared, [groups], Request(everything=True))
    found = shown(staged)
    reached = staged.utility.sensitive["disease"].reconstruction_error
    assert reached == pytest.approx(float(error))
    assert found.weight(YOUNG_HERE) == pytest.approx(float(expected))
    assert estimate(found.published, YOUNG_HERE) == expected
    assert variance(found.published, YOUNG_HERE) == spread
    metrics = staged.plan.metrics(staged.state)
    assert isinstance(metrics, BucketMetrics)
    assert metrics.sizes == sizes


# -- the registry -------------------------------------------------------------------------------

LISTED = {"name": "slamsa", "sensitive_tables": [list(table) for table in SENSITIVE]}
FREE = {**LISTED, "profile": "independent", "link_threshold": 1}
PAIRS = knows(("cancer", "symptom"), {(row["cancer"], row["symptom"]) for row in ROWS})
NO_PROSTATE = [{"when": {"sex": "F"}, "never": {"cancer": "Prostate"}}]


def by_age(p: Published, column: str, adversary: Adversary) -> dict[int, Shares]:
    """What is learnt of a column, by the age of the person."""
    told = posteriors(p, column, adversary)
    return {row["age"]: shares for row, shares in zip(p.qits[-1], told, strict=True)}


def patient(number: int) -> int:
    return ROWS[number - 1]["age"]


@pytest.fixture
def shared(db: Database, monkeypatch: pytest.MonkeyPatch) -> Published:
    """One partition, that of the cancers of the worked release."""
    registry.build(db)
    declared = registry.document(method=LISTED)
    return shown(run_with(monkeypatch, db.owner(), declared, [BUCKETS["cancer"]])).published


@pytest.fixture
def apart(db: Database, monkeypatch: pytest.MonkeyPatch) -> Published:
    """Every table with buckets of its own."""
    registry.build(db)
    given = [BUCKETS[name] for name in ("cancer", "symptom", "physician")]
    declared = registry.document(method=FREE)
    return shown(run_with(monkeypatch, db.owner(), declared, given)).published


def test_who_knows_nothing_or_only_pairs(shared: Published) -> None:
    for adversary in (Adversary(), PAIRS):
        for told in by_age(shared, "cancer", adversary).values():
            assert sorted(told.values()) == [THIRD] * 3


def test_who_knows_what_is_impossible(shared: Published) -> None:
    """Without a rule the bound fails, and a verified rule refuses these buckets."""
    told = by_age(shared, "cancer", Adversary(rules=[WOMEN]))
    assert told[patient(2)] == {"Colon": HALF, "Lung": HALF}
    assert told[patient(5)] == {"Prostate": HALF, "Lung": QUARTER, "Colon": QUARTER}
    assert len(v5(shared, [WOMEN])) == 3


def test_a_rule_refuses_the_worked_buckets(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.build(db)
    model = {"model": "slicing_l_diversity", "column": "cancer", "l": 2}
    declared = registry.document(method=LISTED, privacy=[model], exclusions=NO_PROSTATE)
    with refused() as errors:
        run_with(monkeypatch, db.owner(), declared, [BUCKETS["cancer"]])
    assert "exclusion" in str(errors[0])
    assert "3" in str(errors[0])


def test_estimates_and_their_spread(shared: Published) -> None:
    young: Query = {"age": lambda age: age < 30}
    expected: list[tuple[Query, Fraction | int, Fraction | int]] = [
        ({"sex": equal("M"), "cancer": equal("Lung")}, 2, Fraction(2, 3)),
        ({**young, "cancer": equal("Prostate")}, Fraction(5, 3), Fraction(2, 9)),
        ({**young, "cancer": equal("Lung"), "treatment": equal("Radiation")}, 1, 0),
    ]
    for query, n, spread in expected[:2]:
        assert (estimate(shared, query), variance(shared, query)) == (n, spread)
    assert estimate(shared, expected[2][0]) == 1


def test_linking_by_separate_buckets(apart: Published) -> None:
    """Who knows which symptoms go with which cancers is left with less than three of them."""
    told = by_age(apart, "cancer", PAIRS)
    eighths = Fraction(3, 8)
    assert told[patient(1)] == told[patient(5)] == {"Lung": HALF, "Prostate": HALF}
    assert told[patient(2)] == {"Colon": HALF, "Lung": QUARTER, "Prostate": QUARTER}
    assert told[patient(7)] == {"Liver": QUARTER, "Lung": eighths, "Prostate": eighths}
    nothing = by_age(apart, "cancer", Adversary())
    assert all(sorted(shares.values()) == [THIRD] * 3 for shares in nothing.values())


def test_such_tables_are_not_linked(db: Database) -> None:
    registry.build(db)
    with refused("associated") as errors:
        run(db.owner(), registry.document(method={**FREE, "link_threshold": 0.1}))
    assert "are associated" in str(errors[0])


# -- edge cases ---------------------------------------------------------------------------------

NULLS = [
    (20, "F", "flu"),
    (None, "F", "cold"),
    (22, "M", "flu"),
    (60, "M", "cold"),
    (None, "M", "flu"),
    (64, None, "ulcer"),
]


@pytest.mark.parametrize("optimizer", ["base", "firefly"])
def test_null_quasi_identifiers(db: Database, optimizer: str) -> None:
    types = {"age": "integer", "sex": "text", "disease": "text"}
    make_table(db.connect("source_owner"), types, NULLS)
    model = {"model": "slicing_l_diversity", "l": 2}
    declared = policy(
        {"age": "q", "sex": "q", "disease": "s"},
        [model],
        method={"name": "slamsa", "optimizer": optimizer},
    )
    staged = run(db.owner(), declared)
    found = shown(staged)
    check(found, registry.records(types, NULLS), Asked({"disease": 2}, [*types]))
    held: dict[int, list[tuple[Any, ...]]] = {}
    for row in found.published.qits[0]:
        held.setdefault(row["group_id"], []).append((row["age"], row["sex"]))
    expected = [(NULLS[i - 1][:2], NULLS[j - 1][:2]) for i, j in ((1, 6), (2, 5), (3, 4))]
    assert Counter(map(frozenset, held.values())) == Counter(map(frozenset, expected))
    assert staged.utility.objective == pytest.approx(3.277850, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "nulls", "possible"),
    [
        pytest.param(["flu", None, None, "cold"], "as_value", True, id="E12-two of four"),
        pytest.param([None, None, None, "cold"], "as_value", False, id="E12-three of four"),
        pytest.param([None, None, None], "as_value", False, id="E12-nothing else"),
        pytest.param([None, None, None], "conditional", False, id="E12-nothing else, conditional"),
        pytest.param(
            ["flu", None, None, "cold"], "conditional", False, id="E12-two of four, conditional"
        ),
        pytest.param(
            ["flu", None, "cold"], "conditional", True, id="E12-one of three, conditional"
        ),
    ],
)
@pytest.mark.parametrize("name", ["anatomy", "slicing", "slamsa"])
def test_null_is_a_sensitive_value(
    db: Database, name: str, values: list[str | None], nulls: str, possible: bool
) -> None:
    """It is never left out of the count: who is in a group of nothing but NULL would be known to
    have none."""
    make_table(db.connect("source_owner"), {"q": "integer", "s": "text"}, [*enumerate(values)])
    model = "anatomy_l_diversity" if name == "anatomy" else "slicing_l_diversity"
    declared = policy(
        {"q": "q", "s": {"role": "sensitive", "nulls": nulls}},
        [{"model": model, "column": "s", "l": 2}],
        method={"name": name},
    )
    if not possible:
        with refused("infeasible"):
            run(db.owner(), declared)
        return
    found = shown(run(db.owner(), declared))
    groups = found.published.sts[0]
    assert Counter(row["s"] for row in groups for _ in range(row["count"])) == Counter(values)
    assert buckets(found.published.qits[0], "q")
