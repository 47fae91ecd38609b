"""Who works on which release and run, kept as rows that only the owner can write.

A session that starts to work on a release or a run draws a random key, takes its advisory lock,
and writes a row into `pganon_private.activity`. Unique indexes allow one row per release, and one
for the session that leads a run; additional sessions of a run have their own rows. When a session
ends, for any reason, its lock is released and its rows are no longer valid.

Every role that may connect can take advisory locks, and pg_locks shows their keys. This does no
harm: no key is used a second time, keys reveal nothing about names, and a lock is valid only if the
role of the session that holds it is a member of the owner.

Poolers that hand a client another session per transaction break session locks: `pganon/pooling.py`
finds them, and :func:`assert_held` makes publication fail if one was missed.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.sqlfiles import Connection, ask

WAITS = (*[0.1] * 20, *[1.0] * 600)
"""Seconds between looks at whether a population is free: judging takes as long as a step or two."""


@dataclass(frozen=True)
class _Work:
    """The subject of a row: a release, a population, or a run that is led, cleaned up or helped."""

    kind: Literal["release", "run", "cleaning", "worker", "population"]
    release: str | None = None
    run_id: int | None = None
    population: int | None = None

    def values(self, key: int) -> dict[str, object]:
        return {
            "key": key,
            "kind": self.kind,
            "release": self.release,
            "run_id": self.run_id,
            "population": self.population,
        }


@dataclass(frozen=True)
class _Holder:
    """A session at work."""

    key: int
    pid: int
    role: str


@contextmanager
def hold(
    conn: Connection,
    *,
    release: str | None = None,
    run_id: int | None = None,
    population: int | None = None,
) -> Iterator[None]:
    """Hold a release, a run and a population for the length of a block; those that are None not.

    A release or run on which another session works is refused at once. A population is waited for,
    as others hold it for a step or two. A run that :func:`take_run` took is adopted.

    Raises:
        PreconditionError: busy.
    """
    with ExitStack() as stack:
        if release is not None:
            stack.callback(leave, conn, _take_release(conn, release))
        if run_id is not None:
            values = _Work("run", run_id=run_id).values(0)
            row = ask(conn, "locks", "mine", **values).fetchone()
            key = (row[1] if row else None) or take_run(conn, run_id)
            stack.callback(leave, conn, key)
        if population is not None:
            stack.callback(
                leave, conn, _when_free(conn, _Work("population", population=population))
            )
        yield


def _take_release(conn: Connection, release: str) -> int:
    key = _enter(conn, _Work("release", release=release))
    if isinstance(key, _Holder):
        raise PreconditionError(
            f'another run of the release "{release}" is in progress: process {key.pid} of the'
            f' server, role "{key.role}"',
            hint="try again when it has finished",
            code=ErrorCode.BUSY,
        )
    return key


def _when_free(conn: Connection, work: _Work) -> int:
    for pause in WAITS:
        key = _enter(conn, work)
        if not isinstance(key, _Holder):
            return key
        time.sleep(pause)
    raise PreconditionError(
        "a version about the same people is being judged and published",
        hint="try again when it has finished",
        code=ErrorCode.BUSY,
    )


def take_run(conn: Connection, run_id: int) -> int:
    """Show that this session leads the run; until :func:`hold` ends or the session ends.

    Gives the key of the lock.
    """
    key = _enter(conn, _Work("run", run_id=run_id))
    if isinstance(key, _Holder):
        raise PreconditionError(
            f'run {run_id} is led by process {key.pid}, role "{key.role}"', code=ErrorCode.BUSY
        )
    return key


def leave(conn: Connection, key: int) -> None:
    """End the work under a key; the end of a session that cannot be asked is enough."""
    if usable(conn):
        ask(conn, "locks", "end", key=key)


def take_worker(conn: Connection, run_id: int) -> bool:
    """Record an additional session of the run as alive until the session ends.

    False if nobody leads the run on this server, or if it is being cleaned up.
    """
    key = _draw(conn)
    with conn.transaction():
        # Who cleans up must wait for this row lock, and then sees the new row.
        standing = _standing(conn, _Work("run", run_id=run_id))
        led = standing is not None and standing[1] == "run" and _holder(conn, standing[0])
        if led:
            ask(conn, "locks", "enter", **_Work("worker", run_id=run_id).values(key))
            return True
    _unlock(conn, key)
    return False


@contextmanager
def dead_run(conn: Connection, run_id: int) -> Iterator[bool]:
    """Whether neither leader nor workers of a run are alive; holds that for the block.

    A run that this session itself leads is alive.
    """
    key = _enter(conn, _Work("cleaning", run_id=run_id))
    if isinstance(key, _Holder):
        yield False
        return
    try:
        rows = ask(conn, "locks", "workers", run_id=run_id).fetchall()
        yield not _holders(conn, [row[0] for row in rows])
    finally:
        leave(conn, key)


def forget_dead(conn: Connection) -> int:
    """Take away rows of sessions that have ended; gives their number."""
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        ask(conn, "locks", "fresh")
    return ask(conn, "locks", "forget_dead").rowcount


def assert_held(
    conn: Connection, *, release: str, run_id: int | None = None, population: int | None = None
) -> None:
    """Refuse to go on unless this very session holds the locks; for use inside a transaction."""
    values = {"release": release, "run_id": run_id, "population": population}
    kinds = {"release": "release", "run_id": "run", "population": "population"}
    wanted = {kind for name, kind in kinds.items() if values[name] is not None}
    rows = ask(conn, "locks", "mine", **values).fetchall()
    if {row[0] for row in rows} != wanted:
        raise PreconditionError(
            f'this session does not hold the lock of the release "{release}"',
            hint="connect to the server directly, not through a transaction pooler",
            code=ErrorCode.LOCK_LOST,
        )


def hold_new_key(conn: Connection) -> int:
    """Take an advisory lock that nobody knew of before, until the session ends; gives its key."""
    return _draw(conn)


def held_keys(conn: Connection, keys: Sequence[int]) -> set[int]:
    """Those of these keys whose locks sessions of members of the owner hold."""
    return {holder.key for holder in _holders(conn, keys)} if keys else set()


def _enter(conn: Connection, work: _Work) -> int | _Holder:
    """The key under which this session works now, or the session that already does."""
    key = _random_key()
    try:
        if ask(conn, "locks", "begin", **work.values(key)).fetchone():
            return key
        _unlock(conn, key)
        key = _draw(conn)
        with conn.transaction():
            found = _settle(conn, work, key)
    except BaseException:
        _unlock(conn, key)
        raise
    if isinstance(found, _Holder):
        _unlock(conn, key)
    return found


def _settle(conn: Connection, work: _Work, key: int) -> int | _Holder:
    # An insert waits for others of the same release, and their row may go while this one looks.
    while not ask(conn, "locks", "enter", **work.values(key)).fetchone():
        standing = _standing(conn, work)
        if standing is None:
            continue
        holder = _holder(conn, standing[0])
        if holder is not None:
            return holder
        ask(conn, "locks", "leave", keys=[standing[0]])
    return key


def _standing(conn: Connection, work: _Work) -> tuple[int, str] | None:
    return ask(
        conn,
        "locks",
        "standing",
        release=work.release,
        run_id=work.run_id,
        population=work.population,
    ).fetchone()


def _holder(conn: Connection, key: int) -> _Holder | None:
    return next(iter(_holders(conn, [key])), None)


def _holders(conn: Connection, keys: Sequence[int]) -> list[_Holder]:
    if not keys:
        return []
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        # There the server would show the sessions that there were at the first look.
        ask(conn, "locks", "fresh")
    rows = ask(conn, "locks", "holders", keys=list(keys)).fetchall()
    return [_Holder(*row) for row in rows]


def _draw(conn: Connection) -> int:
    """A lock that nobody else can know of before it is taken."""
    while not _try(conn, key := _random_key()):
        continue
    return key


def _random_key() -> int:
    return secrets.randbits(64) - 2**63


def _try(conn: Connection, key: int) -> bool:
    row = ask(conn, "locks", "try", key=key).fetchone()
    return bool(row and row[0])


def _unlock(conn: Connection, key: int) -> None:
    if usable(conn):
        ask(conn, "locks", "unlock", key=key)


def usable(conn: Connection) -> bool:
    """Whether the session can be asked: neither gone nor in the middle of a statement."""
    return not conn.closed and conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
