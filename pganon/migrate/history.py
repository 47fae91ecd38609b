"""The files of a folder that were applied, and the one session that applies files now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from psycopg.rows import class_row

from pganon import locks, sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PreconditionError
from pganon.identifiers import quote
from pganon.install.state import program_version
from pganon.migrate.files import MigrationFile
from pganon.requests.workers import enter, forget_dead, leave
from pganon.sqlfiles import Connection, ask

State = Literal["applied", "awaiting_approval", "unpublished", "pending", "changed", "missing"]


@dataclass(frozen=True)
class Applied:
    """A file that was applied.

    Attributes:
        version_before: what was shown before; None for nothing.
        version: that it made, or found; None for a withdrawal, and without approval.
        revision_before: the newest of the policy before; None if there was none.
        request: that publication waited for.
        request_state: what became of it.
    """

    file: str
    number: int | None
    checksum: str
    kind: str
    release: str
    version_before: int | None
    version: int | None
    revision_before: int | None
    request: int | None
    request_state: str | None
    login: str
    applied_at: datetime
    program_version: str

    @property
    def waits(self) -> bool:
        return self.request_state in ("awaiting_approval", "approved", "running")


@dataclass(frozen=True)
class FileState:
    """A file of the folder, a row of the history, or both."""

    name: str
    number: int | None
    kind: str
    release: str
    state: State
    file: MigrationFile | None
    applied: Applied | None


def applied(conn: Connection, history: str) -> list[Applied]:
    """In the order of the numbers, repeatable ones last."""
    with conn.cursor(row_factory=class_row(Applied)) as cursor:
        return cursor.execute(
            sqlfiles.query("migrations", "applied"), {"history": history}
        ).fetchall()


def compared(files: Sequence[MigrationFile], rows: Sequence[Applied]) -> list[FileState]:
    """The folder beside its history: files in their order, then what the folder has lost."""
    by_file = {row.file: row for row in rows}
    file_states = [_file_state(file, by_file.pop(file.name, None)) for file in files]
    lost = [
        FileState(row.file, row.number, row.kind, row.release, "missing", None, row)
        for row in by_file.values()
    ]
    return [*file_states, *lost]


def _file_state(file: MigrationFile, row: Applied | None) -> FileState:
    state: State = "pending"
    if row is not None and row.checksum == file.checksum:
        state = _settled(row)
    elif row is not None and file.number is not None:
        state = "changed"
    return FileState(file.name, file.number, file.kind, file.release, state, file, row)


def _settled(row: Applied) -> State:
    """Of a file that was applied: somebody may have to approve, or may not have approved."""
    if row.waits:
        return "awaiting_approval"
    return "unpublished" if row.kind == "release" and row.version is None else "applied"


def check_unchanged(file_states: Sequence[FileState]) -> None:
    """Refuse a folder in which an applied file was edited, renamed or removed.

    Raises:
        LedgerError: changed_migration, missing_migration.
    """
    for file_state in file_states:
        if file_state.number is None:
            continue
        if file_state.state == "changed":
            raise LedgerError(
                f"{file_state.name} was changed after it was applied",
                hint="restore it, its hierarchies and the values of its variables, and write a"
                " further file for the change",
                code=ErrorCode.CHANGED_MIGRATION,
            )
        if file_state.state == "missing":
            raise LedgerError(
                f"{file_state.name} was applied and is not in the folder",
                hint="restore it; or name another history with --history, if it is another folder",
                code=ErrorCode.MISSING_MIGRATION,
            )


def check_own(conn: Connection, history: str, files: Sequence[MigrationFile]) -> None:
    """Refuse releases that files of another history made: neither would know of the other.

    Raises:
        LedgerError: other_history.
    """
    row = ask(
        conn, "migrations", "others", history=history, releases=[file.release for file in files]
    ).fetchone()
    if row is not None:
        raise LedgerError(
            f"the release {quote(row[0])} belongs to the history {quote(row[1])}: {row[2]}",
            hint=f"write a file for that folder, or name it with --history {row[1]}",
            code=ErrorCode.OTHER_HISTORY,
        )


@dataclass(frozen=True)
class Session:
    """This session, which has a history for itself as long as it lives."""

    history: str
    worker: int

    def record(
        self,
        conn: Connection,
        file: MigrationFile,
        *,
        version: int | None = None,
        shown: int | None = None,
        made: bool = False,
        revision_before: int | None = None,
        request: int | None = None,
    ) -> None:
        """Note a file as applied, in the transaction that does it.

        Args:
            shown: the version that was shown before, where none was `made`.

        Raises:
            PreconditionError: lock_lost; nothing of the transaction may stand.
        """
        values = {
            "history": self.history,
            "worker": self.worker,
            "file": file.name,
            "number": file.number,
            "checksum": file.checksum,
            "kind": file.kind,
            "release": file.release,
            "version": version,
            "shown": shown,
            "made": made,
            "revision_before": revision_before,
            "request": request,
            "program_version": program_version(),
        }
        self._fenced(conn, "record", values)

    def assert_mine(self, conn: Connection) -> None:
        """Refuse to go on with a history that another session has; for use in a transaction.

        Raises:
            PreconditionError: lock_lost.
        """
        self._fenced(conn, "mine", {"history": self.history, "worker": self.worker})

    def take_back(self, conn: Connection, row: Applied) -> None:
        """Note a file as not applied, in the transaction that undoes it.

        Raises:
            PreconditionError: lock_lost.
        """
        values = {"history": self.history, "worker": self.worker, "file": row.file}
        self._fenced(conn, "take_back", values)

    def _fenced(self, conn: Connection, query: str, values: dict[str, Any]) -> None:
        if ask(conn, "migrations", query, **values).fetchone() is None:
            raise PreconditionError(
                f"another session applies release migrations of the history {quote(self.history)}",
                hint="nothing was done for this file; run the command again",
                code=ErrorCode.LOCK_LOST,
            )


@contextmanager
def alone(conn: Connection, history: str) -> Iterator[Session]:
    """Have the history for this session.

    Raises:
        PreconditionError: busy.
    """
    forget_dead(conn)
    me = enter(conn, "command")
    session = Session(history, me)
    values = {"history": history, "worker": me}
    try:
        with conn.transaction():
            _check_free(conn, history)
            ask(conn, "migrations", "take", **values)
        yield session
    finally:
        if locks.usable(conn):
            leave(conn, me)


def _check_free(conn: Connection, history: str) -> None:
    values = {"history": history}
    ask(conn, "migrations", "add_history", **values)
    row = ask(conn, "migrations", "holder", **values).fetchone()
    assert row is not None
    worker, key, name, login = row
    if worker is not None and key is not None and locks.held_keys(conn, [key]):
        raise PreconditionError(
            f"release migrations of the history {quote(history)} are being applied: {name}, role"
            f" {quote(login)}",
            hint="try again when it has finished",
            code=ErrorCode.BUSY,
        )
