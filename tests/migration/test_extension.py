"""CREATE EXTENSION pganon: the same as `pganon init`, from files that `pganon extension` wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pganon import install, sqlfiles
from pganon.errors import InstallError
from pganon.install import scripts, state
from pganon.install.owner import become_owner
from tests.support.harness import extension, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.described import described, members

Make = Callable[[], Database]
UNPACKAGED = "CREATE EXTENSION pganon VERSION 'unpackaged'"
NEWER = "0.2.0"


def _secrets(db: Database) -> list[tuple[bytes]]:
    return db.admin.execute("SELECT key FROM pganon_private.installation_secret").fetchall()


def test_init_and_create_extension_make_the_same(new_db: Make) -> None:
    plain, created, adopted = new_db(), new_db(), new_db()
    install.init(plain.connect())
    created.connect().execute("CREATE EXTENSION pganon")
    install.init(adopted.connect())
    adopted.connect().execute(UNPACKAGED.encode())
    adopted.connect().execute("ALTER EXTENSION pganon UPDATE")
    expected = described(plain.admin)
    files = [one for one in sqlfiles.object_set().objects if one.path.startswith("functions/")]
    assert len(expected["functions"]) >= len(files)
    assert described(created.admin) == expected
    assert described(adopted.admin) == expected
    assert members(adopted.admin) == members(created.admin)
    assert install.detach(adopted.connect()).changed
    assert described(adopted.admin) == expected
    assert members(adopted.admin) == []


def test_what_a_dump_has(extension_db: Database) -> None:
    found = members(extension_db.admin)
    rows = {name for name, has_rows in found if has_rows}
    tables = {name for name, _ in found if name.startswith("table pganon_private.")}
    left_out = {"migration", "object_set", "worker", "activity", "action"}
    assert tables - rows == {f"table pganon_private.{name}" for name in left_out}
    sequences = {name for name, _ in found if name.startswith("sequence")}
    assert sequences - rows == {
        f"sequence pganon_private.{name}" for name in ("object_set_number_seq", "action_id_seq")
    }
    assert "sequence pganon_private.worker_id_seq" in rows


def test_installed_is_installed(extension_db: Database) -> None:
    for act in (install.init, install.upgrade):
        done = act(extension_db.connect())
        assert (done.changed, done.owner) == (False, "steward")
    with pytest.raises(psycopg.errors.DuplicateObject):
        extension_db.connect().execute("CREATE EXTENSION pganon")


def test_the_first_command_makes_the_secret_and_later_ones_keep_it(extension_db: Database) -> None:
    assert _secrets(extension_db) == []
    become_owner(extension_db.connect())
    made = _secrets(extension_db)
    assert [len(key) for (key,) in made] == [32]
    conn = extension_db.connect()
    conn.execute("SET default_transaction_read_only = on")  # as on a standby
    become_owner(conn)
    assert _secrets(extension_db) == made


@pytest.mark.slow
def test_a_release(extension_db: Database) -> None:
    faults.published(extension_db)
    again = faults.run(extension_db.dsn(), force=False)
    assert again.outcome == "unchanged"
    faults.guarantee_holds(extension_db.connect("analyst"))


@pytest.mark.parametrize("who", ["superuser", "set role"])
def test_a_superuser_is_refused_unless_it_becomes_the_owner(new_db: Make, who: str) -> None:
    db = new_db()
    if who == "set role":
        db.admin.execute("SET ROLE steward")
        db.admin.execute("CREATE EXTENSION pganon")
        assert {row[2] for row in described(db.admin)["functions"]} == {"steward"}
        return
    with pytest.raises(psycopg.Error, match="rights of a superuser") as caught:
        db.admin.execute("CREATE EXTENSION pganon")
    assert caught.value.sqlstate == "PA122"
    assert "pg_restore --role=OWNER" in (caught.value.diag.message_hint or "")
    install.init(db.connect())
    for statement in (UNPACKAGED, "CREATE EXTENSION pganon"):
        with pytest.raises(psycopg.Error) as caught:
            db.admin.execute(statement.encode())
        assert caught.value.sqlstate == "PA122"


def test_a_role_without_create_is_refused(new_db: Make) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        new_db().connect("analyst").execute("CREATE EXTENSION pganon")


def test_another_role_cannot_take_the_name(new_db: Make) -> None:
    db = new_db()
    other = db.connect("source_owner")
    with pytest.raises(psycopg.Error, match="not installed") as caught:
        other.execute(UNPACKAGED.encode())
    assert caught.value.sqlstate == "PA123"
    other.execute("CREATE SCHEMA pganon")
    with pytest.raises(psycopg.Error, match="not installed"):
        other.execute(UNPACKAGED.encode())
    other.execute("DROP SCHEMA pganon")
    install.init(db.connect())
    with pytest.raises(psycopg.Error, match='belongs to the role "steward"') as caught:
        other.execute(UNPACKAGED.encode())
    assert caught.value.sqlstate == "PA122"


def test_what_init_made_is_pointed_out(new_db: Make) -> None:
    db = new_db()
    install.init(db.connect())
    with pytest.raises(psycopg.Error, match="already") as caught:
        db.connect().execute("CREATE EXTENSION pganon")
    hint = caught.value.diag.message_hint or ""
    assert caught.value.sqlstate == "PA123"
    assert "VERSION 'unpackaged'; ALTER EXTENSION pganon UPDATE" in hint
    assert "pganon init" not in hint
    install.uninstall(db.connect())
    with pytest.raises(psycopg.Error) as caught:
        db.connect().execute("CREATE EXTENSION pganon")
    assert "pganon init first" in (caught.value.diag.message_hint or "")
    with pytest.raises(psycopg.Error, match="not installed"):
        db.connect().execute(UNPACKAGED.encode())


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO pganon_private.object_set (checksum, manifest, program_version)"
        " SELECT 'x', manifest, program_version FROM pganon_private.object_set",
        "DELETE FROM pganon_private.migration WHERE number = 1",
    ],
)
def test_another_version_is_not_adopted(new_db: Make, change: str) -> None:
    db = new_db()
    install.init(db.connect())
    db.admin.execute(change.encode())
    conn = db.connect()
    conn.execute(UNPACKAGED.encode())
    with pytest.raises(psycopg.Error, match="another version") as caught:
        conn.execute("ALTER EXTENSION pganon UPDATE")
    assert caught.value.sqlstate == "PA124"
    conn.execute("DROP EXTENSION pganon")
    assert conn.execute("SELECT count(*) FROM pganon.releases").fetchone() == (0,)


def test_default_privileges_open_nothing(new_db: Make) -> None:
    plain, db = new_db(), new_db()
    install.init(plain.connect())
    conn = db.connect()
    for kind in ("TABLES", "SCHEMAS", "FUNCTIONS", "SEQUENCES"):
        conn.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {kind} TO analyst, PUBLIC".encode())
    conn.execute("CREATE EXTENSION pganon")
    opened = "SELECT object, grantee, privilege FROM pganon.granted('{pganon,pganon_private}')"
    assert conn.execute(opened).fetchall() == plain.connect().execute(opened).fetchall()
    assert (
        conn.execute(
            "SELECT has_schema_privilege('analyst', oid, 'USAGE') FROM pg_namespace"
            " WHERE nspname LIKE 'pganon\\__%'"
        ).fetchall()
        == [(False,)] * 4
    )


@pytest.mark.parametrize("by", ["the extension", "pg_tle"])
def test_a_hostile_search_path_changes_nothing(new_db: Make, files: Path, by: str) -> None:
    """pg_tle leaves the path of the session to the script."""
    plain, db = new_db(), new_db()
    install.init(plain.connect())
    evil = db.connect("source_owner")
    evil.execute("""
        CREATE SCHEMA evil;
        GRANT USAGE ON SCHEMA evil TO PUBLIC;
        CREATE FUNCTION evil.note() RETURNS text LANGUAGE plpgsql AS
            $$ BEGIN CREATE TABLE IF NOT EXISTS public.caught (); RETURN current_user; END $$;
        CREATE FUNCTION evil.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql
            AS 'SELECT evil.note()';
        CREATE FUNCTION evil.nullif(text, text) RETURNS text LANGUAGE sql AS 'SELECT evil.note()';
        CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql
            AS 'SELECT evil.note()';
        CREATE FUNCTION evil.same(name, name) RETURNS boolean LANGUAGE sql
            AS 'SELECT evil.note() IS NULL';
        CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.same);
        CREATE TYPE evil.text AS (a integer);
        CREATE TABLE evil.pg_namespace (nspname name);
    """)
    with psycopg.connect(db.dsn(), autocommit=True) as conn:
        conn.execute("SET search_path = evil, public, pg_catalog")
        if by == "pg_tle":
            conn.execute((files / "pg_tle.sql").read_text("utf-8").split("$pgtle$")[1].encode())
        else:
            conn.execute("CREATE EXTENSION pganon")
    assert described(db.admin) == described(plain.admin)
    assert db.admin.execute("SELECT to_regclass('public.caught')").fetchone() == (None,)


# -- upgrades -----------------------------------------------------------------------------------


def _newer(monkeypatch: pytest.MonkeyPatch, extra: bytes = b"") -> None:
    """A program of the next version: a migration more, a function more, a view less."""
    known, kept = sqlfiles.migrations(), sqlfiles.object_set()
    text = b"CREATE TABLE pganon_private.extra (a bigint GENERATED ALWAYS AS IDENTITY);" + extra
    migration = sqlfiles.Migration(len(known) + 1, "9999_create_extra.sql", text)
    function = sqlfiles.SqlObject(
        "functions/guard/extra.sql",
        b"CREATE FUNCTION pganon.extra(a text) RETURNS text LANGUAGE sql RETURN a || '$$';",
    )
    objects = tuple(item for item in kept.objects if item.name != "ledger")
    changed = replace(kept, objects=(*objects, function))
    monkeypatch.setattr(sqlfiles, "migrations", lambda: (*known, migration))
    monkeypatch.setattr(sqlfiles, "object_set", lambda: changed)
    monkeypatch.setattr(state, "program_version", lambda: NEWER)


@pytest.mark.slow
def test_upgrade_is_an_update_of_the_extension(
    extension_db: Database, new_db: Make, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults.published(extension_db)
    _newer(monkeypatch)
    with pytest.raises(InstallError) as caught:
        install.init(extension_db.connect())
    assert caught.value.code == "outdated"
    before = described(extension_db.admin)
    with pytest.raises(InstallError, match=rf"no way from 0.1.0 to {NEWER}") as caught:
        install.upgrade(extension_db.connect())
    assert caught.value.code == "extension_files"
    assert described(extension_db.admin) == before
    scripts.build(files, NEWER)
    extension.offer(extension_db, files)
    done = install.upgrade(extension_db.connect())
    assert list(done.migrations) == ["9999_create_extra.sql"]
    assert done.objects == len(sqlfiles.object_set().objects)
    assert not install.upgrade(extension_db.connect()).changed
    fresh = new_db()
    fresh.connect().execute("CREATE EXTENSION pganon")
    found, expected = described(extension_db.admin), described(fresh.admin)
    for kind in expected:
        if kind in ("functions", "schemas", "objects"):
            assert found[kind] == expected[kind], kind
    assert ("table pganon_private.extra", True) in members(extension_db.admin)
    own = [item for item in members(extension_db.admin) if "_private" in item[0]]
    assert own == [item for item in members(fresh.admin) if "_private" in item[0]]
    faults.guarantee_holds(extension_db.connect("analyst"))


def test_a_server_without_any_files(
    extension_db: Database, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (files / "extension").iterdir():
        path.unlink()
    extension.offer(extension_db, files)
    assert not install.upgrade(extension_db.connect()).changed
    _newer(monkeypatch)
    with pytest.raises(InstallError) as caught:
        install.upgrade(extension_db.connect())
    assert caught.value.code == "extension_files"


def test_files_of_the_same_version_with_another_content(
    extension_db: Database, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program under development, or files that somebody changed."""
    _newer(monkeypatch)
    monkeypatch.setattr(state, "program_version", lambda: "0.1.0")
    with pytest.raises(InstallError) as caught:
        install.upgrade(extension_db.connect())
    assert caught.value.code == "extension_files"
    monkeypatch.undo()
    scripts.build(files, NEWER)
    extension.offer(extension_db, files)
    _newer(monkeypatch)
    with pytest.raises(InstallError, match=r"another 0\.2\.0 than this program") as caught:
        install.upgrade(extension_db.connect())
    assert caught.value.code == "extension_files"
    assert extension_db.admin.execute("SELECT extversion FROM pg_extension").fetchall()[-1] == (
        "0.1.0",
    )


