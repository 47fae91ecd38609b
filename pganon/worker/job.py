"""One claimed request, from its policy to its end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg

from pganon import database, sqlfiles
from pganon.applied.check import check
from pganon.applied.store import loaded, read
from pganon.errors import (
    Interrupted,
    LedgerError,
    PganonError,
    PreconditionError,
    PrivacyRefusal,
    RequestError,
    translate,
)
from pganon.install.owner import become_owner
from pganon.ledger import repository as ledger
from pganon.publish import lifecycle
from pganon.publish.held import publish_held, staged_for
from pganon.publish.transaction import publishing
from pganon.requests.claim import Claim, Lost, finish, give_back, still_mine
from pganon.run.ending import end_published
from pganon.run.options import RUN_SETTINGS, Options
from pganon.run.pipeline import run_release

Connection = psycopg.Connection[Any]
BUSY = timedelta(seconds=10)


@dataclass(frozen=True)
class Done:
    """What became of a request: its state, and a code where something went wrong."""

    state: str
    version: int | None = None
    code: str | None = None


class Job:
    """Serves a request on a connection of its own; the worker's tells who has it.

    Args:
        conn: the worker's connection.
        dsn, owner: how to connect, and as whom to work.
    """

    def __init__(self, conn: Connection, dsn: str | None, owner: str | None, claim: Claim) -> None:
        self.conn = conn
        self.dsn = dsn
        self.owner = owner
        self.claim = claim
        self._phase = ""

    def perform(self) -> Done:
        """Do it. Whatever goes wrong is the end of the request, or it waits again.

        Raises:
            psycopg.Error: the worker's own connection is gone.
            KeyboardInterrupt: the worker was told to stop; the request waits again.
        """
        try:
            return self._act()
        except KeyboardInterrupt:
            give_back(self.conn, self.claim)
            raise
        except psycopg.Error as error:
            return self._failed(translate(error))
        except PganonError as error:
            return self._failed(error)
        except Exception as error:  # a defect must not end the worker
            return self._end("failed", f"internal ({type(error).__name__})")

    def _act(self) -> Done:
        act: dict[str, Callable[[], Done]] = {"run": self._run, "revert": self._revert}
        if self.claim.held:
            return self._publish()
        if self.claim.kind not in act:
            return self._end("failed", "unknown_kind")
        return act[self.claim.kind]()

    def _failed(self, error: PganonError) -> Done:
        match error:
            case Lost():
                return Done("lost")
            case PreconditionError(code="busy"):
                give_back(self.conn, self.claim, after=BUSY, counted=False)
                return Done("waiting", code="busy")
            case Interrupted(code="interrupted"):
                give_back(self.conn, self.claim, after=BUSY)
                return Done("waiting", code="interrupted")
            case PrivacyRefusal() if self.claim.held:
                return self._end("failed", "stale")
            case PrivacyRefusal():
                return self._end("refused", error.code)
            case _:
                return self._end("failed", error.code)

    def _end(self, state: str, code: str) -> Done:
        try:
            finish(self.conn, self.claim, state, code=code)
        except Lost:
            return Done("lost")
        return Done(state, code=code)

    def _run(self) -> Done:
        claim = self.claim
        stored = read(self.conn, claim.release, claim.revision)
        if stored.checked_at is None:
            stored = check(self.conn, claim.release, claim.revision)
        if stored.problems:
            ledger.note(
                self.conn,
                "unchecked",
                claim.release,
                {"request": claim.id, "revision": claim.revision, "problems": len(stored.problems)},
            )
            return self._end("failed", "unchecked")
        self._check_asked()
        with loaded(self.conn, stored, claim.parameters) as policy:
            result = run_release(
                policy,
                dsn=self.dsn,
                owner=self.owner,
                options=Options(claim=claim, on_step=self._note),
            )
        return Done(result.outcome, result.version)

    def _check_asked(self) -> None:
        """Limits and bounds again: many requests may have been queued before the first refusal.

        Raises:
            RequestError: limit, parameter.
        """
        claim = self.claim
        if claim.origin != "request":
            return
        values = {
            "release": claim.release,
            "revision": claim.revision,
            "login": claim.login,
            "id": claim.id,
            "parameters": ledger.as_jsonb(claim.parameters),
        }
        try:
            for name in ("limits", "parameters"):
                self.conn.execute(sqlfiles.query("requests", name), values)
        except psycopg.Error as error:
            known = translate(error)
            raise (known if isinstance(known, RequestError) else error) from None

    def _publish(self) -> Done:
        with contextlib.closing(self._connect()) as conn:
            staged = staged_for(conn, self.claim.id)
            if staged is None:
                return self._end("failed", "stale")
            published = publish_held(
                conn,
                staged,
                self.claim.id,
                lambda version: end_published(conn, version, self.claim),
            )
        return Done("released", published.version)

    def _revert(self) -> Done:
        name = self.claim.release
        with contextlib.closing(self._connect()) as conn:
            try:
                changed = lifecycle.rollback(
                    conn,
                    name,
                    last=lambda version: finish(conn, self.claim, "released", version=version),
                )
            except LedgerError as error:
                if error.code != "not_stored":
                    raise
                return self._withdraw(conn)
        return Done("released", changed.now)

    def _withdraw(self, conn: Connection) -> Done:
        """There is no version before, so none is shown."""
        with publishing(conn):
            finish(conn, self.claim, "released")
            conn.execute(sqlfiles.query("policies", "withdraw"), {"release": self.claim.release})
        return Done("released")

    def _connect(self) -> Connection:
        conn = database.connect(self.dsn, settings=RUN_SETTINGS)
        try:
            become_owner(conn, named=self.owner)
        except BaseException:
            conn.close()
            raise
        return conn

    def _note(self, phase: str, step: str, purpose: str) -> None:
        """Show the phase in the request; a run that lost it stops at the next one."""
        if phase != self._phase:
            self._phase = phase
            still_mine(self.conn, self.claim, step=phase)
