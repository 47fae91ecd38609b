"""Privileges on a view that its replacement gets, and no others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.identifiers import QualifiedName

Connection = psycopg.Connection[Any]
Grant = tuple[str | None, str, str, bool]
"""Column or None for all, role or public, privilege, whether it may be granted on."""


def held(conn: Connection, oid: int | None) -> list[Grant]:
    """What others than its owner may do with a relation; nothing if there is none."""
    return conn.execute(sqlfiles.query("publish", "grants"), {"oid": oid}).fetchall()


def settle(
    conn: Connection,
    name: QualifiedName,
    oid: int,
    columns: Collection[str],
    grants: Sequence[Grant],
) -> None:
    """Leave these privileges on a relation just made, without those on columns that it lacks.

    A new one may be open to others by default privileges, and event triggers may open any.
    """
    wanted = [grant for grant in grants if grant[0] is None or grant[0] in columns]
    if held(conn, oid) != wanted:
        conn.execute("SELECT pganon.seal(%s::oid::regclass)", [oid])
        regrant(conn, name, columns, wanted)


def regrant(
    conn: Connection, name: QualifiedName, columns: Collection[str], grants: Sequence[Grant]
) -> None:
    """Grant it again on a relation with these columns; privileges on other columns are dropped."""
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
