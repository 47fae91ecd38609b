"""Whether a release can be published where its policy says; asked before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.roles import Roles, check_roles
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, own_schema, quote
from pganon.publish import release_state, views
from pganon.publish.release_state import History

Connection = psycopg.Connection[Any]


def check_target(
    conn: Connection,
    release: str,
    source: str,
    view: QualifiedName,
    readers: Sequence[str],
    roles: Roles,
    *,
    parts: Sequence[QualifiedName] = (),
    trusted: Roles,
) -> History | None:
    """Refuse what publication would refuse for names, roles and privileges; gives the release.

    Args:
        source: the policy's source as a :class:`Staged` release will have it.
        view: the release's first view.
        roles: numbers of the readers.
        parts: its other views.
        trusted: roles whose schemas releases may be published in.

    Raises:
        LedgerError: other_source.
        PreconditionError: missing_role, replaced_role, bad_schema, foreign_schema, no_create,
            no_grant, name_taken.
    """
    history = release_state.read(conn, release)
    release_state.check_source(history, source)
    check_readers(conn, readers, roles)
    names = (view, *parts)
    for schema in sorted({name.schema for name in names}):
        _check_owner(conn, schema, trusted)
        _check_schema(conn, schema, readers)
    for name in names:
        views.check_free(conn, name, release, history)
    return history


def check_readers(
    conn: Connection,
    readers: Iterable[str],
    roles: Roles,
    remedy: str = "correct publish.readers",
    again: str = "apply the policy again",
) -> None:
    """Refuse readers that do not exist, or are others than those that were named.

    Raises:
        PreconditionError: missing_role, replaced_role.
    """
    check_roles(conn, list(readers), roles, "readers", remedy=remedy, again=again)


def _check_owner(conn: Connection, schema: str, trusted: Roles) -> None:
    """Whoever owns a schema can drop the views in it and put others in their place."""
    row = conn.execute(sqlfiles.query("publish", "schema_owner"), {"schema": schema}).fetchone()
    if row is None or row[2] or row[1] in trusted.values():
        return
    raise PreconditionError(
        f"the schema {quote(schema)} belongs to the role {quote(row[0])}, which could put other"
        " views in the place of releases",
        hint=f"choose another publish.schema, or accept it with trust: [{quote(row[0])}]",
        code=ErrorCode.FOREIGN_SCHEMA,
    )


def _check_schema(conn: Connection, schema: str, readers: Sequence[str]) -> None:
    if own_schema(schema):
        raise PreconditionError(
            f"releases cannot be published in the schema {quote(schema)}",
            hint="choose another publish.schema",
            code=ErrorCode.BAD_SCHEMA,
        )
    row = conn.execute(sqlfiles.query("publish", "schema"), {"schema": schema}).fetchone()
    exists, may_create, may_grant = row if row else (False, False, False)
    if not may_create:
        what = f"in the schema {quote(schema)}" if exists else f"the schema {quote(schema)}"
        raise PreconditionError(
            f"the owner of pganon may not create {what}",
            hint="grant CREATE and USAGE on it to that role"
            if exists
            else "grant CREATE on the database to that role",
            code=ErrorCode.NO_CREATE,
        )
    if may_grant:
        return
    rows = conn.execute(
        sqlfiles.query("publish", "lack_usage"), {"schema": schema, "roles": list(readers)}
    )
    lacking = [quote(row[0]) for row in rows.fetchall()]
    if lacking:
        raise PreconditionError(
            f"these roles may not use the schema {quote(schema)}: {', '.join(lacking)}",
            hint="have the owner of the schema grant USAGE on it to them",
            code=ErrorCode.NO_GRANT,
        )


def ensure_schema(conn: Connection, schema: str, trusted: Roles) -> None:
    """Make the schema if it is missing, open to its owner alone.

    Raises:
        PreconditionError: foreign_schema.
    """
    row = conn.execute(sqlfiles.query("publish", "schema"), {"schema": schema}).fetchone()
    if row and row[0]:
        _check_owner(conn, schema, trusted)
        return
    conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    held = conn.execute(sqlfiles.query("install", "foreign_privileges"), [[schema]]).fetchall()
    for (statement,) in held:
        conn.execute(statement.encode())
