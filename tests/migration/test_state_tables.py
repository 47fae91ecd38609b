"""The ledger is append-only; the views over state show each role its own."""

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pganon.errors import LedgerError
from pganon.server_errors import translate
from tests.support.harness.cluster import Connection, Database


def _start(conn: Connection) -> int:
    row = conn.execute(
        "INSERT INTO pganon_private.ledger (release, event, program_version)"
        " VALUES ('r', 'started', '0.1.0') RETURNING run_id"
    ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE pganon_private.ledger SET release = 'x'",
        "DELETE FROM pganon_private.ledger",
        "TRUNCATE pganon_private.ledger",
    ],
)
def test_ledger_is_append_only(db: Database, text: str):
    conn = db.owner()
    _start(conn)
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(text.encode())
    assert isinstance(translate(caught.value), LedgerError)
    assert conn.execute("SELECT count(*) FROM pganon.ledger").fetchone() == (1,)


def test_started_row_is_its_own_run(db: Database):
    conn = db.owner()
    _start(conn)
    with pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(
            "INSERT INTO pganon_private.ledger (run_id, release, event, program_version)"
            " VALUES (-1, 'r', 'started', '0')"
        )


def test_ledger_remembers_who_connected(db: Database):
    conn = db.owner()
    _start(conn)
    assert conn.execute("SELECT by_role FROM pganon.ledger").fetchone() == ("steward",)


def _columns(name: str, version: int) -> list[dict[str, str]]:
    view = f"published.{name}"
    return [
        {"view": view, "name": "a", "type": "integer", "comment": f"a of {version}"},
        {"view": f"{view}_flat", "name": "a", "type": "text", "comment": f"text of {version}"},
    ]


def _release(conn: Connection, name: str) -> None:
    conn.execute("CREATE SCHEMA IF NOT EXISTS published")
    conn.execute(f"CREATE TABLE pganon_data.{name} AS SELECT 1 AS a".encode())
    conn.execute(f"CREATE VIEW published.{name} AS SELECT a FROM pganon_data.{name}".encode())
    relations = [{"schema": "pganon_data", "name": name, "part": "records", "rows": 1}]
    conn.execute(
        "INSERT INTO pganon_private.release VALUES (%s, 's', 'published', %s, 2)", [name, name]
    )
    for version in (1, 2):
        conn.execute(
            "INSERT INTO pganon_private.version (release, version, run_id, method, guarantee,"
            " columns, relations, checks, policy, policy_hash, row_count, suppressed, fingerprint,"
            " source_fingerprint, rows_fingerprint, partition, partition_hash, sources,"
            " source_columns) VALUES (%s, %s, (SELECT count(*) FROM pganon_private.version),"
            " 'mondrian', %s, %s, %s, '[]', '{}', '', 1, 0, '', '', '', '{}', '', '{}', '[]')",
            [
                name,
                version,
                Jsonb([{"model": "k_anonymity", "k": 2}]),
                Jsonb(_columns(name, version)),
                Jsonb(relations),
            ],
        )


def test_releases_shows_what_the_caller_may_read(db: Database):
    conn = db.owner()
    _release(conn, "open")
    _release(conn, "closed")
    listed = "SELECT release, version FROM pganon.releases ORDER BY 1"
    analyst = db.connect("analyst")
    assert conn.execute(listed).fetchall() == [("closed", 2), ("open", 2)]
    assert analyst.execute(listed).fetchall() == []
    conn.execute("GRANT SELECT ON published.open TO analyst")
    assert analyst.execute(listed).fetchall() == [], "the schema is still closed"
    conn.execute("GRANT USAGE ON SCHEMA published TO analyst")
    assert analyst.execute(listed).fetchall() == [("open", 2)]


def test_columns_of_releases_are_those_of_what_the_caller_may_read(db: Database):
    conn = db.owner()
    _release(conn, "open")
    _release(conn, "closed")
    listed = (
        "SELECT release, version, view, position, column_name, type, comment"
        " FROM pganon.release_columns ORDER BY release, position"
    )
    assert [row[0] for row in conn.execute(listed)] == ["closed", "closed", "open", "open"]
    analyst = db.connect("analyst")
    assert analyst.execute(listed).fetchall() == []
    conn.execute("GRANT SELECT ON published.open TO analyst")
    assert analyst.execute(listed).fetchall() == [], "the schema is still closed"
    conn.execute("GRANT USAGE ON SCHEMA published TO analyst")
    assert analyst.execute(listed).fetchall() == [
        ("open", 2, "published.open", 1, "a", "integer", "a of 2"),
        ("open", 2, "published.open_flat", 2, "a", "text", "text of 2"),
    ]
    conn.execute("REVOKE SELECT ON published.open FROM analyst")
    assert analyst.execute(listed).fetchall() == []


def test_guarantees_are_those_of_what_the_caller_may_read(db: Database):
    """Of the current version alone."""
    conn = db.owner()
    _release(conn, "open")
    _release(conn, "closed")
    listed = "SELECT release, version, details FROM pganon.guarantees ORDER BY release, version"
    stated = {"model": "k_anonymity", "k": 2}
    assert conn.execute(listed).fetchall() == [("closed", 2, stated), ("open", 2, stated)]
    analyst = db.connect("analyst")
    assert analyst.execute(listed).fetchall() == []
    conn.execute("GRANT SELECT ON published.open TO analyst")
    assert analyst.execute(listed).fetchall() == [], "the schema is still closed"
    conn.execute("GRANT USAGE ON SCHEMA published TO analyst")
    assert analyst.execute(listed).fetchall() == [("open", 2, stated)]


@pytest.mark.parametrize(
    ("view", "columns"),
    [
        ("releases", ["release", "method", "guarantee"]),
        ("release_columns", ["release", "view", "column_name", "comment"]),
        ("guarantees", ["release", "requirement", "reader", "over_versions", "details::text"]),
    ],
)
def test_what_is_said_of_hidden_releases_cannot_be_leaked(
    db: Database, view: str, columns: list[str]
):
    """Attack: a cheap function of the reader's own is given rows before they are hidden."""
    conn = db.owner()
    _release(conn, "closed")
    db.admin.execute("CREATE SCHEMA spy; GRANT ALL ON SCHEMA spy TO analyst")
    analyst = db.connect("analyst")
    analyst.execute("CREATE TABLE spy.seen (x text)")
    analyst.execute(
        "CREATE FUNCTION spy.look(x text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS"
        " $$ BEGIN INSERT INTO spy.seen VALUES (x); RETURN true; END $$"
    )
    for column in columns:
        analyst.execute(f"SELECT FROM pganon.{view} WHERE spy.look({column})".encode())
    assert analyst.execute("SELECT count(*) FROM spy.seen").fetchone() == (0,)
    text = conn.execute("SELECT pg_get_viewdef(%s::regclass)", [f"pganon.{view}"]).fetchone()
    # The plan that was tried may be harmless without the fence.
    assert text is not None
    assert "FROM unnest(ARRAY(" in text[0]


def test_analyst_sees_neither_ledger_nor_state(db: Database):
    analyst = db.connect("analyst")
    for relation in ("pganon.ledger", "pganon_private.version", "pganon_private.run_secret"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute(f"SELECT * FROM {relation}".encode())
