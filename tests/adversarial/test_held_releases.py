"""Releases that wait for approval, and what happens to them meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, PrivacyRefusal
from pganon.forms.confidential import sha256
from pganon.publish import held, lifecycle, listing, transaction
from pganon.requests.claim import claim
from pganon.requests.workers import enter
from pganon.run.erasure import forget_people
from pganon.run.release import run_release
from pganon.worker.job import Job
from tests.support.harness import driver, faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import growing
from tests.support.sources.invariant import Kept, declared

pytestmark = pytest.mark.slow

BY = "source_owner"
APPROVAL = {"readers": ["analyst"], "approval": {"by": [BY]}}


def _held(db: Database, **parameters: Any) -> int:
    asked = queue.ask(db.connect("analyst"), **parameters)
    queue.serve(db)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    return asked


def _approved(db: Database, request: int, evidence: str | None = None) -> tuple[str, str | None]:
    """The state after a worker served what was approved."""
    _approve(db, request, evidence)
    queue.serve(db)
    return queue.state(db, request)


def _first(db: Database, request: int) -> None:
    """Let it be the next one to be served."""
    db.admin.execute(
        "UPDATE pganon_private.request SET due_at = now() - interval '1 h' WHERE id = %s",
        [request],
    )


def _approve(db: Database, request: int, evidence: str | None = None) -> None:
    decide = "SELECT pganon.approve_release(%s, 'fine', %s)"
    db.connect(BY).execute(decide, [request, evidence])


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {} WHERE ctid IN (SELECT ctid FROM {} LIMIT 1)",
        "TRUNCATE {}",
        "DROP TABLE {}",
    ],
    ids=["a row", "emptied", "gone"],
)
@pytest.mark.parametrize("part", ["members", "remembered_groups", "functions"])
def test_what_would_be_remembered_was_changed(db: Database, part: str, change: str) -> None:
    """Attack: later versions would be judged beside people who are not remembered."""
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(release="finer"))
    larger = [{"model": "k_anonymity", "k": 24}]
    queue.apply(db, publish=APPROVAL, privacy=larger, republication="refuse")
    request = _held(db)
    conn = db.owner()
    row = conn.execute("SELECT run_id FROM pganon_private.held").fetchone()
    assert row is not None
    name = sql.Identifier("pganon_stage", f"r{row[0]}_{part}")
    conn.execute(change.replace("{}", name.as_string(conn)).encode())
    assert _approved(db, request)[0] == "failed"
    assert faults.content(conn) is None
    versions = conn.execute("SELECT release FROM pganon_private.version").fetchall()
    assert versions == [("finer",)]
    queue.serve(db)
    assert faults.run_tables(conn) == []


def test_later_versions_are_judged_beside_it(db: Database) -> None:
    """What was approved is remembered as if it had been published at once."""
    queue.applied(db, publish=APPROVAL, republication="refuse")
    assert _approved(db, _held(db)) == ("released", None)
    other = faults.policy(release="others", where="id > 3")
    with pytest.raises(PrivacyRefusal, match="in version 1"):
        run_release(other, dsn=db.dsn())


def _forget(db: Database, release: str = "patients") -> None:
    db.source("CREATE TABLE public.erased AS SELECT id FROM public.patient WHERE id = 3")
    forget_people(db.owner(), release, "public.erased")


def test_people_who_were_forgotten_meanwhile(db: Database) -> None:
    """Their digests must not come back with a release that knew them, nor stay with it."""
    queue.applied(db, publish=APPROVAL)
    assert _approved(db, _held(db)) == ("released", None)
    request = _held(db, k=9)
    _forget(db)
    assert queue.state(db, request) == ("superseded", None)
    assert faults.events(db.owner())[-2:] == ["superseded", "forgotten"]
    queue.serve(db)
    assert faults.run_tables(db.owner()) == []


def test_people_who_were_forgotten_when_it_was_claimed(db: Database) -> None:
    queue.applied(db, publish=APPROVAL)
    assert _approved(db, _held(db)) == ("released", None)
    request = _held(db, k=9)
    _approve(db, request)
    worker = db.owner()
    mine = claim(worker, enter(worker, "worker"))
    assert mine is not None
    _forget(db)
    assert Job(worker, db.dsn(), None, mine).perform().code == "stale"
    assert queue.state(db, request) == ("failed", "stale")


def test_people_who_were_forgotten_while_it_was_looked_at(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another release about them, while the worker holds this one."""
    queue.applied(db, publish=APPROVAL)
    run_release(faults.policy(release="others"), dsn=db.dsn())
    request = _held(db)
    looked: list[Any] = []

    def stamps(*arguments: Any) -> Any:
        if not looked:
            looked.append(_forget(db, "others"))
        return transaction.stamps(*arguments)

    monkeypatch.setattr(held, "stamps", stamps)
    assert _approved(db, request) == ("failed", "stale")
    assert _reason(db, request), "the steward is told why"


