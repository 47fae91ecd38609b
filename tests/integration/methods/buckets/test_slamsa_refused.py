"""What slamsa refuses, what it says, and what it leaves behind: nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.oracles.association import corrected_v
from tests.support.sources import registry
from tests.support.sources.builders import make_table, policy
from tests.support.sources.registry import records
from tests.support.sources.slamsa import Asked, check, shown

pytestmark = pytest.mark.primary_server_only


def model(l: int, **others: Any) -> dict[str, Any]:  # noqa: E741 (the field's own letter)
    return {"model": "slicing_l_diversity", "l": l, **others}


def refusal(db: Database, code: str, declared: dict[str, Any]) -> Any:
    """The error; values of the registry are in none."""
    with refused(code) as errors:
        run(db.owner(), declared)
    said = f"{errors[0]} {errors[0].hint}"
    assert not [v for row in registry.REGISTRY for v in row[4:] if isinstance(v, str) and v in said]
    return errors[0]


# -- not eligible -------------------------------------------------------------------------------


def test_every_column_that_is_not_eligible(db: Database) -> None:
    """Each with its largest l, which is possible then."""
    registry.build(db)
    most = "its most frequent value has 3 of 9 records"
    asked = [model(4, column="cancer"), model(5, column="method"), model(4, column="date")]
    error = refusal(db, "infeasible", registry.document(privacy=asked))
    assert str(error) == (
        f"not eligible: column cancer: {most}, l = 4 allows at most 2;"
        f" column method: {most}, l = 5 allows at most 1"
    )
    assert "at most l = 3 of column cancer, at most l = 3 of column method" in (error.hint or "")
    asked = [model(3, column="cancer"), model(3, column="method"), model(4, column="date")]
    run(db.owner(), registry.document(privacy=asked))


@pytest.mark.slow
def test_tables_as_one_value(db: Database) -> None:
    """At level tuple the sub-vectors of tables are counted."""
    registry.build(db)
    declared = registry.document(privacy=[model(4, level="tuple")])
    error = refusal(db, "infeasible", declared)
    assert str(error) == (
        "not eligible: columns physician, method together: its most frequent value has 3 of 9"
        " records, l = 4 allows at most 2"
    )
    assert (error.required, error.observed) == (4, 3)
    declared["method"]["sensitive_tables"] = [["cancer", "treatment", "physician", "method"],
                                              ["symptom", "date"]]  # fmt: skip
    names = [*registry.COLUMNS][1:]
    check(shown(run(db.owner(), declared)), registry.ROWS, Asked({}, names, tuples=4))


def test_fewer_records_than_a_bucket_has(db: Database) -> None:
    registry.build(db)
    for asked in ([model(10)], [model(2, min_size=10)]):
        error = refusal(db, "too_few_records", registry.document(privacy=asked))
        assert "9 records" in str(error)
        assert "at least 10" in str(error)
    nobody = registry.document(privacy=[model(2)], where="age > 99")
    refusal(db, "empty_source", nobody)


# -- independent tables -------------------------------------------------------------------------

PAIRS = {"q": "integer", "x": "text", "y": "text", "z": "text"}


def pairs(
    both: int, one: int, method: dict[str, Any]
) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """x and y are equal in `both` records of each value, and differ in `one`; z is balanced."""
    halves = [("a", "a")] * both + [("a", "b")] * one + [("b", "b")] * both + [("b", "a")] * one
    rows = [(n, *pair, "cd"[n % 2]) for n, pair in enumerate(halves)]
    columns = {"q": "q", "x": "s", "y": "s", "z": "s"}
    tables = {"sensitive_tables": [["x"], ["y"], ["z"]]}
    full = {"name": "slamsa", "profile": "independent", **tables, **method}
    return rows, policy(columns, [model(2)], method=full)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["contingency", "msc"])
def test_associated_columns(db: Database, how: str) -> None:
    """By corrected V, whichever measure divides the columns."""
    rows, declared = pairs(32, 18, {"association": how})
    make_table(db.connect("source_owner"), PAIRS, rows)
    error = refusal(db, "associated", declared)
    v = corrected_v([row[1] for row in rows], [row[2] for row in rows])
    assert v**2 < 0.1 < v
    assert f"columns x and y are associated (V = {v:.4g} > 0.1)" in str(error)
    assert error.observed == pytest.approx(v)
    assert "aligned" in (error.hint or "")
    declared["method"]["link_threshold"] = 0.27
    asked = Asked(dict.fromkeys("xyz", 2), [*PAIRS])
    check(shown(run(db.owner(), declared)), records(PAIRS, rows), asked)
    del declared["method"]["link_threshold"]
    declared["method"]["sensitive_tables"] = [["x", "y"], ["z"]]
    check(shown(run(db.owner(), declared)), records(PAIRS, rows), asked)


def test_columns_that_determine_each_other(db: Database) -> None:
    """Every symptom is of one cancer, each of which occurs once: V says nothing of it."""
    columns = {"person": "text", "cancer": "text", "symptom": "text"}
    make_table(db.connect("source_owner"), columns, registry.LINKED)
    roles = {"person": "q", "cancer": "s", "symptom": "s"}
    method = {"name": "slamsa", "profile": "independent", "sensitive_tables": 2}
    declared = policy(roles, [model(2)], method=method)
    error = refusal(db, "associated", declared)
    assert "columns cancer and symptom are associated (one determines the other)" in str(error)
    method["profile"] = "aligned"
    asked = Asked({"cancer": 2, "symptom": 2}, [*columns])
    check(shown(run(db.owner(), declared)), records(columns, registry.LINKED), asked)


# -- what is left -------------------------------------------------------------------------------

INFEASIBLE = {"privacy": [model(4)]}
CONTRADICTED = {"exclusions": [{"when": {"sex": "M"}, "never": {"cancer": "Prostate"}}]}
ASSOCIATED = {"method": {"name": "slamsa", "profile": "independent"}}


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        (INFEASIBLE, 1, "not eligible: column cancer"),
        (ASSOCIATED, 1, "independent linking refused"),
        (CONTRADICTED, 2, "3 records contradict the exclusion rule"),
        ({"method": {"name": "slamsa", "sensitive_tables": 7}}, 2, "cannot be divided into 7"),
    ],
)
def test_nothing_is_left(
    db: Database, tmp_path: Path, changes: dict[str, Any], code: int, said: str
) -> None:
    registry.build(db)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(registry.document(**changes)))
    ran = pganon("run", str(file), "--dsn", db.dsn())
    assert ran.code == code, ran.err
    assert said in ran.err
    assert "Prostate" not in ran.out + ran.err.replace("sex excludes", "")
    conn = db.owner()
    assert faults.run_tables(conn) == []
    assert faults.content(conn, "published.registry") is None
    assert faults.exposed(conn) == []
