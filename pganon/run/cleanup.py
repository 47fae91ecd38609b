"""Removes what interrupted runs left behind; published versions and live runs are not touched."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.locks import dead_run, forget_dead
from pganon.publish.views import tidy_views
from pganon.run.tables import drop_tables

Connection = psycopg.Connection[Any]

# Every dropped table needs an entry in the server's lock table until its transaction ends.
_BATCH = 50

_LOOKS, _BETWEEN = 50, 0.1  # for the end of a session; the server looks for its client every 2 s


@dataclass(frozen=True)
class Cleaned:
    """What a clean-up did.

    Attributes:
        tables: number of tables dropped.
        secrets: number of runs whose secrets were forgotten.
        interrupted: runs that the ledger now calls failed.
        alive: runs that are in progress and were left alone.
    """

    tables: int = 0
    secrets: int = 0
    interrupted: tuple[int, ...] = ()
    alive: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.tables or self.secrets or self.interrupted)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def clean(conn: Connection) -> Cleaned:
    """Clean up after every run that is not alive."""
    tables = _tables(conn, None)
    secrets = {row[0] for row in conn.execute(sqlfiles.query("cleanup", "secrets")).fetchall()}
    unfinished = set(ledger.unfinished(conn))
    dropped, forgotten = 0, 0
    interrupted: list[int] = []
    alive: list[int] = []
    for run_id in sorted({*tables, *secrets, *unfinished}):
        with dead_run(conn, run_id) as dead:
            if not dead:
                alive.append(run_id)
                continue
            # What was seen before the lock may have been published since.
            found = _remove(conn, run_id)
            dropped += found[0]
            forgotten += found[1]
            if run_id in unfinished and ledger.finish(
                conn, run_id, "failed", {"reason": "interrupted"}
            ):
                interrupted.append(run_id)
    tidy_views(conn)
    forget_dead(conn)
    return Cleaned(dropped, forgotten, tuple(interrupted), tuple(alive))


def drop_run(conn: Connection, run_id: int) -> int:
    """Drop what a run of this session left; gives the number of tables.

    After publication that is its work tables; after a failure its secrets go too.
    """
    dropped, _ = _remove(conn, run_id)
    forget_dead(conn)
    return dropped


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


def _remove(conn: Connection, run_id: int) -> tuple[int, int]:
    """Drop tables and secrets of a run; gives the number of tables and of secrets."""
    return _drop(conn, run_tables(conn, run_id)), _forget(conn, run_id)


def run_tables(conn: Connection, run_id: int) -> list[QualifiedName]:
    """Tables of a run that belong to no version."""
    return _tables(conn, run_id).get(run_id, [])


def _tables(conn: Connection, run_id: int | None) -> dict[int, list[QualifiedName]]:
    found: dict[int, list[QualifiedName]] = defaultdict(list)
    rows = conn.execute(sqlfiles.query("cleanup", "tables"), {"run_id": run_id}).fetchall()
    for schema, name, run in rows:
        found[run].append(QualifiedName(schema, name))
    return found


def _drop(conn: Connection, tables: Sequence[QualifiedName]) -> int:
    for start in range(0, len(tables), _BATCH):
        drop_tables(conn, tables[start : start + _BATCH])
    return len(tables)


def _forget(conn: Connection, run_id: int) -> int:
    return conn.execute(sqlfiles.query("cleanup", "drop_secret"), {"run_id": run_id}).rowcount
