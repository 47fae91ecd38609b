"""Who asks and who decides is the role in whose frame it is done, not the one whose session it is.

PostgreSQL runs code of others inside a session: index expressions under ANALYZE and REINDEX,
materialized views that are refreshed, functions that run as their owner. `session_user` is the
victim there, often a superuser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from pganon.applied.check import unchecked
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import OFTEN, Connection, Database, Server, start_cluster

BY = "source_owner"
APPROVAL = {"readers": ["analyst"], "approval": {"by": [BY]}}
PLANTED = """
    CREATE TABLE evil.told (who text, login text, state text);
    GRANT ALL ON evil.told TO PUBLIC;
    CREATE FUNCTION evil.act() RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE statement text;
    BEGIN
        FOREACH statement IN ARRAY ARRAY[
            'SELECT pganon.approve_release(1, ''x'')',
            'SELECT pganon.act(''approve'', p_request => 1, p_reason => ''x'')',
            'INSERT INTO pganon.action (actor, kind, request, reason)
                VALUES (session_user, ''approve'', 1, ''x'')',
            'INSERT INTO pganon.action (actor, kind, request, reason)
                VALUES (''source_owner'', ''approve'', 1, ''x'')',
            'SELECT pganon.reject_release(1, ''x'')',
            'SELECT pganon.cancel_request(2)',
            'INSERT INTO pganon.action (actor, kind, request) VALUES (session_user, ''cancel'', 2)',
            'UPDATE pganon.action SET actor = session_user',
            'SELECT pganon.request_release(''patients'')'
        ] LOOP
            BEGIN
                EXECUTE statement;
                INSERT INTO evil.told VALUES (current_user, session_user, 'done: ' || statement);
            EXCEPTION WHEN OTHERS THEN
                INSERT INTO evil.told VALUES (current_user, session_user, SQLSTATE);
            END;
        END LOOP;
        RETURN 1;
    END $$;
    CREATE FUNCTION evil.constant(integer) RETURNS integer IMMUTABLE LANGUAGE sql
        AS 'SELECT evil.act()';
    CREATE FUNCTION evil.as_owner() RETURNS integer SECURITY DEFINER LANGUAGE sql
        AS 'SELECT evil.act()';
    CREATE TABLE evil.bait AS SELECT 1 AS a;
    CREATE MATERIALIZED VIEW evil.made AS SELECT evil.act() WITH NO DATA;
