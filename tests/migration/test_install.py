"""Installing, upgrading and removing pganon's schemas as a role with CREATE alone."""

import threading
from dataclasses import replace

import psycopg
import pytest

from pganon import install, sqlfiles
from pganon.errors import InstallError, PreconditionError, UsageError
from pganon.identifiers import OWN_SCHEMAS
from pganon.install.owner import become_owner, connect_as_owner
from tests.support.harness.cluster import Database

SCHEMAS = set(OWN_SCHEMAS)


def _schemas(db: Database) -> set[str]:
    rows = db.admin.execute("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'pganon%'")
    return {name for (name,) in rows}


def _with_migration(monkeypatch, text: bytes, name: str = "9999_create_extra.sql"):
    """A newer program: one migration more than the files have."""
    known = sqlfiles.migrations()
    more = sqlfiles.Migration(len(known) + 1, name, text)
    monkeypatch.setattr(sqlfiles, "migrations", lambda: (*known, more))
    return more


def test_init_needs_create_on_the_database_alone(bare_db: Database):
    done = install.init(bare_db.connect())
    assert done.changed
    assert done.owner == "steward"
    assert list(done.migrations) == [migration.name for migration in sqlfiles.migrations()]
    assert _schemas(bare_db) == SCHEMAS


def test_init_makes_the_secret_and_upgrade_keeps_it(db: Database, monkeypatch):
    """Another one would make every copy of a source a new source."""
    text = "SELECT key FROM pganon_private.installation_secret"
    made = db.admin.execute(text).fetchall()
    assert [len(key) for (key,) in made] == [32]
    _with_migration(monkeypatch, b"CREATE TABLE pganon_private.extra (a int)")
    assert install.upgrade(db.connect()).changed
    assert db.admin.execute(text).fetchall() == made


def test_init_twice_changes_nothing(db: Database):
    before = db.admin.execute("SELECT xmin::text, * FROM pganon_private.object_set").fetchall()
    done = install.init(db.connect())
    assert not done.changed
    after = db.admin.execute("SELECT xmin::text, * FROM pganon_private.object_set").fetchall()
    assert before == after


def test_init_without_create_says_what_to_grant(bare_db: Database):
    with pytest.raises(PreconditionError, match="may not create schemas") as caught:
        install.init(bare_db.connect("analyst"))
    assert "GRANT CREATE ON DATABASE" in (caught.value.hint or "")
    assert _schemas(bare_db) == set()


def test_init_refuses_an_open_transaction(bare_db: Database):
    conn = bare_db.connect()
    conn.execute("BEGIN")
    with pytest.raises(UsageError):
        install.init(conn)


@pytest.mark.parametrize("name", OWN_SCHEMAS)
def test_foreign_schema_is_refused(bare_db: Database, name: str):
    bare_db.admin.execute(f"CREATE SCHEMA {name}".encode())
    with pytest.raises(InstallError):
        install.init(bare_db.connect())
    assert _schemas(bare_db) == {name}


def test_schema_of_another_owner_is_refused(db: Database):
    db.admin.execute("ALTER SCHEMA pganon_work OWNER TO source_owner")
    with pytest.raises(InstallError, match='"pganon_work"'):
        install.init(db.connect())


def test_another_role_is_refused_by_name(db: Database):
    with pytest.raises(InstallError, match='belongs to the role "steward"'):
        install.init(db.connect("source_owner"))


def test_member_of_the_owner_may_upgrade(bare_db: Database):
    name = f"member_{bare_db.name}"
    bare_db.admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pganon-test'".encode())
    try:
        install.init(bare_db.connect())
        bare_db.admin.execute(f"GRANT steward TO {name}".encode())
        member = bare_db.connect(name)
        for refused in (install.init, install.upgrade, install.uninstall, become_owner):
            with pytest.raises(InstallError) as caught:
                refused(member)
            assert caught.value.code == "not_owner"
        assert not install.init(member, named="steward").changed
        assert install.uninstall(member, named="steward").changed
        assert install.init(member, named="steward").owner == "steward"
        assert member.execute("SELECT current_user::text").fetchone() == (name,)
        assert become_owner(member, named="steward") == "steward"
    finally:
        bare_db.close()
        with bare_db.server.admin() as admin:
            admin.execute(f"DROP ROLE {name}".encode())


def test_who_cannot_become_the_owner_leaves_no_session(bare_db: Database, monkeypatch):
    opened = bare_db.connect()
    monkeypatch.setattr("pganon.database.connect", lambda *_, **__: opened)
    with pytest.raises(InstallError):
        connect_as_owner(None)
    assert opened.closed


def test_become_owner_without_installation(bare_db: Database):
    with pytest.raises(InstallError) as caught:
        become_owner(bare_db.connect())
    assert caught.value.hint == "run `pganon init`"


def test_upgrade_without_installation(bare_db: Database):
    with pytest.raises(InstallError, match="not installed"):
        install.upgrade(bare_db.connect())


