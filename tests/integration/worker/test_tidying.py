"""What workers do beside requests, where something goes wrong with one release or policy."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pganon.applied import check as applied
from pganon.errors import LedgerError
from pganon.policy import requests
from pganon.publish import lifecycle
from pganon.worker import tidying
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database


def _due(db: Database) -> None:
    db.owner().execute("UPDATE pganon_private.schedule SET next_at = now() - interval '3 weeks'")


def test_a_schedule_that_cannot_be_kept_holds_up_no_other(db: Database) -> None:
    """Its time zone is not known where this worker runs."""
    queue.applied(db, schedule="0 3 * * 1")
    _due(db)
    db.owner().execute(
        "INSERT INTO pganon_private.schedule"
        " VALUES ('away', 1, '0 3 * * 1', 'Nowhere/Atlantis', now() - interval '4 weeks')"
    )
    log = queue.serve(db)
    assert any(line.startswith("failed task=scheduled code=internal") for line in log), log
    assert queue.states(db) == ["released"]


@pytest.mark.parametrize("behind", [timedelta(hours=2), timedelta(days=400)])
def test_a_worker_whose_clock_is_behind(
    db: Database, monkeypatch: pytest.MonkeyPatch, behind: timedelta
) -> None:
    """The server's clock counts: what has come does not come again."""

    class Behind(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) - behind

    for module in (applied, tidying, requests):
        monkeypatch.setattr(module, "datetime", Behind, raising=False)
    queue.applied(db, schedule="0 0 1 1 *")
    row = db.owner().execute("SELECT next_at > now() FROM pganon_private.schedule").fetchone()
    assert row == (True,)
    _due(db)
    for _ in range(3):
        queue.serve(db)
    assert queue.states(db) == ["released"]


def test_looking_at_a_policy_brings_no_schedule_back(db: Database) -> None:
    """A release that was taken away is not made of itself, until its policy is applied again."""
    queue.applied(db, schedule="0 3 * * 1")
    steward, at = db.owner(), ("--dsn", db.dsn())
    queue.ask(steward)
    queue.serve(db)
    steward.execute("SELECT pganon.withdraw_release('patients')")
    assert pganon("policy", "check", "patients", "--stored", *at).code == 0
    kept = "SELECT revision FROM pganon_private.schedule"
    assert steward.execute(kept).fetchall() == []
    queue.serve(db)
    assert faults.content(steward) is None


def test_applying_a_policy_again_brings_its_schedule_back(db: Database, tmp_path: Path) -> None:
    db.source(faults.SOURCE)
    written = tmp_path / "patients.json"
    written.write_text(json.dumps({**faults.POLICY, "schedule": "0 3 * * 1"}), "utf-8")
    file = str(written)
    steward, at = db.owner(), ("--dsn", db.dsn())
    assert pganon("run", file, *at).code == 0
    steward.execute("SELECT pganon.withdraw_release('patients')")
    assert pganon("policy", "apply", file, *at, "--json").json[0]["revision"] == 1
    kept = "SELECT revision, next_at > now() FROM pganon_private.schedule"
    assert steward.execute(kept).fetchall() == [(1, True)]


def test_a_policy_that_breaks_the_check_holds_up_no_other(db: Database) -> None:
    """Files whose paths exclude each other, and a number that is none for Python: unusable."""
    queue.applied(db)
    conn = db.owner()
    text = json.dumps({**faults.POLICY, "release": "a"})
    files = json.dumps({"x": "1", "x/y": "2"})
    conn.execute("SELECT pganon.apply_policy(%s::json, %s::json)", [text, files])
    number = '{"release": "b", "k": ' + "9" * 5000 + "}"
    conn.execute("SELECT pganon.apply_policy(%s::json)", [number])
    conn.execute("SELECT pganon.apply_policy(%s::json)", [json.dumps(faults.POLICY)])
    log = queue.serve(db)
    for name in ("a", "b"):
        assert f"checked release={name} revision=1 state=unusable" in log
    assert any(line.startswith("checked release=patients") for line in log), log


@pytest.mark.slow
def test_a_review_that_cannot_be_kept_holds_up_no_other(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.source(faults.SOURCE)
    publish = {"readers": ["analyst"], "review_by": "2020-01-01"}
    for name in ("a", "b"):
        faults.run(db.dsn(), faults.policy(release=name, publish=publish, republication="allow"))
    withdraw = lifecycle.withdraw

    def fail(conn: Connection, name: str) -> tuple[str, ...]:
        if name == "a":
            raise LedgerError("not now", code="busy")
        return withdraw(conn, name)

    with monkeypatch.context() as patch:
        patch.setattr(lifecycle, "withdraw", fail)
        log = queue.serve(db)
    assert "failed task=review code=busy release=a" in log
    assert "withdrawn release=b reason=review_by" in log
    withdrawn = [line for line in queue.serve(db) if line.startswith("withdrawn")]
    assert withdrawn == ["withdrawn release=a reason=review_by"]


def test_status_goes_by_the_policy_that_workers_go_by(db: Database) -> None:
    """A newest revision that cannot be used does not put off the review."""
    publish = {"readers": ["analyst"], "review_by": f"{datetime.now(UTC):%Y-%m-%d}"}
    later = {**publish, "review_by": "2999-01-01"}
    queue.applied(db, publish=later)
    queue.ask(db.owner())
    queue.serve(db)
    soon = datetime.now(UTC) + timedelta(days=20)
    queue.apply(db, publish={**publish, "review_by": f"{soon:%Y-%m-%d}"})
    conn = db.owner()
    conn.execute('SELECT pganon.apply_policy(\'{"release": "patients"}\')')
    warnings = pganon("status", "--dsn", db.dsn(), "--json").json["warnings"]
    assert f"patients: its policy is to be reviewed by {soon:%Y-%m-%d}" in warnings


@pytest.mark.slow
def test_one_staged_release_that_stays_holds_up_no_other(db: Database) -> None:
    """A table of a rejected release is in use still; those of others go."""
    publish = {"readers": ["analyst"], "approval": {"by": ["source_owner"]}}
    queue.applied(db, publish=publish)
    for k in (8, 9):
        queue.ask(db.connect("analyst"), k=k)
    queue.serve(db)
    conn = db.owner()
    db.connect("source_owner").execute(
        "SELECT pganon.reject_release(id, 'no') FROM pganon.requests ORDER BY id"
    )
    table = faults.run_tables(conn)[0]
    conn.execute(f"CREATE SCHEMA made CREATE VIEW upon AS SELECT * FROM {table}".encode())
    log = queue.serve(db)
    assert any(line.startswith("failed task=discarded") for line in log), log
    assert any(line.startswith("discarded request=2") for line in log), log
    conn.execute("DROP SCHEMA made CASCADE")
    queue.serve(db)
    assert faults.run_tables(conn) == []
