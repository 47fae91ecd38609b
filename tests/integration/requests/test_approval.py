"""A second person decides whether a verified release is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pganon.cli.report_data import collect
from pganon.report.document import document
from pganon.run.release import run_release
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database

BY = "source_owner"


def _publish(**more: object) -> dict[str, object]:
    return {"readers": ["analyst"], "approval": {"by": [BY], **more}}


@dataclass
class Waiting:
    """A release of `analyst` that waits; `conn` is the steward's, `approver` may decide."""

    db: Database
    request: int
    conn: Connection
    approver: Connection

    def decide(self, how: str = "approve", who: Connection | None = None) -> None:
        (who or self.approver).execute(
            f"SELECT pganon.{how}_release(%s, 'looked at it')".encode(), [self.request]
        )

    def refused(self, state: str, who: Connection | None = None) -> str:
        with pytest.raises(psycopg.Error) as caught:
            self.decide(who=who)
        assert caught.value.sqlstate == state, caught.value
        assert caught.value.diag.message_hint
        return caught.value.diag.message_primary or ""

    def leftovers(self) -> list[str]:
        return faults.run_tables(self.conn)


def _asked(db: Database) -> int:
    queue.applied(db, publish=_publish())
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    return asked


@pytest.fixture
def waiting(db_after: Any) -> Waiting:
    db, asked = db_after(_asked)
    return Waiting(db, asked, db.owner(), db.connect(BY))


def test_approved_and_published(waiting: Waiting, tmp_path: Path) -> None:
    assert faults.content(waiting.conn) is None
    assert faults.exposed(waiting.conn) == []
    staged = waiting.leftovers()
    assert staged != []
    assert all(name.startswith("pganon_stage.") for name in staged)
    assert pganon("clean", "--dsn", waiting.db.dsn()).code == 0
    assert waiting.leftovers() == staged, "it is no leftover"
    seen = waiting.approver.execute("SELECT id, state FROM pganon.requests").fetchall()
    assert seen == [(waiting.request, "awaiting_approval")]
    report = _reported(waiting, tmp_path / "report.json")
    waiting.decide()
    assert waiting.refused("PA409").endswith("it is approved")
    queue.serve(waiting.db)
    assert queue.state(waiting.db, waiting.request) == ("released", None)
    faults.guarantee_holds(waiting.conn)
    assert waiting.leftovers() == []
    rows = waiting.conn.execute("SELECT decision, login, role, reason FROM pganon_private.approval")
    assert rows.fetchall() == [("approved", BY, BY, "looked at it")]
    events = ["started", "awaiting_approval", "approved", "released"]
    assert faults.events(waiting.conn) == events
    assert pganon("verify", "patients", "--dsn", waiting.db.dsn()).code == 0
    found = collect(waiting.conn, "patients")
    assert found.evidence_intact, "it was measured before somebody approved"
    made = document(found)
    (event,) = made["events"]
    assert event["notes"] == [{"what": "approved", "by": BY, "reason": "looked at it"}]
    proof = made["proof"]
    assert (
        proof["approved_sha256"] == proof["evidence_sha256"] == report["proof"]["evidence_sha256"]
    )
    assert not any("other evidence" in comment for comment in made["comments"])
    for part in ("risk", "sensitive", "attributes", "guarantee", "columns"):
        assert made[part] == report[part], "the approver saw what was published"


def _reported(waiting: Waiting, file: Path) -> dict[str, Any]:
    asked = ("report", "--request", str(waiting.request), "--force", "-o", str(file))
    ran = pganon(*asked, "--dsn", waiting.db.dsn(BY))
    assert (ran.code, ran.err) == (0, "")
    report = json.loads(file.read_text())
    assert report["proof"]["intact"]
    assert report["properties"]["request"] == waiting.request
    assert not any("approved" in comment for comment in report["comments"])
    return report


def test_what_was_rejected_is_no_version(waiting: Waiting, tmp_path: Path) -> None:
    """Attack: the signed report of a release that nobody gets, as that of the one they get."""
    key, file = tmp_path / "key", tmp_path / "report.html"
    assert pganon("report", "key", str(key)).code == 0
    asked = ("report", "--request", str(waiting.request), "-o", str(file), "--sign", str(key))
    ran = pganon(*asked, "--json", "--dsn", waiting.db.dsn(BY))
    assert (ran.code, ran.json["version"]) == (0, None)
    waiting.decide("reject")
    queue.apply(waiting.db)
    again = queue.ask(waiting.db.connect("analyst"))
    queue.serve(waiting.db)
    assert queue.state(waiting.db, again) == ("released", None)
    assert collect(waiting.conn, "patients").version.number == 1
    verify = ("report", "verify", str(file), "--key", f"{key}.pub")
    assert f"request {waiting.request}, which waited for approval" in pganon(*verify).out
    said = pganon(*verify, "--json").json["statement"]
    assert (said["version"], said["request"]) == (None, waiting.request)


