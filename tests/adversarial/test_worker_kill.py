"""Workers that die, are given up for dead, or are told to stop: nothing is lost or done twice."""

from __future__ import annotations

import signal
import threading
from typing import Any

import psycopg
import pytest

from pganon import database
from pganon.requests.claim import Claim, Lost, claim, finish
from pganon.requests.workers import enter, requeue
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.worker.job import Job
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, CrashableServer, Database


def _claimed(db: Database) -> tuple[Connection, int, Claim]:
    """A worker's session that has claimed the only request."""
    conn = db.owner()
    me = enter(conn, "worker")
    mine = claim(conn, me)
    assert mine is not None
    return conn, me, mine


def _hurry(db: Database) -> None:
    db.admin.execute("UPDATE pganon_private.request SET due_at = now()")


def test_a_dead_workers_request_is_done_by_another(db: Database) -> None:
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    conn, _, _ = _claimed(db)
    assert queue.serve(db) == ["started worker=2", "stopped served=0"], "it is alive"
    faults.end(conn, db.admin)
    log = queue.serve(db)
    assert f"requeued request={asked} release=patients state=waiting" in log
    assert queue.state(db, asked) == ("waiting", None)
    _hurry(db)
    queue.serve(db)
    assert queue.state(db, asked) == ("released", None)
    row = db.owner().execute("SELECT attempts, worker FROM pganon_private.request").fetchone()
    assert row == (2, None)
    workers = db.owner().execute("SELECT count(*) FROM pganon_private.worker").fetchone()
    assert workers == (1,), "but the last one's row, which the next forgets"


def test_the_third_attempt_is_the_last(db: Database) -> None:
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    for _ in range(3):
        conn, _, _ = _claimed(db)
        faults.end(conn, db.admin)
        queue.serve(db)
        _hurry(db)
    assert queue.state(db, asked) == ("failed", "worker_lost")


def test_a_hostile_role_keeps_no_dead_worker_alive(db: Database) -> None:
    """Attack: a role waits for every key that pg_locks shows, and has it when its holder dies."""
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    conn, _, _ = _claimed(db)
    hostile = db.connect("analyst")
    keys = db.admin.execute(
        "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory'"
    ).fetchall()
    assert keys != []
    faults.end(conn, db.admin)
    for (key,) in keys:
        hostile.execute("SELECT pg_advisory_lock(%s)", [key])
    queue.serve(db)
    assert queue.state(db, asked) == ("waiting", None)


def test_a_worker_that_was_given_up_publishes_nothing(db: Database) -> None:
    """Its lock session is gone, and it goes on; another has the request since."""
    stored = queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    lost, _, mine = _claimed(db)
    db.admin.execute("SELECT pg_terminate_backend(%s)", [lost.info.backend_pid])
    other = db.owner()
    faults.wait_until(lambda: bool(requeue(other, enter(other, "worker"))))
    _hurry(db)

    def overtaken(phase: str, step: str, purpose: str) -> None:
        if phase == "publish":
            assert claim(other, enter(other, "worker")) is not None

    loaded = faults.policy(republication="allow", requests=queue.ASKED)
    before = Options(claim=mine, revision=stored.revision, on_step=overtaken)
    with pytest.raises(Lost):
        run_release(loaded, dsn=db.dsn(), options=before)
    assert queue.state(db, asked) == ("waiting", None), "it did not even begin"
    taken = claim(other, enter(other, "worker"))
    assert taken is not None
    other.execute("UPDATE pganon_private.request SET attempts = attempts + 1")
    with pytest.raises(Lost):
        finish(other, taken, "released", version=1)


