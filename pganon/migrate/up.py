"""Applies release migrations: every file in one transaction with its publication, in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg

from pganon import database
from pganon.applied.store import newest_revision
from pganon.errors import PganonError, PolicyError
from pganon.install.owner import connect_as_owner
from pganon.migrate.files import MigrationFile
from pganon.migrate.history import FileState, Session, alone
from pganon.migrate.pending import Pending, Planned, checked, file_states, planned
from pganon.migrate.words import DEFAULT_HISTORY
from pganon.publish import lifecycle
from pganon.publish import release_state as versions
from pganon.run.options import Ended, OnStep, Options
from pganon.run.release import run_release
from pganon.server_errors import translate
from pganon.sqlfiles import Connection


@dataclass(frozen=True)
class Target:
    """A folder of files, and where they are applied.

    Attributes:
        dsn, owner: how to connect, and as whom to work.
    """

    folder: Path
    dsn: str | None = None
    owner: str | None = None
    history: str = DEFAULT_HISTORY


@dataclass(frozen=True)
class Done:
    """Outcome of a file.

    Attributes:
        version: that readers see now; None after a withdrawal, and while it waits for approval.
        request: that waits for approval.
        dependents: what others have built on views that are gone, and may not use any more.
    """

    file: str
    release: str
    outcome: Literal["released", "unchanged", "awaiting_approval", "withdrawn", "reverted"]
    version: int | None = None
    request: int | None = None
    dependents: tuple[str, ...] = ()


Report = Callable[[Done], None]


def status(target: Target) -> list[FileState]:
    """The folder beside its history, whatever is wrong with it."""
    with session(target) as conn:
        return file_states(conn, target.folder, target.history)


def dry_run(target: Target, to: int | None = None) -> list[Planned]:
    """Effects that :func:`up` would have; the same is checked, nothing is done."""
    with session(target) as conn:
        _, pending = checked(conn, target.folder, target.history, to)
        return planned(conn, pending)


def up(
    target: Target,
    to: int | None = None,
    *,
    report: Report = lambda done: None,
    on_step: OnStep = lambda phase, step, purpose: None,
) -> list[Done]:
    """Apply all files that are not applied, up to a number; one that fails is the last.

    Args:
        report: called after each file.

    Raises:
        PganonError: of the folder, or of a file, before anything is done; of a run. Files before
            it stay applied, and the next call begins with it.
    """
    outcomes: list[Done] = []
    with session(target) as conn, alone(conn, target.history) as mine:
        _, pending = checked(conn, target.folder, target.history, to)
        options = Options(on_step=on_step)
        for item in pending:
            with named(item.file.name):
                done = _apply(conn, target, mine, item, options)
            outcomes.append(done)
            report(done)
    return outcomes


@contextmanager
def session(target: Target) -> Iterator[Connection]:
    """A session of pganon's owner."""
    opened = connect_as_owner(target.dsn, owner=target.owner, settings=database.RUN_SETTINGS)
    with contextlib.closing(opened) as conn:
        try:
            yield conn
        except psycopg.Error as error:
            raise translate(error) from None


@contextmanager
def named(file: str) -> Iterator[None]:
    """Errors within say which file they are about."""
    try:
        yield
    except PolicyError:
        raise  # it names the file and the line
    except PganonError as error:
        raise error.within(file) from None
    except psycopg.Error as error:
        raise translate(error).within(file) from None


def _apply(
    conn: Connection, target: Target, mine: Session, item: Pending, options: Options
) -> Done:
    if item.loaded is None:
        return _withdraw(conn, mine, item.file)
    file = item.file
    revision_before = newest_revision(conn, file.release)

    def last(ended: Ended) -> None:
        mine.record(
            ended.conn,
            file,
            version=ended.version,
            shown=ended.version,
            made=ended.made,
            revision_before=revision_before,
            request=ended.request,
        )

    result = run_release(
        item.loaded,
        dsn=target.dsn,
        owner=target.owner,
        options=Options(on_step=options.on_step, on_end=last),
    )
    assert result.outcome != "dry_run"
    return Done(
        file.name, file.release, result.outcome, result.version, result.request, result.dependents
    )


def _withdraw(conn: Connection, mine: Session, file: MigrationFile) -> Done:
    with lifecycle.withdrawing(conn, file.release):
        release = versions.read(conn, file.release)
        built = lifecycle.withdraw_within(conn, file.release)
        assert release is not None  # or there was nothing to withdraw
        mine.record(
            conn,
            file,
            shown=release.release.current,
            revision_before=newest_revision(conn, file.release),
        )
    return Done(file.name, file.release, "withdrawn", dependents=built)
