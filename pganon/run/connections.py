"""The connections of a run: the one that leads it, and more where steps go side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon.errors import PganonError
from pganon.locks import take_worker
from pganon.run.options import PER_STATEMENT

Connection = psycopg.Connection[Any]


@dataclass
class Crew:
    """Connections that work on one run.

    As many server processes as may work on one statement are divided among the connections. So a
    crew never takes more of the server than a single statement of the run may.

    Attributes:
        leader: the connection that holds the locks of the run.
        enlist: opens a further connection, set up as the leader is.
    """

    leader: Connection
    run_id: int
    enlist: Callable[[], Connection]

    @contextmanager
    def sharing(self, wanted: int) -> Iterator[list[Connection]]:
        """Up to so many connections, the leader's first, with the server's processes divided.

        There are fewer where the server gives no more.
        """
        processes = _processes(self.leader)
        with ExitStack() as workers:
            crew = [self.leader]
            while len(crew) < min(wanted, processes):
                worker = self._worker()
                if worker is None:
                    break
                crew.append(workers.enter_context(closing(worker)))
            for conn in crew:
                _set_processes(conn, processes // len(crew) - 1)
            try:
                yield crew
            finally:
                # A broken connection says so itself when it is used next.
                with suppress(psycopg.Error):
                    _set_processes(self.leader, processes - 1)

    def _worker(self) -> Connection | None:
        """None where there is no further connection to the server of the leader."""
        try:
            conn = self.enlist()
        except (PganonError, psycopg.Error):
            return None
        try:
            # Of several hosts behind one name another one may have answered.
            if take_worker(conn, self.run_id):
                return conn
        except psycopg.Error:
            pass
        conn.close()
        return None


def _processes(conn: Connection) -> int:
    """Server processes that may work on one statement."""
    row = conn.execute(b"SELECT pg_catalog.current_setting(%s)", [PER_STATEMENT]).fetchone()
    assert row is not None
    return int(row[0]) + 1


def _set_processes(conn: Connection, workers: int) -> None:
    conn.execute(b"SELECT pg_catalog.set_config(%s, %s, false)", [PER_STATEMENT, str(workers)])
