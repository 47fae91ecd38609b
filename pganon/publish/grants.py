"""Privileges on a view, which its replacement gets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.identifiers import QualifiedName

Connection = psycopg.Connection[Any]
Grant = tuple[str | None, str, str, bool]
"""(column or None for all, role or `public`, privilege, with grant option)"""


def privileges_on(conn: Connection, oid: int | None) -> list[Grant]:
    """Privileges of others than the owner on a relation; empty without a relation."""
    return conn.execute(sqlfiles.query("publish", "grants"), {"oid": oid}).fetchall()


def set_privileges(
    conn: Connection,
    name: QualifiedName,
    oid: int,
    columns: Collection[str],
    grants: Sequence[Grant],
) -> None:
    """Make these the only privileges on a new relation, without those on columns that it lacks.

    Default privileges and event triggers may have granted others.
    """
    wanted = [grant for grant in grants if grant[0] is None or grant[0] in columns]
    if privileges_on(conn, oid) != wanted:
        conn.execute("SELECT pganon.seal(%s::oid::regclass)", [oid])
        regrant(conn, name, columns, wanted)


def regrant(
    conn: Connection, name: QualifiedName, columns: Collection[str], grants: Sequence[Grant]
) -> None:
    """Grant privileges on a relation with these columns; skip those on other columns."""
    for column, role, privilege, grantable in grants:
        if column is not None and column not in columns:
            continue
        where = sql.SQL("") if column is None else sql.SQL(" ({})").format(sql.Identifier(column))
        conn.execute(
            sql.SQL("GRANT {}{} ON {} TO {}{}").format(
                sql.SQL(privilege),  # pyright: ignore[reportArgumentType]
                where,
                name.identifier,
                sql.Identifier(role),  # "public" is everybody, quoted or not
                sql.SQL(" WITH GRANT OPTION" if grantable else ""),
            )
        )
