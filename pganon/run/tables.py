"""Private tables of a run: made, filled, and removed when it ended or was interrupted.

No one but their owner may read them, from the first moment on. After every CREATE all foreign
grants are revoked in the same transaction, so that default privileges cannot open a table even for
a moment. Published versions and live runs are not touched when leftovers are removed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg
from psycopg import sql

from pganon.errors import Interrupted
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.locks import dead_run, forget_dead
from pganon.publish.views import tidy_views
from pganon.server_errors import of_another_server
from pganon.sqlfiles import Connection, ask
from pganon.steps import STAGE_SCHEMA, Query
from pganon.steps.placement import By, distributed

_NO_AUTOVACUUM = "WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)"
"""Autovacuum has nothing to do in a table that is written once, and who drops or moves a table
waits a second until it gives way. What is published gets it back."""


def empty_table(target: QualifiedName, columns: Sequence[tuple[str, str]]) -> sql.Composed:
    """A statement that makes an empty, unlogged table, which must be sealed with it."""
    declared = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))  # pyright: ignore
        for name, kind in columns
    )
    return sql.SQL("CREATE UNLOGGED TABLE {} ({}) {}").format(
        target.identifier, declared, sql.SQL(_NO_AUTOVACUUM)
    )


def create_table(
    conn: Connection, target: QualifiedName, columns: Sequence[tuple[str, str]]
) -> None:
    """An empty, unlogged, private table, made by one message, which is one transaction."""
    conn.execute(sql.SQL("; ").join([empty_table(target, columns), seal([target])]))


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
) -> int:
    """CREATE TABLE AS with all foreign grants revoked in the same transaction; gives the rows.

    All statements travel in one message, which the server runs as one transaction.
    """
    parts: list[Query] = [table_as(target, select), seal([target])]
    if analyze:
        parts.append(_analyzed(target, sampled=sampled))
    return conn.execute(sql.SQL("; ").join(parts)).rowcount


def table_as(target: QualifiedName, select: Query) -> sql.Composed:
    """A statement that makes a table of the rows of a query, which must be sealed with it.

    Logged only in the staging schema: what is published later must survive a server crash.
    """
    return sql.SQL("CREATE {}TABLE {} {} AS {}").format(
        sql.SQL("" if target.schema == STAGE_SCHEMA else "UNLOGGED "),
        target.identifier,
        sql.SQL(_NO_AUTOVACUUM),
        select,
    )


def create_placed(conn: Connection, target: QualifiedName, select: Query, placement: By) -> None:
    """An empty table for the rows of a query that Citus distributes, to be called in a transaction.

    Logged, as a server that crashes alone would empty its shards alone. Before there are rows in
    it, and after the transaction, its shards must be sealed.
    """
    conn.execute(
        sql.SQL("CREATE TABLE {} {} AS {} WITH NO DATA; {}").format(
            target.identifier, sql.SQL(_NO_AUTOVACUUM), select, seal([target])
        )
    )
    conn.execute(distributed(target, placement))


def create_at_once(conn: Connection, tables: Mapping[QualifiedName, Query]) -> list[int]:
    """Tables with rows of one instant, in an open transaction: one statement fills all of them.

    Gives the rows of each.
    """
    made = sql.SQL("CREATE UNLOGGED TABLE {} {} AS {} WITH NO DATA")
    empty = [made.format(t.identifier, sql.SQL(_NO_AUTOVACUUM), q) for t, q in tables.items()]
    conn.execute(sql.SQL("; ").join([*empty, seal(list(tables))]))
    first, *others = [
        sql.SQL("INSERT INTO {} {}").format(t.identifier, q) for t, q in tables.items()
    ]
    beside = [
        sql.SQL("{} AS ({})").format(sql.Identifier(f"filled{number}"), insert)
        for number, insert in enumerate(others)
    ]
    conn.execute(sql.SQL("WITH {} {}").format(sql.SQL(", ").join(beside), first))
    counts = [sql.SQL("(SELECT count(*) FROM {})").format(t.identifier) for t in tables]
    row = conn.execute(sql.SQL("SELECT {}").format(sql.SQL(", ").join(counts))).fetchone()
    return list(row or ())


def fill_table(conn: Connection, target: QualifiedName, select: Query) -> int:
    """Insert the rows of a query; gives their number."""
    return conn.execute(sql.SQL("INSERT INTO {} {}").format(target.identifier, select)).rowcount


def analyze_table(conn: Connection, target: QualifiedName) -> None:
    """Statistics of a table that was filled, by one message, which is one transaction."""
    conn.execute(_analyzed(target))


def _analyzed(target: QualifiedName, *, sampled: bool = False) -> sql.Composed:
    """A small sample is enough for a join order, and a full one costs more than the join."""
    analyze = sql.SQL("ANALYZE {}").format(target.identifier)
    if sampled or target.schema != STAGE_SCHEMA:
        return analyze
    # Readers of what is published get what their server is set to.
    return sql.SQL("SET LOCAL default_statistics_target TO DEFAULT; {}").format(analyze)


def stamp_of_written(conn: Connection, target: QualifiedName, rows: int) -> str:
    """The stamp of a table that one transaction wrote, without reading it."""
    row = conn.execute(
        "SELECT s.stamp FROM pganon.stamp(to_regclass(%s), %s) AS s", [str(target), rows]
    ).fetchone()
    assert row is not None
    return str(row[0])


def seal(targets: Sequence[QualifiedName]) -> sql.Composed:
    """A statement that closes new tables, for the transaction that makes them."""
    closed = [sql.SQL("pganon.seal({}::regclass)").format(str(target)) for target in targets]
    return sql.SQL("SELECT {}").format(sql.SQL(", ").join(closed))


def drop_tables(conn: Connection, tables: Sequence[QualifiedName]) -> None:
    if tables:
        conn.execute(dropping(tables))


def dropping(tables: Sequence[QualifiedName]) -> sql.Composed:
    names = sql.SQL(", ").join(table.identifier for table in tables)
    return sql.SQL("DROP TABLE IF EXISTS {}").format(names)


# Every dropped table needs an entry in the server's lock table until its transaction ends.
_BATCH = 50

_LOOKS, _BETWEEN = 50, 0.1  # for the end of a session; the server looks for its client every 2 s


@dataclass(frozen=True)
class Cleaned:
    """The result of a clean-up.

    Attributes:
        tables: number of tables dropped.
        secrets: number of runs whose secrets were forgotten.
        interrupted: runs that the ledger now calls failed.
        alive: runs that are in progress and were left alone.
        remaining: tables with shards on another server, which does not answer.
    """

    tables: int = 0
    secrets: int = 0
    interrupted: tuple[int, ...] = ()
    alive: tuple[int, ...] = ()
    remaining: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.tables or self.secrets or self.interrupted)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def clean(conn: Connection) -> Cleaned:
    """Clean up after every run that is not alive."""
    tables = _tables(conn, None)
    left = ask(conn, "cleanup", "left").fetchall()
    unfinished = {run_id for run_id, is_unfinished in left if is_unfinished}
    dropped, forgotten = 0, 0
    interrupted: list[int] = []
    alive: list[int] = []
    remaining: list[str] = []
    for run_id in sorted({*tables, *(run_id for run_id, _ in left)}):
        with dead_run(conn, run_id) as dead:
            if not dead:
                alive.append(run_id)
                continue
            # What was seen before the lock may have been published since.
            found = _remove(conn, run_id)
            dropped += found.tables
            forgotten += found.secrets
            remaining += found.remaining
            if run_id in unfinished and ledger.finish(
                conn, run_id, "failed", {"reason": "interrupted"}
            ):
                interrupted.append(run_id)
    tidy_views(conn)
    forget_dead(conn)
    return Cleaned(dropped, forgotten, tuple(interrupted), tuple(alive), tuple(remaining))


def drop_run(conn: Connection, run_id: int) -> int:
    """Drop what a run of this session left; gives the number of tables.

    After publication that is its work tables; after a failure its secrets go too. What another
    server keeps is left to the next clean-up.
    """
    return _remove(conn, run_id).tables


def end_dead(conn: Connection, run_id: int, error: BaseException) -> bool:
    """End a run whose own session cannot be used any more, from another one.

    False if that session is still there after five seconds: the next clean-up ends the run.
    """
    for _ in range(_LOOKS):
        with dead_run(conn, run_id) as dead:
            if dead:
                ledger.finish_with(conn, run_id, error)
                _remove(conn, run_id)
                return True
        time.sleep(_BETWEEN)
    return False


def _remove(conn: Connection, run_id: int) -> Cleaned:
    """Drop tables and secrets of a run."""
    tables = run_tables(conn, run_id)
    # Tables on another server, which failed: they must hold up no run that does not need it.
    remaining: list[QualifiedName] = []
    for start in range(0, len(tables), _BATCH):
        batch = tables[start : start + _BATCH]
        if not _dropped(conn, batch):
            remaining += [table for table in batch if not _dropped(conn, [table])]
    return Cleaned(
        tables=len(tables) - len(remaining),
        secrets=ask(conn, "cleanup", "drop_secret", run_id=run_id).rowcount,
        remaining=tuple(map(str, remaining)),
    )


def run_tables(conn: Connection, run_id: int) -> list[QualifiedName]:
    """Tables of a run that belong to no version."""
    return _tables(conn, run_id).get(run_id, [])


def _tables(conn: Connection, run_id: int | None) -> dict[int, list[QualifiedName]]:
    found: dict[int, list[QualifiedName]] = defaultdict(list)
    rows = ask(conn, "cleanup", "tables", run_id=run_id).fetchall()
    for schema, name, run in rows:
        found[run].append(QualifiedName(schema, name))
    return found


def _dropped(conn: Connection, tables: Sequence[QualifiedName]) -> bool:
    try:
        drop_tables(conn, tables)
    except psycopg.Error as error:
        if of_another_server(error):
            return False
        raise
    return True


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
