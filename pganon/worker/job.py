"""One claimed request, from its policy to its end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import psycopg

from pganon import database
from pganon.applied.check import check
from pganon.applied.store import loaded, read
from pganon.error_codes import ErrorCode
from pganon.errors import (
    Interrupted,
    LedgerError,
    PganonError,
    PreconditionError,
    PrivacyRefusal,
    RequestError,
)
from pganon.identifiers import first_few
from pganon.install.owner import connect_as_owner
from pganon.ledger import repository as ledger
from pganon.publish import lifecycle
from pganon.publish.held import Overtaken, kept_for, publish_held
from pganon.requests.claim import (
    Claim,
    Kind,
    Lost,
    changed,
    ended,
    finish,
    give_back,
    still_mine,
)
from pganon.run import grants
from pganon.run.options import Options
from pganon.run.publication import end_published, judged_again, note_superseded
from pganon.run.release import run_release
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask

BUSY = timedelta(seconds=10)


@dataclass(frozen=True)
class Done:
    """Outcome of a request: its state, and a code where it failed."""

    state: str
    version: int | None = None
    code: str | None = None


class Job:
    """Serves a request on a connection of its own; that of the worker shows who has it.

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
            KeyboardInterrupt: the worker was stopped; the request waits again.
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
            return self._end("failed", f"{ErrorCode.INTERNAL} ({type(error).__name__})")

    def _act(self) -> Done:
        if ended(self.conn, self.claim):
            return self._end("cancelled", ErrorCode.WITHDRAWN)
        if self.claim.kind == "run" and changed(self.conn, self.claim):
            return self._end("failed", ErrorCode.CHANGED)
        act: dict[Kind, Callable[[], Done]] = {
            "run": self._publish if self.claim.held else self._run,
            "revert": self._revert,
            "drop": self._drop,
        }
        return act[self.claim.kind]()

    def _failed(self, error: PganonError) -> Done:
        match error:
            case Lost():
                return Done("lost")
            case PreconditionError(code=ErrorCode.BUSY):
                return self._again(ErrorCode.BUSY, counted=False)
            case PreconditionError(code=ErrorCode.IN_USE) if (
                self.claim.held or self.claim.kind == "drop"
            ):
                return self._again(ErrorCode.IN_USE, failed=ErrorCode.IN_USE)
            case Interrupted(code=ErrorCode.INTERRUPTED):
                return self._again(ErrorCode.INTERRUPTED)
            case Overtaken():
                return self._overtaken(error)
            case PrivacyRefusal(code=ErrorCode.REPUBLICATION) if self.claim.held:
                return self._end("failed", error.code, error)
            case PrivacyRefusal() if self.claim.held:
                return self._end("failed", ErrorCode.STALE, error)
            case PrivacyRefusal():
                return self._end("refused", error.code, error)
            case _:
                return self._end("failed", error.code, error)

    def _again(
        self, why: ErrorCode, *, counted: bool = True, failed: ErrorCode = ErrorCode.WORKER_LOST
    ) -> Done:
        """Let the request wait again; its third attempt that counts was the last."""
        state = give_back(self.conn, self.claim, after=BUSY, counted=counted, code=failed)
        return Done(state, code=why) if state else Done("lost")

    def _overtaken(self, error: Overtaken) -> Done:
        with self.conn.transaction():
            done = self._end("superseded", None)
            if done.state == "superseded":
                note_superseded(
                    self.conn, self.claim.release, self.claim.id, error.run_id, error.version
                )
        return done

    def _end(self, state: str, code: str | None, why: PganonError | None = None) -> Done:
        try:
            finish(self.conn, self.claim, state, code=code, why=why)
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
            raise RequestError(
                f"the policy cannot be used as it is: {first_few(stored.problems, 3)}",
                hint=f"`pganon policy show {claim.release}` has its problems",
                code=ErrorCode.UNCHECKED,
            )
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
            "requester_id": claim.requester_id,
            "id": claim.id,
            "parameters": ledger.as_jsonb(claim.parameters),
        }
        try:
            for name in ("limits", "parameters"):
                ask(self.conn, "requests", name, **values)
        except psycopg.Error as error:
            translated = translate(error)
            raise (translated if isinstance(translated, RequestError) else error) from None

    def _publish(self) -> Done:
        with contextlib.closing(self._connect()) as conn:
            kept = kept_for(conn, self.claim.id)
            if kept is None:
                return self._end("failed", ErrorCode.STALE)
            published = publish_held(
                conn,
                kept,
                self.claim,
                judged_again,
                lambda version: end_published(conn, version, self.claim),
            )
        if published is None:
            return Done("awaiting_approval")
        return Done("released", published.version)

    def _revert(self) -> Done:
        name = self.claim.release
        with contextlib.closing(self._connect()) as conn:
            try:
                changed = grants.rollback(
                    conn,
                    name,
                    last=lambda version: finish(conn, self.claim, "released", version=version),
                )
            except LedgerError as error:
                if error.code != ErrorCode.NOT_STORED:
                    raise
                return self._withdraw(conn)
        return Done("released", changed.now)

    def _withdraw(self, conn: Connection) -> Done:
        """There is no version before, so none is shown."""
        lifecycle.withdraw(conn, self.claim.release, last=self._done(conn))
        return Done("released")

    def _drop(self) -> Done:
        with contextlib.closing(self._connect()) as conn:
            lifecycle.drop(conn, self.claim.release, last=self._done(conn))
        return Done("released")

    def _done(self, conn: Connection) -> Callable[[], None]:
        """Ends the request, before what is asked of the release is cancelled."""
        return lambda: finish(conn, self.claim, "released")

    def _connect(self) -> Connection:
        return connect_as_owner(self.dsn, owner=self.owner, settings=database.RUN_SETTINGS)

    def _note(self, phase: str, step: str, purpose: str) -> None:
        """Show the phase in the request; a run that lost it stops at the next one."""
        if phase != self._phase:
            self._phase = phase
            still_mine(self.conn, self.claim, step=phase)
