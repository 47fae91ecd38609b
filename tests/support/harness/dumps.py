"""Dumps of databases, made and restored by the server's own programs as the administrator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness.cluster import Connection, Database

_OF_SESSIONS = {"pganon_private.activity", "pganon_private.worker"}
_TIMES = {"pganon_private.migration", "pganon_private.object_set"}


def _program(db: Database, name: str) -> str:
    cluster = db.server.cluster
    found = str(cluster.bin_dir / name) if cluster else shutil.which(name)
    if found is None or not Path(found).exists():
        pytest.skip(f"{name} was not found")
    return found


def dump(db: Database, file: Path, *options: str) -> None:
    command = [_program(db, "pg_dump"), "--format=custom", f"--file={file}", *options]
    subprocess.run([*command, f"--dbname={db.admin_dsn}"], check=True)


def restore(db: Database, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """All or nothing."""
    command = [_program(db, "pg_restore"), "--single-transaction", "--exit-on-error", *options]
    return subprocess.run(
        [*command, f"--dbname={db.admin_dsn}", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )


def stored(conn: Connection) -> dict[str, Any]:
    """Rows of everything that pganon keeps, by table; without what only sessions are about."""
    tables = conn.execute(
        "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n"
        " ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
        " AND n.nspname IN ('pganon_private', 'pganon_data', 'pganon_stage')"
    ).fetchall()
    return {
        name: _rows(conn, name, "applied_at" if name in _TIMES else "")
        for (name,) in tables
        if name not in _OF_SESSIONS
    }


def _rows(conn: Connection, table: str, without: str) -> list[str]:
    text = f"SELECT (to_jsonb(t) - '{without}')::text FROM {table} AS t ORDER BY 1"
    return [row for (row,) in conn.execute(text.encode()).fetchall()]
