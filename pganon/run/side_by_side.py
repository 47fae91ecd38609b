"""Pieces of work on several connections at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import psycopg

Connection = psycopg.Connection[Any]
T = TypeVar("T")

Wanted = Callable[[], bool]
"""Whether the result of a piece is still of use. A piece asks between its statements."""

_AGAIN = 0.2
"""Seconds between two looks. A cancellation that comes between two statements has no effect, and
a signal that another thread takes up is seen by the main thread only when it wakes."""

_PATIENCE = 10.0
"""Seconds that the server has for taking up a cancellation."""

Piece = Callable[[Connection, Wanted], T]


def side_by_side(pieces: Sequence[Piece[T]], connections: Sequence[Connection]) -> list[T]:
    """The results of all pieces, in their order; they start in this order, too.

    If pieces fail, those after the first of them are cancelled and those before it are finished,
    so the error that is raised does not depend on which was faster: it is the one that would come
    up if the pieces were done one after the other.
    """
    if len(connections) == 1:
        return [piece(connections[0], lambda: True) for piece in pieces]
    return _Bench(pieces).run(connections)


class _Bench(Generic[T]):
    def __init__(self, pieces: Sequence[Piece[T]]) -> None:
        self.pieces = pieces
        self.lock = threading.Lock()
        self.news = threading.Event()
        """A piece or a thread is done."""
        self.done = 0
        self.next = 0
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
            self._wait(len(threads))
        except BaseException:  # an interrupt, which only this thread gets
            with self.lock:
                self.end = 0
            self._wait(sum(thread.ident is not None for thread in threads))
            raise
        if self.errors:
            raise self.errors[min(self.errors)]
        return [self.results[number] for number in range(len(self.pieces))]

    def _wait(self, threads: int) -> None:
        """Until so many threads are done, and meanwhile cancel what is not wanted."""
        while self.done < threads:
            for conn in self._unwanted():
                with contextlib.suppress(psycopg.Error):
                    conn.cancel_safe(timeout=_PATIENCE)
            self.news.wait(_AGAIN)
            self.news.clear()

    def _unwanted(self) -> list[Connection]:
        with self.lock:
            return [conn for number, conn in self.running.items() if number >= self.end]

    def _work(self, conn: Connection) -> None:
        try:
            while (number := self._take(conn)) is not None:
                self._perform(number, conn)
        finally:
            with self.lock:
                self.done += 1
            self.news.set()

    def _take(self, conn: Connection) -> int | None:
        with self.lock:
            number = self.next
            if number >= self.end:
                return None
            self.next += 1
            self.running[number] = conn
            return number

    def _perform(self, number: int, conn: Connection) -> None:
        try:
            self.results[number] = self.pieces[number](conn, lambda: number < self.end)
        except BaseException as error:
            with self.lock:
                self.errors[number] = error
                self.end = min(self.end, number + 1)
        finally:
            with self.lock:
                del self.running[number]
            self.news.set()
