"""The ledger: one row per event of a run or release; rows are added, never changed.

Events: `started`, then one of `released`, `unchanged`, `dry_run`, `refused`, `failed`,
`forgotten`, `awaiting_approval`; later `rolled_back`, `dropped`, `readers`, `exported`, `attacked`,
and after approval `released`. SQL functions write `approved`, `rejected`, `withdrawn`.
Details hold names, counts, parameters and error codes, never a value of a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal

from psycopg.types.json import Jsonb

from pganon import locks
from pganon.errors import DatabaseError, PganonError, PrivacyRefusal, UserInterrupt
from pganon.install.state import program_version
from pganon.plain import as_json
from pganon.sqlfiles import Connection, ask

Ended = Literal["dry_run", "refused", "failed", "forgotten", "readers"]
Event = Literal[
    "released",
    "unchanged",
    Ended,
    "rolled_back",
    "dropped",
    "withdrawn",
    "unchecked",
    "awaiting_approval",
    "expired",
    "superseded",
    "exported",
    "attacked",
]


def start_run(
    conn: Connection,
    release: str,
    policy_hash: str,
    *,
    seed: bytes | None = None,
    details: Mapping[str, Any] | None = None,
    held: ExitStack | None = None,
) -> int:
    """Write 'started', make the run's secrets in the server, and give the run's number.

    The session's lock on the run is taken before anybody can see the row, so no clean-up takes
    the run for dead; `locks.hold(conn, run_id=run_id)` adopts and ends it.

    Args:
        seed: derive all secrets from it, so that a dry run can be repeated.
        details: of the row.
        held: ends the lock, in place of `locks.hold`.
    """
    row = ask(conn, "ledger", "next_run").fetchone()
    assert row is not None
    run_id = int(row[0])
    key = locks.take_run(conn, run_id)
    values = {
        "run_id": run_id,
        "release": release,
        "program_version": program_version(),
        "policy_hash": policy_hash,
        "details": as_jsonb(details or {}),
        "seed": seed,
    }
    try:
        ask(conn, "ledger", "start", **values)
    except BaseException:
        locks.leave(conn, key)
        raise
    if held is not None:
        held.callback(locks.leave, conn, key)
    return run_id


def append(
    conn: Connection,
    event: Event,
    *,
    run_id: int,
    release: str,
    version: int | None = None,
    policy_hash: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> int:
    """Add one row and give its number."""
    row = ask(
        conn,
        "ledger",
        "append",
        run_id=run_id,
        release=release,
        version=version,
        event=event,
        program_version=program_version(),
        policy_hash=policy_hash,
        details=as_jsonb(details or {}),
    ).fetchone()
    assert row is not None
    return int(row[0])


def note(conn: Connection, event: Event, release: str, details: Mapping[str, Any]) -> None:
    """Add a row that belongs to no run."""
    row = ask(conn, "ledger", "next_run").fetchone()
    assert row is not None
    append(conn, event, run_id=int(row[0]), release=release, details=details)


def finish(
    conn: Connection,
    run_id: int,
    event: Ended,
    details: Mapping[str, Any] | None = None,
) -> bool:
    """End a run that is not published; False if the run had ended already."""
    done = ask(
        conn,
        "ledger",
        "finish",
        run_id=run_id,
        event=event,
        program_version=program_version(),
        details=as_jsonb(details or {}),
    )
    return done.rowcount > 0


def finish_with(conn: Connection, run_id: int, error: BaseException) -> bool:
    """End a run with an error: 'refused' for privacy, else 'failed'."""
    event = "refused" if isinstance(error, PrivacyRefusal) else "failed"
    return finish(conn, run_id, event, error_details(error))


def error_details(error: BaseException) -> dict[str, Any]:
    """Details of an error for the ledger: code, model, required and observed; no text."""
    if isinstance(error, KeyboardInterrupt):
        return {"code": UserInterrupt.code}
    if not isinstance(error, PganonError):
        return {"code": "internal", "type": type(error).__name__}
    found: dict[str, Any] = {"code": error.code}
    if isinstance(error, PrivacyRefusal):
        found |= {"model": error.model, "required": error.required, "observed": error.observed}
        found |= {"reason": error.reason}
    if isinstance(error, DatabaseError):
        found |= {"sqlstate": error.sqlstate, "step": error.step}
    return {name: value for name, value in found.items() if value is not None}


def lasted(conn: Connection, release: str) -> float | None:
    """Seconds that the newest run took that made a version; None where there was none."""
    row = ask(conn, "ledger", "lasted", release=release).fetchone()
    return float(row[0]) if row is not None else None


def as_jsonb(value: Any) -> Jsonb:
    """A value for a jsonb column; numbers that JSON lacks become null."""
    return Jsonb(value, dumps=partial(as_json, kept=True))
