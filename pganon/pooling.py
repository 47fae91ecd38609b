"""Finds poolers that lend one session of the server to several clients.

Settings, roles and locks of pganon last as long as a session. Behind a pooler of transactions or
statements other clients would work with its settings and as its role, and hold its locks.
"""

from __future__ import annotations

import contextlib
import select
from collections.abc import Callable

from psycopg import pq

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.sqlfiles import Connection

PATIENCE = 5.0
"""Seconds in which a pooler with a free session gives it to a second connection."""

_LOOKS = 3
"""Other clients may take the session between two looks."""


def check_unshared(conn: Connection, another: Callable[[], Connection]) -> None:
    """Refuse a connection whose session of the server also serves others; leaves no trace in it.

    Args:
        conn: a connection outside of transactions.
        another: opens a second one to the same place.

    Raises:
        PreconditionError: code "pooler".
    """
    process = _process(conn)
    # A pooler gives its clients other numbers than the server's, by which they cancel statements.
    if process == conn.info.backend_pid:
        return
    with contextlib.closing(another()) as other:
        if _is_lent(conn, process, other.pgconn):
            raise PreconditionError(
                "the pooler of this connection lends one session of the server to several clients",
                hint="connect to the server directly, or let the pooler pool sessions; pganon's"
                " settings, role and locks last as long as a session",
                code=ErrorCode.POOLER,
            )


def _is_lent(conn: Connection, process: int, other: pq.abc.PGconn) -> bool:
    """Whether a transaction of the other connection gets our process, or leaves us another one."""
    for _ in range(_LOOKS):
        answer = _ask(other, b"BEGIN; SELECT pg_catalog.pg_backend_pid()")
        if answer is None:
            return False  # no session is free, so ours is not
        if answer.status != pq.ExecStatus.TUPLES_OK:
            return True  # a pooler of statements knows no transactions
        if process == int(answer.get_value(0, 0) or b"0") or process != _process(conn):
            return True
        _ask(other, b"ROLLBACK")
    return False


def _process(conn: Connection) -> int:
    row = conn.execute(b"SELECT pg_catalog.pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])


def _ask(pgconn: pq.abc.PGconn, statements: bytes) -> pq.abc.PGresult | None:
    """The last result; None if there is no answer in time."""
    pgconn.send_query(statements)
    pgconn.flush()
    if not select.select([pgconn.socket], [], [], PATIENCE)[0]:
        return None
    results = list(iter(pgconn.get_result, None))
    return results[-1]
