"""Metrics from the command line: asked for with a run, kept for the steward."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pganon.forms import request
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import leftovers
from tests.support.sources.builders import make_table, policy

COLUMNS = {"age": "integer", "town": "text", "pay": "numeric"}
ROWS = [(20 + n % 17, "abc"[n % 3], 100 * (n % 5)) for n in range(60)]


@pytest.fixture
def policy_file(db: Database, tmp_path: Path) -> str:
    make_table(db.connect("source_owner"), COLUMNS, ROWS)
    given = policy({"age": "q", "town": "q", "pay": "s"}, 5, publish={"readers": ["analyst"]})
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(given))
    return str(file)


def run(db: Database, file: str, *arguments: str) -> Ran:
    return pganon("run", file, "--dsn", db.dsn("steward"), *arguments)


def test_metrics_are_measured_on_request_and_kept(db: Database, policy_file: str) -> None:
    ran = run(db, policy_file, "--metrics", "all", "--json")
    assert ran.code == 0, ran.err
    metrics = ran.json["metrics"]
    assert set(metrics["attributes"]) == {"age", "town"}
    assert metrics["workload"]["workload"]["queries"] == 1000
    assert set(metrics["workload"]["sums"]) == {"pay"}
    assert leftovers(db) == []
    shown = pganon("show", "r", "--dsn", db.dsn("steward"), "--json").json
    assert shown["versions"][0]["measures"]["metrics"] == metrics
    text = pganon("show", "r", "--dsn", db.dsn("steward")).out
    assert "sum of pay" in text
    assert "discernibility" in text


def test_readers_see_no_measures(db: Database, policy_file: str) -> None:
    assert run(db, policy_file, "--metrics", "all").code == 0
    shown = pganon("show", "r", "--dsn", db.dsn("analyst"))
    assert shown.code == 0, shown.err
    for word in ("discernibility", "GLM", "error", "vulnerable"):
        assert word not in shown.out
    assert pganon("show", "r", "--dsn", db.dsn("analyst"), "--json").json["versions"] is None


@pytest.mark.slow
def test_a_workload_alone(db: Database, policy_file: str) -> None:
    ran = run(db, policy_file, "--workload", "queries=20,seed=4", "--json")
    assert ran.code == 0, ran.err
    metrics = ran.json["metrics"]
    assert (metrics["glm"], metrics["attributes"]) == (None, None)
    again = run(db, policy_file, "--workload", "queries=20,seed=4", "--force")
    assert again.code == 0, again.err
    assert "20 random queries" in again.out


def test_nothing_more_by_default(db: Database, policy_file: str) -> None:
    ran = run(db, policy_file, "--json")
    assert ran.json["metrics"] is None
    assert not [step for step in ran.json["steps"] if step["phase"] == "measure"]


def test_a_wrong_workload_is_refused_before_anything_runs(db: Database, policy_file: str) -> None:
    ran = run(db, policy_file, "--workload", "queries=none")
    assert ran.code == 2
    assert "queries is not a number" in ran.err
    assert "for example" in ran.err


@pytest.mark.slow
def test_a_column_is_predicted(db: Database, policy_file: str) -> None:
    """`pay` is decided by `town` alone, and classes mix towns."""
    db.source("UPDATE public.t SET pay = 100 * (town = 'a')::int")
    ran = run(db, policy_file, "--classify", "pay:bayes", "--json")
    assert ran.code == 0, ran.err
    found = ran.json["metrics"]["classification"]
    assert (found["target"], found["how"], found["reason"]) == ("pay", "bayes", None)
    assert found["original"] > found["baseline"]
    gained = found["original"] - found["baseline"]
    kept = (found["published"] - found["baseline"]) / gained
    assert found["kept"]["published"] == pytest.approx(kept)
    assert (
        "pay predicted from quasi-identifiers (bayes)"
        in pganon("show", "r", "--dsn", db.dsn("steward")).out
    )
    assert leftovers(db) == []
    ran = run(db, policy_file, "--classify", "age", "--dry-run")
    assert (ran.code, "name one of these: pay" in ran.err) == (2, True)


def test_what_cannot_be_predicted(
    db: Database, policy_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buckets = tmp_path / "buckets.json"
    l_diverse = {"model": "anatomy_l_diversity", "column": "pay", "l": 2}
    given = policy({"age": "q", "pay": "s"}, [l_diverse], method={"name": "anatomy"})
    buckets.write_text(json.dumps(given))
    ran = run(db, str(buckets), "--classify", "pay")
    assert (ran.code, "--classify is for releases of classes" in ran.err) == (2, True), ran.err
    monkeypatch.setattr(request, "find_spec", lambda name: None)
    ran = run(db, policy_file, "--classify", "pay")
    assert (ran.code, "pip install 'pganon[learn]'" in ran.err) == (2, True)


def test_a_target_may_hold_a_colon() -> None:
    for text, target, how in (
        ("a:b", "a:b", "logistic"),
        ("a:bayes", "a", "bayes"),
        ("a:b:forest", "a:b", "forest"),
    ):
        asked = request.parse_classify(text)
        assert (asked.target, asked.how) == (target, how)