def test_only_who_decides_sees_the_evidence(waiting: Waiting, tmp_path: Path) -> None:
    """Neither who asked nor a stranger; and what somebody changed is not what the ledger names."""
    seen = "SELECT pganon.request_evidence(%s) -> 'staged' ->> 'release'"
    assert waiting.approver.execute(seen, [waiting.request]).fetchone() == ("patients",)
    assert waiting.conn.execute(seen, [waiting.request]).fetchone() == ("patients",)
    stranger = waiting.db.connect("analyst")
    assert stranger.execute("SELECT * FROM pganon.held_releases").fetchall() == []
    with pytest.raises(psycopg.Error, match=f"no request {waiting.request} about which") as caught:
        stranger.execute(seen, [waiting.request])
    assert caught.value.sqlstate == "PA411"
    file = tmp_path / "report.json"
    asked = ("report", "--request", str(waiting.request), "-o", str(file))
    ran = pganon(*asked, "--dsn", waiting.db.dsn("analyst"))
    assert "that waits for your decision" in ran.err
    assert not file.exists()
    waiting.conn.execute(
        "UPDATE pganon_private.held SET staged = jsonb_set("
        "staged::jsonb, '{evidence,class_sizes,release,smallest}', '99')::json"
    )
    assert pganon(*asked, "--dsn", waiting.db.dsn(BY)).code == 0
    assert json.loads(file.read_text())["status"] == "fail"


def test_another_code_in_the_list_is_not_run(waiting: Waiting, tmp_path: Path) -> None:
    """Attack: the owner of pganon puts a function into what approvers read."""
    waiting.conn.execute(
        "CREATE FUNCTION pganon_private.stolen() RETURNS jsonb LANGUAGE sql"
        " AS $$ SELECT '{}'::jsonb $$"
    )
    waiting.conn.execute(
        "CREATE OR REPLACE VIEW pganon.held_releases AS SELECT h.request,"
        " h.staged #>> '{staged,release}' AS release, pganon_private.stolen() AS evidence"
        " FROM pganon_private.held AS h"
    )
    asked = ("report", "--request", str(waiting.request), "-o", str(tmp_path / "report.json"))
    ran = pganon(*asked, "--dsn", waiting.db.dsn(BY))
    assert "could run code of its owner" in ran.err


def test_who_may_not(waiting: Waiting) -> None:
    """Neither who asked, nor who applied the policy, nor a stranger."""
    db = waiting.db
    message = waiting.refused("PA411", db.connect("analyst"))
    assert message == f'there is no request {waiting.request} that "analyst" may decide'
    db.admin.execute(f"GRANT {BY} TO steward, analyst".encode())
    try:
        for login in ("steward", "analyst"):
            conn = db.connect(login)
            message = waiting.refused("PA410", conn)
            assert message == f'"{login}" applied the policy or asked for the release'
    finally:
        db.admin.execute(f"REVOKE {BY} FROM steward, analyst".encode())
    nobody = "SELECT pganon.approve_release(%s, 'x')"
    with pytest.raises(psycopg.Error, match="there is no request 999"):
        waiting.approver.execute(nobody, [999])
    for reason in ("", "  ", None):
        with pytest.raises(psycopg.Error, match=r"give a reason.*\nHINT:  say what"):
            waiting.approver.execute(
                "SELECT pganon.approve_release(%s, %s)", [waiting.request, reason]
            )
    for text in (
        "UPDATE pganon_private.approval SET reason = ''",
        "DELETE FROM pganon_private.approval",
        "TRUNCATE pganon_private.approval",
    ):
        with pytest.raises(psycopg.Error, match="approval is append-only"):
            waiting.conn.execute(text.encode())
    assert queue.state(db, waiting.request) == ("awaiting_approval", None)


def test_rejected(waiting: Waiting) -> None:
    waiting.decide("reject")
    assert waiting.refused("PA409").endswith("it is rejected")
    queue.serve(waiting.db)
    assert waiting.leftovers() == []
    assert waiting.conn.execute("SELECT * FROM pganon_private.held").fetchall() == []
    assert faults.content(waiting.conn) is None
    secrets = waiting.conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone()
    assert secrets == (0,)
    assert faults.events(waiting.conn) == ["started", "awaiting_approval", "rejected"]


