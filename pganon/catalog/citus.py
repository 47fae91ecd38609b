"""Sources that Citus distributes over several servers.

Rows of a distributed table are in shards, which other servers (workers) read in sessions of their
own: with their own settings, and each at an instant of its own. Where a database has no Citus,
nothing here does more than ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from pganon import sqlfiles
from pganon.catalog.model import Spread
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote

Connection = psycopg.Connection[Any]


def spreads_of(
    conn: Connection, statements: Iterable[Sequence[QualifiedName]]
) -> tuple[Spread, ...]:
    """How Citus distributes what statements over these relations read; of the others nothing.

    Raises:
        PreconditionError: cluster_login, the current role cannot log in to other servers.
    """
    if not _is_installed(conn):
        return ()
    found = (_spread(conn, relations) for relations in statements)
    return tuple(spread for spread in found if spread is not None)


def prepare_reading(conn: Connection, relations: Sequence[QualifiedName]) -> None:
    """Have shards read in this transaction as this session would read them, and at one instant.

    Workers get the session's settings wherever there is Citus: functions may read what the catalog
    says nothing of. Tables are locked against writers where that is needed and the role may.

    Raises:
        PreconditionError: as :func:`spreads_of`.
    """
    if not _is_installed(conn):
        return
    spread = _spread(conn, relations)
    conn.execute(sqlfiles.query("citus", "set_on_workers"))
    if spread is not None and spread.locked:
        names = sql.SQL(", ").join(name.identifier for name in spread.locked)
        conn.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(names))


def _is_installed(conn: Connection) -> bool:
    row = conn.execute(sqlfiles.query("citus", "installed")).fetchone()
    return bool(row and row[0])


def _spread(conn: Connection, relations: Sequence[QualifiedName]) -> Spread | None:
    parameters = {
        "schemas": [name.schema for name in relations],
        "names": [name.name for name in relations],
    }
    with conn.cursor(row_factory=dict_row) as cursor:
        tables = cursor.execute(sqlfiles.query("citus", "tables"), parameters).fetchall()
    distributed = [_name(row) for row in tables if row["distributed"]]
    if not distributed:
        return None
    if not tables[0]["may_log_in"]:
        role = quote(tables[0]["role"])
        raise PreconditionError(
            f"{distributed[0]} is distributed by Citus, which logs in to other servers as {role} to"
            " read it, and that role may not log in",
            hint=f"run ALTER ROLE {role} LOGIN, and let it connect to all servers of the cluster",
            code=ErrorCode.CLUSTER_LOGIN,
        )
    if sum(row["pieces"] for row in tables) < 2:
        return Spread(tuple(distributed))
    wanted = [row for row in tables if not row["locked_with"]]
    unlocked = tuple(_name(row) for row in wanted if not row["may_lock"])
    locked = () if unlocked else tuple(map(_name, wanted))
    return Spread(tuple(distributed), locked, unlocked)


def _name(row: dict[str, Any]) -> QualifiedName:
    return QualifiedName(row["schema"], row["name"])
