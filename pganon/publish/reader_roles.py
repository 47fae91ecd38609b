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
    found = views.standing(conn, names).values()
    return {role for view in found for role in view.readers}


def new_readers(conn: Connection, history: History, readers: Roles) -> tuple[str, ...]:
    """Readers who cannot read the current version yet: newly named, or without a grant."""
    current = history.current
    views = [view.name for view in current.views] if current else []
    may, before = granted(conn, views), history.release.roles
    return tuple(
        role for role, number in readers.items() if before.get(role) != number or role not in may
    )


def unrecorded_readers(conn: Connection, history: History) -> tuple[str, ...]:
    """Roles that can read the current version of a release, and are not recorded as its readers."""
    current = history.current
    if current is None:
        return ()
    views = [view.name for view in current.views]
    return _asked(conn, "unknown_readers", history.release.name, current.version, views)


def record_readers(
    conn: Connection, release: str, version: int, views: Sequence[QualifiedName]
) -> tuple[str, ...]:
    """Record the roles that can read a version, which these views show; return the new ones."""
    return _asked(conn, "remember_readers", release, version, views)


def _asked(
    conn: Connection, query: str, release: str, version: int, views: Sequence[QualifiedName]
) -> tuple[str, ...]:
    readers = list(roles_of(conn, granted(conn, views)))
    values = {"release": release, "version": version, "readers": readers}
    row = conn.execute(sqlfiles.query("publish", query), values).fetchone()
    return tuple(row[0]) if row else ()
