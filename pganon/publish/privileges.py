"""Who may do what with pganon's private schemas and with published views."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.install.state import SCHEMAS
from pganon.publish import views

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


def unexpected_readers(
    conn: Connection, names: Sequence[QualifiedName], readers: Collection[str]
) -> Iterator[tuple[QualifiedName, list[str]]]:
    """Existing views with the roles that may do something with them and are no readers."""
    for name in names:
        found = views.find(conn, name)
        if found is None:
            continue
        grants = conn.execute(sqlfiles.query("publish", "grants"), {"oid": found.oid}).fetchall()
        roles = sorted({role for _, role, _, _ in grants} - set(readers))
        if roles:
            yield name, [quote(role) for role in roles]