@pytest.fixture
def people(db: Database) -> Database:
    """A release that grows, and waits for approval every time."""
    db.source(growing.SOURCE)
    growing.add(db, 1, 12)
    return db


def _grown(db: Database) -> int:
    result = growing.grow(db, publish=APPROVAL)
    assert (result.outcome, result.version) == ("awaiting_approval", None)
    assert result.request is not None
    return result.request


def test_increments_wait_with_their_cohorts(people: Database) -> None:
    """A cohort is finished when its release is published, and not before."""
    conn = people.owner()
    first = _grown(people)
    assert growing.cohorts(conn) == [(12, False)]
    assert _approved(people, first) == ("released", None)
    assert growing.cohorts(conn) == [(12, True)]
    before = growing.shown(conn)
    growing.add(people, 13, 18)
    second = _grown(people)
    assert growing.cohorts(conn) == [(12, True), (6, False)]
    assert growing.shown(conn) == before
    assert _approved(people, second) == ("released", None)
    assert growing.cohorts(conn) == [(12, True), (6, True)]
    assert before < growing.shown(conn)
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


def test_two_increments_of_one_cohort(people: Database) -> None:
    """The second was tested on the same people: one of both is published."""
    conn = people.owner()
    first = _grown(people)
    growing.add(people, 13, 18)
    second = _grown(people)
    assert growing.cohorts(conn) == [(12, False)], "who came since waits"
    assert _approved(people, first) == ("released", None)
    assert _approved(people, second) == ("failed", "stale")
    assert _reason(people, second)
    assert len(growing.rows(conn)) == 12
    third = _grown(people)
    assert growing.cohorts(conn) == [(12, True), (6, False)]
    assert _approved(people, third) == ("released", None)
    assert len(growing.rows(conn)) == 18


def test_a_rejected_increment_is_tested_again(people: Database) -> None:
    """Whoever was looked at stays in the cohort: a rejection lets nobody be tested with others."""
    conn = people.owner()
    first = _grown(people)
    people.connect(BY).execute("SELECT pganon.reject_release(%s, 'not yet')", [first])
    queue.serve(people)
    growing.add(people, 13, 18)
    again = _grown(people)
    assert growing.cohorts(conn) == [(12, False)]
    assert _approved(people, again) == ("released", None)
    assert len(growing.rows(conn)) == 12


def test_shared_tables_were_changed_meanwhile(people: Database) -> None:
    """Attack: an increment shows tables of the version before, too."""
    conn = people.owner()
    assert _approved(people, _grown(people)) == ("released", None)
    growing.add(people, 13, 18)
    request = _grown(people)
    row = conn.execute(
        "SELECT r ->> 'name' FROM pganon_private.version, jsonb_array_elements(relations) AS r"
        " WHERE r ->> 'schema' = 'pganon_data' AND r ->> 'part' = 'records'"
    ).fetchone()
    assert row is not None
    table = sql.Identifier("pganon_data", row[0])
    conn.execute(sql.SQL("UPDATE {} SET disease = 'flu'").format(table))
    assert _approved(people, request) == ("failed", "stale")
    assert _reason(people, request)


def test_views_in_use_cost_no_approval(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader's long query is waited for; the third attempt is the last."""
    monkeypatch.setattr(transaction, "PAUSES", ())
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "200ms")
    queue.applied(db, publish=APPROVAL)
    assert _approved(db, _held(db)) == ("released", None)
    queue.apply(db, publish=APPROVAL, suppression_limit=0.1)
    request = _held(db)
    reader = db.connect("analyst")
    reader.execute("BEGIN; SELECT count(*) FROM published.patients")
    assert _approved(db, request) == ("approved", None)
    reader.execute("ROLLBACK")
    _first(db, request)
    queue.serve(db)
    assert queue.state(db, request) == ("released", None)
    other = _held(db, k=9)
    reader.execute("BEGIN; SELECT count(*) FROM published.patients")
    _approve(db, other)
    for _ in range(3):
        _first(db, other)
        queue.serve(db)
    assert queue.state(db, other) == ("failed", "in_use")


