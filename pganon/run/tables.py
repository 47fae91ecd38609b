"""Private tables of a run: no one but their owner may read them, from the first moment on.

After every CREATE all foreign grants are revoked in the same transaction, so that default
privileges cannot open a table even for a moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg
from psycopg import sql

from pganon.identifiers import QualifiedName
from pganon.steps import STAGE_SCHEMA, Query

Connection = psycopg.Connection[tuple[object, ...]]

_WORK_SAMPLE = 10
"""Statistics target for work tables: 3,000 rows are sampled."""

_ALONE = sql.SQL("SET LOCAL max_parallel_workers_per_gather = 0")

_LEFT_ALONE = "WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)"
"""Autovacuum has nothing to do in a table that is written once, and who drops or moves a table
waits a second until it gives way. What is published gets it back."""


def create_table(
    conn: Connection, target: QualifiedName, columns: Sequence[tuple[str, str]]
) -> None:
    """An empty, unlogged, private table, made by one message, which is one transaction."""
    declared = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))  # pyright: ignore
        for name, kind in columns
    )
    conn.execute(
        sql.SQL("CREATE UNLOGGED TABLE {} ({}) {}; {}").format(
            target.identifier, declared, sql.SQL(_LEFT_ALONE), _sealed(target)
        )
    )


def copy_rows(conn: Connection, target: QualifiedName, rows: Iterable[Sequence[object]]) -> int:
    """COPY rows into a table; gives their number."""
    number = 0
    with (
        conn.cursor() as cursor,
        cursor.copy(sql.SQL("COPY {} FROM STDIN").format(target.identifier)) as copy,
    ):
        for row in rows:
            copy.write_row(row)
            number += 1
    return number


def create_table_as(
    conn: Connection,
    target: QualifiedName,
    select: Query,
    *,
    analyze: bool = False,
    sampled: bool = False,
    alone: bool = False,
) -> int:
    """CREATE TABLE AS with all foreign grants revoked in the same transaction; gives the rows.

    Logged only in the staging schema: what is published later must survive a server crash.
    All statements travel in one message, which the server runs as one transaction.
    """
    staged = target.schema == STAGE_SCHEMA
    parts: list[Query] = [_ALONE] if alone else []
    parts += [
        sql.SQL("CREATE {}TABLE {} {} AS {}").format(
            sql.SQL("" if staged else "UNLOGGED "),
            target.identifier,
            sql.SQL(_LEFT_ALONE),
            select,
        ),
        _sealed(target),
    ]
    if analyze:
        parts += _analyzed(target, sampled=sampled or not staged)
    done = conn.execute(sql.SQL("; ").join(parts))
    if alone:
        done.nextset()  # the rows are those of the second statement
    return done.rowcount


def analyze_table(conn: Connection, target: QualifiedName) -> None:
    """Statistics of a table that was filled, by one message, which is one transaction."""
    parts = _analyzed(target, sampled=target.schema != STAGE_SCHEMA)
    conn.execute(sql.SQL("; ").join(parts))


def _analyzed(target: QualifiedName, *, sampled: bool) -> list[sql.Composed]:
    analyze = sql.SQL("ANALYZE {}").format(target.identifier)
    if not sampled:
        return [analyze]
    # A small sample is enough for a join order, and a full one costs more than the join.
    return [sql.SQL("SET LOCAL default_statistics_target = {}").format(_WORK_SAMPLE), analyze]


def stamp_of_written(conn: Connection, target: QualifiedName, rows: int) -> str:
    """The stamp of a table that one transaction wrote, without reading it."""
    row = conn.execute(
        "SELECT s.stamp FROM pganon.stamp(to_regclass(%s), %s) AS s", [str(target), rows]
    ).fetchone()
    assert row is not None
    return str(row[0])


def _sealed(target: QualifiedName) -> sql.Composed:
    return sql.SQL("SELECT pganon.seal({}::regclass)").format(sql.Literal(str(target)))


def drop_tables(conn: Connection, tables: Sequence[QualifiedName]) -> None:
    if not tables:
        return
    names = sql.SQL(", ").join(table.identifier for table in tables)
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(names))
