"""The method slamsa on servers: worked examples, and its columns by association."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pganon.methods.common.search.clustering import clustered
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles import association as association_oracle
from tests.support.oracles.sliced import Published, Relation, columns
from tests.support.oracles.sliced_measures import Query, equal, estimate
from tests.support.sources import registry
from tests.support.sources.builders import policy
from tests.support.sources.by_hand import aligned
from tests.support.sources.given_buckets import run_with
from tests.support.sources.registry import BUCKETS, COLUMNS, INCOMES, QUASI, ROWS, SENSITIVE, TWELVE
from tests.support.sources.slamsa import Asked, Shown, buckets, check, objective, shown

NAMES = [name for part in (*QUASI, *SENSITIVE) for name in part]
ALL = [name for table in SENSITIVE for name in table]
REGISTRY = Asked(dict.fromkeys(ALL, 3), NAMES)


def of_registry(**method: Any) -> dict[str, Any]:
    return registry.document(method={"name": "slamsa", **method})


# -- buckets of worked examples -----------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_registry(db: Database, seed: int) -> None:
    """The objective of the worked example is reached whatever the order of ties."""
    registry.build(db)
    staged = run(db.owner(), of_registry(sensitive_tables=[*map(list, SENSITIVE)]), seed=seed)
    found = shown(staged)
    check(found, ROWS, REGISTRY)
    (qit,) = found.published.qits
    assert objective(qit, ["age", "zip"], ["sex"]) == pytest.approx(4.514238, abs=1e-6)
    assert staged.utility.objective == pytest.approx(4.514238, abs=1e-6)
    assert buckets(qit, "age") == ages([1, 4, 6], [2, 3, 8], [5, 7, 9])
    assert found.tables == [list(table) for table in SENSITIVE]
    assert (staged.utility.groups, staged.utility.smallest_group) == (3, 3)
    assert {about.degree for about in staged.utility.sensitive.values()} == {3.0}


def ages(*patients: Sequence[int]) -> set[frozenset[int]]:
    """Ages of patients, who all differ in it."""
    return {frozenset(ROWS[number - 1]["age"] for number in group) for group in patients}


@pytest.mark.primary_server_only
def test_twelve(db: Database) -> None:
    registry.build_twelve(db)
    declared = policy(
        {"age": "q", "income": "q", "disease": "s", "drug": "s"},
        [{"model": "slicing_l_diversity", "l": 3}],
        method={"name": "slamsa", "sensitive_tables": 1},
    )
    rows = registry.records(INCOMES, TWELVE)
    asked = Asked({"disease": 3, "drug": 3}, list(INCOMES))
    best = [(1, 4, 12), (2, 6, 8), (3, 5, 10), (7, 9, 11)]
    for seed in (1, 2):
        staged = run(db.owner(), declared, seed=seed)
        found = shown(staged)
        check(found, rows, asked)
        assert found.parts.keys() == {"qit", "st"}
        (qit,) = found.published.qits
        assert buckets(qit, "age") == {frozenset(TWELVE[i - 1][0] for i in b) for b in best}
        assert objective(qit, ["age", "income"], []) == pytest.approx(4.538987, abs=1e-6)
        assert staged.utility.objective == pytest.approx(4.538987, abs=1e-6)
        assert staged.utility.baseline == pytest.approx(6.103886, abs=1e-6)
    declared["method"]["optimizer"] = "base"
    staged = run(db.owner(), declared)
    check(shown(staged), rows, asked)
    assert staged.utility.objective == staged.utility.baseline == pytest.approx(6.103886, abs=1e-6)


# -- columns ------------------------------------------------------------------------------------

E4 = [["cancer", "symptom", "physician", "method"], ["treatment"], ["date"]]


@pytest.mark.primary_server_only
@pytest.mark.parametrize("clustering", ["aca+pam", "pam"])
def test_three_tables_of_the_registry(db: Database, clustering: str) -> None:
    registry.build(db)
    found = shown(run(db.owner(), of_registry(sensitive_tables=3, clustering=clustering)))
    check(found, ROWS, REGISTRY)
    assert found.tables == E4


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("how", "tables"),
    [("contingency", None), ("contingency", "auto"), ("msc", "auto"), ("pearson", 3)],
)
def test_tables_by_association(db: Database, how: str, tables: Any) -> None:
    """The number that is best, and the default: as many as two columns each make."""
    registry.build(db)
    chosen = {} if tables is None else {"sensitive_tables": tables}
    found = shown(run(db.owner(), of_registry(association=how, **chosen)))
    check(found, ROWS, REGISTRY)
    assert found.tables == expected_tables(ALL, how, tables or 3)


def expected_tables(names: Sequence[str], how: str, tables: Any) -> list[list[str]]:
    numeric = [COLUMNS[name] in ("integer", "date") for name in names]
    values = [[number(row[name]) for row in ROWS] for name in names]
    matrix = [[float(i == j) for j in range(len(names))] for i in range(len(names))]
    for (i, j), value in association_oracle.association(values, numeric, how).items():
        matrix[i][j] = matrix[j][i] = value
    return [[names[i] for i in cluster] for cluster in clustered(matrix, tables)]


def number(value: Any) -> Any:
    return value.toordinal() if hasattr(value, "toordinal") else value


@pytest.mark.primary_server_only
@pytest.mark.parametrize(("tables", "how"), [(2, "contingency"), ("auto", "msc"), (3, "pearson")])
def test_slices_by_association(db: Database, tables: Any, how: str) -> None:
    registry.build(db)
    listed = [*map(list, SENSITIVE)]
    method = {"quasi_tables": tables, "association": how, "sensitive_tables": listed}
    found = shown(run(db.owner(), of_registry(**method)))
    check(found, ROWS, REGISTRY)
    names = [name for part in QUASI for name in part]
    assert [columns(q) for q in found.published.qits] == expected_tables(names, how, tables)


@pytest.mark.primary_server_only
def test_columns_keep_the_order_of_the_policy_in_the_join(db: Database) -> None:
    registry.build(db)
    listed = [["method", "cancer"], ["date", "treatment", "symptom"], ["physician"]]
    staged = run(
        db.owner(), of_registry(sensitive_tables=listed, quasi_tables=[["zip"], ["age", "sex"]])
    )
    found = shown(staged)
    check(found, ROWS, REGISTRY)
    assert found.tables == listed
    assert list(found.joined[0]) == ["group_id", *NAMES, "expected"]
    assert found.parts.keys() == {"qit1", "qit2", "st1", "st2", "st3"}


# -- given buckets ------------------------------------------------------------------------------

MEN: Query = {"sex": equal("M")}
YOUNG: Query = {"age": lambda age: age < 30}
LUNG, PROSTATE = {"cancer": equal("Lung")}, {"cancer": equal("Prostate")}
COUGH, COLON = {"symptom": equal("Cough")}, {"cancer": equal("Colon")}
LISTED = {"sensitive_tables": [*map(list, SENSITIVE)]}
FREE = {**LISTED, "profile": "independent"}
SLICED = {"quasi_tables": [*map(list, QUASI)]}


def same_numbers(staged: Staged, given: Sequence[Sequence[int]]) -> dict[str, dict[int, int]]:
    """Given buckets by their published numbers, of every partition."""
    found: dict[str, dict[int, int]] = {}
    for row in staged.table("members"):
        member = int(row.pop("member"))
        for (name, published), held in zip(row.items(), given, strict=True):
            known = found.setdefault(name, {}).setdefault(published, held[member - 1])
            assert known == held[member - 1]
    return found


def renumbered(found: Shown, staged: Staged, given: Sequence[Sequence[int]]) -> Published:
    """The release with the numbers that were given."""
    known = same_numbers(staged, given)
    links = found.published.links

    def rows(relation: Relation, own: str) -> Relation:
        return [
            {
                name: known[own if name == "group_id" else name][value]
                if name.endswith("group_id")
                else value
                for name, value in row.items()
            }
            for row in relation
        ]

    def partition(table: int) -> str:
        return "group_id" if links == "aligned" else f"st{table}_group_id"

    p = found.published
    return Published(
        [rows(qit, "group_id") for qit in p.qits],
        [rows(st, partition(j)) for j, st in enumerate(p.sts, 1)],
        links,
    )


def by_value(p: Published) -> list[list[Any]]:
    return [sorted(sorted(row.items()) for row in r) for r in (*p.qits, *p.sts)]


@pytest.mark.slow
def test_the_worked_release(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Independent tables and a sliced QIT, as the worked example has them."""
    registry.build(db)
    given = [BUCKETS[name] for name in ("qit", "cancer", "symptom", "physician")]
    staged = run_with(monkeypatch, db.owner(), of_registry(**FREE, **SLICED), given)
    found = shown(staged)
    check(found, ROWS, REGISTRY)
    assert by_value(renumbered(found, staged, given)) == by_value(registry.worked())
    query = {**YOUNG, "zip": equal(68079), **COLON}
    assert estimate(found.published, query) == pytest.approx(2 / 9)
    assert found.weight(query) == pytest.approx(2 / 9)


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_estimates_of_the_worked_example(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.build(db)
    given = [BUCKETS[name] for name in ("cancer", "symptom", "physician")]
    staged = run_with(monkeypatch, db.owner(), of_registry(**LISTED), given[:1])
    one = shown(staged)
    by_hand = aligned(ROWS, BUCKETS["cancer"], SENSITIVE, [["sex", "age", "zip"]])
    assert by_value(renumbered(one, staged, given[:1])) == by_value(by_hand)
    for found in (one, shown(run_with(monkeypatch, db.owner(), of_registry(**FREE), given))):
        check(found, ROWS, REGISTRY)
        assert found.weight({**MEN, **LUNG}) == pytest.approx(2)
        assert found.weight({**YOUNG, **PROSTATE}) == pytest.approx(5 / 3)
        assert found.weight({**YOUNG, **LUNG, "treatment": equal("Radiation")}) == pytest.approx(1)
        assert found.weight({**MEN, **LUNG, **COUGH}) == pytest.approx(4 / 9)
        assert found.weight({}) == pytest.approx(9)
