"""Pieces of work on several connections at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
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
                found = next((number for number in wanted if self._may_start(number)), None)
                if found is not None:
                    self.waiting.remove(found)
                    self.running[found] = conn
                    return found
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
