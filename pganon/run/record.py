"""The row of a run in the ledger, for the length of a block."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import PganonError
from pganon.ledger import repository as ledger
from pganon.run.tables import drop_run, end_dead
from pganon.server_errors import translate

Connection = psycopg.Connection[Any]


@contextlib.contextmanager
def recorded(
    conn: Connection,
    release: str,
    policy_hash: str,
    *,
    seed: bytes | None = None,
    details: Mapping[str, Any] | None = None,
    connect: Callable[[], Connection] | None = None,
) -> Iterator[int]:
    """Begin a run and hold its lock; gives its number.

    The block writes how it ended. If it raises, that is the end, and its tables go.

    Args:
        details: for the row that it starts with.
        connect: opens another connection, where this one may break; without, the next run finds
            one that died.
    """
    run_id = ledger.start_run(conn, release, policy_hash, seed=seed, details=details)
    with locks.hold(conn, run_id=run_id):
        try:
            yield run_id
        except BaseException as error:
            _failed(conn, run_id, error, connect)
            raise


def _failed(
    conn: Connection, run_id: int, error: BaseException, connect: Callable[[], Connection] | None
) -> None:
    """Ledger row and clean-up of a failed run, as far as the server can be asked."""
    cause = translate(error) if isinstance(error, psycopg.Error) else error
    with contextlib.suppress(psycopg.Error, PganonError):
        if not locks.usable(conn):
            # Gone, or an interrupt came between sending a statement and waiting for it.
            conn.close()
            if connect is not None:
                with contextlib.closing(connect()) as another:
                    if end_dead(another, run_id, cause):
                        _note(error)
            return
        # What made the run fail must not keep its end from being recorded.
        conn.execute("SET statement_timeout = 0")
        ended = ledger.finish_with(conn, run_id, cause)
        drop_run(conn, run_id)
        if ended:
            _note(error)


def _note(error: BaseException) -> None:
    """For who interrupted the run: it had not been published before."""
    note = "nothing was published, and its tables were removed"
    # One that is part of another run ends that as well.
    if isinstance(error, KeyboardInterrupt) and note not in getattr(error, "__notes__", ()):
        error.add_note(note)