"""


@dataclass
class Attacked:
    """Request 1 waits for approval, request 2 to be served; `mallory` may create one schema."""

    db: Database
    mallory: str

    def planted(self, text: str = PLANTED) -> Connection:
        conn = self.db.connect(self.mallory)
        conn.execute(text.encode())
        return conn

    def unharmed(self, login: str, who: str | None = None) -> None:
        """All was tried, in a session of that login as `mallory` or `who`, and nothing was done."""
        told = self.db.admin.execute("SELECT who, login, state FROM evil.told").fetchall()
        assert len(told) >= 9
        assert {row[:2] for row in told} == {(who or self.mallory, login)}
        assert [row[2] for row in told if not row[2].startswith(("PA", "44", "42"))] == []
        assert queue.states(self.db) == ["awaiting_approval", "waiting"]


@pytest.fixture
def attacked(db: Database) -> Iterator[Attacked]:
    with _attacked(db) as made:
        yield made


@contextmanager
def _attacked(db: Database) -> Iterator[Attacked]:
    queue.applied(db, publish=APPROVAL)
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    queue.ask(db.connect("analyst"), k=9)
    with queue.role(db, "mallory") as (name,):
        db.admin.execute(f"CREATE SCHEMA evil AUTHORIZATION {name}".encode())
        db.admin.execute("GRANT USAGE ON SCHEMA evil TO PUBLIC")
        yield Attacked(db, name)
        db.admin.execute("DROP SCHEMA evil CASCADE")


def _superuser(db: Database) -> Connection:
    return db.admin


def _approver(db: Database) -> Connection:
    return db.connect(BY)


FRAMES: dict[str, tuple[str, Callable[[Database], Connection], str]] = {
    "ANALYZE": ("CREATE INDEX ON evil.bait (evil.constant(a))", _superuser, "ANALYZE evil.bait"),
    "REINDEX": (
        "CREATE INDEX ON evil.bait (evil.constant(a))",
        _superuser,
        "REINDEX TABLE evil.bait",
    ),
    "REFRESH": ("SELECT 1", _superuser, "REFRESH MATERIALIZED VIEW evil.made"),
    "definer": ("SELECT 1", _approver, "SELECT evil.as_owner()"),
    "definer, superuser": ("SELECT 1", _superuser, "SELECT evil.as_owner()"),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_code_of_others_inside_a_session(attacked: Attacked, frame: str) -> None:
    plant, victim, triggers = FRAMES[frame]
    mallory = attacked.planted()
    mallory.execute("TRUNCATE evil.told")
    mallory.execute(plant.encode())
    mallory.execute("TRUNCATE evil.told")
    conn = victim(attacked.db)
    row = conn.execute("SELECT session_user::text").fetchone()
    assert row is not None
    conn.execute(triggers.encode())
    attacked.unharmed(row[0])


@pytest.fixture
def vacuumed(server: Server) -> Iterator[Attacked]:
    """On a server of its own, with autovacuum."""
    if server.cluster is None:
        pytest.skip("there are no binaries of the server")
    own = start_cluster(server.cluster.bin_dir, *OFTEN)
    db = Database(own, own.new_name())
    try:
        own.create_database(db.name, own.template())
        with _attacked(db) as made:
            yield made
    finally:
        db.disconnect()
        own.close()


@pytest.mark.slow
def test_code_of_others_in_autovacuum(vacuumed: Attacked) -> None:
    """It analyzes the table in a session of the bootstrap superuser, whom nobody logged in as."""
    mallory = vacuumed.planted()
    mallory.execute("CREATE INDEX ON evil.bait (evil.constant(a))")
    mallory.execute("INSERT INTO evil.bait SELECT g FROM generate_series(1, 9) AS g")
    mallory.execute("TRUNCATE evil.told")
    mallory.close()  # A session that ends reports what it counted.
    admin = vacuumed.db.admin
    told = "SELECT count(*) >= 9 FROM evil.told"
    faults.wait_until(lambda: admin.execute(told).fetchone() == (True,))
    row = admin.execute("SELECT rolname::text FROM pg_roles WHERE oid = 10").fetchone()
    assert row is not None
    vacuumed.unharmed(row[0])


REFERRING = """
    CREATE TYPE evil.number AS (v integer);
    CREATE FUNCTION evil.to_integer(evil.number) RETURNS integer LANGUAGE sql
        AS 'SELECT evil.act()';
    CREATE CAST (evil.number AS integer) WITH FUNCTION evil.to_integer(evil.number) AS IMPLICIT;
    CREATE TABLE evil.child (a evil.number REFERENCES public.parent);
    CREATE FUNCTION evil.gone() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN PERFORM evil.act(); RETURN OLD; END $$;
    CREATE TABLE evil.heir (a integer REFERENCES public.parent ON DELETE CASCADE);
    CREATE TRIGGER gone BEFORE DELETE ON evil.heir FOR EACH ROW EXECUTE FUNCTION evil.gone();
    INSERT INTO evil.heir VALUES (2);
