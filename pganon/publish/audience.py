"""The roles that could ever read a version, whoever let them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.identifiers import QualifiedName
from pganon.publish import views
from pganon.publish.grants import held
from pganon.publish.release_state import History, Version

Connection = psycopg.Connection[Any]

Judged = Callable[[Version, Sequence[str]], AbstractContextManager[tuple[str, ...]]]
"""Holds what roles who are let read a version are judged by until they are; gives warnings."""


def roles_of(conn: Connection, readers: Iterable[str]) -> tuple[str, ...]:
    """Roles that are, or can become, one of these; only public where everybody is.

    Superusers and who can become the owner are none of them: they can read the source.
    """
    row = conn.execute(
        sqlfiles.query("publish", "members_of"), {"readers": sorted(set(readers))}
    ).fetchone()
    assert row is not None
    return tuple(row[0])


def granted(conn: Connection, names: Sequence[QualifiedName]) -> set[str]:
    """Roles that were let read some column of one of these views, if they exist."""
    found: set[str] = set()
    for name in names:
        view = views.find(conn, name)
        if view is not None:
            grants = held(conn, view.oid)
            found |= {role for _, role, privilege, _ in grants if privilege == "SELECT"}
    return found


def grant_readers(conn: Connection, known: History, readers: Sequence[str]) -> tuple[str, ...]:
    """Those who will read the current version and cannot now: named anew, or without a grant."""
    current = known.current
    views = [view.name for view in current.views] if current else []
    there = set(known.release.readers) & granted(conn, views)
    return tuple(role for role in readers if role not in there)


def unknown_readers(conn: Connection, known: History | None) -> tuple[str, ...]:
    """Who can read the current version of a release, and is not remembered to."""
    values = _current_readers(conn, known)
    row = conn.execute(sqlfiles.query("publish", "unknown_readers"), values).fetchone()
    return tuple(row[0]) if row else ()


def remember_readers(conn: Connection, known: History | None) -> tuple[str, ...]:
    """Remember who can read the current version of a release; gives those who could not before."""
    values = _current_readers(conn, known)
    row = conn.execute(sqlfiles.query("publish", "remember_readers"), values).fetchone()
    return tuple(row[0]) if row else ()


def _current_readers(conn: Connection, known: History | None) -> dict[str, Any]:
    """Parameters of the queries: nothing is found without a version."""
    current = known.current if known else None
    views = [view.name for view in current.views] if current else []
    return {
        "release": known.release.name if known else None,
        "version": current.version if current else None,
        "readers": list(roles_of(conn, granted(conn, views))),
    }
