"""A worker: waits for requests and serves them, one at a time, until it is stopped.

Any number may work side by side, on any machine. Who has a request is a row in the database, which
counts while the worker's session lives.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import conninfo

from pganon import database
from pganon.errors import DatabaseError, Interrupted
from pganon.install.owner import connect_as_owner
from pganon.requests.claim import claim
from pganon.requests.workers import enter, forget_dead
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, dicts
from pganon.worker.job import Job
from pganon.worker.log import Log
from pganon.worker.signals import Stop
from pganon.worker.tidying import TASKS, kept_going

POLL = 1.0  # seconds between two looks at the queue
SLICE = 0.25  # a signal does not end a sleep
LONGEST_BACKOFF = 60.0

_KEEPALIVE = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works.

    Attributes:
        once: end when nothing is due.
        idle_exit: seconds without a request after which it ends; None: never.
    """

    once: bool = False
    idle_exit: float | None = None


@dataclass
class Worker:
    """Serves requests with the rights of pganon's owner."""

    dsn: str | None
    owner: str | None
    log: Log
    stop: Stop
    options: WorkerOptions = field(default_factory=WorkerOptions)
    served: int = 0
    _last_look: float = 0.0
    _idle_since: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Work until stopped; wait for a server that was lost.

        Raises:
            PganonError: the first connection cannot be made, or pganon is not what it should be.
        """
        backoff = 1.0
        connected = False
        while not self.stop.asked and not self._idle_too_long():
            try:
                with contextlib.closing(self._connect()) as conn:
                    forget_dead(conn)
                    me = enter(conn, "worker")
                    self.log("started", worker=me)
                    connected, backoff = True, 1.0
                    if self._serve(conn, me):
                        break
            except (psycopg.Error, DatabaseError) as error:
                translated = translate(error) if isinstance(error, psycopg.Error) else error
                if not connected or not _lost(error):
                    raise translated from None
                self.log("disconnected", code=translated.code, again_in=f"{backoff:g}s")
                self._sleep(backoff)
                backoff = min(2 * backoff, LONGEST_BACKOFF)
            except KeyboardInterrupt:
                break
        self.log("stopped", served=self.served)

    def _connect(self) -> Connection:
        target = database.resolve_dsn(self.dsn)
        settings = database.Settings(application_name="pganon worker")
        dsn = conninfo.make_conninfo(target.dsn, **_KEEPALIVE)
        return connect_as_owner(dsn, owner=self.owner, settings=settings)

    def _serve(self, conn: Connection, me: int) -> bool:
        """Serve until there is a reason to end, which is True."""
        self._idle_since = time.monotonic()
        while not self.stop.asked:
            if self._look(conn, me) and self._drain(conn, me):
                continue
            if self.options.once or self._idle_too_long():
                return True
            self._sleep(self._last_look + POLL - time.monotonic())
        return True

    def _drain(self, conn: Connection, me: int) -> bool:
        """Serve what is due; False if there was nothing to claim, as others are at it."""
        before = self.served
        while not self.stop.asked and self._next(conn, me):
            continue
        return self.served > before

    def _look(self, conn: Connection, me: int) -> bool:
        """One short query: whether a request is due; what else there is to do is done."""
        self._last_look = time.monotonic()
        due = self._ask(conn, me)
        for name, task in TASKS.items():
            if due[name]:
                with kept_going(self.log, name):
                    task(conn, me, self.log)
        asked_since = due["scheduled"] or due["lost"]
        return due["due"] or (asked_since and self._ask(conn, me)["due"])

    def _ask(self, conn: Connection, me: int) -> dict[str, bool]:
        (row,) = dicts(conn, "requests", "look", me=me)
        return row

    def _next(self, conn: Connection, me: int) -> bool:
        """Serve one request; False if there is none."""
        claimed = claim(conn, me)
        if claimed is None:
            return False
        began = time.monotonic()
        facts = {"request": claimed.id, "release": claimed.release, "revision": claimed.revision}
        self.log("claimed", kind=claimed.kind, attempt=claimed.attempts, **facts)
        with self._interruptible(facts):
            done = Job(conn, self.dsn, self.owner, claimed).perform()
        seconds = round(time.monotonic() - began, 3)
        self.log(done.state, version=done.version, code=done.code, seconds=seconds, **facts)
        self.served += 1
        self._idle_since = time.monotonic()
        return True

    @contextmanager
    def _interruptible(self, facts: dict[str, Any]) -> Iterator[None]:
        try:
            with self.stop.working():
                yield
        except KeyboardInterrupt:
            self.log("interrupted", **facts)
            raise

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.stop.asked and (remaining := until - time.monotonic()) > 0:
            time.sleep(min(remaining, SLICE))

    def _idle_too_long(self) -> bool:
        limit = self.options.idle_exit
        return limit is not None and time.monotonic() - self._idle_since > limit


def _lost(error: BaseException) -> bool:
    """Whether the server is gone, rather than refusing something."""
    if isinstance(error, Interrupted):
        return True
    if isinstance(error, psycopg.Error):
        return isinstance(translate(error), Interrupted)
    return isinstance(error, DatabaseError) and (error.sqlstate or "08")[:2] in ("08", "57")
