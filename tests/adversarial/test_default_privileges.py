"""Attack: default privileges of the steward that open every new table to analysts."""

from __future__ import annotations

import psycopg
import pytest

from pganon.errors import PreconditionError
from pganon.publish import lifecycle
from tests.support.harness.cluster import Database
from tests.support.sources.staging import COLUMNS, ROWS, release, running, staged

OPEN = """
    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO analyst, PUBLIC;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO analyst, PUBLIC;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO analyst;
"""

HELD = """
    SELECT n.nspname || '.' || c.relname
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname ~ '^(pganon|published)' AND c.relkind IN ('r', 'v', 'p', 'm')
        AND (has_table_privilege('analyst', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
            OR has_any_column_privilege('analyst', c.oid, 'SELECT, INSERT, UPDATE'))
    ORDER BY 1
"""

LISTS = [
    "pganon.action",
    "pganon.guarantees",
    "pganon.held_releases",
    "pganon.release_columns",
    "pganon.release_policies",
    "pganon.releases",
    "pganon.requests",
]


def _held(db: Database) -> list[str]:
    return [row[0] for row in db.admin.execute(HELD).fetchall()]


def test_only_the_readers_read(db: Database) -> None:
    conn = db.owner()
    conn.execute(OPEN.encode())
    release(conn, "open", joined=True)
    release(conn, "closed", joined=True, readers=(), extra_views=["_st"])
    assert _held(db) == [*LISTS, "published.open"]
    release(conn, "closed", readers=(), columns=COLUMNS[:2], rows=[r[:2] for r in ROWS])
    release(conn, "closed", readers=(), extra_views=["_st"])
    assert _held(db) == [*LISTS, "published.open"]
    lifecycle.show_earlier(conn, "closed")
    assert _held(db) == [*LISTS, "published.open"]
    schema = db.admin.execute(
        "SELECT has_schema_privilege('analyst', 'published', 'USAGE'),"
        " has_schema_privilege('analyst', 'published', 'CREATE'),"
        " has_schema_privilege('source_owner', 'published', 'USAGE')"
    )
    assert schema.fetchone() == (True, False, False)


def test_default_privileges_on_one_schema(db: Database) -> None:
    conn = db.owner()
    release(conn, "first")
    for schema in ("published", "pganon_data", "pganon_stage", "pganon_private"):
        conn.execute(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT ALL ON TABLES TO analyst".encode()
        )
    # Its tables are made behind pganon's back, so they are open until they are moved.
    release(conn, "second", readers=())
    assert _held(db) == [*LISTS, "published.first"]


def test_open_staged_tables_of_another_run_stop_publication(db: Database) -> None:
    conn = db.owner()
    release(conn)
    conn.execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA pganon_stage GRANT SELECT ON TABLES TO analyst"
    )
    with running(conn, "second") as run:
        staged(conn, run)
    with pytest.raises(PreconditionError, match=rf"SELECT on pganon_stage\.r{run}_") as caught:
        release(conn)
    assert caught.value.code == "open_privileges"


def test_the_steward_can_still_give(db: Database) -> None:
    conn = db.owner()
    release(conn, readers=())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.connect("analyst").execute("SELECT FROM published.adult")
    conn.execute("GRANT USAGE ON SCHEMA published TO analyst")
    conn.execute("GRANT SELECT ON published.adult TO analyst")
    assert len(db.connect("analyst").execute("SELECT FROM published.adult").fetchall()) == 3
