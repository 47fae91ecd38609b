"""Attack: default privileges that open every new table, watched in every step of a run."""

from __future__ import annotations

import psycopg
import pytest

from pganon.run import executor
from tests.support.harness import faults
from tests.support.harness.cluster import Database

OPEN = """
    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC, analyst;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO PUBLIC, analyst;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC, analyst;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON ROUTINES TO PUBLIC, analyst;
"""


@pytest.mark.parametrize(("below", "least"), [(0, 100), (1_000, 30)], ids=["alone", "together"])
def test_no_private_table_is_open_in_any_step(
    db: Database, monkeypatch: pytest.MonkeyPatch, below: int, least: int
) -> None:
    """Whether steps are taken alone or travel together, as those of small runs do."""
    monkeypatch.setattr(executor, "SMALL_BELOW", below)
    db.source(faults.SOURCE)
    conn = db.owner()
    conn.execute(OPEN.encode())
    for schema in ("pganon_work", "pganon_stage", "pganon_data", "pganon_private"):
        conn.execute(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT ALL ON TABLES TO analyst".encode()
        )
    opened: dict[str, list[str]] = {}
    seen = 0

    def look(step: str) -> None:
        nonlocal seen
        # Even with the way into the schemas open, no table is.
        schemas = "USAGE ON SCHEMA pganon_work, pganon_stage, pganon_data"
        db.admin.execute(f"GRANT {schemas} TO analyst".encode())
        seen += len(faults.run_tables(db.admin))
        opened[step] = faults.exposed(db.admin, tables_only=True)
        db.admin.execute(f"REVOKE {schemas} FROM analyst".encode())

    faults.run(db.dsn(), before=look)
    assert seen > least
    assert {step: tables for step, tables in opened.items() if tables} == {}
    assert faults.exposed(db.admin, tables_only=True) == []
    analyst = db.connect("analyst")
    assert analyst.execute("SELECT count(*) FROM published.patients").fetchone() == (24,)
    for table in ("pganon_private.version", "public.patient"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute(f"SELECT FROM {table}".encode())
    held = analyst.execute(
        "SELECT count(*) FROM information_schema.table_privileges"
        " WHERE table_schema = 'published' AND privilege_type <> 'SELECT'"
    )
    assert held.fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("below", [0, 1_000], ids=["alone", "together"])
def test_nothing_is_seen_within_a_step(
    db: Database, monkeypatch: pytest.MonkeyPatch, below: int
) -> None:
    """Creation and revocation are one transaction: a busy onlooker never finds an open table."""
    monkeypatch.setattr(executor, "SMALL_BELOW", below)
    db.source(faults.SOURCE)
    conn = db.owner()
    conn.execute(OPEN.encode())
    onlooker = faults.Onlooker(db.admin_dsn)
    with onlooker:
        faults.run(db.dsn(), before=onlooker.looked)
    assert onlooker.looks > 20
    assert onlooker.found == set()
