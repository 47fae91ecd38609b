"""A request that a worker has claimed, and how it ends.

Whether a worker is alive can be mistaken. So whatever a claim changes names the worker and the
attempt: a worker that was given up for dead changes nothing, and publishes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.sqlfiles import Connection, ask

Kind = Literal["run", "revert", "drop"]


class Lost(PreconditionError):
    """The request is not this worker's any more."""

    code = ErrorCode.LOST

    def __init__(self, request: int) -> None:
        super().__init__(
            f"request {request} was given to another worker, or ended meanwhile",
            hint="nothing was published; whoever has it now does the work",
        )


@dataclass(frozen=True)
class Claim:
    """A request as it was claimed.

    Attributes:
        origin: request, schedule, command or migration.
        requester_id: number of the role that asked.
        attempts: this one included.
        held: whether a release was made for it and approved, so that it is published only.
    """

    id: int
    release: str
    revision: int
    kind: Kind
    origin: str
    parameters: dict[str, Any]
    requester_id: int
    attempts: int
    worker: int
    run_id: int | None
    held: bool

    @property
    def fence(self) -> dict[str, Any]:
        return {"id": self.id, "worker": self.worker, "attempts": self.attempts}


def claim(conn: Connection, worker: int) -> Claim | None:
    """The request whose turn it is; None if there is none that can be worked on."""
    while True:
        try:
            with conn.cursor(row_factory=class_row(Claim)) as cursor:
                return cursor.execute(
                    sqlfiles.query("requests", "claim"), {"me": worker}
                ).fetchone()
        except psycopg.errors.UniqueViolation:
            continue  # another worker took a request of the same release


def still_mine(
    conn: Connection, mine: Claim, *, step: str | None = None, run_id: int | None = None
) -> None:
    """Refuse to go on with a request that others may have; notes step and run.

    Raises:
        Lost: it is not this worker's any more.
    """
    values = {**mine.fence, "step": step, "run_id": run_id}
    if ask(conn, "requests", "mine", **values).fetchone() is None:
        raise Lost(mine.id)


def finish(
    conn: Connection,
    mine: Claim,
    state: str,
    *,
    version: int | None = None,
    code: str | None = None,
    why: PganonError | None = None,
) -> None:
    """End a request; with a version, equal ones that waited before it began, too.

    Args:
        why: what was wrong, for the steward.

    Raises:
        Lost: it is not this worker's any more.
    """
    values = {**mine.fence, "state": state, "version": version, "code": code}
    reason = {"reason": str(why) if why else None, "hint": why.hint if why else None}
    if ask(conn, "requests", "finish", **(values | reason)).fetchone() is None:
        raise Lost(mine.id)
    if version is not None:
        ask(conn, "requests", "answered", id=mine.id, state=state, version=version)


def give_back(
    conn: Connection,
    mine: Claim,
    *,
    after: timedelta = timedelta(0),
    counted: bool = True,
    code: str = ErrorCode.WORKER_LOST,
) -> str | None:
    """Let it wait again; gives the state, or None if it is not this worker's any more.

    Args:
        counted: whether this attempt counts; the third one that does is the last.
        code: of a request that failed so.
    """
    values = {**mine.fence, "after": after, "counted": counted, "code": code}
    while True:
        try:
            row = ask(conn, "requests", "give_back", **values).fetchone()
        except psycopg.errors.UniqueViolation:
            continue  # an equal one was made just now
        return row[0] if row else None


def superseded(conn: Connection, release: str, run_id: int) -> list[tuple[int, int]]:
    """Let no release that was made before this run wait for approval; gives requests and runs."""
    return ask(conn, "requests", "supersede", release=release, run_id=run_id).fetchall()


def overtaken(conn: Connection, release: str, run_id: int) -> int | None:
    """The latest version of a release that was made after a run; None if there is none."""
    row = ask(conn, "requests", "overtaken", release=release, run_id=run_id).fetchone()
    return row[0] if row else None


def ended(conn: Connection, mine: Claim) -> bool:
    """Whether its release was withdrawn or dropped since it was asked for."""
    row = ask(conn, "requests", "ended", id=mine.id).fetchone()
    return row == (True,)


def changed(conn: Connection, mine: Claim) -> bool:
    """Whether the policy changed since, and the steward wants the earlier one not to be run."""
    row = ask(conn, "requests", "changed", release=mine.release, revision=mine.revision).fetchone()
    return row == (True,)