def test_the_fence_is_in_the_publishing_transaction(db: Database) -> None:
    """Requeued at the last moment: all that publication did is rolled back."""
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    conn, _, mine = _claimed(db)

    def requeued(phase: str, step: str, purpose: str) -> None:
        if phase == "publish":
            db.admin.execute("UPDATE pganon_private.request SET attempts = attempts + 1")

    loaded = faults.policy(republication="allow", requests=queue.ASKED)
    with pytest.raises(Lost):
        run_release(loaded, dsn=db.dsn(), options=Options(claim=mine, on_step=requeued))
    assert faults.content(conn) is None
    assert faults.run_tables(conn) == []
    assert faults.events(conn) == ["started", "failed: lost"]
    assert queue.state(db, asked) == ("running", None)


def test_busy_releases_wait(db: Database) -> None:
    """A command works on the release: the attempt does not count."""
    requests = {**queue.ASKED, "on_change": "run"}
    queue.applied(db, requests=requests)
    asked = queue.ask(db.connect("analyst"))
    waited: list[Any] = []
    faults.run(
        db.dsn(),
        faults.policy(republication="allow", requests=requests),
        before=faults.at("snapshot.snapshot", lambda: waited.extend(queue.serve(db))),
    )
    assert any(line.startswith("waiting code=busy") for line in waited), waited
    row = db.owner().execute("SELECT state, attempts, due_at > now() FROM pganon_private.request")
    assert row.fetchone() == ("waiting", 0, True)
    _hurry(db)
    queue.serve(db)
    assert queue.state(db, asked) == ("unchanged", None)


def test_a_defect_ends_the_request_and_not_the_worker(db: Database) -> None:
    queue.applied(db)
    queue.ask(db.connect("analyst"))
    conn, _, mine = _claimed(db)

    class Broken(Job):
        def _act(self) -> Any:
            raise ZeroDivisionError(faults.SECRET)

    done = Broken(conn, db.dsn(), None, mine).perform()
    assert (done.state, done.code) == ("failed", "internal (ZeroDivisionError)")


def _done(db: Database, asked: int) -> bool:
    """Serve without waiting for what is due later; whether the request was released."""
    _hurry(db)
    queue.serve(db)
    return queue.state(db, asked) == ("released", None)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["claimed", "encode", "partition", "verify"])
def test_killed_at_any_time(db: Database, phase: str) -> None:
    queue.applied(db)
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "started")
        asked = queue.ask(db.connect("analyst"))
        queue.until(worker, "claimed")
        step = "SELECT step = %s OR state <> 'running' FROM pganon_private.request"
        if phase != "claimed":
            faults.wait_until(lambda: db.admin.execute(step, [phase]).fetchone() == (True,))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    faults.wait_until(lambda: _done(db, asked))
    assert faults.run_tables(db.owner()) == []
    versions = db.admin.execute("SELECT count(*) FROM pganon_private.version").fetchone()
    assert versions == (1,), "once"


def _prepared(db: Database, what: str) -> int:
    """A request that is to be served, of this kind."""
    approval = {"readers": ["analyst"], "approval": {"by": ["source_owner"]}}
    queue.applied(db, **({"publish": approval} if what == "approved" else {}))
    steward = db.owner()
    asked = queue.ask(db.connect("analyst"))
    if what == "run":
        return asked
    queue.serve(db)
    if what == "approved":
        approve = "SELECT pganon.approve_release(%s, 'fine')"
        db.connect("source_owner").execute(approve, [asked])
        return asked
    queue.ask(steward, k=9)
    queue.serve(db)
    row = steward.execute(f"SELECT pganon.request_{what}('patients')".encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "approved", "revert", "drop"])
def test_killed_while_it_publishes(db: Database, what: str) -> None:
    """All that the transaction did is undone, and another worker does it once."""
    asked = _prepared(db, what)
    before = faults.version(db.owner())
    blocker = db.owner()
    blocker.execute("BEGIN; LOCK TABLE pganon_private.release IN SHARE ROW EXCLUSIVE MODE")
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "claimed")
        faults.wait_for_statement(db.owner(), "LOCK TABLE pganon_private.release")
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert queue.state(db, asked) == ("running", None)
    blocker.execute("ROLLBACK")
    assert faults.version(db.owner()) == before
    faults.wait_until(lambda: _done(db, asked))
    events = [event for event in faults.events(db.owner()) if not event.startswith("failed")]
    done = {"run": "released", "approved": "released", "revert": "rolled_back", "drop": "dropped"}
    assert events[-1] == done[what]
    assert events.count(done[what]) == 1
    after = {"run": 1, "approved": 1, "revert": 1, "drop": None}
    assert faults.version(db.owner()) == after[what]
    faults.wait_until(lambda: not _left(db))


