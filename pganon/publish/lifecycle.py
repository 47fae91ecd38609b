"""Published releases: listing, measuring again, going back, taking away."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pganon import locks, sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import InstallError, LedgerError, PrivacyRefusal, UsageError, translate
from pganon.identifiers import quote
from pganon.install import access
from pganon.install.owner import become_owner
from pganon.ledger import repository as ledger
from pganon.publish import history, views
from pganon.publish.audience import Judged, granted, remember_readers
from pganon.publish.history import History, Version
from pganon.publish.privileges import Able, can_read, unchanged
from pganon.publish.transaction import is_intact, publishing, show_version, with_lock_retry

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class VersionInfo:
    """A version as the steward sees it; `stored` says whether it can be read or gone back to.

    Attributes:
        over_versions: whether its guarantee holds beside other versions: holds, finer, void; None
            where people cannot be told apart.
    """

    version: int
    run_id: int
    method: str
    guarantee: list[dict[str, Any]]
    row_count: int
    suppressed: int
    policy_hash: str | None
    measures: dict[str, Any]
    members_table: str | None
    published_at: datetime | None
    dropped_at: datetime | None
    stored: bool
    over_versions: str | None


@dataclass(frozen=True)
class ReleaseInfo:
    """A release as its readers see it, about its current version.

    Attributes:
        version: None once the release was dropped; only the steward still sees it then.
        columns: dicts with view, name, type and comment.
        source, readers, versions: for the steward; None for others.
        can_read: roles that can read it, whoever let them; of :func:`show`, for the steward.
    """

    release: str
    version: int | None
    method: str | None
    guarantee: list[dict[str, Any]]
    columns: list[dict[str, Any]]
    published_at: datetime | None
    source: str | None = None
    readers: tuple[str, ...] | None = None
    versions: tuple[VersionInfo, ...] | None = None
    can_read: tuple[Able, ...] | None = None

    @property
    def views(self) -> list[str]:
        return list(dict.fromkeys(column["view"] for column in self.columns))

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "views": self.views}


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
    """What a rollback or drop did: version shown before and now.

    Attributes:
        dependents: what others have built on views that are gone, and may not use any more.
        missing_readers: readers of the release that are no roles any more.
        warnings: who could read other versions since these were published.
    """

    release: str
    before: int | None
    now: int | None
    dropped: tuple[int, ...] = ()
    dependents: tuple[str, ...] = ()
    missing_readers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def become_steward(conn: Connection, *, named: str | None = None) -> bool:
    """Become the owner if the session may; False for a role that can only read."""
    try:
        become_owner(conn, named=named)
    except InstallError as error:
        if error.code != ErrorCode.NOT_OWNER:
            raise
        return False
    return True


def is_steward(conn: Connection) -> bool:
    """Whether the statements of this session act as the owner of pganon."""
    owner = access.installed_owner(conn)
    return conn.execute(sqlfiles.query("lifecycle", "current_role")).fetchone() == (owner,)


def releases(conn: Connection) -> list[ReleaseInfo]:
    """All releases for the steward, readable ones for everybody else; by name."""
    with translated():
        if not is_steward(conn):
            return _readable(conn)
        rows = conn.execute(sqlfiles.query("lifecycle", "names")).fetchall()
        found = [history.read(conn, row[0]) for row in rows]
        return [_info(known) for known in found if known is not None]


def show(conn: Connection, name: str) -> ReleaseInfo:
    """One release."""
    with translated():
        found = {info.release: info for info in releases(conn)}
        if name not in found:
            raise unknown(conn, name)
        info = found[name]
        if info.versions is None:
            return info
        return replace(info, can_read=tuple(can_read(conn, find(conn, name))))


def events(conn: Connection, name: str) -> list[dict[str, Any]]:
    """The ledger of one release, oldest row first; as the steward."""
    with translated(), conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(sqlfiles.query("ledger", "of_release"), {"release": name}).fetchall()
        if not rows:
            raise unknown(conn, name)
        return rows


def _readable(conn: Connection) -> list[ReleaseInfo]:
    with conn.transaction():
        access.admit_reader(conn)
        rows = conn.execute(sqlfiles.query("lifecycle", "readable")).fetchall()
    return [ReleaseInfo(*row) for row in rows]


def _info(known: History) -> ReleaseInfo:
    current = known.current
    release = known.release
    return ReleaseInfo(
        release=release.name,
        version=release.current,
        method=current.method if current else None,
        guarantee=current.guarantee if current else [],
        columns=current.columns if current else [],
        published_at=current.published_at if current else None,
        source=release.source,
        readers=release.readers,
        versions=tuple(_version_info(version) for version in known.versions),
    )


def _version_info(version: Version) -> VersionInfo:
    names = VersionInfo.__dataclass_fields__
    return VersionInfo(**{name: getattr(version, name) for name in names})


def verify(conn: Connection, name: str) -> list[Finding]:
    """Measure the stored tables of the current version again; as the steward."""
    with translated():
        known = find(conn, name)
        history.check_stored(known, known.current, None)
        rows = conn.execute(sqlfiles.query("lifecycle", "verify"), {"release": name}).fetchall()
    return [Finding(*row) for row in rows]


def rollback(
    conn: Connection,
    name: str,
    to: int | None = None,
    *,
    last: Callable[[int], None] = lambda version: None,
    judged: Judged = lambda version, roles: nullcontext(()),
) -> Changed:
    """Let the views show an earlier version: `to`, else the newest stored one before the current.

    Grants stay as they are; readers that are no roles any more are named. What analysts copied of
    the newer version stays with them. :func:`pganon.run.grants.rollback` judges the readers.

    Args:
        judged: given the earlier version and the roles that will read it.
        last: called with the version at the end of the transaction, and may raise.

    Raises:
        LedgerError: unknown_release, unknown_version, not_stored.
        PrivacyRefusal: changed_after_verification.
        PreconditionError: busy, foreign_schema, name_taken, no_grant, in_use,
            open_privileges.
    """
    with translated(), locks.hold(conn, release=name):
        known = find(conn, name)
        target = _target(known, to)
        readers = views.present_roles(conn, known.release.readers)
        shown = known.current.views if known.current else ()
        roles = sorted({*readers, *granted(conn, [view.name for view in shown])})
        with judged(target, roles) as warnings, publishing(conn), unchanged(conn, name):
            locks.assert_held(conn, release=name)
            _check_intact(conn, name, target)
            history.set_current(conn, known.release, target)
            dependents = show_version(
                conn,
                name,
                known,
                target.version,
                target.views,
                readers,
                trusted=target.policy.get("trust") or (),
            )
            remember_readers(conn, find(conn, name))
            before = known.release.current
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
    lost = tuple(role for role in known.release.readers if role not in readers)
    return Changed(name, before, target.version, (), tuple(dependents), lost, warnings)


def _target(known: History, to: int | None) -> Version:
    current = history.check_stored(known, known.current, None)
    if to is not None:
        if to == current.version:
            raise UsageError(f"version {to} is the current one")
        chosen = next((v for v in known.versions if v.version == to), None)
        return history.check_stored(known, chosen, to)
    for version in known.versions:
        if version.version < current.version and version.stored:
            return version
    raise LedgerError(
        f"the release {quote(known.release.name)} has no stored version before {current.version}",
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
    views.close_views(conn, name)
    with publishing(conn):
        yield


def withdraw(
    conn: Connection, name: str, *, last: Callable[[], None] = lambda: None
) -> tuple[str, ...]:
    """Take the views of a release away; versions, and copies, stay.

    Gives what others have built on the views, and may not use any more. Nobody may read views that
    are in use, and :func:`pganon.run.tables.clean` or a worker drops them later.

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
    conn.execute(sqlfiles.query("policies", "withdraw"), {"release": name})
    row = conn.execute(sqlfiles.query("policies", "withdrawn"), {"release": name}).fetchone()
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
        known = find(conn, name)
        current = known.current
        if not any(version.stored for version in known.versions):
            raise LedgerError(
                f"the release {quote(name)} was dropped before", code=ErrorCode.NOT_STORED
            )
        if current is not None:
            _hide(conn, known)
        with publishing(conn):
            locks.assert_held(conn, release=name)
            dependents, gone = with_lock_retry(
                conn,
                lambda: _take_away(conn, known),
                used="the release is withdrawn, but long queries are still reading its tables",
            )
            last()
            conn.execute(sqlfiles.query("requests", "end_all"), {"release": name})
            shown = current or known.versions[0]
            ledger.append(
                conn,
                "dropped",
                run_id=shown.run_id,
                release=name,
                version=shown.version,
                policy_hash=shown.policy_hash,
                details={"versions": gone, "dependents": dependents},
            )
    return Changed(name, known.release.current, None, tuple(gone), tuple(dependents))


