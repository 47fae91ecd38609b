"""Releases and their versions as the state tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pganon.catalog.citus import changes_in_shards
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PrivacyRefusal
from pganon.identifiers import QualifiedName, quote
from pganon.publish.staging import Staged
from pganon.resolved.increments import Increment
from pganon.resolved.republication import Earlier, Prints
from pganon.sqlfiles import Connection, ask, dicts
from pganon.steps.relations import DATA_SCHEMA, PublishedView, ViewColumn


@dataclass(frozen=True)
class Release:
    """A release: its source, its first view, and the version that the views show now.

    Attributes:
        roles: readers with their numbers when they were named.
    """

    name: str
    source: str
    view: QualifiedName
    current: int | None
    roles: dict[str, int]

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(self.roles)


@dataclass(frozen=True)
class Version:
    """One version. `relations` holds {part, schema, name, rows}; private ones outlive a drop.

    Attributes:
        measures: statistics of the version; under `increment` those of the last increment.
        increments: of a version that grows, what each run added; None if it was made at once.
        sources: names of the source and of all relations that its rows come from.
        source_columns: all columns of the source when it was read, {name, type}.
        source_mark: what :func:`source_mark` said before it was read.
        trusted: roles that its policy trusts, with their numbers.
        over_versions: whether its guarantee holds beside other versions; None without a key.
    """

    version: int
    run_id: int
    method: str
    guarantee: list[dict[str, Any]]
    columns: list[dict[str, Any]]
    views: tuple[PublishedView, ...]
    relations: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    row_count: int
    suppressed: int
    members_table: str | None
    policy: dict[str, Any]
    policy_hash: str
    partition_hash: str
    measures: dict[str, Any]
    published_at: datetime
    dropped_at: datetime | None
    fingerprint: bytes
    source_fingerprint: bytes
    rows_fingerprint: bytes
    partition: dict[str, Any]
    over_versions: str | None
    increments: tuple[Increment, ...] | None
    sources: list[str]
    source_columns: list[dict[str, str]]
    source_mark: str | None
    trusted: dict[str, int]

    @property
    def prints(self) -> Prints:
        return Prints(self.source_fingerprint or b"", self.rows_fingerprint or b"")

    @property
    def lost(self) -> dict[str, float]:
        """Mean NCP of every published column, as the run measured what it made."""
        figures = self.measures.get("increment") or self.measures
        return figures.get("utility", {}).get("ncp", {})

    @property
    def stored(self) -> bool:
        return self.dropped_at is None

    @property
    def all_tables(self) -> list[QualifiedName]:
        """Every table of the version, in the order of its fingerprint."""
        return [QualifiedName(item["schema"], item["name"]) for item in self.relations]

    @property
    def data_tables(self) -> list[QualifiedName]:
        """Tables that the views read."""
        return [table for table in self.all_tables if table.schema == DATA_SCHEMA]


@dataclass(frozen=True)
class History:
    """A release with all its versions, newest first."""

    release: Release
    versions: tuple[Version, ...]

    @property
    def current(self) -> Version | None:
        return self.find(self.release.current)

    def find(self, number: int | None) -> Version | None:
        return next((v for v in self.versions if v.version == number), None)

    def version(self, number: int | None) -> Version:
        """The version of that number; None is the current one.

        Raises:
            LedgerError: unknown_version.
        """
        found = self.current if number is None else self.find(number)
        if found is None:
            numbers = ", ".join(str(v.version) for v in reversed(self.versions)) or "none"
            what = "has no current version" if number is None else f"has no version {number}"
            raise LedgerError(
                f"the release {quote(self.release.name)} {what}; its versions: {numbers}",
                code=ErrorCode.UNKNOWN_VERSION,
            )
        return found

    def stored(self, number: int | None = None) -> Version:
        """The same, which can be read.

        Raises:
            LedgerError: unknown_version, not_stored.
        """
        found = self.version(number)
        if not found.stored:
            raise LedgerError(
                f"version {found.version} of the release {quote(self.release.name)} is no longer"
                " stored",
                hint="`keep` of the policy says how many versions stay; `pganon show` lists them",
                code=ErrorCode.NOT_STORED,
            )
        return found

    @property
    def view_names(self) -> set[QualifiedName]:
        """Every name that a view of the release ever had."""
        return {view.name for version in self.versions for view in version.views}

    @property
    def data_tables(self) -> set[QualifiedName]:
        return {table for version in self.versions for table in version.data_tables}


def read(conn: Connection, name: str) -> History | None:
    """Return the release of that name; None if there is none."""
    row = ask(conn, "publish", "release", release=name).fetchone()
    if row is None:
        return None
    roles = dict(zip(row[5], row[6], strict=True))
    release = Release(row[0], row[1], QualifiedName(row[2], row[3]), row[4], roles)
    rows = dicts(conn, "publish", "versions", release=name)
    return History(release, tuple(_version(row) for row in rows))


def sources_of(conn: Connection, *oids: int) -> tuple[str, ...]:
    """Names of relations and of all that their rows come from, as versions remember them."""
    rows = [ask(conn, "publish", "sources", oid=oid).fetchone() for oid in oids]
    return tuple(dict.fromkeys(name for row in rows if row for name in row[0] or ()))


def source_mark(conn: Connection, sources: Sequence[str]) -> str | None:
    """Changes to relations, by the statistics of the server; None where there are none.

    Another text is a sign of a change. The server counts with a delay of about a second.
    """
    row = ask(conn, "publish", "source_mark", sources=list(sources)).fetchone()
    if row is None or row[0] is None:
        return None
    shards = changes_in_shards(conn, sources) if row[1] else ""
    return None if shards is None else f"{row[0]}{shards}"


def earlier(conn: Connection, release: str, sources: Sequence[str]) -> tuple[Earlier, ...]:
    """Versions of all releases, stored or not; those over any of these sources come first."""
    rows = dicts(conn, "publish", "earlier", release=release, sources=list(sources))
    return tuple(Earlier(**row) for row in rows)


def check_none_appeared(conn: Connection, staged: Staged) -> None:
    """Refuse a version that conflicts with versions published while it was made."""
    if staged.compared_with is None:
        return
    for other in earlier(conn, staged.release, staged.sources):
        if staged.judged is not None and other.population == staged.judged.population:
            continue  # compared with it, under the lock of the population
        near = other.is_over_source or other.rows_fingerprint == staged.prints.rows
        if near and other.run_id not in staged.compared_with:
            raise PrivacyRefusal(
                f"{other.label} over the same source was published while the run went on",
                hint="run the release again",
                code=ErrorCode.REPUBLICATION,
            )


def _version(row: dict[str, Any]) -> Version:
    views = tuple(view_of(item) for item in row["views"])
    increments = row["increments"] and tuple(Increment.of(item) for item in row["increments"])
    return Version(**{**row, "views": views, "increments": increments})


def view_of(item: dict[str, Any]) -> PublishedView:
    """A view from its JSON form."""
    return PublishedView(
        QualifiedName(item["schema"], item["name"]),
        item["select"],
        tuple(ViewColumn(**column) for column in item["columns"]),
        item["comment"],
    )


def check_source(history: History | None, source: str) -> None:
    """Refuse a release name that another source uses: its versions would be mixed."""
    if history is not None and history.release.source != source:
        raise LedgerError(
            f'the release "{history.release.name}" is made from {history.release.source}, '
            f"not from {source}",
            hint="keep the name of the source; releases of other people have their own name",
            code=ErrorCode.OTHER_SOURCE,
        )
