"""Roles for the people around releases, each with the least that it needs.

| role | member of the owner | inherits it | may |
|---|---|---|---|
| steward | yes | yes | everything that pganon's owner may |
| worker | yes | no | become the owner, as a worker does |
| approver | no | | what policies name it for under `publish.approval` |
| requester | no | | what policies name it for under `requests` |

None of them can log in: people and services do, as members.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.sqlfiles import Connection, ask

PREFIX = "pganon"


@dataclass(frozen=True)
class Role:
    """A role as it should be."""

    name: str
    of_owner: bool = False
    inherits: bool = True


def roles(prefix: str = PREFIX) -> tuple[Role, ...]:
    """The roles with their names."""
    return (
        Role(f"{prefix}_steward", of_owner=True),
        Role(f"{prefix}_worker", of_owner=True, inherits=False),
        Role(f"{prefix}_approver"),
        Role(f"{prefix}_requester"),
    )


def make_roles(conn: Connection, owner: str, prefix: str = PREFIX) -> list[str]:
    """Create those that are missing, as the session's own login; gives their names.

    Raises:
        PreconditionError: role_differs, one of that name may more, or less; role_has_members,
            others than this login may act as one that is there; no_createrole.
    """
    wanted = roles(prefix)
    made: list[str] = []
    with conn.transaction():
        for role in wanted:
            if not _exists(conn, owner, role):
                _create(conn, owner, role, wanted)
                made.append(role.name)
    return made


def _exists(conn: Connection, owner: str, role: Role) -> bool:
    """Whether there is such a role; refuses one that is not as it should be."""
    row = ask(conn, "install", "role", role=role.name).fetchone()
    if row is None:
        return False
    special, inherits, member_of, members = row
    expected = [owner] if role.of_owner else []
    if special or inherits != role.inherits or member_of != expected:
        raise PreconditionError(
            f"there is a role {quote(role.name)} that is not as pganon would make it",
            hint="choose other names with --prefix, or drop that role",
            code=ErrorCode.ROLE_DIFFERS,
        )
    if members:
        names = ", ".join(quote(name) for name in members)
        raise PreconditionError(
            f"there is a role {quote(role.name)} already, with members: {names}",
            hint="they would be who approves, asks or works: revoke it from them, or choose other"
            " names with --prefix; if you gave it to them yourself, nothing is left to do",
            code=ErrorCode.ROLE_HAS_MEMBERS,
        )
    return True


def _create(conn: Connection, owner: str, role: Role, wanted: tuple[Role, ...]) -> None:
    try:
        with conn.transaction():
            for statement in _statements(owner, role):
                conn.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        text = "; ".join(
            statement.as_string(conn) for one in wanted for statement in _statements(owner, one)
        )
        raise PreconditionError(
            "this login may not create roles, or not make them members of the owner",
            hint=f"connect as an administrator, or have one run: {text}",
            code=ErrorCode.NO_CREATEROLE,
        ) from None


def _statements(owner: str, role: Role) -> list[sql.Composed]:
    inherit = "INHERIT" if role.inherits else "NOINHERIT"
    name = sql.Identifier(role.name)
    statements = [sql.SQL("CREATE ROLE {} NOLOGIN {}").format(name, sql.SQL(inherit))]
    if role.of_owner:
        statements.append(sql.SQL("GRANT {} TO {}").format(sql.Identifier(owner), name))
    return statements
