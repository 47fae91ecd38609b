"""pganon.seal closes a relation to everybody but its owner."""

import psycopg
import pytest

from tests.support.harness.cluster import Database

OPEN_TO = """
    SELECT count(*) FROM (
        SELECT relacl AS acl, relowner FROM pg_class WHERE oid = %(rel)s::regclass
        UNION ALL
        SELECT a.attacl, c.relowner FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = attrelid
        WHERE attrelid = %(rel)s::regclass AND attacl IS NOT NULL
    ) AS held, LATERAL aclexplode(held.acl) AS x WHERE x.grantee <> held.relowner
"""


def _privileges(db: Database, relation: str) -> int:
    row = db.admin.execute(OPEN_TO, {"rel": relation}).fetchone()
    assert row is not None
    return row[0]


def test_tables_columns_and_public(db: Database):
    conn = db.connect()
    conn.execute('CREATE TABLE pganon_work."A ""b" (x int, "y z" int)')
    conn.execute('GRANT SELECT, UPDATE ON pganon_work."A ""b" TO analyst WITH GRANT OPTION')
    conn.execute('GRANT SELECT ON pganon_work."A ""b" TO PUBLIC')
    conn.execute('GRANT UPDATE ("y z") ON pganon_work."A ""b" TO source_owner')
    assert _privileges(db, 'pganon_work."A ""b"') > 0
    conn.execute("""SELECT pganon.seal('pganon_work."A ""b"')""")
    assert _privileges(db, 'pganon_work."A ""b"') == 0
    assert conn.execute('SELECT x FROM pganon_work."A ""b"').fetchall() == []


def test_default_privileges(db: Database):
    conn = db.connect()
    conn.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO analyst, PUBLIC")
    conn.execute("CREATE TABLE pganon_work.t (x int)")
    assert _privileges(db, "pganon_work.t") > 0
    conn.execute("SELECT pganon.seal('pganon_work.t')")
    assert _privileges(db, "pganon_work.t") == 0


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("v", "CREATE VIEW pganon_work.o AS SELECT 1 AS a"),
        ("S", "CREATE SEQUENCE pganon_work.o"),
        ("m", "CREATE MATERIALIZED VIEW pganon_work.o AS SELECT 1 AS a"),
        ("p", "CREATE TABLE pganon_work.o (a int) PARTITION BY LIST (a)"),
    ],
)
def test_other_relations(db: Database, kind: str, text: str):
    conn = db.connect()
    conn.execute(text.encode())
    conn.execute("GRANT SELECT ON pganon_work.o TO analyst")
    conn.execute("SELECT pganon.seal('pganon_work.o')")
    assert _privileges(db, "pganon_work.o") == 0


def test_role_names_are_quoted(db: Database):
    name = 'x"; DROP TABLE pganon_work.t; --'
    quoted = '"' + name.replace('"', '""') + '"'
    db.admin.execute(f"CREATE ROLE {quoted}".encode())
    try:
        conn = db.connect()
        conn.execute("CREATE TABLE pganon_work.t (x int)")
        conn.execute(f"GRANT SELECT ON pganon_work.t TO {quoted}".encode())
        conn.execute("SELECT pganon.seal('pganon_work.t')")
        assert _privileges(db, "pganon_work.t") == 0
    finally:
        db.admin.execute(f"DROP ROLE {quoted}".encode())


def test_owner_keeps_what_the_owner_took_from_itself(db: Database):
    conn = db.connect()
    conn.execute("CREATE TABLE pganon_work.t (x int)")
    conn.execute("SELECT pganon.seal('pganon_work.t')")
    conn.execute("SELECT pganon.seal('pganon_work.t')")
    conn.execute("INSERT INTO pganon_work.t VALUES (1)")


def test_nobody_else_may_call_it(db: Database):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.connect("analyst").execute("SELECT pganon.seal('pg_catalog.pg_class')")
