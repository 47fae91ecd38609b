"""Current releases, open requests and workers; for the steward."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from psycopg.rows import class_row

from pganon import sqlfiles
from pganon.identifiers import quote
from pganon.sqlfiles import Connection

WARN_BEFORE = timedelta(days=31)


@dataclass(frozen=True)
class Shown:
    """A release, or a policy of which none was made.

    Attributes:
        confirmed_at: when the version was made, or found to be what a run would make.
        checked, problems: of the newest revision of the policy.
        replaced: roles that it names, and that are gone or others by now.
        replaced_readers: readers of which the same is true, whoever named them.
        review_by: of the newest one that can be used, by which workers go.
    """

    release: str
    version: int | None
    published_at: datetime | None
    confirmed_at: datetime | None
    readers: list[str] | None
    revision: int | None
    review_by: date | None
    checked: bool
    problems: int
    replaced: list[str]
    replaced_readers: list[str]
    expression: str | None
    time_zone: str | None
    next_at: datetime | None

    def warnings(self, today: date) -> list[str]:
        """Conditions that need an action of the steward."""
        texts: list[str] = []
        if self.revision is not None and not self.checked:
            texts.append(f"{self.release}: revision {self.revision} of its policy is unchecked")
        if self.problems:
            texts.append(f"{self.release}: revision {self.revision} of its policy cannot be used")
        texts += [
            f"{self.release}: its policy names {quote(name)}, which is another role by now:"
            " apply it again"
            for name in self.replaced
        ]
        texts += [
            f"{self.release}: its reader {quote(name)} is another role by now: run it again, or"
            " use `pganon readers`"
            for name in self.replaced_readers
            if name not in self.replaced
        ]
        if self.version is not None and self.review_by and self.review_by - today <= WARN_BEFORE:
            texts.append(f"{self.release}: its policy is to be reviewed by {self.review_by}")
        return texts


@dataclass(frozen=True)
class Open:
    """A request that has not ended."""

    id: int
    release: str
    kind: str
    origin: str
    state: str
    requester: str
    requested_at: datetime
    due_at: datetime
    attempts: int
    step: str | None
    expires_at: datetime | None
    approvers: list[str]


@dataclass(frozen=True)
class Serving:
    """A worker that is alive, and the request that it serves."""

    id: int
    name: str
    login: str
    started_at: datetime
    request: int | None


@dataclass(frozen=True)
class Status:
    """One look at everything."""

    releases: tuple[Shown, ...]
    requests: tuple[Open, ...]
    workers: tuple[Serving, ...]
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def status(conn: Connection, release: str | None = None) -> Status:
    """Of one release, or all."""
    shown = _rows(conn, Shown, "shown", release)
    waiting = _rows(conn, Open, "open", release)
    workers = _rows(conn, Serving, "workers", release)
    today = date.today()
    warnings = [text for one in shown for text in one.warnings(today)]
    if conn.info.parameter_status("in_hot_standby") == "on":
        warnings.append("this server is a read replica: it sees neither workers nor changes")
    elif waiting and not workers:
        warnings.append("requests wait, and no worker is alive: start `pganon worker`")
    return Status(tuple(shown), tuple(waiting), tuple(workers), tuple(warnings))


def _rows(conn: Connection, kind: type[Any], query: str, release: str | None) -> list[Any]:
    with conn.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(sqlfiles.query("requests", query), {"release": release}).fetchall()
