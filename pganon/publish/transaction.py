"""The one short transaction in which a verified release becomes readable."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg import sql

from pganon import locks
from pganon.catalog.roles import Roles
from pganon.database import at_once
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal, UsageError
from pganon.forms.confidential import evidence_details
from pganon.history import versions
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.publish import recording, release_state, views
from pganon.publish.privileges import record_readers, unopened
from pganon.publish.release_state import History, Version
from pganon.publish.staging import Staged
from pganon.publish.views import check_readers, ensure_schemas
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import DATA_SCHEMA, PublishedView, StoredRelation

T = TypeVar("T")

LOCK_TIMEOUT = "2s"
PAUSES = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 30.0)  # seconds between attempts

_UPDATE = "simple_heap_update"
"""The function of the server that fails on a catalog row which another session just changed."""


@dataclass(frozen=True)
class PublishedVersion:
    """Result of a publication.

    Attributes:
        replaced: version that the views showed before, None for none.
        retired: versions whose stored tables were dropped because newer ones are kept.
        dependents: objects of others that depended on views that are gone or have other columns,
            and cannot be used any more.
    """

    release: str
    version: int
    run_id: int
    replaced: int | None
    retired: tuple[int, ...]
    dependents: tuple[str, ...]


def fingerprint(
    conn: Connection,
    run_id: int,
    relations: Sequence[QualifiedName],
    compared: bytes | None = None,
) -> bytes:
    """Keyed fingerprint of relations in this order, under the secrets of a run.

    For a :class:`Staged` release: of the tables that it shares, then those that it staged.

    Args:
        compared: one with which the result is compared, made by this or an earlier program.
    """
    ((found,),) = ask(
        conn,
        "publish",
        "fingerprint",
        run_id=run_id,
        relations=[str(name) for name in relations],
        compared=compared,
    )
    return bytes(found)


def stamps(conn: Connection, relations: Sequence[QualifiedName]) -> list[tuple[str, int]]:
    """Stamp and number of rows of each of these tables.

    Raises:
        psycopg.Error: PA303, one of them is missing.
    """
    return ask(conn, "publish", "stamps", relations=[str(name) for name in relations]).fetchall()


def is_intact(conn: Connection, version: Version) -> bool:
    """Whether the stored tables of a version all exist, with the verified content."""
    relations = version.all_tables
    if not views.all_there(conn, relations):
        return False
    found = fingerprint(conn, version.run_id, relations, version.fingerprint)
    return found == version.fingerprint


def publish(
    conn: Connection,
    staged: Staged,
    *,
    last: Callable[[PublishedVersion], None] = lambda version: None,
) -> PublishedVersion:
    """Publish a verified release: all of it becomes readable at once, or nothing does.

    The session must hold the locks of the release and of the run.

    Args:
        last: called at the end of the transaction, and may raise.

    Raises:
        PrivacyRefusal: changed_after_verification, republication.
        HistoryChanged: another version about the same people appeared.
        PreconditionError: lock_lost, name_taken, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
        LedgerError: other_source.
    """
    with publishing(conn):
        judged = staged.judged
        locks.assert_held(
            conn,
            release=staged.release,
            run_id=staged.run_id,
            population=judged.population if judged else None,
        )
        history = release_state.read(conn, staged.release)
        release_state.check_source(history, staged.source)
        release_state.check_none_appeared(conn, staged)
        check_readers(conn, staged.readers, staged.readers, again="run the release again")
        rows = _check_unchanged(conn, staged)
        _move(conn, staged.relations)
        if judged is not None:
            versions.remember(conn, judged, staged.run_id)
        version = _make_readable(conn, staged, history, rows)
        last(version)
        return version


def _make_readable(
    conn: Connection, staged: Staged, history: History | None, rows: Sequence[int]
) -> PublishedVersion:
    version = recording.add_version(conn, staged, history, rows)
    if staged.decides:
        recording.finish_cohorts(conn, staged.release, staged.run_id)
    # The previous version decides which views may be replaced; the new one decides what they read.
    dependents = show_version(
        conn,
        staged.release,
        history,
        version,
        staged.views,
        staged.readers,
        trusted=staged.trusted,
        former=views.former_readers(history, staged.readers),
    )
    readers = record_readers(conn, staged.release, version, [view.name for view in staged.views])
    if staged.judged is not None:
        versions.check_readers(staged.judged, readers)
    old = history.versions[staged.keep - 1 :] if history else ()
    retired = retire(conn, staged.release, old)
    replaced = history.release.current if history else None
    ledger.append(
        conn,
        "released",
        run_id=staged.run_id,
        release=staged.release,
        version=version,
        policy_hash=staged.policy_hash,
        details={
            "row_count": staged.row_count,
            "suppressed": staged.suppressed,
            "guarantee": staged.guarantee,
            "replaced": replaced,
            "retired": retired,
            "dependents": dependents,
            **({"guard": staged.judged.figures} if staged.judged else {}),
            **evidence_details(staged.shown_evidence),
        },
    )
    return PublishedVersion(
        staged.release, version, staged.run_id, replaced, tuple(retired), tuple(dependents)
    )


def show_version(
    conn: Connection,
    release: str,
    history: History | None,
    version: int,
    shown: Sequence[PublishedView],
    readers: Roles,
    *,
    trusted: Roles,
    former: Collection[int] = (),
) -> list[str]:
    """Make the views show the current version, which is stored.

    Returns objects of others that depended on views that are gone or have other columns.

    Args:
        history: the release before the publication.
        readers: those that are what they were when they were named.
        trusted: roles in whose schemas the views may be.
        former: numbers of roles that are readers no more.

    Raises:
        PreconditionError: foreign_schema, name_taken, replaced_role, no_grant, in_use,
            open_privileges.
    """
    ensure_schemas(conn, {view.name.schema for view in shown}, trusted)
    dependents = with_lock_retry(
        conn, lambda: views.swap(conn, release, history, shown, readers, former)
    )
    recording.remember_views(conn, release, version)
    return dependents


def retire(conn: Connection, release: str, old: Sequence[Version]) -> list[int]:
    """Drop tables of old versions; those still being read are dropped by the next publication."""
    if not any(version.stored for version in old):
        return []
    try:
        return with_lock_retry(
            conn, lambda: recording.drop_stored(conn, release, old), pauses=PAUSES[:1]
        )
    except PreconditionError as error:
        if error.code != ErrorCode.IN_USE:
            raise
        return []


@contextmanager
def publishing(conn: Connection, *, withdraws: bool = False) -> Iterator[None]:
    """A transaction that excludes other publications before it reads anything.

    It changes nothing if others than its policies say may do more by it.

    Args:
        withdraws: see :func:`unopened`.

    Raises:
        PreconditionError: open_privileges.
    """
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise UsageError("publication needs a connection without an open transaction")
    try:
        with conn.transaction():
            ask(conn, "publish", "lock_releases")
            with unopened(conn, withdraws=withdraws):
                yield
    except psycopg.Error as error:
        raise translate(error, step="publish") from None


def with_lock_retry(
    conn: Connection,
    act: Callable[[], T],
    *,
    pauses: Sequence[float] | None = None,
    used: str = "the published views are in use by long queries",
) -> T:
    """Do work that needs exclusive locks on objects that others, such as analysts, may be using.

    A request for such a lock makes every later reader wait behind it, so each attempt is
    short, and its locks are released before the next. Privileges are rows of the catalog: a reader
    keeps them by a GRANT of nothing, and ends an attempt that waited by letting go.

    Args:
        used: what to say when all attempts failed.
    """
    for pause in (*(PAUSES if pauses is None else pauses), None):
        try:
            with conn.transaction():
                conn.execute("SELECT set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
                return act()
        except (
            psycopg.errors.LockNotAvailable,
            psycopg.errors.DeadlockDetected,
            psycopg.errors.InternalError_,
        ) as error:
            internal = isinstance(error, psycopg.errors.InternalError_)
            if internal and error.diag.source_function != _UPDATE:
                raise
            if pause is None:
                break
            time.sleep(pause)
    raise PreconditionError(
        used,
        hint="try again when they have finished; nothing was changed",
        code=ErrorCode.IN_USE,
    )


def _check_unchanged(conn: Connection, staged: Staged) -> list[int]:
    """Rows per relation, if the staged tables are unchanged; afterwards nobody can change them.

    Moving a table takes an exclusive lock anyway. Taken first, it waits for every other writer
    before this check, and keeps out new ones.
    """
    names = [relation.staged for relation in staged.relations]
    unfit = ask(conn, "publish", "not_logged", relations=[str(name) for name in names]).fetchall()
    if unfit:
        raise PganonError(f"{unfit[0][0]} is missing or not a logged table")
    lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(
        sql.SQL(", ").join(name.identifier for name in names)
    )
    with_lock_retry(
        conn, lambda: conn.execute(lock), used="the staged tables are in use by other sessions"
    )
    current = stamps(conn, names)
    changed = [
        str(name)
        for name, (stamp, _), made in zip(names, current, staged.stamps, strict=True)
        if stamp != made
    ]
    if changed:
        raise PrivacyRefusal(
            f'tables of the release "{staged.release}" changed after they were made:'
            f" {', '.join(changed)}",
            hint="run the release again",
            code=ErrorCode.CHANGED_AFTER_VERIFICATION,
        )
    return [rows for _, rows in current]


def _move(conn: Connection, relations: Sequence[StoredRelation]) -> None:
    moves: list[sql.Composed] = []
    for relation in relations:
        staged, stored = relation.staged, relation.stored
        if staged.name != stored.name:
            raise ValueError(f"{staged} cannot be renamed to {stored}")
        move = sql.SQL("ALTER TABLE {} SET SCHEMA {}")
        moves.append(move.format(staged.identifier, sql.Identifier(stored.schema)))
        if stored.schema == DATA_SCHEMA:
            # Runs keep autovacuum from their tables. From private ones it stays away: everybody
            # sees in pg_class how many rows it found.
            reset = "ALTER TABLE {} RESET (autovacuum_enabled, toast.autovacuum_enabled)"
            moves.append(sql.SQL(reset).format(stored.identifier))
        moves.append(sql.SQL("PERFORM pganon.seal(to_regclass({}))").format(str(stored)))
    at_once(conn, moves)