"""


def test_code_of_others_in_a_check_of_a_foreign_key(attacked: Attacked) -> None:
    """A cast runs as the approver, who owns what is referred to; a trigger in his own session."""
    approver = attacked.db.connect(BY)
    approver.execute("CREATE TABLE public.parent AS SELECT g AS a FROM generate_series(1, 2) AS g")
    approver.execute("ALTER TABLE public.parent ADD PRIMARY KEY (a)")
    approver.execute(f"GRANT REFERENCES ON public.parent TO {attacked.mallory}".encode())
    mallory = attacked.planted()
    mallory.execute(REFERRING.encode())
    mallory.execute("INSERT INTO evil.child VALUES (ROW(1))")
    attacked.unharmed(attacked.mallory, who=BY)
    mallory.execute("TRUNCATE evil.told")
    approver.execute("DELETE FROM public.parent WHERE a = 2")
    attacked.unharmed(BY)


def test_a_row_has_the_name_of_who_inserts(attacked: Attacked) -> None:
    """Attack: the view is written to directly, under another name, or a row of others is read."""
    conn = attacked.planted()
    insert = "INSERT INTO pganon.action (actor, kind, request, reason) VALUES (%s, %s, 1, 'x')"
    for actor, kind in ((BY, "approve"), ("steward", "cancel"), ("postgres", "reject")):
        with pytest.raises(psycopg.errors.WithCheckOptionViolation):
            conn.execute(insert.encode(), [actor, kind])
    for text in (
        "UPDATE pganon.action SET actor = current_user",
        "INSERT INTO pganon.action (actor, kind, result) VALUES (current_user, 'cancel', 1)",
        "SELECT FROM pganon_private.action",
        "TRUNCATE pganon.action",
        "SELECT pganon.perform(NULL)",
        "CREATE TRIGGER t AFTER INSERT ON evil.told EXECUTE FUNCTION pganon_private.perform()",
    ):
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.WrongObjectType)):
            conn.execute(text.encode())
    other = attacked.db.connect("analyst")
    other.execute(
        "INSERT INTO pganon.action (actor, kind, release) VALUES (current_user, 'request', %s)",
        ["patients"],
    )
    assert conn.execute("SELECT * FROM pganon.action").fetchall() == []
    leak = "CREATE FUNCTION evil.leak(name) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS"
    conn.execute(f"{leak} $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$".encode())
    seen: list[str] = []
    conn.execute("SET client_min_messages = notice")
    conn.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
    conn.execute("SELECT * FROM pganon.action WHERE evil.leak(actor)")
    assert seen == []
    assert conn.execute("DELETE FROM pganon.action").rowcount == 0
    left = "SELECT count(*) FROM pganon_private.action"
    assert attacked.db.admin.execute(left).fetchone() == (1,)
    queue.ask(other, k=10)
    assert attacked.db.admin.execute(left).fetchone() == (0,), "what nobody read is taken away"


def test_decisions_are_those_of_a_login(attacked: Attacked) -> None:
    """Neither by SET ROLE, nor by a superuser, who has the rights of every role."""
    db = attacked.db
    db.admin.execute(f"GRANT {BY} TO {attacked.mallory}".encode())
    conn = db.connect(attacked.mallory)
    conn.execute(f"SET ROLE {BY}".encode())
    approve = "SELECT pganon.approve_release(1, 'x')"
    with pytest.raises(psycopg.Error, match="logged in") as caught:
        conn.execute(approve.encode())
    assert caught.value.sqlstate == "PA411"
    with pytest.raises(psycopg.errors.WithCheckOptionViolation):
        conn.execute(
            "INSERT INTO pganon.action (actor, kind, request, reason)"
            " VALUES (current_user, 'approve', 1, 'x')"
        )
    with pytest.raises(psycopg.Error, match="may decide") as caught:
        db.admin.execute(approve.encode())
    assert caught.value.sqlstate == "PA411"
    conn.execute("RESET ROLE")
    conn.execute(approve.encode())
    assert queue.state(db, 1) == ("approved", None)
    row = db.admin.execute("SELECT login, role FROM pganon_private.approval").fetchone()
    assert row == (attacked.mallory, BY)


def test_a_membership_that_grants_nothing(attacked: Attacked) -> None:
    """Neither to decide, nor to ask, nor to pass for a worker."""
    db = attacked.db
    if db.version < 16:
        pytest.skip("PostgreSQL 16 and later: before, every membership can be used by SET ROLE")
    none = "WITH INHERIT FALSE, SET FALSE"
    for role in (BY, "analyst", "steward"):
        db.admin.execute(f"GRANT {role} TO {attacked.mallory} {none}".encode())
    conn = db.connect(attacked.mallory)
    for text in ("approve_release(1, 'x')", "request_release('patients')", "cancel_request(2)"):
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(f"SELECT pganon.{text}".encode())
        assert caught.value.sqlstate in ("PA401", "PA411"), text
    assert conn.execute("SELECT * FROM pganon.requests").fetchall() == []
    asked = ("clean", "--dsn", db.dsn(attacked.mallory), "--json")
    assert "this is for the steward" in pganon(*asked).json["error"]["hint"]
    db.owner().execute(
        "INSERT INTO pganon_private.worker (lock_key, kind, name) VALUES (77, 'worker', 'x')"
    )
    alive = "SELECT alive FROM pganon.worker"
    conn.execute("SELECT pg_advisory_lock(77)")
    assert db.owner().execute(alive.encode()).fetchone() == (False,)
    db.admin.execute(f"GRANT {BY} TO {attacked.mallory} WITH SET TRUE".encode())
    conn.execute("SELECT pganon.approve_release(1, 'x')")
    assert queue.state(db, 1) == ("approved", None)
    db.admin.execute(f"GRANT steward TO {attacked.mallory} WITH SET TRUE".encode())
    assert "name it with --owner" in pganon(*asked).json["error"]["hint"]


def test_roles_that_are_missing(db: Database) -> None:
    """Attack: whoever creates the role later, or has the name of one that was dropped."""
    db.source(faults.SOURCE)
    for changes in (
        {"publish": {"approval": {"by": ["ghost"]}}},
        {"requests": {"roles": ["analyst", "ghost"]}},
        {"publish": {"readers": ["public", "ghost"]}},
        {"trust": ["ghost"]},
    ):
        with pytest.raises(psycopg.Error, match='no role "ghost"') as caught:
            queue.apply(db, **changes)
        assert caught.value.sqlstate == "PA402"
    with queue.role(db, "named") as (name,):
        queue.apply(db, publish={"approval": {"by": [name]}}, requests={"roles": [name]})
        queue.ask(db.connect(name))
        queue.serve(db)
        assert queue.states(db) == ["awaiting_approval"]
        db.disconnect()
        db.admin.execute(f"DROP ROLE {name}; CREATE ROLE {name} LOGIN PASSWORD 'x'".encode())
        db.admin.execute(f"ALTER ROLE {name} PASSWORD 'pganon-test'".encode())
        again = db.connect(name)
        for text in ("approve_release(1, 'x')", "request_release('patients')"):
            with pytest.raises(psycopg.Error) as caught:
                again.execute(f"SELECT pganon.{text}".encode())
            assert caught.value.sqlstate in ("PA401", "PA411"), text
        assert again.execute("SELECT * FROM pganon.requests").fetchall() == []
        told = pganon("status", "--dsn", db.dsn(), "--json").json["warnings"]
        gone = f"patients: its policy names {name}, which is another role by now: apply it again"
        assert gone in told
        before = db.owner().execute("SELECT max(revision) FROM pganon_private.policy").fetchone()
        queue.apply(db, publish={"approval": {"by": [name]}}, requests={"roles": [name]})
        after = db.owner().execute("SELECT max(revision) FROM pganon_private.policy").fetchone()
        assert before is not None
        assert after == (before[0] + 1,), "the same text, and another role"
        queue.ask(again)


def test_a_renamed_role_acts_under_its_new_name(db: Database) -> None:
    queue.applied(db, requests={**queue.ASKED, "roles": ["public"]})
    with queue.role(db, "first") as (name,):
        conn = db.connect(name)
        before = queue.ask(conn, k=9)
        db.admin.execute(f"ALTER ROLE {name} RENAME TO {name}_x".encode())
        try:
            db.admin.execute(f"CREATE ROLE {name}".encode())
            asked = queue.ask(conn)
            row = db.admin.execute(
                "SELECT requester FROM pganon_private.request WHERE id = %s", [asked]
            ).fetchone()
            assert row == (f"{name}_x",)
            assert conn.execute("SELECT id FROM pganon.requests").fetchall() == [(asked,)]
            with pytest.raises(psycopg.Error, match="there is no request"):
                conn.execute("SELECT pganon.cancel_request(%s)", [before])
        finally:
            db.admin.execute(f"DROP ROLE IF EXISTS {name}".encode())
            db.admin.execute(f"ALTER ROLE {name}_x RENAME TO {name}".encode())


def test_roles_with_planted_members(db: Database) -> None:
    """Attack: an approver role that is there before `init --roles`, with a member."""
    prefix = f"q{db.name.removeprefix('pganon')}"
    with queue.role(db, "mallory") as (mallory,):
        db.admin.execute(f"CREATE ROLE {prefix}_approver".encode())
        db.admin.execute(f"GRANT {prefix}_approver TO {mallory}".encode())
        try:
            done = pganon("init", "--roles", "--prefix", prefix, "--dsn", db.admin_dsn, "--json")
            assert done.json["error"]["code"] == "role_has_members"
            assert mallory in done.json["error"]["message"]
            made = db.admin.execute(
                "SELECT count(*) FROM pg_roles WHERE rolname LIKE %s", [f"{prefix}%"]
            )
            assert made.fetchone() == (1,)
        finally:
            db.admin.execute(f"DROP ROLE {prefix}_approver".encode())


@pytest.mark.parametrize(
    "trap",
    [
        "CREATE TRIGGER evil AFTER INSERT ON pganon_private.action FOR EACH ROW"
        " EXECUTE FUNCTION steward_evil.act()",
        "ALTER TABLE pganon_private.action ALTER COLUMN reason SET DEFAULT steward_evil.text()",
        "CREATE OR REPLACE VIEW pganon.action AS SELECT id, actor, kind, release, parameters,"
        " not_before, request, steward_evil.text() AS reason, result FROM pganon_private.action",
    ],
    ids=["trigger", "default", "view"],
)
def test_an_approver_runs_no_code_of_the_steward(db: Database, trap: str) -> None:
    queue.applied(db, publish=APPROVAL)
    queue.ask(db.connect("analyst"))
    queue.serve(db)
    steward = db.owner()
    steward.execute("CREATE SCHEMA steward_evil; GRANT USAGE ON SCHEMA steward_evil TO PUBLIC")
    steward.execute(
        "CREATE FUNCTION steward_evil.text() RETURNS text LANGUAGE sql AS 'SELECT 1::text'"
    )
    steward.execute(
        "CREATE FUNCTION steward_evil.act() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$"
    )
    steward.execute(trap.encode())
    done = pganon("approve", "1", "--reason", "x", "--dsn", db.dsn(BY), "--json")
    assert done.json["error"]["code"] in ("foreign_object", "foreign_view")
    assert queue.state(db, 1) == ("awaiting_approval", None)


def test_only_one_function_runs_as_its_owner() -> None:
    """It is the trigger of actions; and none of the others decides by the session."""
    root = Path(__file__).parents[2]
    texts = {
        path.relative_to(root).as_posix(): path.read_text()
        for folder in ("sql", "migrations")
        for path in root.joinpath(folder).rglob("*.sql")
    }
    definers = {name for name, text in texts.items() if "SECURITY DEFINER" in text}
    assert definers == {"migrations/0001_create_tables.sql"}
    deciding = {
        name
        for name, text in texts.items()
        if name.startswith(("sql/functions", "sql/views"))
        and ("session_user" in text or "current_setting('role'" in text)
    }
    assert deciding == {"sql/functions/request/act.sql", "sql/views/action.sql"}


@pytest.mark.parametrize(
    ("document", "files"),
    [
        ('{"release": "x", "columns": ' + '{"a":' * 3000 + "1" + "}" * 3001, "{}"),
        ('{"release": "x", "suppression_limit": ' + "9" * 5000 + "}", "{}"),
        ('{"release": "x", "source": "t", "columns": {}}', '{"a": "", "a/b": ""}'),
    ],
    ids=["deep", "large number", "conflicting paths"],
)
def test_policies_that_nobody_can_check(db: Database, document: str, files: str) -> None:
    """They are marked, and not tried again; other policies are looked at all the same."""
    conn = db.owner()
    conn.execute("SELECT pganon.apply_policy(%s::json, %s::json)", [document, files])
    queue.applied(db)
    conn.execute('SELECT pganon.apply_policy(\'{"release": "y"}\')')
    queue.serve(db)
    assert unchecked(conn) == []
    rows = conn.execute(
        "SELECT cardinality(problems) > 0 FROM pganon_private.policy WHERE release IN ('x', 'y')"
    ).fetchall()
    assert rows == [(True,)] * 2
    for command in (("policy", "list"), ("policy", "check", "--stored"), ("status",)):
        assert pganon(*command, "--dsn", db.dsn()).code in (0, 2), command
