"""Privileges on pganon's private schemas and on published views."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import OWN_SCHEMAS, QualifiedName, first_few, quote
from pganon.publish import release_state, views
from pganon.publish.grants import Grant, privileges_on
from pganon.publish.release_state import History

Connection = psycopg.Connection[Any]

PRIVATE = tuple(name for name in OWN_SCHEMAS if name != "pganon")
_SHOWN = 5


def check_closed(conn: Connection) -> None:
    """Refuse to work while others than the owner have privileges in a private schema.

    Raises:
        PreconditionError: open_privileges.
    """
    rows = conn.execute(sqlfiles.query("publish", "granted"), {"schemas": list(PRIVATE)}).fetchall()
    if not rows:
        return
    raise PreconditionError(
        f"others than the owner may use what is private: {_listed(rows)}",
        hint="REVOKE these privileges, and find out who has read there",
        code=ErrorCode.OPEN_PRIVILEGES,
    )


def _listed(rows: Sequence[tuple[str, str, str]]) -> str:
    shown = [f"{privilege} on {object_} to {role}" for object_, role, privilege in rows]
    return first_few(shown, _SHOWN)


@contextmanager
def unchanged(conn: Connection, release: str) -> Iterator[None]:
    """Refuse the changes of a block if they gave privileges that the policy does not name.

    Event triggers and other sessions may grant privileges meanwhile. At the end of the block, in
    its transaction, nobody else may use private relations. The views must belong to the owner, and
    be open to the readers of the release and to roles that could read them before.

    Raises:
        PreconditionError: open_privileges.
    """
    before = release_state.read(conn, release)
    views_before = {name: _held(conn, name) for name in (before.view_names if before else ())}
    yield
    check_closed(conn)
    history = release_state.read(conn, release)
    if history is None or history.current is None:
        return
    former = set(before.release.readers if before else ()) - set(history.release.readers)
    read = {(None, role, "SELECT", False) for role in history.release.readers}
    for view in history.current.views:
        kept = {grant for grant in views_before.get(view.name, ()) if not _reads(grant, former)}
        _check_view(conn, view.name, kept | read)


def _held(conn: Connection, name: QualifiedName) -> set[Grant]:
    view = views.find(conn, name)
    return set(privileges_on(conn, view.oid)) if view else set()


def _reads(grant: Grant, roles: Collection[str]) -> bool:
    return grant[1] in roles and grant[2] == "SELECT"


def _check_view(conn: Connection, name: QualifiedName, allowed: Collection[Grant]) -> None:
    more = [
        grant
        for grant in privileges_on(conn, views.made_view(conn, name).oid)
        if grant not in allowed
    ]
    if more:
        texts = [
            (f"{name}.{column}" if column else str(name), role, privilege)
            for column, role, privilege, _ in more
        ]
        raise PreconditionError(
            f"others than the policy names may use what is published: {_listed(texts)}",
            hint="nothing was published; an event trigger, or whom somebody let grant, has granted"
            " that: have it spare published views, or the role revoke it",
            code=ErrorCode.OPEN_PRIVILEGES,
        )


@dataclass(frozen=True)
class RoleAccess:
    """A role that can read views of a release, whoever granted it.

    Attributes:
        because: "reader", "owner", "superuser", the roles through which it can, or the roles that
            it can become.
        login: whether somebody can log in as it.
    """

    role: str
    because: str
    login: bool


def can_read(conn: Connection, history: History) -> list[RoleAccess]:
    """Every role but the server's own ones that can read any view of the current version."""
    current = history.current
    if current is None or not current.stored:
        return []
    rows = conn.execute(
        sqlfiles.query("publish", "can_read"),
        {
            "schemas": [view.name.schema for view in current.views],
            "names": [view.name.name for view in current.views],
            "readers": list(history.release.readers),
        },
    ).fetchall()
    return [RoleAccess(*row) for row in rows]


def unexpected_readers(
    conn: Connection, names: Sequence[QualifiedName], readers: Collection[str]
) -> Iterator[tuple[QualifiedName, list[str]]]:
    """Existing views with the roles that may do something with them and are no readers."""
    for name in names:
        view = views.find(conn, name)
        if view is None:
            continue
        grants = privileges_on(conn, view.oid)
        roles = sorted({role for _, role, _, _ in grants} - set(readers))
        if roles:
            yield name, [quote(role) for role in roles]
