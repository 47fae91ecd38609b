"""Published releases: measuring again, showing an earlier version, taking away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from pganon import locks
from pganon.catalog.roles import unchanged as unchanged_roles
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PrivacyRefusal, UsageError
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.publish import recording, views
from pganon.publish.listing import find
from pganon.publish.privileges import AdmissionCheck, granted, record_readers, unopened
from pganon.publish.release_state import History, Version
from pganon.publish.sessions import translated
from pganon.publish.transaction import is_intact, publishing, show_version, with_lock_retry
from pganon.sqlfiles import Connection, ask


@dataclass(frozen=True)
class Finding:
    """One check of the verification.

    Attributes:
        model: a privacy model, or row_count (against: the part), fingerprint, view.
    """

    model: str
    column: str | None
    against: str
    parameter: float | None
    measured: float | None
    holds: bool


@dataclass(frozen=True)
class Changed:
    """Result of a rollback or drop: version shown before and now.

    Attributes:
        dependents: objects of others that depended on views that are gone.
        missing_readers: readers of the release that are gone, or other roles by now.
        warnings: roles that could read other versions since these were published.
    """

    release: str
    before: int | None
    now: int | None
    dropped: tuple[int, ...] = ()
    dependents: tuple[str, ...] = ()
    missing_readers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def verify(conn: Connection, name: str) -> list[Finding]:
    """Measure the stored tables of the current version again; as the steward."""
    with translated():
        history = find(conn, name)
        history.stored()
        rows = ask(conn, "lifecycle", "verify", release=name).fetchall()
    return [Finding(*row) for row in rows]


def show_earlier(
    conn: Connection,
    name: str,
    to: int | None = None,
    *,
    last: Callable[[int], None] = lambda version: None,
    check_admission: AdmissionCheck = lambda version, roles: nullcontext(()),
) -> Changed:
    """Let the views show an earlier version: `to`, else the newest stored one before the current.

    Of a release that was withdrawn that is the version which was shown then.

    Grants stay as they are. Readers that are gone, or other roles by now, are named and granted
    nothing. What analysts copied of the newer version stays with them.
    :func:`pganon.run.grants.rollback` checks the readers.

    Args:
        check_admission: given the earlier version and the roles that will read it.
        last: called with the version at the end of the transaction, and may raise.

    Raises:
        LedgerError: unknown_release, unknown_version, not_stored.
        PrivacyRefusal: changed_after_verification.
        PreconditionError: busy, foreign_schema, name_taken, no_grant, in_use,
            open_privileges.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        target = _target(conn, history, to)
        if history.current is None:
            views.tidy_views(conn, name)  # else the owner may not read tables of views in use
        readers = unchanged_roles(conn, history.release.roles)
        shown = history.current.views if history.current else ()
        roles = sorted({*readers, *granted(conn, [view.name for view in shown])})
        with check_admission(target, roles) as warnings, publishing(conn):
            locks.assert_held(conn, release=name)
            _check_intact(conn, name, target)
            recording.set_current(conn, history.release, target)
            dependents = show_version(
                conn,
                name,
                history,
                target.version,
                target.views,
                readers,
                trusted=unchanged_roles(conn, target.trusted),
            )
            record_readers(conn, name, target.version, [view.name for view in target.views])
            before = history.release.current
            ledger.append(
                conn,
                "rolled_back",
                run_id=target.run_id,
                release=name,
                version=target.version,
                policy_hash=target.policy_hash,
                details={"from": before, "dependents": dependents},
            )
            last(target.version)
    lost = tuple(role for role in history.release.readers if role not in readers)
    return Changed(name, before, target.version, (), tuple(dependents), lost, warnings)


def _target(conn: Connection, history: History, to: int | None) -> Version:
    if history.current is None:
        if to is None:
            row = ask(conn, "policies", "withdrawn", release=history.release.name).fetchone()
            to = row[1] if row else None
        return history.stored(to)
    current = history.stored()
    if to == current.version:
        raise UsageError(f"version {to} is the current one")
    if to is not None:
        return history.stored(to)
    for version in history.versions:
        if version.version < current.version and version.stored:
            return version
    raise LedgerError(
        f"the release {quote(history.release.name)} has no stored version before {current.version}",
        code=ErrorCode.NOT_STORED,
    )


