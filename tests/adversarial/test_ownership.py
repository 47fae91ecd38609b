"""Attack: objects of one role in pganon's schemas, whose code runs as who touches them.

SET ROLE keeps nobody from RESET ROLE: a trigger or view of a role that may only create schemas
would make that role superuser as soon as a superuser runs a command.
"""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from pganon import install
from pganon.errors import InstallError
from pganon.install import access
from pganon.publish import listing
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.slow

ATTACKER = "source_owner"

# Whatever runs it gives its rights away. Both languages, so that inlining makes no difference.
EVIL = f"""
    CREATE SCHEMA evil;
    GRANT USAGE ON SCHEMA evil TO PUBLIC;
    CREATE FUNCTION evil.rise() RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO evil.victim VALUES (session_user);
        BEGIN
            EXECUTE 'RESET ROLE';
            EXECUTE 'ALTER ROLE {ATTACKER} SUPERUSER';
        EXCEPTION WHEN others THEN
            NULL;
        END;
        RETURN '';
    END $$;
    CREATE TABLE evil.victim (name text);
    GRANT ALL ON evil.victim TO PUBLIC;
    CREATE FUNCTION evil.on_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM evil.rise();
        RETURN NEW;
    END $$;
"""

TRAPS = {
    "trigger": """
        CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON pganon_private.object_set
            FOR EACH STATEMENT EXECUTE FUNCTION evil.on_change();
        CREATE TRIGGER t BEFORE INSERT ON pganon_private.ledger
            FOR EACH STATEMENT EXECUTE FUNCTION evil.on_change();
        CREATE TRIGGER t BEFORE INSERT OR DELETE ON pganon_private.activity
            FOR EACH STATEMENT EXECUTE FUNCTION evil.on_change();
    """,
    "view in place of a table": """
        ALTER TABLE pganon_private.object_set RENAME TO hidden;
        CREATE VIEW pganon_private.object_set AS
            SELECT h.number, h.checksum, h.manifest, h.applied_at,
                h.program_version || evil.rise() AS program_version
            FROM pganon_private.hidden AS h;
    """,
    "list of releases": """
        CREATE OR REPLACE VIEW pganon.releases AS
            SELECT 'r'::text AS release, 1 AS version, evil.rise() AS method,
                ''::text AS guarantee, now() AS published_at;
        GRANT SELECT ON pganon.releases TO PUBLIC;
    """,
    "list of releases by a function of the server": """
        CREATE OR REPLACE VIEW pganon.releases AS
            SELECT 'r'::text AS release, 1 AS version,
                query_to_xml('SELECT evil.rise()', true, true, '')::text AS method,
                ''::text AS guarantee, now() AS published_at;
        GRANT SELECT ON pganon.releases TO PUBLIC;
    """,
    "measuring functions": """
        CREATE OR REPLACE FUNCTION pganon.measurable(rel regclass, qi text[],
            sensitive text[] DEFAULT '{}', individual text DEFAULT NULL) RETURNS text
            LANGUAGE sql AS 'SELECT evil.rise()';
    """,
}


def commands(folder: Path) -> list[tuple[str, ...]]:
    file = folder / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    return [
        ("init",),
        ("upgrade",),
        ("releases",),
        ("show", "patients"),
        ("verify", "patients"),
        ("export", "patients", "-o", str(folder / "out.csv")),
        ("clean",),
        ("plan", str(file)),
        ("run", str(file)),
        ("rollback", "patients"),
        ("drop", "patients", "--yes"),
        ("drop", "patients"),
        ("run", str(file), "--dry-run", "--costs"),
        ("run", str(file), "--force"),
        ("history", "patients"),
        ("diff", "patients"),
        ("readers", "patients"),
        ("readers", "patients", "--add", "analyst"),
        ("assess", "public.patient", "--qi", "age", "--sensitive", "disease"),
        ("uninstall",),
    ]