def test_a_reader_role_was_dropped(db: Database) -> None:
    """Neither what waits nor the next run is published for fewer readers than were approved."""
    with queue.role(db, "reader") as (reader,):
        publish = {**APPROVAL, "readers": [reader]}
        queue.applied(db, publish=publish, schedule="0 3 * * 1")
        request = _held(db)
    again = db.connect("analyst")
    assert _approved(db, request) == ("failed", "missing_role")
    asked = queue.ask(again)
    log = queue.serve(db)
    assert queue.state(db, asked) == ("failed", "missing_role")
    assert log[-1].startswith("stopped")
    assert faults.content(db.owner()) is None


def test_who_asks_after_the_source_was_read(db: Database) -> None:
    """An equal request of somebody else is not answered by an older state of the source."""
    queue.applied(db, publish=APPROVAL)
    request = _held(db)
    later = queue.ask(db.owner())
    _approve(db, request)
    _first(db, request)
    queue.serve(db)
    assert queue.state(db, request) == ("released", None)
    row = db.owner().execute(
        "SELECT count(DISTINCT run_id) FROM pganon_private.request WHERE id = ANY (%s)",
        [[request, later]],
    )
    assert row.fetchone() == (2,)
    assert queue.state(db, later) == ("unchanged", None)


def test_who_asks_after_a_command_read_the_source(db: Database) -> None:
    queue.applied(db, publish=APPROVAL)
    policy = faults.policy(requests=queue.ASKED, republication="allow", publish=APPROVAL)
    asked: list[int] = []
    result = faults.run(
        db.dsn(),
        policy,
        before=faults.at("verify.balance", lambda: asked.append(queue.ask(db.owner()))),
    )
    assert result.request is not None
    _approve(db, result.request)
    _first(db, result.request)
    queue.serve(db)
    assert queue.state(db, result.request) == ("released", None)
    assert queue.state(db, asked[0]) == ("unchanged", None), "it was run on its own"


def test_a_policy_that_changed_since(db: Database) -> None:
    """The steward's newest policy may want no earlier one to be run, nor published."""
    queue.applied(db, publish=APPROVAL)
    request, waiting = _held(db), queue.ask(db.connect("analyst"), k=9)
    # Nobody whom it removes as an approver lets out what waits, either.
    queue.apply(db, publish={**APPROVAL, "approval": {"by": ["analyst"]}})
    assert _approved(db, request) == ("failed", "changed")
    assert queue.state(db, waiting) == ("failed", "changed")
    code = "SELECT code FROM pganon.requests WHERE id = %s"
    progress = "SELECT hint FROM pganon.request_progress(%s, now(), '1 min', NULL, NULL)"
    told = db.connect("analyst").execute(progress.encode(), [waiting]).fetchone()
    assert told == ("the policy has changed since: ask again",)
    assert db.connect("analyst").execute(code.encode(), [waiting]).fetchone() == ("changed",)
    assert faults.content(db.owner()) is None
    queue.apply(db, publish=APPROVAL, suppression_limit=0.1)
    assert _approved(db, _held(db)) == ("released", None), "of the newest revision"


def test_a_policy_that_lets_earlier_requests_run(db: Database) -> None:
    queue.applied(db, publish=APPROVAL)
    request = _held(db)
    asked = {**queue.ASKED, "on_change": "run"}
    queue.apply(db, publish={**APPROVAL, "approval": {"by": ["analyst"]}}, requests=asked)
    assert _approved(db, request) == ("released", None)


def _reason(db: Database, request: int) -> str:
    """Why the request failed, in words."""
    reason = "SELECT reason FROM pganon.requests WHERE id = %s"
    row = db.owner().execute(reason.encode(), [request]).fetchone()
    assert row is not None
    return row[0]


def _beside(db: Database, **changes: Any) -> None:
    """Another version about the same people, published while one waits."""
    run_release(faults.policy(release="others", **changes), dsn=db.dsn())


