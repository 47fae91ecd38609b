"""Roles that could ever read a version, whoever granted it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.catalog.roles import Roles
from pganon.identifiers import QualifiedName
from pganon.publish import views
from pganon.publish.grants import privileges_on
from pganon.publish.release_state import History, Version

Connection = psycopg.Connection[Any]

AdmissionCheck = Callable[[Version, Sequence[str]], AbstractContextManager[tuple[str, ...]]]
"""Checks the rule for roles that get to read a version; yields warnings.

The history that the rule was checked against stays as it is within the block."""


def roles_of(conn: Connection, readers: Iterable[str]) -> tuple[str, ...]:
    """Roles that are, or can become, one of these; only `public` if everybody is.

    Superusers, and roles that can become the owner, are left out: they can read the source.
    """
    row = conn.execute(
        sqlfiles.query("publish", "members_of"), {"readers": sorted(set(readers))}
    ).fetchone()
    assert row is not None
    return tuple(row[0])


def granted(conn: Connection, names: Sequence[QualifiedName]) -> set[str]:
    """Roles with SELECT on some column of one of these views, as far as the views exist."""
    roles: set[str] = set()
    for name in names:
        view = views.find(conn, name)
        if view is not None:
            grants = privileges_on(conn, view.oid)
            roles |= {role for _, role, privilege, _ in grants if privilege == "SELECT"}
    return roles


def new_readers(conn: Connection, history: History, readers: Roles) -> tuple[str, ...]:
    """Readers who cannot read the current version yet: newly named, or without a grant."""
    current = history.current
    views = [view.name for view in current.views] if current else []
    may, before = granted(conn, views), history.release.roles
    return tuple(
        role for role, number in readers.items() if before.get(role) != number or role not in may
    )


def unrecorded_readers(conn: Connection, history: History | None) -> tuple[str, ...]:
    """Roles that can read the current version of a release, and are not recorded as its readers."""
    values = _current_readers(conn, history)
    row = conn.execute(sqlfiles.query("publish", "unknown_readers"), values).fetchone()
    return tuple(row[0]) if row else ()


def record_readers(conn: Connection, history: History | None) -> tuple[str, ...]:
    """Record the roles that can read the current version of a release; return the new ones."""
    values = _current_readers(conn, history)
    row = conn.execute(sqlfiles.query("publish", "remember_readers"), values).fetchone()
    return tuple(row[0]) if row else ()


def _current_readers(conn: Connection, history: History | None) -> dict[str, Any]:
    """Parameters of the queries, which return no rows without a version."""
    current = history.current if history else None
    views = [view.name for view in current.views] if current else []
    return {
        "release": history.release.name if history else None,
        "version": current.version if current else None,
        "readers": list(roles_of(conn, granted(conn, views))),
    }