def _squat(db: Database, trap: str) -> None:
    """pganon as the attacker installed it, in a database where others are to use it."""
    install.init(db.connect(ATTACKER))
    conn = psycopg.connect(db.dsn(ATTACKER), autocommit=True)
    conn.execute(faults.SOURCE.encode())
    conn.execute(EVIL.encode())
    conn.execute(TRAPS[trap].encode())
    conn.close()


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("named", [False, True])
def test_a_superuser_is_not_a_ladder(
    bare_db: Database, tmp_path: Path, trap: str, named: bool
) -> None:
    """No command that a superuser runs executes what the owner of the schemas put there."""
    _squat(bare_db, trap)
    for command in commands(tmp_path):
        given = ("--owner", ATTACKER) if named else ()
        done = pganon(*command, *given, "--dsn", bare_db.admin_dsn, "--json")
        if command[0] != "assess":
            assert done.code == 3, command
            assert done.json["error"]["code"] == "superuser", command
            assert f'connect as "{ATTACKER}"' in done.json["error"]["hint"]
        found = bare_db.admin.execute(
            "SELECT rolsuper, (SELECT count(*) FROM evil.victim) FROM pg_roles WHERE rolname = %s",
            [ATTACKER],
        )
        assert found.fetchone() == (False, 0), command


@pytest.mark.parametrize("trap", TRAPS)
def test_nobody_else_runs_code_of_the_owner_unnamed(
    bare_db: Database, tmp_path: Path, trap: str
) -> None:
    """Neither a reader nor another steward, who would lose what they may read."""
    _squat(bare_db, trap)
    bare_db.admin.execute("GRANT SELECT ON public.patient TO steward, analyst")
    for role in ("steward", "analyst"):
        for command in commands(tmp_path):
            pganon(*command, "--dsn", bare_db.dsn(role))
            victims = bare_db.admin.execute("SELECT count(*) FROM evil.victim")
            assert victims.fetchone() == (0,), (role, command)


def test_assess_without_functions_of_others(db: Database) -> None:
    """Who is not the owner measures with functions made for the session, and gets the same."""
    db.source(faults.SOURCE)
    call = ("assess", "public.patient", "--qi", "age,sex", "--sensitive", "disease", "--json")
    wanted = pganon(*call, "--dsn", db.dsn())
    assert wanted.code == 0
    for dsn in (db.dsn("source_owner"), db.admin_dsn):
        found = pganon(*call, "--trust", "source_owner", "--dsn", dsn)
        assert found.json == wanted.json
    left = db.admin.execute(
        "SELECT count(*) FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^pg_temp'"
    )
    assert left.fetchone() == (0,)
    db.admin.execute(f"REVOKE TEMPORARY ON DATABASE {db.name} FROM PUBLIC".encode())
    refused = pganon(*call, "--dsn", db.dsn("source_owner"))
    assert (refused.code, refused.json["error"]["code"]) == (3, "not_owner")
    assert pganon(*call, "--dsn", db.dsn("source_owner"), "--owner", "steward").json == wanted.json