def _left(db: Database) -> list[str]:
    queue.serve(db)
    return faults.run_tables(db.owner())


@pytest.mark.slow
def test_killed_between_schedule_and_request(db: Database) -> None:
    """A time that has come is asked for once, whoever dies at it."""
    queue.applied(db, schedule="0 3 * * 1")
    db.owner().execute("UPDATE pganon_private.schedule SET next_at = now() - interval '3 weeks'")
    blocker = db.owner()
    blocker.execute("BEGIN; LOCK TABLE pganon_private.request IN SHARE MODE")
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "started")
        waits = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pganon worker'"
            " AND wait_event_type = 'Lock' AND datname = current_database()"
        )
        faults.wait_until(lambda: db.admin.execute(waits).fetchone() == (1,))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    blocker.execute("ROLLBACK")
    faults.wait_until(lambda: db.admin.execute(waits).fetchone() == (0,))
    faults.wait_until(lambda: queue.serve(db) != [] and "released" in queue.states(db))
    assert queue.states(db) == ["released"]


@pytest.mark.slow
def test_told_to_stop(db: Database) -> None:
    """SIGTERM lets the request be finished; a second one interrupts it, and it waits again."""
    queue.applied(db)
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "started")
        worker.send_signal(signal.SIGTERM)
        queue.until(worker, "stopped")
        assert worker.wait() == 0
    asked = queue.ask(db.connect("analyst"))
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "claimed")
        worker.send_signal(signal.SIGTERM)
        queue.until(worker, "stopped")
        assert worker.wait() == 0
    assert queue.state(db, asked) == ("released", None)
    blocker = db.connect("source_owner")
    blocker.execute("BEGIN; LOCK TABLE public.patient")
    asked = queue.ask(db.connect("analyst"), k=9)
    with queue.process(db.dsn()) as worker:
        queue.until(worker, "claimed")
        faults.wait_for_statement(db.owner(), "patient")
        worker.send_signal(signal.SIGTERM)
        worker.send_signal(signal.SIGINT)  # equal ones may become one
        queue.until(worker, "interrupted")
        queue.until(worker, "stopped")
        assert worker.wait() == 0
    blocker.execute("ROLLBACK")
    assert queue.state(db, asked) == ("waiting", None)
    faults.wait_until(lambda: _done(db, asked))


@pytest.mark.slow
def test_the_server_restarts_under_a_waiting_call(crashable_server: CrashableServer) -> None:
    """The call ends with an error, the request stays, and the worker finds the server again."""
    server = crashable_server
    database_of = server._database
    queue.applied(database_of)
    with queue.process(server.dsn()) as worker:
        queue.until(worker, "started")
        blocker = server.connect("source_owner")
        blocker.execute("BEGIN; LOCK TABLE public.patient")
        ended: list[str | None] = []

        def call() -> None:
            with psycopg.connect(server.dsn("analyst"), autocommit=True) as analyst:
                try:
                    analyst.execute("CALL pganon.release('patients')")
                except psycopg.OperationalError as error:
                    ended.append(error.sqlstate)

        thread = threading.Thread(target=call)
        thread.start()
        queue.until(worker, "claimed")
        server.crash()
        thread.join()
        assert len(ended) == 1
        server.restart()
        queue.until(worker, "released")
    with database.connect(server.dsn()) as conn:
        row = conn.execute("SELECT state FROM pganon.requests").fetchall()
    assert row == [("released",)]
