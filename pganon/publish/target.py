"""Whether a release can be published where its policy says; asked before any work is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.roles import Roles, check_roles
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, own_schema, quote
from pganon.publish import release_state, views
from pganon.publish.release_state import History
from pganon.sqlfiles import Connection, ask


def check_target(
    conn: Connection,
    release: str,
    source: str,
    names: Sequence[QualifiedName],
    readers: Sequence[str],
    roles: Roles,
    trusted: Roles,
) -> History | None:
    """Refuse what publication would refuse for names, roles and privileges; gives the release.

    Args:
        source: the policy's source as a :class:`Staged` release will have it.
        names: the release's views.
        roles: numbers of the readers.
        trusted: roles whose schemas releases may be published in.

    Raises:
        LedgerError: other_source.
        PreconditionError: missing_role, replaced_role, bad_schema, foreign_schema, no_create,
            no_grant, name_taken.
    """
    history = release_state.read(conn, release)
    release_state.check_source(history, source)
    check_readers(conn, readers, roles)
    for schema in _schemas(conn, {name.schema for name in names}):
        _check_owner(schema, trusted)
        _check_schema(conn, schema, readers)
    found = views.standing(conn, names)
    for name in names:
        views.replaced(name, found.get(name), release, history)
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


@dataclass(frozen=True)
class _Schema:
    """A schema to publish in.

    Attributes:
        may_create: whether the current role may, there or, if it is missing, in the database.
        may_grant: whether it may let others use it.
        owner: None if it is missing; `number` is the owner's.
        safe: whether that is the current role or a superuser.
    """

    name: str
    exists: bool
    may_create: bool
    may_grant: bool
    owner: str | None
    number: int | None
    safe: bool


def _schemas(conn: Connection, names: Collection[str]) -> list[_Schema]:
    rows = ask(conn, "publish", "schemas", names=sorted(names)).fetchall()
    return [_Schema(*row) for row in rows]


def _check_owner(schema: _Schema, trusted: Roles) -> None:
    """Whoever owns a schema can drop the views in it and put others in their place."""
    if schema.safe or schema.owner is None or schema.number in trusted.values():
        return
    owner = quote(schema.owner)
    raise PreconditionError(
        f"the schema {quote(schema.name)} belongs to the role {owner}, which could put other"
        " views in the place of releases",
        hint=f"choose another publish.schema, or accept it with trust: [{owner}]",
        code=ErrorCode.FOREIGN_SCHEMA,
    )


def _check_schema(conn: Connection, schema: _Schema, readers: Sequence[str]) -> None:
    name = quote(schema.name)
    if own_schema(schema.name):
        raise PreconditionError(
            f"releases cannot be published in the schema {name}",
            hint="choose another publish.schema",
            code=ErrorCode.BAD_SCHEMA,
        )
    if not schema.may_create:
        what = f"in the schema {name}" if schema.exists else f"the schema {name}"
        raise PreconditionError(
            f"the owner of pganon may not create {what}",
            hint="grant CREATE and USAGE on it to that role"
            if schema.exists
            else "grant CREATE on the database to that role",
            code=ErrorCode.NO_CREATE,
        )
    if schema.may_grant:
        return
    rows = ask(conn, "publish", "lack_usage", schema=schema.name, roles=list(readers))
    lacking = [quote(row[0]) for row in rows.fetchall()]
    if lacking:
        raise PreconditionError(
            f"these roles may not use the schema {name}: {', '.join(lacking)}",
            hint="have the owner of the schema grant USAGE on it to them",
            code=ErrorCode.NO_GRANT,
        )


def ensure_schemas(conn: Connection, names: Collection[str], trusted: Roles) -> None:
    """Make the schemas that are missing, open to their owner alone.

    Raises:
        PreconditionError: foreign_schema.
    """
    for schema in _schemas(conn, names):
        if schema.exists:
            _check_owner(schema, trusted)
            continue
        conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema.name)))
        held = conn.execute(sqlfiles.query("install", "foreign_privileges"), [[schema.name]])
        for (statement,) in held.fetchall():
            conn.execute(statement.encode())
