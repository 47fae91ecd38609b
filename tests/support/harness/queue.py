"""Requests and workers in tests: a policy in the database, who asks, and who serves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from pganon.applied.check import check
from pganon.applied.store import StoredPolicy, store
from pganon.worker.log import Log
from pganon.worker.service import Worker, WorkerOptions
from pganon.worker.signals import Stop
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database

ASKED: dict[str, Any] = {"roles": ["analyst"], "parameters": {"k": {"min": 8, "max": 12}}}
"""Who may ask for the release of :func:`faults.policy`, and with what."""


def applied(db: Database, **changes: Any) -> StoredPolicy:
    """The source, and its policy with `requests`, applied and checked by the steward."""
    db.source(faults.SOURCE)
    return apply(db, **changes)


def apply(db: Database, **changes: Any) -> StoredPolicy:
    """Another revision of the policy."""
    conn = db.owner()
    policy = faults.policy(**{"requests": ASKED, "republication": "allow", **changes})
    return check(conn, policy.policy.release, store(conn, policy))


def serve(db: Database, dsn: str | None = None) -> list[str]:
    """Serve everything that is due; gives the lines of the log without their times.

    Args:
        dsn: how the worker connects, where not directly.
    """
    lines: list[str] = []
    log = Log(lambda line: lines.append(line.partition(" ")[2]))
    Worker(dsn or db.dsn(), None, log, Stop(60), WorkerOptions(once=True)).run()
    return lines


@contextmanager
def serving(dsn: str) -> Iterator[list[str]]:
    """A worker in a thread, for the length of the block; the list is its log."""
    lines: list[str] = []
    stop = Stop(60)
    worker = Worker(dsn, None, Log(lambda line: lines.append(line.partition(" ")[2])), stop)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield lines
    finally:
        stop.asked = True
        thread.join()


@contextmanager
def process(dsn: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A worker as a process, which is killed at the end of the block if it is there still."""
    started = subprocess.Popen(
        [sys.executable, "-m", "pganon.cli.main", "worker", "--dsn", dsn, *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        yield started
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGKILL)
        started.communicate()


def until(worker: subprocess.Popen[str], word: str) -> str:
    """Read a worker's log up to a line with that event."""
    assert worker.stdout is not None
    for line in worker.stdout:
        if line.split()[1] == word:
            return line
    raise AssertionError(f"the worker ended before it said {word}")


def ask(conn: Connection, release: str = "patients", **parameters: Any) -> int:
    row = conn.execute(
        "SELECT pganon.request_release(%s, %s)",
        [release, psycopg.types.json.Jsonb(parameters)],
    ).fetchone()
    assert row is not None
    return row[0]


def state(db: Database, request: int) -> tuple[str, str | None]:
    """State and code of a request."""
    row = db.admin.execute(
        "SELECT state, code FROM pganon_private.request WHERE id = %s", [request]
    ).fetchone()
    assert row is not None
    return row


def states(db: Database) -> list[str]:
    rows = db.admin.execute("SELECT state FROM pganon_private.request ORDER BY id").fetchall()
    return [row[0] for row in rows]


@contextmanager
def role(db: Database, *names: str, member_of: str | None = None) -> Iterator[list[str]]:
    """Roles of their own for a test, named after its database; they may log in."""
    made = [f"{name}_{db.name}" for name in names]
    for name in made:
        inside = f" IN ROLE {member_of}" if member_of else ""
        db.admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pganon-test'{inside}".encode())
    try:
        yield made
    finally:
        db.disconnect()
        with db.server.admin(db.name) as admin:
            for name in made:
                admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())