def test_expired(waiting: Waiting) -> None:
    waiting.conn.execute("UPDATE pganon_private.request SET expires_at = now() - interval '1 s'")
    assert waiting.refused("PA409").endswith("it is expired")
    queue.serve(waiting.db)
    assert queue.state(waiting.db, waiting.request) == ("expired", None)
    assert faults.events(waiting.conn)[-1] == "expired"
    queue.serve(waiting.db)
    assert waiting.leftovers() == []


@pytest.mark.slow
def test_a_later_release_supersedes(waiting: Waiting) -> None:
    """The approver is overtaken by a second run."""
    db = waiting.db
    second = queue.ask(db.connect("analyst"), k=9)
    queue.serve(db)
    db.connect(BY).execute("SELECT pganon.approve_release(%s, 'newer')", [second])
    queue.serve(db)
    assert queue.state(db, second) == ("released", None)
    assert queue.state(db, waiting.request) == ("superseded", None)
    assert waiting.refused("PA409").endswith("it is superseded")
    queue.serve(db)
    assert waiting.leftovers() == []


def test_what_was_approved_is_what_was_verified(waiting: Waiting) -> None:
    """Attack: the staged tables are changed between approval and publication."""
    table = next(name for name in waiting.leftovers() if name.endswith("_records"))
    waiting.decide()
    waiting.conn.execute(f"UPDATE {table} SET disease = 'cold'".encode())
    queue.serve(waiting.db)
    assert queue.state(waiting.db, waiting.request) == ("failed", "stale")
    assert faults.content(waiting.conn) is None
    queue.serve(waiting.db)
    assert waiting.leftovers() == []


@pytest.mark.slow
def test_a_version_that_appeared_meanwhile(db: Database) -> None:
    """Another release of the source was published since, with the same groups: both hold."""
    queue.applied(db, publish=_publish(), republication="refuse")
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    other = faults.policy(release="others", suppression_limit=0.1, republication="allow")
    run_release(other, dsn=db.dsn())
    db.connect(BY).execute("SELECT pganon.approve_release(%s, 'fine')", [asked])
    queue.serve(db)
    assert queue.state(db, asked) == ("released", None)
    faults.guarantee_holds(db.owner())


def test_by_a_command(db: Database) -> None:
    """The steward's own run waits, too; `approve` calls the function."""
    db.source(faults.SOURCE)
    policy = faults.policy(publish=_publish())
    result = run_release(policy, dsn=db.dsn())
    assert (result.outcome, result.version) == ("awaiting_approval", None)
    asked = str(result.request)
    own = pganon("approve", asked, "--reason", "mine", "--dsn", db.dsn(), "--json")
    assert own.json["error"]["code"] == "not_allowed"
    assert pganon("approve", asked, "--reason", "x", "--dsn", db.dsn(BY)).out == (
        f"request {asked} is approved\n"
    )
    late = pganon("reject", asked, "--reason", "x", "--dsn", db.dsn(BY), "--json")
    assert late.json["error"]["code"] == "not_waiting"
    queue.serve(db)
    faults.guarantee_holds(db.owner())


@pytest.mark.slow
def test_more_readers_need_approval(waiting: Waiting) -> None:
    db = waiting.db
    waiting.decide()
    queue.serve(db)
    queue.apply(db, publish={**_publish(), "readers": ["analyst", "steward"]})
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    queue.apply(db, publish={**_publish(), "readers": []})
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert queue.state(db, asked) == ("unchanged", None)


def test_review_by(db: Database) -> None:
    publish = {"readers": ["analyst"], "review_by": "2020-01-01"}
    queue.applied(db, publish={**publish, "review_by": "2999-01-01"})
    queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert pganon("status", "--dsn", db.dsn(), "--json").json["warnings"] == []
    queue.apply(db, publish=publish)
    shown = pganon("status", "--dsn", db.dsn(), "--json").json
    assert shown["warnings"] == ["patients: its policy is to be reviewed by 2020-01-01"]
    log = queue.serve(db)
    assert "withdrawn release=patients reason=review_by" in log
    assert faults.content(db.owner()) is None
    assert queue.serve(db) == ["started worker=3", "stopped served=0"]


def test_an_uninstall_leaves_no_half_release(waiting: Waiting) -> None:
    """The staging schema goes, so what was approved is gone."""
    waiting.decide()
    assert pganon("uninstall", "--dsn", waiting.db.dsn()).code == 0
    assert pganon("init", "--dsn", waiting.db.dsn()).code == 0
    queue.serve(waiting.db)
    assert queue.state(waiting.db, waiting.request) == ("failed", "stale")
