"""Attack: an analyst looks for more than the published views show."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import release


def _published(db: Database) -> None:
    conn = db.owner()
    release(conn, joined=True)
    run = release(conn, joined=True).run_id
    assert run == 3
    conn.execute(f"ANALYZE pganon_data.r{run}_records".encode())
    conn.execute(f"ANALYZE pganon_private.r{run}_members".encode())


@pytest.fixture
def analyst(db_after: Any) -> Connection:
    db, _ = db_after(_published)
    return db.connect("analyst")


def test_closed(analyst: Connection) -> None:
    for text in (
        "SELECT FROM pganon_data.r3_records",
        "SELECT FROM pganon_data.r3_classes",
        "SELECT FROM pganon_private.r3_members",
        "SELECT FROM pganon_private.run_secret",
        "SELECT FROM pganon_private.version",
        "SELECT FROM pganon.ledger",
        "SELECT pganon.verify('adult')",
        "SELECT pganon.fingerprint(3, '{published.adult}')",
        "SELECT pganon.stamp('published.adult')",
        "CREATE VIEW published.mine AS SELECT 1 AS a",
        "SELECT nextval('pganon_private.ledger_id_seq')",
        "COPY pganon_data.r3_records TO STDOUT",
        "SELECT pg_relation_filepath('pganon_data.r3_records'::regclass)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute(text.encode())


def test_the_view_is_open(analyst: Connection) -> None:
    assert len(analyst.execute("SELECT FROM published.adult").fetchall()) == 3


def test_no_physical_order(analyst: Connection) -> None:
    """Order of storage and stored tables' names are no columns of a view."""
    for column in ("ctid", "tableoid", "xmin", "cmin"):
        with pytest.raises(psycopg.errors.UndefinedColumn):
            analyst.execute(f"SELECT {column} FROM published.adult".encode())


def test_no_statistics(analyst: Connection) -> None:
    for view in ("pg_stats", "pg_stats_ext"):
        found = analyst.execute(f"SELECT FROM {view} WHERE schemaname ~ 'pganon'".encode())
        assert found.fetchall() == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst.execute("SELECT FROM pg_statistic")


def test_no_privilege_on_any_state(analyst: Connection) -> None:
    found = analyst.execute(
        "SELECT n.nspname || '.' || c.relname FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname ~ '^pganon' AND c.relkind IN ('r', 'v', 'S')"
        " AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))"
    )
    assert sorted(found.fetchall()) == [
        ("pganon.action",),
        ("pganon.guarantees",),
        ("pganon.held_releases",),
        ("pganon.release_columns",),
        ("pganon.release_policies",),
        ("pganon.releases",),
        ("pganon.requests",),
    ]
    schemas = analyst.execute(
        "SELECT nspname::text FROM pg_namespace WHERE nspname ~ '^(pganon|published)'"
        " AND has_schema_privilege(oid, 'USAGE') ORDER BY 1"
    )
    assert schemas.fetchall() == [("pganon",), ("published",)]
    assert analyst.execute(
        "SELECT count(*) FROM pg_namespace WHERE nspname ~ '^(pganon|published)'"
        " AND has_schema_privilege(oid, 'CREATE')"
    ).fetchone() == (0,)


def test_releases_tell_no_counts(analyst: Connection) -> None:
    cursor = analyst.execute("SELECT * FROM pganon.releases")
    names = [column.name for column in cursor.description or []]
    assert names == ["release", "version", "method", "guarantee", "published_at"]
    (row,) = cursor.fetchall()
    columns = analyst.execute("SELECT * FROM pganon.release_columns").fetchall()
    assert columns
    guarantees = analyst.execute("SELECT * FROM pganon.guarantees").fetchall()
    assert guarantees
    assert "r3_" not in str((row, columns, guarantees))
