"""Tables that a run filled: whether their rows are still there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pganon.errors import Interrupted
from pganon.identifiers import QualifiedName

Connection = psycopg.Connection[Any]


def lost_rows(
    conn: Connection,
    filled: Iterable[QualifiedName],
    placed: Mapping[QualifiedName, int],
    step: str,
) -> Interrupted | None:
    """The error of a table that has no rows, or in shards another number of them.

    Args:
        filled: tables on this server, which a crash empties as a whole.
        placed: tables in shards, each with the number of its rows: a server may lose its own.
    """
    return _emptied(conn, sorted(filled), step) or _short(conn, placed, step)


def _emptied(conn: Connection, tables: Sequence[QualifiedName], step: str) -> Interrupted | None:
    if not tables:
        return None
    parts = [sql.SQL("EXISTS (SELECT FROM {})").format(table.identifier) for table in tables]
    row = conn.execute(sql.SQL("SELECT {}").format(sql.SQL(", ").join(parts))).fetchone()
    empty = [str(table) for table, has in zip(tables, row or (), strict=True) if not has]
    return _error(empty, step) if empty else None


def _short(conn: Connection, tables: Mapping[QualifiedName, int], step: str) -> Interrupted | None:
    for table, rows in sorted(tables.items()):
        counted = sql.SQL("SELECT count(*) FROM {}").format(table.identifier)
        if conn.execute(counted).fetchone() != (rows,):
            return _error([str(table)], step)
    return None


def _error(tables: Sequence[str], step: str) -> Interrupted:
    return Interrupted(
        f"tables of the run were emptied while it went on: {', '.join(tables)}",
        step=step,
        hint="the server crashed, or somebody changed them; run the release again",
    )
