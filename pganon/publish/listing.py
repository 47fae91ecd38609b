"""Published releases as the steward and as readers see them."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError
from pganon.identifiers import quote
from pganon.install import access
from pganon.publish import release_state
from pganon.publish.privileges import RoleAccess, can_read
from pganon.publish.release_state import History, Version
from pganon.publish.sessions import is_steward, translated
from pganon.sqlfiles import Connection, ask, dicts


@dataclass(frozen=True)
class VersionInfo:
    """A version as the steward sees it; `stored` says whether it can be read or gone back to.

    Attributes:
        over_versions: whether its guarantee holds beside other versions: holds, finer, void; None
            where people cannot be identified.
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
class Tried:
    """How many candidates were tried for a release, in how many comparisons."""

    candidates: int
    comparisons: int


@dataclass(frozen=True)
class ReleaseInfo:
    """A release as its readers see it, about its current version.

    Attributes:
        version: None once the release was dropped; only the steward still sees it then.
        columns: dicts with view and the fields of a
            :class:`~pganon.steps.relations.ViewColumn`.
        source, readers, versions: for the steward; None for others.
        can_read: roles that can read it, whoever let them; of :func:`show`, for the steward.
        compared: how many candidates dry runs measured for it; likewise.
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
    can_read: tuple[RoleAccess, ...] | None = None
    compared: Tried | None = None

    @property
    def views(self) -> list[str]:
        return list(dict.fromkeys(column["view"] for column in self.columns))

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "views": self.views}


def releases(conn: Connection) -> list[ReleaseInfo]:
    """All releases for the steward, readable ones for everybody else; by name."""
    with translated():
        if not is_steward(conn):
            return _readable(conn)
        rows = ask(conn, "lifecycle", "names").fetchall()
        histories = [release_state.read(conn, row[0]) for row in rows]
        return [_info(history) for history in histories if history is not None]


def show(conn: Connection, name: str) -> ReleaseInfo:
    """Return one release.

    Raises:
        LedgerError: unknown_release.
    """
    with translated():
        by_name = {info.release: info for info in releases(conn)}
        if name not in by_name:
            raise unknown(conn, name)
        info = by_name[name]
        if info.versions is None:
            return info
        able = tuple(can_read(conn, find(conn, name)))
        row = ask(conn, "ledger", "compared", release=name).fetchone()
        return replace(info, can_read=able, compared=Tried(*row) if row else None)


def events(conn: Connection, name: str) -> list[dict[str, Any]]:
    """The ledger of one release, oldest row first; as the steward."""
    with translated():
        rows = dicts(conn, "ledger", "of_release", release=name)
        if not rows:
            raise unknown(conn, name)
        return rows


def _readable(conn: Connection) -> list[ReleaseInfo]:
    with conn.transaction():
        access.admit_reader(conn)
        rows = ask(conn, "lifecycle", "readable").fetchall()
    return [ReleaseInfo(*row) for row in rows]


def _info(history: History) -> ReleaseInfo:
    current = history.current
    release = history.release
    return ReleaseInfo(
        release=release.name,
        version=release.current,
        method=current.method if current else None,
        guarantee=current.guarantee if current else [],
        columns=current.columns if current else [],
        published_at=current.published_at if current else None,
        source=release.source,
        readers=release.readers,
        versions=tuple(_version_info(version) for version in history.versions),
    )


def _version_info(version: Version) -> VersionInfo:
    names = VersionInfo.__dataclass_fields__
    return VersionInfo(**{name: getattr(version, name) for name in names})


def find(conn: Connection, name: str) -> History:
    """The release of that name, for the steward."""
    history = release_state.read(conn, name)
    if history is None:
        raise unknown(conn, name)
    return history


def unknown(conn: Connection, name: str) -> LedgerError:
    """The error for a name that no release has, with near names among those one may see."""
    names = [info.release for info in releases(conn)]
    folded = {other.lower(): other for other in names}
    near = [folded[n] for n in difflib.get_close_matches(name.lower(), folded, n=3)]
    hint = f"did you mean {' or '.join(quote(n) for n in near)}?" if near else None
    return LedgerError(
        f"there is no release {quote(name)}",
        hint=hint or "`pganon releases` lists them",
        code=ErrorCode.UNKNOWN_RELEASE,
    )