def _hide(conn: Connection, known: History) -> None:
    """Shut readers out, at once."""
    with withdrawing(conn, known.release.name):
        locks.assert_held(conn, release=known.release.name)
        history.set_current(conn, known.release, None)
        current = known.current
        assert current is not None
        ledger.append(
            conn,
            "withdrawn",
            run_id=current.run_id,
            release=known.release.name,
            version=current.version,
        )


def _take_away(conn: Connection, known: History) -> tuple[list[str], list[int]]:
    name = known.release.name
    dependents = views.remove_views(conn, name)
    return dependents, history.drop_stored(conn, name, known.versions)


def find(conn: Connection, name: str) -> History:
    """The release of that name, for the steward."""
    known = history.read(conn, name)
    if known is None:
        raise unknown(conn, name)
    return known


def unknown(conn: Connection, name: str) -> LedgerError:
    """The error for a name that no release has, with near names among those one may see."""
    names = [info.release for info in releases(conn)]
    folded = {known.lower(): known for known in names}
    near = [folded[n] for n in difflib.get_close_matches(name.lower(), folded, n=3)]
    hint = f"did you mean {' or '.join(quote(n) for n in near)}?" if near else None
    return LedgerError(
        f"there is no release {quote(name)}",
        hint=hint or "`pganon releases` lists them",
        code=ErrorCode.UNKNOWN_RELEASE,
    )


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from None