def _check_intact(conn: Connection, name: str, version: Version) -> None:
    if not is_intact(conn, version):
        raise PrivacyRefusal(
            f'the tables of version {version.version} of the release "{name}" were changed',
            hint="choose another version, or run the release again",
            code=ErrorCode.CHANGED_AFTER_VERIFICATION,
        )


@contextmanager
def withdrawing(conn: Connection, name: str) -> Iterator[None]:
    """:func:`publishing`, to take views away: readers are shut out before, whatever comes of it.

    A publication that waits for somebody who reads views holds up the transaction, not this.
    """
    with conn.transaction(), unopened(conn, withdraws=True):
        views.close_views(conn, name)
    with publishing(conn, withdraws=True):
        yield


def withdraw(
    conn: Connection, name: str, *, last: Callable[[], None] = lambda: None
) -> tuple[str, ...]:
    """Take the views of a release away; versions, and copies, stay.

    Returns objects of others that depended on the views. Nobody may read views that are in use;
    :func:`pganon.run.tables.clean` or a worker drops them later.

    Args:
        last: called before what is asked of the release is cancelled, and may raise.

    Raises:
        RequestError: unknown_release.
    """
    with translated(), withdrawing(conn, name):
        last()
        return withdraw_within(conn, name)


def withdraw_within(conn: Connection, name: str) -> tuple[str, ...]:
    """:func:`withdraw` as a part of a transaction of :func:`withdrawing`."""
    ask(conn, "policies", "withdraw", release=name)
    row = ask(conn, "policies", "withdrawn", release=name).fetchone()
    return tuple(row[0]) if row else ()


def drop(
    conn: Connection,
    name: str,
    *,
    last: Callable[[], None] = lambda: None,
) -> Changed:
    """Take a release away: its views and stored tables.

    Version rows, ledger and members stay, because copies that analysts made stay as well. If tables
    are in use, the release is withdrawn, and a later call drops them.

    Args:
        last: called before what is asked of the release is cancelled, and may raise.

    Raises:
        LedgerError: unknown_release, not_stored.
        PreconditionError: busy, in_use.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        current = history.current
        if not any(version.stored for version in history.versions):
            raise LedgerError(
                f"the release {quote(name)} was dropped before", code=ErrorCode.NOT_STORED
            )
        before = _hide(conn, history) if current is not None else []
        with publishing(conn, withdraws=True):
            locks.assert_held(conn, release=name)
            dependents, gone = with_lock_retry(
                conn,
                lambda: _take_away(conn, history),
                used="the release is withdrawn, but long queries are still reading its tables",
            )
            last()
            ask(conn, "requests", "end_all", release=name)
            dependents = [*before, *dependents]
            shown = current or history.versions[0]
            ledger.append(
                conn,
                "dropped",
                run_id=shown.run_id,
                release=name,
                version=shown.version,
                policy_hash=shown.policy_hash,
                details={"versions": gone, "dependents": dependents},
            )
    return Changed(name, history.release.current, None, tuple(gone), tuple(dependents))


def _hide(conn: Connection, history: History) -> list[str]:
    """Shut readers out, at once; gives what others have built on views that are gone."""
    with withdrawing(conn, history.release.name):
        locks.assert_held(conn, release=history.release.name)
        recording.set_current(conn, history.release, None)
        current = history.current
        assert current is not None
        ledger.append(
            conn,
            "withdrawn",
            run_id=current.run_id,
            release=history.release.name,
            version=current.version,
        )
        return views.tidy_views(conn, history.release.name)


def _take_away(conn: Connection, history: History) -> tuple[list[str], list[int]]:
    name = history.release.name
    dependents = views.remove_views(conn, name)
    return dependents, recording.drop_stored(conn, name, history.versions)