def test_a_failed_update_leaves_everything_as_it_was(
    extension_db: Database, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = described(extension_db.admin)
    _newer(monkeypatch, b"SELECT 1 / 0;")
    scripts.build(files, NEWER)
    extension.offer(extension_db, files)
    with pytest.raises(InstallError, match="division by zero"):
        install.upgrade(extension_db.connect())
    assert described(extension_db.admin) == before


def test_an_update_keeps_what_depends_on_pganon_or_names_it(
    extension_db: Database, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn = extension_db.connect()
    conn.execute("CREATE SCHEMA mine")
    conn.execute("CREATE VIEW mine.v AS SELECT release FROM pganon.releases")
    conn.execute("CREATE VIEW mine.gone AS TABLE pganon.ledger")
    _newer(monkeypatch)
    scripts.build(files, NEWER)
    extension.offer(extension_db, files)
    done = install.upgrade(extension_db.connect())
    assert done.dropped == ("view mine.gone depends on view pganon.ledger",)
    assert extension_db.connect().execute("TABLE mine.v").fetchall() == []


def test_a_superuser_does_not_update(
    extension_db: Database, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New functions would be the superuser's."""
    _newer(monkeypatch)
    scripts.build(files, NEWER)
    extension.offer(extension_db, files)
    with pytest.raises(psycopg.Error) as caught:
        extension_db.admin.execute("ALTER EXTENSION pganon UPDATE")
    assert caught.value.sqlstate == "PA122"


# -- the way out --------------------------------------------------------------------------------


@pytest.mark.slow
def test_uninstall_asks_for_detach(extension_db: Database) -> None:
    faults.published(extension_db)
    for purge in (False, True):
        with pytest.raises(InstallError) as caught:
            install.uninstall(extension_db.connect(), purge=purge)
        assert caught.value.code == "extension"
        assert "pganon extension detach" in (caught.value.hint or "")
    at = ("--dsn", extension_db.dsn())
    done = pganon("extension", "detach", *at)
    assert done.err == ""
    assert done.out == (f"pganon in the database {extension_db.name} is no extension any more\n")
    again = pganon("extension", "detach", "--json", *at).json
    assert (again["action"], again["changed"]) == ("detach", False)
    assert install.uninstall(extension_db.connect()).changed
    faults.guarantee_holds(extension_db.connect("analyst"))
    assert install.init(extension_db.connect()).changed


def test_detach_without_installation(new_db: Make) -> None:
    done = pganon("extension", "detach", "--json", "--dsn", new_db().dsn())
    assert done.json["error"]["code"] == "missing"


def test_tables_of_releases_stop_drop_extension(extension_db: Database) -> None:
    faults.published(extension_db)
    conn = extension_db.connect()
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        conn.execute("DROP EXTENSION pganon")
    assert pganon("drop", "patients", "--yes", "--dsn", extension_db.dsn()).code == 0
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        conn.execute("DROP EXTENSION pganon")


def test_drop_extension_where_nothing_was_released(extension_db: Database) -> None:
    extension_db.connect().execute("DROP EXTENSION pganon")
    assert install.init(extension_db.connect()).changed