def _over_versions(db: Database) -> dict[str, str]:
    rows = db.admin.execute("SELECT release, over_versions FROM pganon_private.version")
    return dict(rows.fetchall())


def test_a_late_approval_is_judged_beside_what_appeared(db: Database) -> None:
    """Attack: ask for both before either is published."""
    queue.applied(db, publish=APPROVAL, republication="refuse")
    request = _held(db)
    _beside(db, where="id > 3", republication="refuse")
    assert _approved(db, request) == ("failed", "republication")
    assert "were in other groups in version 1 of the release others" in _reason(db, request)
    last = listing.events(db.owner(), "patients")[-1]
    assert (last["event"], last["details"]["code"]) == ("refused", "republication")
    assert last["details"]["reason"] == "crossing"
    assert _over_versions(db) == {"others": "holds"}
    queue.serve(db)
    assert faults.run_tables(db.owner()) == []
    assert faults.content(db.owner()) is None


def test_a_late_approval_beside_the_same_groups(db: Database) -> None:
    queue.applied(db, publish=APPROVAL, republication="refuse")
    request = _held(db)
    _beside(db, republication="refuse")
    assert _approved(db, request) == ("released", None)
    assert _over_versions(db) == {"others": "holds", "patients": "holds"}


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_late_approval_of_a_function(
    db: Database, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    """It merges groups of what appeared; also where it was judged in an attempt that failed."""
    queue.applied(
        db, publish=APPROVAL, republication="refuse", privacy=[{"model": "k_anonymity", "k": 24}]
    )
    request = _held(db)
    _beside(db, republication="refuse")
    assert _approved(db, request) == ("awaiting_approval", None), "it promises less now"
    _approve(db, request, _seen(db, request))
    if attempts > 1:
        with monkeypatch.context() as patched:
            patched.setattr("pganon.publish.transaction._make_readable", _in_use)
            queue.serve(db)
        assert queue.state(db, request) == ("approved", None)
        _first(db, request)
    queue.serve(db)
    assert queue.state(db, request) == ("released", None)
    assert _over_versions(db) == {"others": "holds", "patients": "finer"}
    rows = db.admin.execute(
        "SELECT manner -> 'functions' FROM pganon_private.version ORDER BY release"
    ).fetchall()
    assert rows == [(False,), (True,)]
    assert faults.run_tables(db.owner()) == []


def _in_use(*_: Any, **__: Any) -> None:
    raise PreconditionError("in use", code=ErrorCode.IN_USE)


def test_a_late_approval_that_accepts_what_appeared(db: Database) -> None:
    queue.applied(db, publish=APPROVAL, republication="warn")
    request = _held(db)
    _beside(db, where="id > 3", republication="refuse")
    before = _evidence(db, request)
    assert before["evidence"]["judgement"]["over_versions"] == "holds"
    assert _approved(db, request) == ("awaiting_approval", None)
    assert faults.content(db.owner()) is None
    after = _evidence(db, request)
    assert after["over_versions"] == after["evidence"]["judgement"]["over_versions"] == "void"
    ((_, other, _, people),) = after["evidence"]["judgement"]["crossings"]
    assert other == "version 1 of the release others"
    assert people > 0
    assert _approved(db, request, _seen(db, request)) == ("released", None)
    assert _over_versions(db) == {"others": "void", "patients": "void"}
    digests = [
        (event["event"], event["details"]["evidence_sha256"])
        for event in listing.events(db.owner(), "patients")
        if "evidence_sha256" in event["details"]
    ]
    first, approved, second, again, released = digests
    assert first[1] == approved[1] != second[1] == again[1] == released[1]
    assert released == ("released", sha256(after["evidence"]))
    stored = db.admin.execute(
        b"SELECT evidence FROM pganon_private.version WHERE release = 'patients'"
    ).fetchone()
    assert stored == (after["evidence"],), "a report compares it with the ledger"


def test_it_waits_again_as_long_as_before(db: Database) -> None:
    queue.applied(db, publish=APPROVAL, republication="warn")
    request = _held(db)
    _beside(db, where="id > 3", republication="refuse")
    db.admin.execute(b"UPDATE pganon_private.request SET expires_at = now() + interval '1 min'")
    assert _approved(db, request) == ("awaiting_approval", None)
    left = db.admin.execute(
        b"SELECT expires_at > now() + interval '29 days' FROM pganon_private.request"
    ).fetchone()
    assert left == (True,)
    assert queue.serve(db)[-1].endswith("served=0"), "nobody decided"
    events = faults.events(db.owner(), "patients")
    assert [one for one in events if one == "awaiting_approval"] == ["awaiting_approval"] * 2


def test_an_approval_is_of_what_was_looked_at(db: Database, tmp_path: Path) -> None:
    """Attack: have it judged again between a look and the approval, on every way to decide."""
    queue.applied(db, publish=APPROVAL, republication="warn")
    request = _held(db)
    before, old = _evidence(db, request), _seen(db, request)
    _beside(db, where="id > 3", republication="refuse")
    with pytest.raises(psycopg.Error, match="waits with other evidence"):
        _approve(db, request, old[::-1])
    assert _approved(db, request, old) == ("awaiting_approval", None)
    assert _evidence(db, request) != before
    new = _seen(db, request)
    asked = ("approve", str(request), "--reason", "as before", "--dsn", db.dsn(BY))
    for evidence, says in [(None, "was judged again"), (old, "other evidence"), ("", "other")]:
        with pytest.raises(psycopg.Error, match=says) as caught:
            _approve(db, request, evidence)
        assert caught.value.sqlstate == "PA413"
        hint = caught.value.diag.message_hint or ""
        assert f"pganon report --request {request}" in hint
        assert new not in hint, "whoever has it has looked"
        given = () if evidence is None else ("--evidence", evidence)
        ran = pganon(*asked, *given)
        assert (ran.code, says in ran.err, hint in ran.err) == (2, True, True)
        with pytest.raises(psycopg.Error, match=says):
            db.connect(BY).execute(
                "INSERT INTO pganon.action (actor, kind, request, reason, parameters)"
                " VALUES (current_user, 'approve', %s, 'fine', %s)",
                [request, Jsonb({"evidence": evidence})],
            )
    with pytest.raises(psycopg.Error, match="was judged again"):
        db.connect(BY).execute(
            "INSERT INTO pganon.action (actor, kind, request, reason)"
            " VALUES (current_user, 'approve', %s, 'fine')",
            [request],
        )
    queue.serve(db)
    assert queue.state(db, request) == ("awaiting_approval", None)
    assert faults.content(db.owner()) is None
    page = tmp_path / "report.html"
    ran = pganon("report", "--request", str(request), "-o", str(page), "--dsn", db.dsn(BY))
    assert f"evidence {new}\n" in ran.out
    assert f"sha256 {new}" in page.read_text()
    assert pganon(*asked, "--evidence", new).code == 0
    queue.serve(db)
    assert queue.state(db, request) == ("released", None)


def test_who_rejects_needs_no_look(db: Database) -> None:
    queue.applied(db, publish=APPROVAL, republication="warn")
    request = _held(db)
    _beside(db, where="id > 3", republication="refuse")
    assert _approved(db, request) == ("awaiting_approval", None)
    db.connect(BY).execute("SELECT pganon.reject_release(%s, 'not again')", [request])
    assert queue.state(db, request) == ("rejected", None)


def _seen(db: Database, request: int) -> str:
    """The digest that stands beside the evidence."""
    query = "SELECT pganon.request_evidence(%s) ->> 'evidence_sha256'"
    row = db.connect(BY).execute(query, [request]).fetchone()
    assert row is not None
    return row[0]


def _evidence(db: Database, request: int) -> dict[str, Any]:
    row = db.connect(BY).execute("SELECT pganon.request_evidence(%s)", [request]).fetchone()
    assert row is not None
    return row[0]["staged"]


def test_a_late_approval_of_signatures(db: Database) -> None:
    """Those of another version have taken the place of what these were added to."""
    kept = Kept(db, l=2)
    people = {1: "a", 2: "b", 3: "c", 4: "d"}
    kept.release(people)
    kept.fill({**people, 5: "a", 6: "b"})
    asked = declared("t", publish=APPROVAL)
    result = run_release(driver.loaded(asked), dsn=db.dsn("steward"))
    assert result.request is not None
    kept.release({**people, 7: "a", 8: "b"}, release="r_other")
    assert _approved(db, result.request) == ("failed", "stale")
    assert _reason(db, result.request or 0)
