"""Attack: a file that `pganon import` loads is a raw table, and default privileges open it."""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pganon.errors import PreconditionError
from pganon.importing import files as importing
from tests.support.harness.cluster import Connection, Database

OTHERS = """
    SELECT acl.grantee::regrole::text, acl.privilege_type
    FROM pg_class AS c
    CROSS JOIN LATERAL (
        SELECT c.relacl AS held
        UNION ALL SELECT attacl FROM pg_attribute WHERE attrelid = c.oid
    ) AS of
    CROSS JOIN LATERAL aclexplode(of.held) AS acl
    WHERE c.oid = 's.people'::regclass AND acl.grantee <> c.relowner
"""


@pytest.fixture
def steward(bare_db: Database) -> Connection:
    """A connection of the steward, who has a schema `s` that everybody may use."""
    conn = bare_db.connect()
    conn.execute("CREATE SCHEMA s")
    conn.execute("GRANT USAGE ON SCHEMA s TO PUBLIC")
    return conn


def _import(conn: Connection, folder: Path, *, replace: bool = False) -> None:
    file = folder / "people.csv"
    file.write_text("name,disease\nAda,flu\n")
    importing.import_file(conn, file, "s.people", replace=replace)


def _open_events(db: Database, tag: str, grant: str) -> None:
    """An event trigger of the administrator that grants after every command of that kind."""
    db.admin.execute(
        sql.SQL(
            "CREATE FUNCTION public.open_it() RETURNS event_trigger LANGUAGE plpgsql AS {};"
            "CREATE EVENT TRIGGER open_it ON ddl_command_end WHEN TAG IN ({})"
            " EXECUTE FUNCTION public.open_it()"
        ).format(sql.Literal(f"BEGIN {grant} END"), sql.Literal(tag))
    )


@pytest.mark.parametrize("scope", ["", "IN SCHEMA s"])
@pytest.mark.parametrize("to", ["analyst, PUBLIC", "analyst WITH GRANT OPTION"])
def test_default_privileges_open_nothing(
    bare_db: Database, steward: Connection, tmp_path: Path, scope: str, to: str
) -> None:
    steward.execute(f"ALTER DEFAULT PRIVILEGES {scope} GRANT ALL ON TABLES TO {to}".encode())
    analyst = bare_db.connect("analyst")
    for replace in (False, True):
        _import(steward, tmp_path, replace=replace)
        assert bare_db.admin.execute(OTHERS.encode()).fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute("SELECT name FROM s.people")


def test_a_replaced_table_hands_on_what_was_granted_and_no_more(
    bare_db: Database, steward: Connection, tmp_path: Path
) -> None:
    """Not what default privileges would give to the new one."""
    _import(steward, tmp_path)
    steward.execute("GRANT SELECT (name) ON s.people TO analyst")
    before = bare_db.admin.execute(OTHERS.encode()).fetchall()
    assert before != []
    steward.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC")
    _import(steward, tmp_path, replace=True)
    assert bare_db.admin.execute(OTHERS.encode()).fetchall() == before


def test_columns_and_chains_of_grants(
    bare_db: Database, steward: Connection, tmp_path: Path
) -> None:
    """What one role granted on to another goes, too, and so do privileges on columns."""
    bare_db.admin.execute("GRANT CREATE ON SCHEMA public TO steward")
    _open_events(
        bare_db,
        "ALTER TABLE",
        """
        IF to_regclass('s.people') IS NOT NULL THEN
            GRANT SELECT (disease), UPDATE (disease) ON s.people TO analyst WITH GRANT OPTION;
            GRANT SELECT (ctid) ON s.people TO analyst;
            GRANT SELECT ON s.people TO "source_owner" WITH GRANT OPTION;
            SET LOCAL ROLE source_owner;
            GRANT SELECT ON s.people TO PUBLIC;
            RESET ROLE;
        END IF;
        INSERT INTO public.fired VALUES (to_regclass('s.people') IS NOT NULL);
        """,
    )
    bare_db.admin.execute("CREATE TABLE public.fired (granted boolean)")
    bare_db.admin.execute("GRANT INSERT ON public.fired TO PUBLIC")
    bare_db.admin.execute("GRANT source_owner TO steward")
    try:
        _import(steward, tmp_path)
    finally:
        bare_db.admin.execute("REVOKE source_owner FROM steward")
    assert (True,) in bare_db.admin.execute("SELECT granted FROM public.fired").fetchall()
    assert bare_db.admin.execute(OTHERS.encode()).fetchall() == []


def test_what_stays_open_is_not_imported(
    bare_db: Database, steward: Connection, tmp_path: Path
) -> None:
    _open_events(bare_db, "REVOKE", "GRANT SELECT ON s.people TO analyst;")
    steward.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    with pytest.raises(PreconditionError) as caught:
        _import(steward, tmp_path)
    assert caught.value.code == "not_sealed"
    assert bare_db.admin.execute("SELECT to_regclass('s.people')").fetchone() == (None,)


def test_nobody_sees_the_table_while_it_is_open(
    bare_db: Database, steward: Connection, tmp_path: Path
) -> None:
    """Sealing is part of the transaction that makes the table."""
    steward.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    analyst = bare_db.connect("analyst")
    _open_events(bare_db, "REVOKE", "PERFORM pg_sleep(0.3);")
    seen: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.append(analyst.execute("SELECT to_regclass('s.people')").fetchone())
            try:
                seen.append(analyst.execute("TABLE s.people").fetchall())
            except psycopg.Error:
                continue

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        _import(steward, tmp_path)
    finally:
        done.set()
        watcher.join()
    assert seen
    assert all(not isinstance(found, list) for found in seen)
