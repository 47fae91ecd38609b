"""Refusals in SQL: the steward reads why, others do not, and no lines of functions come along."""

from __future__ import annotations

import json
import re

import psycopg
import pytest

from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, Database

TOO_LARGE = [{"model": "k_anonymity", "k": 25}]


def _refusal(conn: Connection, text: str) -> tuple[str, str]:
    """Message and hint of a statement that is refused, by one function."""
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(text.encode())
    diag = caught.value.diag
    assert (diag.sqlstate or "").startswith("PA"), diag.message_primary
    assert len((diag.context or "").splitlines()) <= 1, diag.context
    assert diag.message_hint, text
    return diag.message_primary or "", diag.message_hint


@pytest.mark.slow
def test_the_steward_reads_why_and_nobody_else(db: Database) -> None:
    """Attack: a requester reads of a refusal what the data allow."""
    queue.applied(db, privacy=TOO_LARGE)
    analyst, steward = db.connect("analyst"), db.owner()
    with queue.serving(db.dsn()):
        told = _refusal(analyst, "CALL pganon.release('patients')")
        assert told == ('request 1 for the release "patients" was refused', "the steward sees why")
        said, hint = _refusal(steward, "CALL pganon.release('patients')")
    assert said.startswith(
        'request 2 for the release "patients" was refused: public.patient has 24'
    ), said
    assert "the steward" not in hint
    reasons = "SELECT reason, hint FROM pganon.requests ORDER BY id"
    assert steward.execute(reasons).fetchall()[1] == (said.partition("refused: ")[2], hint)
    assert analyst.execute(reasons).fetchall() == [(None, None)]


@pytest.mark.slow
def test_the_version_before_is_named_where_there_is_one(db: Database) -> None:
    queue.applied(db)
    analyst, steward = db.connect("analyst"), db.owner()
    with queue.serving(db.dsn()):
        analyst.execute("CALL pganon.release('patients')")
        queue.apply(db, privacy=TOO_LARGE)
        shown = "version 1 is shown as before"
        hint = "the steward sees why; " + shown
        assert _refusal(analyst, "CALL pganon.release('patients')")[1] == hint
        assert _refusal(steward, "CALL pganon.release('patients')")[1].endswith("; " + shown)
        steward.execute("SELECT pganon.withdraw_release('patients')")
        assert shown not in _refusal(steward, "CALL pganon.release('patients')")[1]


@pytest.mark.slow
def test_who_may_not_read_does_not_learn_of_a_version(db: Database) -> None:
    queue.applied(db, publish={"readers": []})
    analyst = db.connect("analyst")
    with queue.serving(db.dsn()):
        analyst.execute("CALL pganon.release('patients')")
        queue.apply(db, publish={"readers": []}, privacy=TOO_LARGE)
        told = _refusal(analyst, "CALL pganon.release('patients')")
    assert told[1] == "the steward sees why"


@pytest.mark.slow
def test_a_failure_says_why(db: Database) -> None:
    queue.applied(db)
    document = json.dumps({"release": "r", "source": "public.none", "requests": queue.ASKED})
    analyst, steward = db.connect("analyst"), db.owner()
    steward.execute("SELECT pganon.apply_policy(%s::json)", [document])
    asked = [queue.ask(conn, "r") for conn in (analyst, steward)]
    db.source("ALTER TABLE public.patient RENAME TO gone", grant=False)
    with queue.serving(db.dsn()):
        faults.wait_until(lambda: queue.states(db) == ["failed"] * 2)
        said, _ = _refusal(steward, "CALL pganon.release('patients')")
        assert said.startswith('request 3 for the release "patients" failed: '), said
        assert "public.patient" in said
        told = _refusal(analyst, "CALL pganon.release('patients')")
    assert told == ('request 4 for the release "patients" failed', "the steward sees why")
    progress = (
        "SELECT failed, said, hint FROM pganon.request_progress(%s, now(), '1 s', NULL, NULL)"
    )
    assert analyst.execute(progress.encode(), asked[:1]).fetchone() == (
        "PA404",
        'request 1 for the release "r" failed: unchecked',
        "the steward sees why",
    )
    row = steward.execute(progress.encode(), asked[1:]).fetchone()
    assert row is not None
    assert "failed: the policy cannot be used as it is: " in row[1]
    assert row[2] == "`pganon policy show r` has its problems"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CALL pganon.release('none')", "may request"),
        ("CALL pganon.release('patients', '{\"j\": 1}')", '"j"'),
        ("CALL pganon.release('patients', wait => '1 second')", "is waiting still"),
        ("BEGIN; CALL pganon.release('patients')", r"CALL pganon.release\(...\) cannot wait"),
        ("BEGIN; CALL pganon.drop_release('a')", r"CALL pganon.drop_release\(...\) cannot wait"),
        ("SELECT pganon.request_release('none')", "may request"),
        ("SELECT pganon.cancel_request(7)", "there is no request 7"),
        ("SELECT pganon.approve_release(7, 'x')", "may decide"),
        ("SELECT pganon.reject_release(7, 'x')", "may decide"),
        ("SET ROLE reader; SELECT pganon.approve_release(7, 'x')", "may not decide for it"),
        ("SELECT pganon.request_evidence(7)", "may decide"),
        ("SELECT pganon.assert_release('none')", "may read"),
        ("CALL pganon.revert_release('none')", "that is shown"),
        ("CALL pganon.drop_release('none')", "that is shown"),
        ("SELECT pganon.request_drop('none')", "that is shown"),
        ("SELECT pganon.withdraw_release('none')", "that is shown"),
        ("SELECT pganon.apply_policy('{}')", "not a policy"),
        ("SELECT pganon.verify('none')", "stored version"),
    ],
)
def test_no_lines_of_functions(db: Database, text: str, said: str) -> None:
    """PostgreSQL tells of the function that raises; not of those that called it."""
    queue.applied(db)
    *before, last = text.split("; ")
    steward = db.owner()
    with queue.role(db, "reader", member_of=None) as (reader,):
        db.admin.execute(f"GRANT {reader} TO steward".encode())
        for statement in before:
            steward.execute(statement.replace("reader", reader).encode())
        message, hint = _refusal(steward, last)
        steward.close()
    assert re.search(said, message), message
    if "cannot wait" in message:
        queued = "drop" if "drop" in message else "release"
        assert hint.endswith(f"queue with SELECT pganon.request_{queued}(...)")


def test_what_is_no_refusal_is_raised_as_it_is(db: Database) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        db.connect("analyst").execute("CALL pganon.ask('drop', 'none', NULL, '1 s')")
    assert "pganon.ask(" in (caught.value.diag.context or ""), "with all that tells where it was"
