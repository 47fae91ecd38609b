"""Privileges on pganon's private schemas and on published views."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.install.state import SCHEMAS
from pganon.publish import views
from pganon.publish.grants import held
from pganon.publish.history import History

Connection = psycopg.Connection[Any]

PRIVATE = tuple(name for name in SCHEMAS if name != "pganon")
_SHOWN = 5


def check_closed(conn: Connection) -> None:
    """Refuse to work while others than the owner may do anything in a private schema.

    Raises:
        PreconditionError: open_privileges.
    """
    rows = conn.execute(sqlfiles.query("publish", "granted"), {"schemas": list(PRIVATE)}).fetchall()
    if not rows:
        return
    shown = [f"{privilege} on {object_} to {role}" for object_, role, privilege in rows[:_SHOWN]]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    raise PreconditionError(
        f"others than the owner may use what is private: {', '.join(shown)}{more}",
        hint="REVOKE these privileges, and find out who has read there",
        code="open_privileges",
    )


@dataclass(frozen=True)
class Able:
    """A role that can read views of a release, whoever let it.

    Attributes:
        because: "reader", "owner", "superuser", the roles through which it can, or the roles that
            it can become.
        login: whether somebody can log in as it.
    """

    role: str
    because: str
    login: bool


def can_read(conn: Connection, known: History) -> list[Able]:
    """Every role but the server's own ones that can read any view of the current version."""
    current = known.current
    if current is None or not current.stored:
        return []
    rows = conn.execute(
        sqlfiles.query("publish", "can_read"),
        {
            "schemas": [view.name.schema for view in current.views],
            "names": [view.name.name for view in current.views],
            "readers": list(known.release.readers),
        },
    ).fetchall()
    return [Able(*row) for row in rows]


def unexpected_readers(
    conn: Connection, names: Sequence[QualifiedName], readers: Collection[str]
) -> Iterator[tuple[QualifiedName, list[str]]]:
    """Existing views with the roles that may do something with them and are no readers."""
    for name in names:
        found = views.find(conn, name)
        if found is None:
            continue
        grants = held(conn, found.oid)
        roles = sorted({role for _, role, _, _ in grants} - set(readers))
        if roles:
            yield name, [quote(role) for role in roles]
