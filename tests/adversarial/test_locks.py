"""Attack: advisory locks, which every role that may connect can take, wait for and see."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import pytest

from pganon import install, locks
from pganon.errors import PreconditionError
from pganon.publish import lifecycle
from pganon.run.tables import clean
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database

HELD = """
    SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
"""


def _keys(conn: Any) -> set[int]:
    return {row[0] for row in conn.execute(HELD).fetchall()}


def _derived(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


@contextmanager
def _waiting(db: Database, keys: set[int]) -> Iterator[list[Any]]:
    """Sessions of a stranger that wait for these locks, and get them when they are given up."""
    sessions = [psycopg.connect(db.dsn("analyst"), autocommit=True) for _ in keys]
    threads = [
        threading.Thread(target=_wait, args=[session, key])
        for session, key in zip(sessions, sorted(keys), strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield sessions
    finally:
        for session in sessions:
            session.cancel()
        for thread in threads:
            thread.join()
        for session in sessions:
            session.close()


def _wait(session: Any, key: int) -> None:
    with suppress(psycopg.errors.QueryCanceled):
        session.execute("SELECT pg_advisory_lock(%s)", [key])


@pytest.mark.slow
def test_keys_tell_no_names_and_are_used_once(db: Database) -> None:
    db.source(faults.SOURCE)
    seen: list[set[int]] = []
    stranger = db.connect("analyst")
    for _ in range(2):
        now: set[int] = set()
        faults.run(db.dsn(), before=lambda step, now=now: now.update(_keys(stranger)))
        seen.append(now)
    assert all(len(keys) >= 2 for keys in seen)
    assert not seen[0] & seen[1]
    guesses = {
        _derived(f"pganon.{kind}\0{name}")
        for kind in ("release", "run", "worker")
        for name in ("patients", *range(9))
    }
    assert not guesses & (seen[0] | seen[1])


@pytest.mark.slow
def test_a_stranger_blocks_nothing(db: Database, bare_db: Database) -> None:
    """Whatever locks a stranger holds, or waits for: runs, drops and installers go on."""
    db.source(faults.SOURCE)
    stranger = psycopg.connect(db.dsn("analyst"), autocommit=True)
    for key in [7161736300452069, *map(_derived, ["pganon.release\0patients", "pganon.run\x001"])]:
        stranger.execute("SELECT pg_advisory_lock(%s)", [key])
    keys: set[int] = set()
    faults.run(db.dsn(), before=lambda step: keys.update(_keys(db.admin)))
    with _waiting(db, keys):
        assert faults.run(db.dsn()).version == 2
        assert lifecycle.show_earlier(db.owner(), "patients").now == 1
        assert lifecycle.drop(db.owner(), "patients").before == 1
        assert not install.init(db.connect()).changed
        assert not install.upgrade(db.connect()).changed
    stranger.close()


def test_a_stranger_does_not_pass_for_a_run(db: Database) -> None:
    """Who waits for the locks of a run has them when it dies; the run is dead all the same."""
    leader, worker = db.owner(), db.owner()
    release = locks.hold(leader, release="adult")
    release.__enter__()
    locks.take_run(leader, 1)
    assert locks.take_worker(worker, 1)
    keys = _keys(db.admin)
    assert len(keys) == 3
    cleaner = db.owner()
    assert not _dead(cleaner, 1)
    with _waiting(db, keys):
        leader.close()
        worker.close()
        faults.wait_until(lambda: _holders(db) == {"analyst"})
        assert _dead(cleaner, 1)
        with locks.hold(cleaner, release="adult"):
            pass
    assert clean(cleaner).alive == ()
    left = db.admin.execute("SELECT count(*) FROM pganon_private.activity").fetchone()
    assert left == (0,)


def test_workers_count_without_their_leader(db: Database) -> None:
    leader, worker = db.owner(), db.owner()
    locks.take_run(leader, 1)
    assert locks.take_worker(worker, 1)
    leader.close()
    cleaner = db.owner()
    faults.wait_until(lambda: len(_keys(db.admin)) == 1)
    assert not _dead(cleaner, 1)
    worker.close()
    faults.wait_until(lambda: not _keys(db.admin))
    assert _dead(cleaner, 1)


def _dead(conn: Connection, run_id: int) -> bool:
    with locks.dead_run(conn, run_id) as dead:
        return dead


def _holders(db: Database) -> set[str]:
    rows = db.admin.execute(
        "SELECT s.usename::text FROM pg_locks AS l JOIN pg_stat_activity AS s USING (pid)"
        " WHERE l.locktype = 'advisory' AND l.granted"
    )
    return {row[0] for row in rows.fetchall()}


def test_busy_says_who(db: Database) -> None:
    one, two = db.owner(), db.owner()
    with (
        locks.hold(one, release="adult"),
        pytest.raises(PreconditionError) as caught,
        locks.hold(two, release="adult"),
    ):
        pass
    assert caught.value.code == "busy"
    assert f"process {one.info.backend_pid} " in caught.value.message
    assert 'role "steward"' in caught.value.message


def test_many_want_one_release(db: Database) -> None:
    """Exactly one session gets it, also where a dead one left its row."""
    gone = db.owner()
    release = locks.hold(gone, release="adult")
    release.__enter__()
    gone.close()
    faults.wait_until(lambda: not _keys(db.admin))
    together = threading.Barrier(8, timeout=faults.LONG)
    done = threading.Barrier(8, timeout=faults.LONG)
    outcomes: list[str] = []

    def want(conn: Connection) -> None:
        together.wait()
        try:
            with locks.hold(conn, release="adult"):
                outcomes.append("mine")
                done.wait()
        except PreconditionError as error:
            outcomes.append(error.code)
            done.wait()

    threads = [threading.Thread(target=want, args=[db.owner()]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["busy"] * 7 + ["mine"]


def test_nobody_else_reads_who_works(db: Database) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.connect("analyst").execute("SELECT FROM pganon_private.activity")
