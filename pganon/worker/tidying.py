"""What any worker does beside requests: schedules, policies to look at, and what has expired."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.applied.check import check, unchecked
from pganon.ledger import repository as ledger
from pganon.policy.schedule import next_time
from pganon.requests.workers import forget_dead, requeue
from pganon.run.cleanup import drop_run
from pganon.worker.log import Log

Connection = psycopg.Connection[Any]
Task = Callable[[Connection, int, Log], None]


def give_back_lost(conn: Connection, me: int, log: Log) -> None:
    """Requests of dead workers wait again, or failed for good."""
    for found in requeue(conn, me):
        log("requeued", request=found.id, release=found.release, state=found.state)
    forget_dead(conn)


def look_at_policies(conn: Connection, me: int, log: Log) -> None:
    """Policies that were applied in SQL."""
    for release, revision in unchecked(conn):
        stored = check(conn, release, revision)
        log("checked", release=release, revision=revision, state=stored.state)


def keep_schedules(conn: Connection, me: int, log: Log) -> None:
    """Ask for what is due, once for all times that were missed.

    Rows are locked while the next time is set, after now: a clock that moves back repeats nothing
    that has come, and other workers skip them.
    """
    with conn.transaction():
        for release, revision, expression, zone in conn.execute(
            sqlfiles.query("policies", "due")
        ).fetchall():
            row = conn.execute(
                sqlfiles.query("requests", "schedule"), {"release": release, "revision": revision}
            ).fetchone()
            coming = next_time(expression, zone, datetime.now(UTC))
            values = {"release": release, "next_at": coming}
            conn.execute(sqlfiles.query("policies", "next"), values)
            log("scheduled", request=row and row[0], release=release, next=coming.isoformat())


def end_expired(conn: Connection, me: int, log: Log) -> None:
    """Releases that nobody approved in time."""
    with conn.transaction():
        for request, release, run_id in conn.execute(
            sqlfiles.query("requests", "expire")
        ).fetchall():
            ledger.append(
                conn, "expired", run_id=run_id, release=release, details={"request": request}
            )
            log("expired", request=request, release=release)


def discard_staged(conn: Connection, me: int, log: Log) -> None:
    """Tables of releases that will not be published."""
    for request, run_id in conn.execute(sqlfiles.query("requests", "discarded")).fetchall():
        drop_run(conn, run_id)
        conn.execute(sqlfiles.query("requests", "forget_staged"), {"request": request})
        log("discarded", request=request, run=run_id)


def withdraw_unreviewed(conn: Connection, me: int, log: Log) -> None:
    """Releases whose policy should have been reviewed by now."""
    for (release,) in conn.execute(sqlfiles.query("policies", "to_review")).fetchall():
        conn.execute(sqlfiles.query("policies", "withdraw"), {"release": release})
        log("withdrawn", release=release, reason="review_by")


TASKS: dict[str, Task] = {
    "others": give_back_lost,
    "unchecked": look_at_policies,
    "scheduled": keep_schedules,
    "expired": end_expired,
    "discarded": discard_staged,
    "review": withdraw_unreviewed,
}
"""By the column of the query `look` that says whether there is anything to do."""
