"""Session locks: one run per release, and a sign of life of every run.

Locks are PostgreSQL's advisory locks of a session, kept per database. The key is a bigint: the
first 8 bytes, big-endian and signed, of sha256 over `pganon.<namespace>`, a zero byte and the
name. Namespaces:

    release   exclusive: a run, rollback or drop of the release of that name is in progress
    run       exclusive: the session that leads the run of that number is alive
    worker    shared: further sessions of that run are alive

A session's end, however it comes, frees its locks. Poolers that hand a client another session
per transaction break that: :func:`check_session` finds them, and :func:`assert_held` makes
publication fail if one was missed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.errors import PreconditionError

Connection = psycopg.Connection[Any]


def lock_key(namespace: str, name: str | int) -> int:
    """Key of an advisory lock, a signed 64-bit integer."""
    digest = hashlib.sha256(f"pganon.{namespace}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


@contextmanager
def release_lock(conn: Connection, release: str) -> Iterator[None]:
    """Hold the release for this session; refuses at once if anybody works on it.

    Raises:
        PreconditionError: code "busy".
    """
    key = lock_key("release", release)
    # A session may take its own lock twice, so ask first.
    if _held(conn, [key]) or not _call(conn, "try", key):
        raise PreconditionError(
            f'another run of the release "{release}" is in progress',
            hint="try again when it has finished",
            code="busy",
        )
    try:
        yield
    finally:
        _free(conn, key)


def take_run(conn: Connection, run_id: int) -> None:
    """Show that this session leads the run; stays until :func:`run_lock` ends or the session."""
    if not _call(conn, "try", lock_key("run", run_id)):
        raise PreconditionError(f"run {run_id} is led by another session", code="busy")


@contextmanager
def run_lock(conn: Connection, run_id: int) -> Iterator[None]:
    """Hold the run for the length of a block; adopts what :func:`take_run` took."""
    key = lock_key("run", run_id)
    if not _held(conn, [key]):
        take_run(conn, run_id)
    try:
        yield
    finally:
        _free(conn, key)


def take_worker(conn: Connection, run_id: int) -> bool:
    """Show that a further session of the run is alive; stays until the session ends.

    False if nobody leads the run on this server, or if it is being cleaned up.
    """
    if not _call(conn, "try_shared", lock_key("worker", run_id)):
        return False
    return _call(conn, "led", lock_key("run", run_id))


@contextmanager
def dead_run(conn: Connection, run_id: int) -> Iterator[bool]:
    """Whether neither leader nor workers of a run are alive; holds that for the block.

    A run that this session itself leads is alive.
    """
    leader, workers = lock_key("run", run_id), lock_key("worker", run_id)
    if _held(conn, [leader]) or not _call(conn, "try", leader):
        yield False
        return
    try:
        if not _call(conn, "try", workers):
            yield False
            return
        try:
            yield True
        finally:
            _free(conn, workers)
    finally:
        _free(conn, leader)


def assert_held(conn: Connection, *, release: str, run_id: int | None = None) -> None:
    """Refuse to go on unless this very session holds the locks; for use inside a transaction."""
    wanted = [lock_key("release", release)]
    if run_id is not None:
        wanted.append(lock_key("run", run_id))
    if _held(conn, wanted) != set(wanted):
        raise PreconditionError(
            f'this session does not hold the lock of the release "{release}"',
            hint="connect to the server directly, not through a transaction pooler",
            code="lock_lost",
        )


def check_session(conn: Connection) -> None:
    """Find out whether all statements of the connection reach one session.

    Raises:
        PreconditionError: code "pooler".
    """
    mark, key = secrets.token_hex(8), secrets.randbits(62)
    marked = conn.execute(sqlfiles.query("locks", "mark_session"), {"mark": mark}).fetchone()
    locked = _call(conn, "try", key)
    try:
        pid = marked[1] if marked else None
        for _ in range(3):
            found = conn.execute(sqlfiles.query("locks", "read_session"), {"key": key}).fetchone()
            if not locked or found != (mark, pid, True):
                raise PreconditionError(
                    "the statements of this connection reach different sessions of the server",
                    hint="connect to the server directly, or let the pooler pool sessions; "
                    "pganon's locks last as long as a session",
                    code="pooler",
                )
    finally:
        _free(conn, key)


def _held(conn: Connection, keys: list[int]) -> set[int]:
    rows = conn.execute(sqlfiles.query("locks", "held"), {"keys": keys}).fetchall()
    return {row[0] for row in rows}


def _call(conn: Connection, name: str, key: int) -> bool:
    row = conn.execute(sqlfiles.query("locks", name), {"key": key}).fetchone()
    return bool(row and row[0])


def _free(conn: Connection, key: int) -> None:
    """Unlock, unless the session is gone or cannot be asked: its end frees the lock."""
    status = conn.info.transaction_status
    if conn.closed or status != psycopg.pq.TransactionStatus.IDLE:
        return
    while _held(conn, [key]):
        if not _call(conn, "unlock", key):
            return
