"""Duties of any worker beside requests: schedules, unchecked policies, and what has expired.

What cannot be done for one release holds up no other: it is logged, and tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from pganon.applied.check import check, unchecked
from pganon.error_codes import ErrorCode
from pganon.errors import Interrupted, PganonError
from pganon.ledger import repository as ledger
from pganon.policy.requests import next_time
from pganon.publish import lifecycle, views
from pganon.requests.workers import forget_dead, requeue
from pganon.run.tables import drop_run
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask
from pganon.worker.log import Log

Task = Callable[[Connection, int, Log], None]


@contextmanager
def kept_going(log: Log, task: str, **facts: Any) -> Iterator[None]:
    """Log what goes wrong in the block, also a defect; only a lost server ends the worker."""
    try:
        yield
    except psycopg.Error as error:
        translated = translate(error)
        if isinstance(translated, Interrupted):
            raise
        log("failed", task=task, code=translated.code, sqlstate=error.sqlstate, **facts)
    except Interrupted:
        raise
    except PganonError as error:
        log("failed", task=task, code=error.code, **facts)
    except Exception as error:
        log("failed", task=task, code=f"{ErrorCode.INTERNAL} ({type(error).__name__})", **facts)


def give_back_lost(conn: Connection, me: int, log: Log) -> None:
    """Requests of dead workers wait again, or failed for good."""
    for lost in requeue(conn, me):
        log("requeued", request=lost.id, release=lost.release, state=lost.state)
    forget_dead(conn)


def look_at_policies(conn: Connection, me: int, log: Log) -> None:
    """Policies that were applied in SQL."""
    for release, revision in unchecked(conn):
        with kept_going(log, "unchecked", release=release):
            stored = check(conn, release, revision)
            log("checked", release=release, revision=revision, state=stored.state)


def keep_schedules(conn: Connection, me: int, log: Log) -> None:
    """Ask for what is due, once for all times that were missed.

    The next time comes after the server's now, which says what is due, too: neither its clock,
    moved back, nor that of this machine repeats anything. Other workers skip the locked row.
    """
    for (release,) in ask(conn, "policies", "due").fetchall():
        with kept_going(log, "scheduled", release=release), conn.transaction():
            _ask(conn, release, log)


def _ask(conn: Connection, release: str, log: Log) -> None:
    values = {"release": release}
    due = ask(conn, "policies", "take_due", **values).fetchone()
    if due is None:
        return
    revision, expression, zone, after = due
    row = ask(conn, "requests", "schedule", **values, revision=revision).fetchone()
    coming = next_time(expression, zone, after)
    ask(conn, "policies", "next", **values, next_at=coming)
    log("scheduled", request=row and row[0], release=release, next=coming.isoformat())


def end_expired(conn: Connection, me: int, log: Log) -> None:
    """Releases that nobody approved in time."""
    with conn.transaction():
        for request, release, run_id in ask(conn, "requests", "expire").fetchall():
            ledger.append(
                conn, "expired", run_id=run_id, release=release, details={"request": request}
            )
            log("expired", request=request, release=release)


def discard_staged(conn: Connection, me: int, log: Log) -> None:
    """Tables of releases that will not be published."""
    for request, run_id in ask(conn, "requests", "discarded").fetchall():
        with kept_going(log, "discarded", request=request):
            drop_run(conn, run_id)
            ask(conn, "requests", "forget_staged", request=request)
            log("discarded", request=request, run=run_id)


def withdraw_unreviewed(conn: Connection, me: int, log: Log) -> None:
    """Releases whose policy should have been reviewed by now."""
    for (release,) in ask(conn, "policies", "to_review").fetchall():
        with kept_going(log, "review", release=release):
            lifecycle.withdraw(conn, release)
            log("withdrawn", release=release, reason="review_by")


def tidy(conn: Connection, me: int, log: Log) -> None:
    """Views of withdrawn releases that were in use."""
    with kept_going(log, "withdrawn"):
        views.tidy_views(conn)


def tidy_requests(conn: Connection, me: int, log: Log) -> None:
    """Requests that ended long ago, of every release."""
    row = ask(conn, "requests", "tidy").fetchone()
    log("tidied", requests=row and row[0])


TASKS: dict[str, Task] = {
    "lost": give_back_lost,
    "unchecked": look_at_policies,
    "scheduled": keep_schedules,
    "expired": end_expired,
    "discarded": discard_staged,
    "review": withdraw_unreviewed,
    "withdrawn": tidy,
    "old": tidy_requests,
}
"""By the column of the query `look` that says whether there is anything to do."""