FOREIGN = {
    "trigger of another role": """
        CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER t BEFORE INSERT ON pganon_private.ledger EXECUTE FUNCTION public.f()
    """,
    "trigger function of the server": """
        CREATE TRIGGER t BEFORE UPDATE ON pganon_private.release FOR EACH ROW
            EXECUTE FUNCTION suppress_redundant_updates_trigger()
    """,
    "rule": """
        CREATE RULE r AS ON INSERT TO pganon_private.activity DO ALSO SELECT 1
    """,
    "policy": "ALTER TABLE pganon_private.version ENABLE ROW LEVEL SECURITY",
    "table of another role": "CREATE TABLE pganon_work.t (a int)",
    "view in a private schema": """
        CREATE VIEW pganon_private.v AS SELECT 1 AS a;
        ALTER VIEW pganon_private.v OWNER TO steward
    """,
    "materialized view": """
        CREATE MATERIALIZED VIEW pganon.v AS SELECT 1 AS a;
        ALTER MATERIALIZED VIEW pganon.v OWNER TO steward
    """,
    "child": """
        CREATE TABLE public.child () INHERITS (pganon_private.ledger);
    """,
    "function": "CREATE FUNCTION pganon.seal(rel text) RETURNS void LANGUAGE sql AS ''",
    "type": "CREATE TYPE pganon_private.t AS ENUM ('a')",
    "reference": """
        CREATE TABLE public.other (name text REFERENCES pganon_private.release ON DELETE CASCADE)
    """,
    "default that calls": """
        CREATE FUNCTION public.g() RETURNS text LANGUAGE sql AS 'SELECT ''''';
        ALTER TABLE pganon_private.release ALTER COLUMN policy_source SET DEFAULT public.g()
    """,
    "check that calls": """
        CREATE FUNCTION public.g(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        ALTER TABLE pganon_private.release ADD CHECK (public.g(name))
    """,
    "index that calls": """
        CREATE FUNCTION public.g(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';
        CREATE INDEX ON pganon_private.release (public.g(name))
    """,
    "operator of an index": """
        CREATE FUNCTION public.g(text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';
        CREATE OPERATOR public.!!! (FUNCTION = public.g, RIGHTARG = text);
        CREATE INDEX ON pganon_private.release (name) WHERE (OPERATOR(public.!!!) 'a'::text)
    """,
    "statistics that call": """
        CREATE FUNCTION public.g(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';
        CREATE STATISTICS pganon_private.s ON (public.g(name)), policy_source
            FROM pganon_private.release
    """,
    "condition of a trigger": """
        CREATE FUNCTION public.g(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        CREATE TRIGGER t AFTER UPDATE ON pganon_private.activity FOR EACH ROW
            WHEN (public.g(NEW.release)) EXECUTE FUNCTION pganon_private.refuse_change()
    """,
    "column of another role's type": """
        CREATE FUNCTION public.g(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        CREATE DOMAIN public.d AS text CHECK (public.g(VALUE));
        ALTER TABLE pganon_private.release ADD COLUMN note public.d
    """,
    "view that reads another role's": """
        CREATE TABLE public.t (a int);
        GRANT SELECT ON public.t TO steward;
        CREATE VIEW pganon.v AS SELECT a FROM public.t;
        ALTER VIEW pganon.v OWNER TO steward
    """,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_objects_of_others_are_not_touched(db: Database, tmp_path: Path, what: str) -> None:
    """Neither the owner nor a reader works beside objects of third roles; each is named."""
    db.admin.execute(FOREIGN[what].encode())
    for role in ("steward", "analyst"):
        done = pganon("releases", "--dsn", db.dsn(role), "--json")
        assert (done.code, done.json["error"]["code"]) == (3, "foreign_object"), role
        assert "pganon" in done.json["error"]["message"]
    for refused in (install.init, install.upgrade, install.uninstall):
        with pytest.raises(InstallError) as caught:
            refused(db.connect())
        assert caught.value.code == "foreign_object"


def test_a_run_leaves_no_object_that_counts_as_foreign(db: Database) -> None:
    db.source(faults.SOURCE)
    seen: list[str] = []
    analyst = db.connect("analyst")

    def look(step: str) -> None:
        seen.append(step)
        access.check_objects(analyst, "steward")

    faults.run(db.dsn(), before=look)
    assert len(seen) > 20


def test_a_squatted_schema_is_not_claimed(bare_db: Database) -> None:
    """Schemas beside pganon's own ones must be of the same role."""
    install.init(bare_db.connect())
    install.uninstall(bare_db.connect())
    bare_db.admin.execute(f"CREATE SCHEMA pganon AUTHORIZATION {ATTACKER}".encode())
    for refused in (install.init, install.uninstall):
        with pytest.raises(InstallError) as caught:
            refused(bare_db.connect())
        assert caught.value.code == "foreign_schema"


def test_the_owner_must_be_the_one_that_is_named(db: Database, monkeypatch) -> None:
    wrong = pganon("clean", "--owner", "analyst", "--dsn", db.dsn("source_owner"), "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (3, "other_owner")
    assert pganon("--owner", "steward", "clean", "--dsn", db.dsn()).code == 0
    wrong = pganon("clean", "--owner", "analyst", "--dsn", db.dsn(), "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (3, "other_owner")
    stranger = pganon("clean", "--owner", "steward", "--dsn", db.dsn("source_owner"), "--json")
    assert (stranger.code, stranger.json["error"]["code"]) == (3, "not_owner")
    monkeypatch.setenv(access.VARIABLE, "analyst")
    wrong = pganon("clean", "--dsn", db.dsn("source_owner"), "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (3, "other_owner")


def test_who_can_become_superuser_is_one(db: Database) -> None:
    """A member of a superuser has nothing to lose that a superuser has not."""
    name = f"member_{db.name}"
    db.admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pganon-test'".encode())
    try:
        boss = db.admin.execute("SELECT current_user::text").fetchone()
        assert boss is not None
        db.admin.execute(f'GRANT "{boss[0]}", steward TO {name}'.encode())
        done = pganon("clean", "--owner", "steward", "--dsn", db.dsn(name), "--json")
        assert (done.code, done.json["error"]["code"]) == (3, "superuser")
    finally:
        db.close()
        with db.server.admin() as admin:
            admin.execute(f"DROP ROLE {name}".encode())


@pytest.mark.parametrize(
    "body",
    [
        "SELECT class_id, evil.rise() AS age FROM pganon_data.r{run}_classes",
        "SELECT class_id, query_to_xml('SELECT evil.rise()', true, true, '')::text AS age"
        " FROM pganon_data.r{run}_classes",
        "SELECT class_id, (SELECT name FROM evil.victim LIMIT 1) AS age"
        " FROM pganon_data.r{run}_classes",
    ],
)
def test_export_runs_no_code_of_the_steward(db: Database, tmp_path: Path, body: str) -> None:
    """A steward who turns a published view into a trap for its readers."""
    db.source(faults.SOURCE)
    run = faults.run(db.dsn()).run_id
    db.admin.execute(EVIL.encode())
    db.admin.execute("GRANT USAGE ON SCHEMA evil TO steward")
    steward = db.connect()
    steward.execute("DROP VIEW published.patients")
    steward.execute(f"CREATE VIEW published.patients AS {body.format(run=run)}".encode())
    steward.execute("GRANT SELECT ON published.patients TO analyst")
    out = tmp_path / "out.csv"
    done = pganon("export", "patients", "-o", str(out), "--dsn", db.dsn("analyst"), "--json")
    assert done.code != 0
    assert done.json["error"]["code"] in ("foreign_view", "unknown_release")
    assert not out.exists()
    assert db.admin.execute("SELECT count(*) FROM evil.victim").fetchone() == (0,)


@pytest.mark.parametrize(
    "trap",
    [
        "CREATE INDEX ON pganon_data.r{run}_classes (evil.constant(1))",
        "CREATE INDEX ON pganon_data.r{run}_classes (class_id) WHERE evil.constant(1) = 1",
        "CREATE STATISTICS pganon_data.s ON (evil.constant(1) + class_id), class_id"
        " FROM pganon_data.r{run}_classes",
        "ALTER TABLE pganon_data.r{run}_classes ADD CHECK (evil.constant(1) = 1)",
        "CREATE TABLE steward.child () INHERITS (pganon_data.r{run}_classes)",
    ],
)
def test_planning_runs_no_code_of_the_steward(db: Database, tmp_path: Path, trap: str) -> None:
    """Constant expressions of indexes and checks are computed when a query is planned."""
    db.source(faults.SOURCE)
    run = faults.run(db.dsn()).run_id
    db.admin.execute(EVIL.encode())
    db.admin.execute("GRANT USAGE ON SCHEMA evil TO steward")
    steward = db.connect()
    steward.execute("CREATE SCHEMA steward")
    db.admin.execute("""
        CREATE FUNCTION evil.constant(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
        BEGIN
            IF session_user = 'analyst' THEN
                PERFORM evil.rise();
            END IF;
            RETURN $1;
        END $$;
    """)
    steward.execute(trap.format(run=run).encode())
    out = tmp_path / "out.csv"
    done = pganon("export", "patients", "-o", str(out), "--dsn", db.dsn("analyst"), "--json")
    assert done.code == 3
    assert done.json["error"]["code"] in ("foreign_view", "foreign_object")
    measured = pganon(
        "assess", "published.patients", "--qi", "sex", "--dsn", db.dsn("analyst"), "--json"
    )
    assert measured.json["error"]["code"] == "untrusted_code"
    assert not out.exists()
    assert db.admin.execute("SELECT count(*) FROM evil.victim").fetchone() == (0,)


def test_a_reader_lists_and_exports_without_naming_anybody(db: Database, tmp_path: Path) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    assert [r.release for r in listing.releases(db.connect("analyst"))] == ["patients"]
    out = tmp_path / "out.csv"
    assert pganon("export", "patients", "-o", str(out), "--dsn", db.dsn("analyst")).code == 0
    assert len(out.read_text().splitlines()) == 25
