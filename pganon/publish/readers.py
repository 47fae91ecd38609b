"""Who may read a release: the roles that its policy, or the steward since, has named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.identifiers import quote
from pganon.publish import views
from pganon.publish.history import History
from pganon.publish.target import check_readers

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Access:
    """Readers after a change, and what changed."""

    readers: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        found = (("added", self.added), ("removed", self.removed))
        return [f"readers {what}: {', '.join(map(quote, who))}" for what, who in found if who]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def access(known: History, readers: Sequence[str]) -> Access:
    """What it takes to make these the readers of a release."""
    before = known.release.readers
    return Access(
        tuple(readers),
        tuple(role for role in readers if role not in before),
        tuple(role for role in before if role not in readers),
    )


def set_readers(conn: Connection, known: History, readers: Sequence[str]) -> Access:
    """Make these, and no other roles, the readers of the views of a release; in a transaction.

    Raises:
        PreconditionError: missing_role, no_grant.
    """
    check_readers(conn, readers)
    change = access(known, readers)
    shown = known.current.views if known.current else ()
    for view in sorted(shown, key=lambda view: view.name):
        views.grant(conn, view.name, readers, change.removed)
    conn.execute(
        sqlfiles.query("publish", "set_readers"),
        {"release": known.release.name, "readers": list(readers)},
    )
    return change
