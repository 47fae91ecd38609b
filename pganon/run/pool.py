"""Workers of a run: connections that work side by side, and processes for the tasks of a search."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar, cast

import psycopg

from pganon.errors import PganonError
from pganon.locks import take_worker
from pganon.run.options import PER_STATEMENT
from pganon.sqlfiles import Connection
from pganon.steps.tasks import Task, TaskResult


@dataclass
class Pool:
    """Connections that work on one run.

    As many server processes as may work on one statement are divided among the connections. So a
    crew never takes more of the server than a single statement of the run may.

    Attributes:
        leader: the connection that holds the locks of the run.
        connect: opens a further connection, set up as the leader is.
    """

    leader: Connection
    run_id: int
    connect: Callable[[], Connection]

    @contextmanager
    def sharing(self, wanted: int) -> Iterator[list[Connection]]:
        """Up to so many connections, the leader's first, with the server's processes divided.

        There are fewer where the server gives no more.
        """
        processes = _processes(self.leader)
        with ExitStack() as workers:
            pool = [self.leader]
            while len(pool) < min(wanted, processes):
                worker = self._worker()
                if worker is None:
                    break
                pool.append(workers.enter_context(closing(worker)))
            for conn in pool:
                _set_processes(conn, processes // len(pool) - 1)
            try:
                yield pool
            finally:
                # A broken connection says so itself when it is used next.
                with suppress(psycopg.Error):
                    _set_processes(self.leader, processes - 1)

    def _worker(self) -> Connection | None:
        """None where there is no further connection to the server of the leader."""
        try:
            conn = self.connect()
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


T = TypeVar("T")

Wanted = Callable[[], bool]
"""Whether the result of a piece is still of use. A piece asks between its statements."""

_AGAIN = 0.2
"""Seconds between two looks. A cancellation that comes between two statements has no effect, and
a signal that another thread takes up is seen by the main thread only when it wakes."""

_PATIENCE = 10.0
"""Seconds that the server has for taking up a cancellation."""

Piece = Callable[[Connection, Wanted], T]


def side_by_side(
    pieces: Sequence[Piece[T]],
    connections: Sequence[Connection],
    early: Collection[int] = (),
    after: Mapping[int, Collection[int]] = MappingProxyType({}),
) -> list[T]:
    """The results of all pieces, in their order.

    If pieces fail, those after the first of them are cancelled and those before it are finished,
    so the error that is raised does not depend on which was faster: it is the one that would come
    up if the pieces were done one after the other.

    Args:
        early: numbers of pieces that start before the others.
        after: by number those of earlier pieces that a piece waits for.
    """
    if len(connections) == 1:
        return [piece(connections[0], lambda: True) for piece in pieces]
    return _Bench(pieces, early, after).run(connections)


class _Bench(Generic[T]):
    def __init__(
        self,
        pieces: Sequence[Piece[T]],
        early: Collection[int] = (),
        after: Mapping[int, Collection[int]] = MappingProxyType({}),
    ) -> None:
        assert all(first < number for number, found in after.items() for first in found)
        self.pieces = pieces
        self.after = after
        self.lock = threading.Condition()
        """Notified when a piece has ended, or is not wanted any more."""
        self.waiting = sorted(range(len(pieces)), key=lambda number: (number not in early, number))
        self.end = len(pieces)
        """Pieces from here on are not wanted any more."""
        self.running: dict[int, Connection] = {}
        self.results: dict[int, T] = {}
        self.errors: dict[int, BaseException] = {}

    def run(self, connections: Sequence[Connection]) -> list[T]:
        threads = [threading.Thread(target=self._work, args=[conn]) for conn in connections]
        try:
            for thread in threads:
                thread.start()
            self._wait(threads)
        except BaseException:  # an interrupt, which only this thread gets
            with self.lock:
                self.end = 0
                self.lock.notify_all()
            while True:
                # Connections are in use until the threads have ended, however often it is asked.
                with contextlib.suppress(KeyboardInterrupt):
                    self._wait(threads)
                    break
            raise
        if self.errors:
            raise self.errors[min(self.errors)]
        return [self.results[number] for number in range(len(self.pieces))]

    def _wait(self, threads: Sequence[threading.Thread]) -> None:
        """Until the threads have ended, and meanwhile cancel what is not wanted."""
        while alive := [thread for thread in threads if thread.is_alive()]:
            for conn in self._unwanted():
                with contextlib.suppress(psycopg.Error):
                    conn.cancel_safe(timeout=_PATIENCE)
            alive[0].join(_AGAIN)

    def _unwanted(self) -> list[Connection]:
        with self.lock:
            return [conn for number, conn in self.running.items() if number >= self.end]

    def _work(self, conn: Connection) -> None:
        while (number := self._take(conn)) is not None:
            self._perform(number, conn)

    def _take(self, conn: Connection) -> int | None:
        with self.lock:
            # What a piece waits for is before it: it is running, has ended or failed.
            while wanted := [number for number in self.waiting if number < self.end]:
                ready = next((number for number in wanted if self._may_start(number)), None)
                if ready is not None:
                    self.waiting.remove(ready)
                    self.running[ready] = conn
                    return ready
                self.lock.wait()
            return None

    def _may_start(self, number: int) -> bool:
        return all(first in self.results for first in self.after.get(number, ()))

    def _perform(self, number: int, conn: Connection) -> None:
        try:
            result = self.pieces[number](conn, lambda: number < self.end)
            with self.lock:
                self.results[number] = result
        except BaseException as error:
            with self.lock:
                self.errors[number] = error
                self.end = min(self.end, number + 1)
        finally:
            with self.lock:
                del self.running[number]
                self.lock.notify_all()


WORTH = 2_000
"""Tasks over fewer rows than this are done before other processes have started."""


def perform(tasks: Sequence[Task], rows: int, processes: int) -> Iterable[TaskResult]:
    """Results of the tasks over so many rows, in their order.

    In this process where others do not pay.
    """
    if processes == 1 or len(tasks) < 2 or rows < WORTH:
        return (task() for task in tasks)
    # Imported here, because it takes longer than most commands, and few methods have tasks.
    from joblib import Parallel, delayed

    # Processes of their own: they share no connection with this one, and import no main module.
    # Large arrays would else go through files, where codes of records have no business.
    workers = Parallel(
        n_jobs=min(processes, len(tasks)), backend="loky", return_as="generator", max_nbytes=None
    )
    return cast("Iterable[TaskResult]", workers(delayed(task)() for task in tasks))
