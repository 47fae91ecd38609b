"""Attack: people who ask or decide leave their transactions open, or commit them too late.

Requests are rows that their owners may lock by deciding about them. Nobody else may have to wait
for that: not who publishes, whose views would be locked meanwhile, nor who withdraws.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pganon.publish import lifecycle
from pganon.run.release import run_release
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, Database

BY = "source_owner"
APPROVAL = {"readers": ["analyst"], "approval": {"by": [BY]}}


@contextmanager
def _impatient(db: Database) -> Iterator[None]:
    """Who would wait for a lock fails instead, so that no test hangs."""
    db.admin.execute("ALTER ROLE steward SET lock_timeout = '5s'")
    try:
        yield
    finally:
        db.admin.execute("ALTER ROLE steward RESET lock_timeout")


@pytest.fixture(autouse=True)
def _no_waiting(db: Database) -> Iterator[None]:
    with _impatient(db):
        yield


def _cancelling(db: Database, request: int) -> Connection:
    conn = db.connect("analyst")
    conn.execute("BEGIN")
    conn.execute("SELECT pganon.cancel_request(%s)", [request])
    return conn


def _deciding(db: Database, request: int) -> Connection:
    conn = db.connect(BY)
    conn.execute("BEGIN")
    conn.execute("SELECT pganon.approve_release(%s, 'soon')", [request])
    return conn


@pytest.mark.slow
def test_who_cancels_holds_up_no_publication(db: Database) -> None:
    """An equal request of another role is answered by it; this one is passed over."""
    queue.applied(db)
    mine, other = queue.ask(db.owner()), queue.ask(db.connect("analyst"))
    open_one = _cancelling(db, other)
    queue.serve(db)
    assert queue.state(db, mine) == ("released", None)
    faults.guarantee_holds(db.owner())
    open_one.execute("ROLLBACK")
    queue.serve(db)
    assert queue.state(db, other) == ("unchanged", None)


@pytest.mark.parametrize("how", ["withdraw", "drop"])
def test_who_cancels_holds_up_no_withdrawal(db: Database, how: str) -> None:
    """And what came to nothing of the cancellation does not bring the release back."""
    queue.applied(db)
    queue.ask(db.owner())
    queue.serve(db)
    waiting = queue.ask(db.connect("analyst"))
    open_one = _cancelling(db, waiting)
    steward = db.owner()
    if how == "drop":
        lifecycle.drop(steward, "patients")
    else:
        steward.execute("SELECT pganon.withdraw_release('patients')")
    assert faults.content(steward) is None
    open_one.execute("ROLLBACK")
    assert queue.state(db, waiting) == ("waiting", None)
    queue.serve(db)
    assert queue.state(db, waiting) == ("cancelled", "withdrawn")
    assert faults.content(steward) is None


@pytest.mark.slow
def test_a_request_committed_after_the_withdrawal(db: Database) -> None:
    """The steward alone can make it again, however long somebody kept a request ready."""
    queue.applied(db)
    queue.ask(db.owner())
    queue.serve(db)
    late = db.connect("analyst")
    late.execute("BEGIN")
    asked = queue.ask(late)
    db.owner().execute("SELECT pganon.withdraw_release('patients')")
    late.execute("COMMIT")
    assert queue.state(db, asked) == ("waiting", None)
    queue.serve(db)
    assert queue.state(db, asked) == ("cancelled", "withdrawn")
    assert faults.content(db.owner()) is None
    again = queue.ask(db.owner())
    queue.serve(db)
    assert queue.state(db, again) == ("released", None), "the steward can"


def _held(db: Database) -> int:
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    return asked


@pytest.mark.slow
def test_who_approves_holds_up_no_withdrawal(db: Database) -> None:
    queue.applied(db, publish=APPROVAL)
    first = _held(db)
    db.connect(BY).execute("SELECT pganon.approve_release(%s, 'fine')", [first])
    queue.serve(db)
    steward = db.owner()
    queue.apply(db, publish=APPROVAL, suppression_limit=0.1)
    waiting = _held(db)
    approver = _deciding(db, waiting)
    steward.execute("SELECT pganon.withdraw_release('patients')")
    approver.execute("COMMIT")
    queue.serve(db)
    assert queue.state(db, waiting) == ("cancelled", "withdrawn")
    assert faults.content(steward) is None
    queue.serve(db)
    assert faults.run_tables(steward) == []


@pytest.mark.slow
def test_who_approves_holds_up_no_later_version(db: Database) -> None:
    """A later version is published at once, and the earlier one not after it."""
    asked = {**queue.ASKED, "on_change": "run"}
    queue.applied(db, publish=APPROVAL, requests=asked)
    earlier = _held(db)
    approver = _deciding(db, earlier)
    changed = faults.policy(requests=asked, republication="allow", suppression_limit=0.1)
    assert run_release(changed, dsn=db.dsn()).version == 1
    assert queue.state(db, earlier) == ("awaiting_approval", None), "it was passed over"
    approver.execute("COMMIT")
    queue.serve(db)
    assert queue.state(db, earlier) == ("superseded", None)
    assert faults.version(db.owner()) == 1
    assert faults.events(db.owner())[-1] == "superseded"
    queue.serve(db)
    assert faults.run_tables(db.owner()) == []


@pytest.mark.slow
def test_who_approves_holds_up_no_expiry(db: Database) -> None:
    queue.applied(db, publish=APPROVAL)
    waiting = _held(db)
    soon = "UPDATE pganon_private.request SET expires_at = clock_timestamp() + interval '2 s'"
    db.admin.execute(soon)
    approver = _deciding(db, waiting)
    is_over = "SELECT expires_at <= clock_timestamp() FROM pganon_private.request"
    faults.wait_until(lambda: db.admin.execute(is_over).fetchone() == (True,))
    log = queue.serve(db)
    assert [line.split()[0] for line in log] == ["started", "stopped"], log
    approver.execute("ROLLBACK")
    queue.serve(db)
    assert queue.state(db, waiting) == ("expired", None)
