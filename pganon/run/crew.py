"""The connections of a run: the one that leads it, and more where steps go side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pganon.errors import PganonError
from pganon.run.locks import take_worker

Connection = psycopg.Connection[Any]

_PER_STATEMENT = "max_parallel_workers_per_gather"


@dataclass
class Crew:
    """Connections that work on one run.

    As many server processes as may work on one statement are divided among the connections. So a
    crew never takes more of the server than a single statement of the run may.

    Attributes:
        leader: the connection that holds the locks of the run.
        enlist: opens a further connection, set up as the leader is. None: there is no other.
    """

    leader: Connection
    run_id: int
    enlist: Callable[[], Connection] | None = None
    _workers: list[Connection] = field(default_factory=list)

    @contextmanager
    def sharing(self, wanted: int) -> Iterator[list[Connection]]:
        """Up to so many connections, the leader's first, with the server's processes divided."""
        processes = self._processes()
        crew = self._connections(min(wanted, processes))
        each = processes // len(crew) - 1
        for conn in crew:
            _set_processes(conn, each)
        try:
            yield crew
        finally:
            # A broken connection says so itself when it is used next.
            with suppress(psycopg.Error):
                _set_processes(self.leader, processes - 1)

    def close(self) -> None:
        """Close the further connections."""
        while self._workers:
            self._workers.pop().close()

    def _processes(self) -> int:
        row = self.leader.execute(b"SELECT pg_catalog.current_setting(%s)", [_PER_STATEMENT])
        (value,) = row.fetchone() or ("0",)
        return int(value) + 1

    def _connections(self, wanted: int) -> list[Connection]:
        """The leader and workers; fewer where the server gives no more connections."""
        while self.enlist is not None and len(self._workers) < wanted - 1:
            try:
                conn = self.enlist()
            except PganonError:
                self.enlist = None
                break
            self._workers.append(conn)
            take_worker(conn, self.run_id)
        return [self.leader, *self._workers][:wanted]


def _set_processes(conn: Connection, workers: int) -> None:
    conn.execute(b"SELECT pg_catalog.set_config(%s, %s, false)", [_PER_STATEMENT, str(workers)])