@pytest.mark.parametrize("scope", ["", "IN SCHEMA pganon_private"])
def test_default_privileges_open_nothing(bare_db: Database, scope: str):
    conn = bare_db.connect()
    for kind in ("TABLES", "SCHEMAS", "FUNCTIONS", "SEQUENCES"):
        conn.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {kind} TO analyst, PUBLIC".encode())
    install.init(conn)
    if scope:
        install.uninstall(conn)
        for kind in ("TABLES", "FUNCTIONS", "SEQUENCES"):
            text = f"ALTER DEFAULT PRIVILEGES {scope} GRANT ALL ON {kind} TO analyst"
            conn.execute(text.encode())
        install.init(conn)
    _assert_closed(bare_db)


def _assert_closed(db: Database) -> None:
    rows = db.admin.execute(
        "SELECT n.nspname || '.' || c.relname FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname LIKE 'pganon%' AND c.relkind IN ('r', 'v', 'S')"
        " AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege('analyst', c.oid, 'SELECT,USAGE')"
        "   ELSE has_table_privilege('analyst', c.oid, 'SELECT,INSERT,UPDATE,DELETE,TRUNCATE') END"
    )
    assert {name for (name,) in rows} == {
        "pganon.action",
        "pganon.releases",
        "pganon.guarantees",
        "pganon.held_releases",
        "pganon.release_columns",
        "pganon.release_policies",
        "pganon.requests",
    }
    rows = db.admin.execute(
        "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'pganon%'"
        " AND has_schema_privilege('analyst', oid, 'USAGE,CREATE')"
    )
    assert [name for (name,) in rows] == ["pganon"]
    assert db.admin.execute(
        "SELECT has_schema_privilege('analyst', 'pganon', 'CREATE')"
    ).fetchone() == (False,)
    rows = db.admin.execute(
        "SELECT has_function_privilege('analyst', 'pganon.seal(regclass)', 'EXECUTE')"
    )
    assert rows.fetchone() == (False,)


def test_what_cannot_be_closed_is_refused(bare_db: Database):
    """An event trigger of the administrator that opens every new schema again."""
    bare_db.admin.execute("""
        CREATE FUNCTION public.reopen() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pganon_private') THEN
                GRANT USAGE ON SCHEMA pganon_private TO analyst;
            END IF;
        END $$;
        CREATE EVENT TRIGGER reopen ON ddl_command_end WHEN TAG IN ('REVOKE')
            EXECUTE FUNCTION public.reopen();
    """)
    bare_db.admin.execute(
        "ALTER DEFAULT PRIVILEGES FOR ROLE steward GRANT USAGE ON SCHEMAS TO analyst"
    )
    with pytest.raises(InstallError, match="schema pganon_private to analyst"):
        install.init(bare_db.connect())
    assert _schemas(bare_db) == set()


def test_uninstall_keeps_ledger_and_releases(db: Database):
    conn = db.owner()
    conn.execute("CREATE SCHEMA published")
    conn.execute("CREATE TABLE pganon_data.r1 AS SELECT 1 AS a")
    conn.execute("CREATE VIEW published.r AS SELECT a FROM pganon_data.r1")
    conn.execute("GRANT USAGE ON SCHEMA published TO analyst")
    conn.execute("GRANT SELECT ON published.r TO analyst")
    conn.execute(
        "INSERT INTO pganon_private.ledger (run_id, release, event, program_version)"
        " VALUES (1, 'r', 'failed', '0')"
    )
    done = install.uninstall(db.connect())
    assert sorted(done.kept) == ["pganon_data", "pganon_private"]
    assert _schemas(db) == {"pganon_data", "pganon_private"}
    assert db.connect("analyst").execute("SELECT a FROM published.r").fetchall() == [(1,)]
    with pytest.raises(psycopg.Error, match="append-only"):
        db.connect().execute("DELETE FROM pganon_private.ledger")
    assert install.init(db.connect()).changed
    assert db.owner().execute("SELECT release FROM pganon.ledger").fetchall() == [("r",)]


def test_uninstall_twice(db: Database):
    assert install.uninstall(db.connect()).changed
    assert not install.uninstall(db.connect()).changed


def test_init_after_uninstall_names_a_missing_privilege(db: Database):
    """A dump of a database has no privileges upon the database itself."""
    install.uninstall(db.connect())
    db.admin.execute(f"REVOKE CREATE ON DATABASE {db.name} FROM steward".encode())
    assert not install.uninstall(db.connect()).changed
    with pytest.raises(PreconditionError) as caught:
        install.init(db.connect())
    assert caught.value.code == "no_create"
    assert f'GRANT CREATE ON DATABASE "{db.name}" TO "steward"' in (caught.value.hint or "")
    db.admin.execute(f"GRANT CREATE ON DATABASE {db.name} TO steward".encode())
    assert install.init(db.connect()).changed


