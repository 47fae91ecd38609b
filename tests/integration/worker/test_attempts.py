"""Requests that are tried again, and for how long; and what looking at the queue costs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

import psycopg
import pytest

from pganon.errors import Interrupted
from pganon.requests.claim import claim, give_back
from pganon.requests.workers import enter
from pganon.worker.job import Job
from pganon.worker.log import Log
from pganon.worker.service import Worker, WorkerOptions
from pganon.worker.signals import Stop
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, Database


def _hurry(db: Database) -> None:
    db.admin.execute("UPDATE pganon_private.request SET due_at = now()")


def _attempts(db: Database) -> list[tuple[str, int]]:
    rows = db.admin.execute("SELECT state, attempts FROM pganon_private.request ORDER BY id")
    return rows.fetchall()


@pytest.mark.slow
def test_busy_beside_an_equal_request(db: Database) -> None:
    """Asked again while the first one was tried in vain: both wait, and no worker ends."""
    queue.applied(db)
    analyst = db.connect("analyst")
    first, asked = queue.ask(analyst), []

    def try_it() -> None:
        worker = db.owner()
        mine = claim(worker, enter(worker, "worker"))
        assert mine is not None
        asked.append(queue.ask(analyst))
        done = Job(worker, db.dsn(), None, mine).perform()
        assert (done.state, done.code) == ("waiting", "busy")

    policy = faults.policy(requests=queue.ASKED, republication="allow")
    faults.run(db.dsn(), policy, before=faults.at("snapshot.snapshot", try_it))
    assert asked != [first]
    assert _attempts(db) == [("waiting", 1), ("waiting", 0)]
    _hurry(db)
    queue.serve(db)
    assert queue.state(db, first) == ("unchanged", None)
    assert queue.state(db, asked[0]) == ("unchanged", None)


def test_an_equal_request_that_appears_at_the_last_moment(db: Database) -> None:
    """Between looking for one and giving back: it is tried again, and finds it."""
    queue.applied(db)
    analyst, worker = db.connect("analyst"), db.owner()
    queue.ask(analyst)
    mine = claim(worker, enter(worker, "worker"))
    assert mine is not None
    late = db.connect("analyst")
    late.execute("BEGIN")
    queue.ask(late)
    calls: list[str] = []
    original = worker.execute

    def execute(query: Any, *args: Any, **more: Any) -> Any:
        calls.append("asked")
        if len(calls) > 1:
            return original(query, *args, **more)
        late.execute("COMMIT")
        raise psycopg.errors.UniqueViolation

    with mock.patch.object(worker, "execute", execute):
        assert give_back(worker, mine, counted=False) == "waiting"
    assert _attempts(db) == [("waiting", 1), ("waiting", 0)]


@pytest.mark.parametrize("counted", [True, False])
def test_the_third_attempt_that_counts_is_the_last(db: Database, counted: bool) -> None:
    """A statement that the administrator ends, or the server with it, is not begun for ever."""
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    worker = db.owner()
    me = enter(worker, "worker")
    states = []
    for _ in range(4):
        mine = claim(worker, me)
        if mine is None:
            break
        states.append(give_back(worker, mine, counted=counted, after=timedelta(0)))
    if counted:
        assert states == ["waiting", "waiting", "failed"]
        assert queue.state(db, asked) == ("failed", "worker_lost")
    else:
        assert states == ["waiting"] * 4
        assert _attempts(db) == [("waiting", 0)]


def test_an_interrupted_statement_counts(db: Database) -> None:
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    with mock.patch.object(Job, "_run", side_effect=Interrupted("cancelled")):
        for _ in range(2):
            queue.serve(db)
            _hurry(db)
        log = queue.serve(db)
    assert log[-2].startswith("failed code=interrupted"), log
    assert queue.state(db, asked) == ("failed", "worker_lost")


def _worker(db: Database, lines: list[str]) -> Worker:
    log = Log(lambda line: lines.append(line.partition(" ")[2]))
    return Worker(db.dsn(), None, log, Stop(60), WorkerOptions(once=True))


def _statements(conn: Connection, act: Any) -> int:
    """How many statements a session executes meanwhile."""
    seen = 0
    original = psycopg.Cursor.execute

    def execute(self: Any, *args: Any, **more: Any) -> Any:
        nonlocal seen
        seen += self.connection is conn
        return original(self, *args, **more)

    with mock.patch.object(psycopg.Cursor, "execute", execute):
        act()
    return seen


def test_an_idle_worker_asks_one_thing(db: Database) -> None:
    """Also beside one that is busy, with requests that wait for it, and much that is not due."""
    queue.applied(db, schedule="0 3 * * 1", publish={"readers": ["analyst"]})
    analyst, conn, busy = db.connect("analyst"), db.owner(), db.owner()
    me = enter(conn, "worker")
    idle = _worker(db, [])
    assert _statements(conn, lambda: idle._look(conn, me)) == 1
    queue.ask(analyst)
    assert idle._look(conn, me), "it is due"
    assert claim(busy, enter(busy, "worker")) is not None
    queue.ask(analyst, k=9)
    analyst.execute("SELECT pganon.request_release('patients', not_before => '2999-01-01')")
    assert _statements(conn, lambda: idle._look(conn, me)) == 1
    assert not idle._look(conn, me), "nobody else can take what waits for the busy one"
    busy.close()
    faults.wait_until(lambda: idle._look(conn, me) or "waiting" in _attempts(db)[0])


def test_once_ends_where_others_are_at_it(db: Database) -> None:
    """A request that somebody locks is due and cannot be claimed."""
    queue.applied(db)
    analyst = db.connect("analyst")
    asked = queue.ask(analyst)
    analyst.execute("BEGIN")
    analyst.execute("SELECT pganon.cancel_request(%s)", [asked])
    assert queue.serve(db) == ["started worker=1", "stopped served=0"]
    analyst.execute("ROLLBACK")
    queue.serve(db)
    assert queue.state(db, asked) == ("released", None)
