"""The queue: requests that workers serve while one of them is killed again and again, how soon an
idle worker takes a request, and what it asks of the server while there is none.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import support
from benchmarks.benchmark import Benchmark, Row, Table
from pganon import sqlfiles

RELEASES = 4
WORKERS = 2
KILLED_EVERY = 5.0
POLL_SECONDS = 1.0

_SOURCE = """
DROP TABLE IF EXISTS asked;
CREATE TABLE asked AS
SELECT (random() * 60)::int AS age, 'zip ' || (random() * 20)::int AS zip,
    'disease ' || (random() * 9)::int AS disease
FROM generate_series(1, 1200)
"""


@dataclass(frozen=True, kw_only=True)
class Requests(Benchmark):
    """Args: requests: in the queue; idle: seconds of an idle worker; picked_up: requests to it."""

    requests: int = 200
    idle: int = 30
    picked_up: int = 50

    parts: ClassVar = ("queue", "idle_worker")
    tables: ClassVar = tuple(Table(part, part, ("figure", "value")) for part in parts)

    def queue(self) -> list[Row]:
        with self._asked() as conn:
            return _listed(_queue(conn, self.dsn, self.requests))

    def idle_worker(self) -> list[Row]:
        with self._asked() as conn:
            return _listed(_idle(conn, self.dsn, self.idle, self.picked_up))

    @contextmanager
    def _asked(self) -> Iterator[psycopg.Connection[Any]]:
        """The releases that can be asked for, none of which was ever made."""
        support.forget(self.dsn)
        support.execute(self.dsn, _SOURCE)
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            for number in range(RELEASES):
                conn.execute("SELECT pganon.apply_policy(%s::json)", [json.dumps(_policy(number))])
            yield conn


def _listed(figures: Row) -> list[Row]:
    return [{"figure": name, "value": value} for name, value in figures.items()]


def _policy(number: int) -> dict[str, Any]:
    return {
        "release": f"asked{number}",
        "source": "public.asked",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "zip": {"role": "quasi_identifying"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
        "republication": "allow",
        "requests": {"roles": ["public"], "parameters": {"k": {"min": 2, "max": 1000}}},
    }


def _queue(conn: psycopg.Connection[Any], dsn: str, requests: int) -> dict[str, Any]:
    for number in range(requests):
        _ask(conn, f"asked{number % RELEASES}", 2 + number // RELEASES)
    workers = [_start(dsn) for _ in range(WORKERS)]
    draw = random.Random(1)
    kills = 0
    began = killed = time.perf_counter()
    try:
        while _open(conn):
            time.sleep(0.1)
            if time.perf_counter() - killed > KILLED_EVERY:
                victim = draw.randrange(WORKERS)
                _kill(workers[victim])
                workers[victim] = _start(dsn)
                kills, killed = kills + 1, time.perf_counter()
    finally:
        for worker in workers:
            _kill(worker)
    seconds = time.perf_counter() - began
    states = Counter(r[0] for r in conn.execute("SELECT state FROM pganon.requests").fetchall())
    row = conn.execute(
        "SELECT count(*), (SELECT count(DISTINCT (release, version)) FROM pganon.requests"
        " WHERE state = 'released'), (SELECT max(attempts) FROM pganon_private.request)"
        " FROM pganon_private.version"
    ).fetchone()
    assert row is not None
    return {
        "requests": requests,
        "workers": WORKERS,
        "kills": kills,
        "seconds": round(seconds, 1),
        "states": dict(states),
        "lost": requests - sum(states.values()),
        "versions": row[0],
        "done_twice": row[0] - row[1],
        "most_attempts": row[2],
    }


def _ask(conn: psycopg.Connection[Any], release: str, k: int) -> None:
    conn.execute("SELECT pganon.request_release(%s, %s)", [release, Jsonb({"k": k})])


def _open(conn: psycopg.Connection[Any]) -> bool:
    row = conn.execute(
        "SELECT EXISTS (SELECT FROM pganon.requests WHERE state IN ('waiting', 'running'))"
    ).fetchone()
    return row == (True,)


def _idle(conn: psycopg.Connection[Any], dsn: str, seconds: int, requests: int) -> dict[str, Any]:
    with _running(dsn):
        time.sleep(2 * POLL_SECONDS)
        asked = _statements(conn, seconds)
        waits = [_picked_up(conn, number) for number in range(requests)]
    row = conn.execute("SELECT max(id) FROM pganon_private.worker").fetchone()
    look = sqlfiles.query("requests", "look")
    times = []
    for _ in range(100):
        began = time.perf_counter()
        conn.execute(look, {"me": row[0] if row else 0})
        times.append(time.perf_counter() - began)
    return {
        "statements_per_s": round(asked / seconds, 2),
        "look_ms": round(1000 * statistics.median(times), 2),
        "picked_up_ms_median": round(1000 * statistics.median(waits), 1),
        "picked_up_ms_95": round(1000 * sorted(waits)[int(0.95 * len(waits))], 1),
        "picked_up_ms_max": round(1000 * max(waits), 1),
    }


def _statements(conn: psycopg.Connection[Any], seconds: int) -> int:
    """How many statements the session of an idle worker executes in so many seconds.

    The server shows when the last one was over. Of two within 2 ms one would be missed;
    `tests/integration/worker/test_attempts.py` counts those of one look.
    """
    text = (
        "SELECT pid, state_change FROM pg_stat_activity WHERE state = 'idle'"
        " AND application_name = 'pganon worker' AND datname = current_database()"
    )
    before = set(conn.execute(text).fetchall())
    over: set[Any] = set()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        over.update(conn.execute(text).fetchall())
        time.sleep(0.002)
    return len(over - before)


def _picked_up(conn: psycopg.Connection[Any], number: int) -> float:
    """Seconds from the request to its claim by a worker that was idle."""
    _ask(conn, "asked0", 500 + number)
    while _open(conn):
        time.sleep(0.02)
    time.sleep(0.3)
    row = conn.execute(
        "SELECT extract(epoch FROM started_at - requested_at) FROM pganon.requests"
        " ORDER BY id DESC LIMIT 1"
    ).fetchone()
    assert row is not None
    return float(row[0])


def _start(dsn: str) -> subprocess.Popen[str]:
    """A worker that is ready: a busy machine would kill it before it has served anything."""
    command = [sys.executable, "-m", "pganon.cli.main", "worker", "--dsn", dsn]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    worker.stdout.readline()
    return worker


def _kill(worker: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        worker.send_signal(signal.SIGKILL)
    worker.communicate()


@contextmanager
def _running(dsn: str) -> Iterator[None]:
    worker = _start(dsn)
    try:
        yield
    finally:
        _kill(worker)