def test_purge_leaves_nothing_and_init_starts_anew(db: Database):
    assert list(install.uninstall(db.connect(), purge=True).kept) == []
    assert _schemas(db) == set()
    assert install.init(db.connect()).changed


def test_purge_keeps_published_tables_and_a_new_init_says_so(db: Database):
    db.owner().execute("CREATE TABLE pganon_data.r1 AS SELECT 1 AS a")
    assert list(install.uninstall(db.connect(), purge=True).kept) == ["pganon_data"]
    with pytest.raises(InstallError, match="1 relations of releases"):
        install.init(db.connect())


def test_upgrade_applies_a_migration_and_remembers_it(db: Database, monkeypatch):
    more = _with_migration(monkeypatch, b"CREATE TABLE pganon_private.extra (a int)")
    with pytest.raises(InstallError, match="older than this program") as caught:
        become_owner(db.connect())
    assert caught.value.hint == "run `pganon upgrade`"
    with pytest.raises(InstallError, match="older"):
        install.init(db.connect())
    assert list(install.upgrade(db.connect()).migrations) == [more.name]
    assert not install.upgrade(db.connect()).changed
    monkeypatch.undo()
    with pytest.raises(InstallError, match="9999_create_extra"):
        become_owner(db.connect())
    for refused in (install.init, install.upgrade, install.uninstall):
        with pytest.raises(InstallError) as caught:
            refused(db.connect())
        assert caught.value.code == "newer"


def test_a_ledger_of_before_takes_events_of_later(bare_db: Database, monkeypatch):
    known = sqlfiles.migrations()
    monkeypatch.setattr(sqlfiles, "migrations", lambda: known[:2])
    objects = [one for one in sqlfiles.object_set().objects if one.name != "requests"]
    without = sqlfiles.ObjectSet(tuple(objects), b"")  # the view has columns of later
    monkeypatch.setattr(sqlfiles, "object_set", lambda: without)
    conn = bare_db.connect()
    install.init(conn)
    add = (
        "INSERT INTO pganon_private.ledger (run_id, release, event, program_version)"
        " VALUES (1, 'r', %s, '0')"
    )
    conn.execute(add, ["failed"])
    with pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(add, ["exported"])
    monkeypatch.undo()
    assert list(install.upgrade(conn).migrations) == [one.name for one in known[2:]]
    for event in ("exported", "attacked", "superseded"):
        conn.execute(add, [event])
    with pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(add, ["other"])
    assert conn.execute("SELECT count(*) FROM pganon_private.ledger").fetchone() == (4,)


def test_failed_migration_leaves_everything_as_it_was(db: Database, monkeypatch):
    _with_migration(monkeypatch, b"CREATE TABLE pganon_private.extra (a int); SELECT 1 / 0")
    with pytest.raises(InstallError, match="9999_create_extra"):
        install.upgrade(db.connect())
    monkeypatch.undo()
    assert not install.upgrade(db.connect()).changed
    assert db.admin.execute("SELECT to_regclass('pganon_private.extra')").fetchone() == (None,)


def test_changed_migration_is_refused_by_name(db: Database, monkeypatch):
    known = sqlfiles.migrations()
    changed = (replace(known[0], text=known[0].text + b"-- x\n"), *known[1:])
    monkeypatch.setattr(sqlfiles, "migrations", lambda: changed)
    with pytest.raises(InstallError, match=known[0].name):
        install.upgrade(db.connect())


def test_changed_objects_are_replaced(db: Database, monkeypatch):
    kept = sqlfiles.object_set()
    extra = sqlfiles.SqlObject(
        "functions/guard/extra.sql",
        b"CREATE FUNCTION pganon.extra(a int) RETURNS int LANGUAGE sql RETURN a;"
        b"CREATE FUNCTION pganon.extra(a text) RETURNS text LANGUAGE sql RETURN a;",
    )
    monkeypatch.setattr(
        sqlfiles, "object_set", lambda: replace(kept, objects=(*kept.objects, extra))
    )
    assert install.upgrade(db.connect()).objects == len(kept.objects) + 1
    count = "SELECT count(*) FROM pg_proc WHERE proname = 'extra'"
    assert db.admin.execute(count).fetchone() == (2,)
    monkeypatch.undo()
    assert install.upgrade(db.connect()).changed
    assert db.admin.execute(count).fetchone() == (0,)


def test_objects_of_a_newer_program_are_refused(db: Database):
    db.admin.execute(
        "INSERT INTO pganon_private.object_set (checksum, manifest, program_version)"
        " VALUES ('x', '{}', '99.0')"
    )
    with pytest.raises(InstallError, match=r"of pganon 99\.0"):
        install.upgrade(db.connect())


def test_two_installers_at_once(bare_db: Database):
    connections = [bare_db.connect(), bare_db.connect()]
    outcomes: list[bool] = []
    threads = [
        threading.Thread(target=lambda conn=conn: outcomes.append(install.init(conn).changed))
        for conn in connections
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False, True]
