"""Whose installation it is, and whether this session may touch it.

SET ROLE is no sandbox: code of an object's owner (a trigger, a view's function) runs in the
session that touches the object, and RESET ROLE gives it the rights of who logged in. So a command
works on what belongs to the role that logged in. What belongs to another role is touched only if
the session names that role, and never by a superuser. Objects of third roles are not touched.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import psycopg

from pganon.error_codes import ErrorCode
from pganon.errors import InstallError
from pganon.identifiers import OWN_SCHEMAS, QualifiedName, first_few
from pganon.install import state
from pganon.sqlfiles import Connection, ask

VARIABLE = "PGANON_OWNER"
RELEASES = QualifiedName("pganon", "releases")
COLUMNS = QualifiedName("pganon", "release_columns")
GUARANTEES = QualifiedName("pganon", "guarantees")
ACTIONS = QualifiedName("pganon", "action")
HELD = QualifiedName("pganon", "held_releases")

_HARMLESS = (
    "array_to_string",
    "has_schema_privilege",
    "has_table_privilege",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "pg_get_userbyid",
    "pg_has_role",
    "timestamptz_mi_interval",
)
"""Built-in functions that views of pganon call, in addition to immutable ones. Others run any SQL.

`array_to_string` calls output functions, which only a superuser can make.
"""

_NODES = (
    "AGGREF",
    "ALIAS",
    "BOOLEXPR",
    "CASEEXPR",
    "CASEWHEN",
    "COALESCEEXPR",
    "CONST",
    "FROMEXPR",
    "FUNCEXPR",
    "JOINEXPR",
    "NULLTEST",
    "OPEXPR",
    "QUERY",
    "RANGETBLENTRY",
    "RANGETBLFUNCTION",
    "RANGETBLREF",
    "RELABELTYPE",
    "RTEPERMISSIONINFO",
    "SETOPERATIONSTMT",
    "SORTGROUPCLAUSE",
    "SQLVALUEFUNCTION",
    "SUBLINK",
    "TARGETENTRY",
    "VAR",
    *("CASE", "WHEN", "COALESCE", "RTE"),  # their names until PostgreSQL 15
)
"""Node types in the stored trees of such views."""

_SHOWN = 5


def owner_of(installed: state.Installation) -> str:
    """The one role that owns all of pganon's schemas.

    Raises:
        InstallError: foreign_schema, one belongs to somebody else.
    """
    owner = installed.owners["pganon_private"]
    for name, other in sorted(installed.owners.items()):
        if other != owner:
            raise foreign_schema(name, f'it belongs to "{other}", pganon_private to "{owner}"')
    return owner


def foreign_schema(name: str, why: str) -> InstallError:
    return InstallError(
        f'a schema "{name}" that is not pganon\'s exists: {why}',
        hint="rename or drop that schema, or use another database",
        code=ErrorCode.FOREIGN_SCHEMA,
    )


def chosen(named: str | None) -> str | None:
    """The role that the caller names, else that of PGANON_OWNER."""
    return named or os.environ.get(VARIABLE) or None


def installed_owner(conn: Connection) -> str:
    """The owner of pganon in this database; asks the catalog alone.

    Raises:
        InstallError: missing, foreign_schema.
    """
    installed = state.read(conn)
    if not installed.installed:
        raise state.missing()
    return owner_of(installed)


def admit(conn: Connection, named: str | None = None) -> str:
    """The owner of pganon in this database, if this session may use the owner's objects.

    Raises:
        InstallError: missing, foreign_schema, superuser, not_owner, other_owner, foreign_object.
    """
    owner = installed_owner(conn)
    check_actor(conn, owner, named)
    check_objects(conn, owner)
    return owner


def check_actor(conn: Connection, owner: str, named: str | None = None) -> None:
    """Refuse a session that did not log in as the owner, unless it names that role.

    Args:
        named: the role given as `--owner`; else the variable PGANON_OWNER counts.

    Raises:
        InstallError: superuser, not_owner, other_owner.
    """
    row = ask(conn, "install", "session").fetchone()
    assert row is not None
    login, superuser = row[0], row[1]
    named = chosen(named)
    if login == owner and named in (None, owner):
        return
    if superuser and login != owner:
        raise InstallError(
            f'{_belongs(owner)}, and "{login}" is a superuser or can become one: code of that role'
            " would run with these rights",
            hint=f'connect as "{owner}"',
            code=ErrorCode.SUPERUSER,
        )
    belongs = _belongs(owner)
    if named is None:
        raise InstallError(
            f'{belongs}, not to "{login}"',
            hint=_as_member(owner, login) if _can_become(conn, owner) else _as_reader(login),
            code=ErrorCode.NOT_OWNER,
        )
    if named != owner:
        raise InstallError(
            f'{belongs}, not to "{named}"',
            hint="name that role, or connect as it",
            code=ErrorCode.OTHER_OWNER,
        )


def _can_become(conn: Connection, owner: str) -> bool:
    return ask(conn, "install", "can_become", role=owner).fetchone() == (True,)


def _as_member(owner: str, login: str) -> str:
    return (
        f'connect as "{owner}", or name it with --owner if you trust it and its members: their code'
        f' can then run with the rights of "{login}"'
    )


def _as_reader(login: str) -> str:
    return (
        f'this is for the steward; "{login}" can read releases (`pganon releases`, `show`,'
        " `export`), measure tables (`pganon assess`), and ask for a release in SQL:"
        " `CALL pganon.release('NAME')`"
    )


def admit_reader(conn: Connection) -> None:
    """Refuse to list releases where that could run code of whoever owns the lists.

    To be called in the transaction that reads them.

    Raises:
        InstallError: missing, outdated, foreign_schema, foreign_object, foreign_view.
    """
    owner = installed_owner(conn)
    check_objects(conn, owner)
    _hold(conn, "hold_releases")
    check_view(conn, RELEASES)
    for view in (COLUMNS, GUARANTEES):
        check_view(conn, view, reads=(RELEASES,))


def is_harmless(
    conn: Connection, view: QualifiedName, *, reads: Sequence[QualifiedName] = ()
) -> bool:
    """Whether it is a view of pganon's owner that runs no code of any role when it is read.

    Args:
        reads: harmless views of the same schema that it may read.
    """
    row = ask(
        conn,
        "install",
        "harmless_view",
        **view.__dict__,
        functions=list(_HARMLESS),
        nodes=list(_NODES),
        reads=[other.name for other in reads],
    ).fetchone()
    return bool(row and row[0])


def check_view(
    conn: Connection, view: QualifiedName, *, reads: Sequence[QualifiedName] = ()
) -> None:
    """Refuse a view that could run code of its owner in the session that reads it.

    Args:
        reads: views of the same schema that it may read, checked before.

    Raises:
        InstallError: foreign_view.
    """
    if not is_harmless(conn, view, reads=reads):
        raise InstallError(
            f"{view} is not a view that pganon made: reading it could run code of its owner",
            hint="ask the steward",
            code=ErrorCode.FOREIGN_VIEW,
        )


def _belongs(owner: str) -> str:
    return f'pganon in this database belongs to the role "{owner}"'


def check_objects(conn: Connection, owner: str) -> None:
    """Refuse to touch schemas that hold code of others. Needs no privilege, runs no such code.

    Raises:
        InstallError: foreign_object, with the names of what is there.
    """
    rows = ask(
        conn, "install", "foreign_objects", schemas=list(OWN_SCHEMAS), owner=owner
    ).fetchall()
    if not rows:
        return
    names = [row[0] for row in rows]
    raise InstallError(
        f"pganon's schemas hold what is not pganon's: {first_few(names, _SHOWN)}",
        hint="have it dropped: reading pganon's tables could run code of other roles",
        code=ErrorCode.FOREIGN_OBJECT,
    )


def admit_decider(conn: Connection) -> None:
    """Refuse to decide about a release where that could run code of pganon's owner.

    To be called in the transaction that writes the decision.

    Raises:
        InstallError: missing, outdated, foreign_schema, foreign_object, foreign_view.
    """
    owner = installed_owner(conn)
    check_objects(conn, owner)
    _hold(conn, "hold_actions")
    check_view(conn, ACTIONS)
    row = ask(conn, "install", "acts_as_owner", owner=owner).fetchone()
    if row != (True,):
        raise InstallError(
            "pganon_private.action is not the table that pganon made: writing there could run code"
            " of its owner with your rights",
            hint="ask the steward",
            code=ErrorCode.FOREIGN_OBJECT,
        )


def admit_approver(conn: Connection) -> None:
    """Refuse to read what waits for approval where that could run code of pganon's owner.

    To be called in the transaction that reads it.

    Raises:
        InstallError: missing, outdated, foreign_schema, foreign_object, foreign_view.
    """
    owner = installed_owner(conn)
    check_objects(conn, owner)
    _hold(conn, "hold_held")
    check_view(conn, HELD)


def _hold(conn: Connection, query: str) -> None:
    """Let nobody replace what these views are until the transaction ends."""
    try:
        ask(conn, "install", query)
    except psycopg.errors.UndefinedTable:
        raise state.outdated("have the steward run `pganon upgrade`") from None
