"""What the catalog says of tables that Citus distributes, where a catalog says so without it."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pganon.catalog.citus import check_sessions, distributed_reads, statistics_of_shard
from pganon.catalog.code import reading
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import DistributedRead, ExternalObjects
from pganon.catalog.roles import numbers
from pganon.database import set_role
from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, Interrupted, PreconditionError
from pganon.identifiers import QualifiedName
from pganon.install.installer import failure
from pganon.loading import load_policy
from pganon.publish.release_state import source_mark
from pganon.run.erasure import forget_people
from pganon.server_errors import translate
from tests.integration.history.increments.test_increments import (
    growing_policy,
    more_visits,
    run,
)
from tests.support.harness import citus, faults, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database

pytestmark = pytest.mark.primary_server_only

SOURCE = f"""
{faults.SOURCE}
CREATE TABLE public.one (id integer);
CREATE TABLE public.plain (id integer);
CREATE TABLE public.parted (id integer) PARTITION BY RANGE (id);
CREATE TABLE public.part PARTITION OF public.parted FOR VALUES FROM (0) TO (9);
CREATE VIEW public.seen AS SELECT p.id FROM public.patient AS p JOIN public.one AS o USING (id);
CREATE VIEW public.deeper AS SELECT id FROM public.seen;
CREATE VIEW public.beside AS SELECT id FROM public.one UNION ALL SELECT id FROM public.plain;
CREATE MATERIALIZED VIEW public.kept AS SELECT id FROM public.patient
"""

PLANTED = """
CREATE TABLE public.pg_dist_partition AS SELECT 'public.patient'::regclass AS logicalrelid;
CREATE TABLE public.pg_dist_shard AS
SELECT 'public.patient'::regclass AS logicalrelid, generate_series(1, 2)::bigint AS shardid
"""
OPERATORS = """
CREATE FUNCTION public.ran(name, name) RETURNS boolean LANGUAGE plpgsql
AS $$ BEGIN RAISE 'the code of % ran', current_user; END $$;
CREATE FUNCTION public.ran(bigint, bigint) RETURNS bigint LANGUAGE plpgsql
AS $$ BEGIN RAISE 'the code of % ran', current_user; END $$;
CREATE OPERATOR public.= (FUNCTION = public.ran, LEFTARG = name, RIGHTARG = name);
CREATE OPERATOR public.+ (FUNCTION = public.ran, LEFTARG = bigint, RIGHTARG = bigint)
"""


def prepare(db: Database) -> None:
    db.source(SOURCE)
    shards = {"public.patient": 4, "public.one": 1, "public.parted": 2, "public.part": 2}
    citus.pretend(db, shards)


@pytest.fixture
def conn(db: Database) -> Connection:
    prepare(db)
    return db.owner()


def names(*relations: str) -> tuple[QualifiedName, ...]:
    return tuple(QualifiedName("public", name) for name in relations)


def read(conn: Connection, *relations: str) -> DistributedRead | None:
    return next(iter(distributed_reads(conn, [names(*relations)])), None)


def test_without_citus_nothing_is_asked_or_set(db: Database) -> None:
    """Whatever users call their own relations and functions."""
    db.source(faults.SOURCE)
    owner = db.owner()
    plain = source_mark(owner, ['"public"."patient"'])
    db.source(PLANTED)
    owner.execute(PLANTED.replace("public.pg", "pg_temp.pg").encode())
    assert distributed_reads(owner, [names("patient")]) == ()
    assert source_mark(owner, ['"public"."patient"']) == plain
    check_sessions(owner)
    with reading(owner, ExternalObjects(names("patient")), (), at_once=True):
        told = owner.execute("SELECT current_setting('citus.propagate_set_commands', true)")
        assert told.fetchone() == (None,)
        assert _own_locks(owner, "ShareLock") == []
    done = faults.run(db.dsn())
    assert [text for text in done.warnings if "shard" in text] == []


def test_tables_that_a_statement_reads_in_several_pieces(db: Database, conn: Connection) -> None:
    assert read(conn, "plain") is None
    assert read(conn, "kept") is None
    assert read(conn, "one") == DistributedRead(names("one"))
    for several, distributed, stored in [
        (("patient",), ("patient",), ("patient",)),
        (("seen",), ("one", "patient"), ("one", "patient")),
        (("deeper",), ("one", "patient"), ("one", "patient")),
        (("beside",), ("one",), ("one", "plain")),
        (("one", "plain"), ("one",), ("one", "plain")),
        (("parted",), ("part", "parted"), ("parted",)),
        (("part",), ("part",), ("part",)),
    ]:
        assert read(conn, *several) == DistributedRead(names(*distributed), (), names(*stored))
    db.source("GRANT TRUNCATE ON public.patient TO steward")
    assert read(conn, "patient") == DistributedRead(names("patient"), names("patient"))
    assert read(conn, "seen") == DistributedRead(names("one", "patient"), (), names("one"))
    db.source("GRANT UPDATE ON public.one TO steward; GRANT DELETE ON public.parted TO steward")
    assert read(conn, "seen") == DistributedRead(names("one", "patient"), names("one", "patient"))
    assert read(conn, "parted") == DistributedRead(names("part", "parted"), names("parted"))
    assert read(conn, "kept", "patient") == DistributedRead(names("patient"), (), names("kept"))
    db.admin.execute(b"REVOKE USAGE ON SCHEMA public FROM PUBLIC, steward")
    assert read(conn, "patient") == DistributedRead(names("patient"), (), names("patient"))


@pytest.mark.slow
def test_a_run_locks_what_it_may_and_says_what_it_may_not(
    db: Database, conn: Connection, tmp_path: Path
) -> None:
    """Somebody writes meanwhile: a part of that could be read, or the run waits."""
    said = "shards of public.patient are read one after the other"
    policy = tmp_path / "patients.json"
    trusting = {**faults.POLICY, "trust": ["source_owner"]}
    asked = load_policy(json.dumps(trusting))
    policy.write_text(json.dumps(trusting), "utf-8")
    owner = numbers(conn, ["source_owner"]).values()
    with psycopg.connect(db.dsn("source_owner")) as writer:
        writer.execute(b"UPDATE public.patient SET days = 3 WHERE id = 1")
        done = faults.run(db.dsn(), asked, lock_timeout="200ms")
        assert [text for text in done.warnings if text.startswith(said)]
        assert said in " ".join(pganon("plan", str(policy), "--dsn", db.dsn()).err.split())
        assert _unlocked(db) == ["public.patient"]
        db.admin.execute(
            b"ALTER TABLE public.parted OWNER TO CURRENT_USER; ALTER TABLE public.part OWNER TO"
            b" CURRENT_USER; GRANT SELECT ON public.parted TO steward;"
            b" GRANT DELETE ON public.parted TO source_owner"
        )
        told = pganon("forget", "patients", "--people", "public.parted", "--dsn", db.dsn()).err
        assert "shards of public.part, public.parted" in " ".join(told.split())
        shown = " ".join(pganon("show", "patients", "--dsn", db.dsn()).out.split())
        assert "not locked public.patient: shards were read one after the other" in shown
        db.source("GRANT TRUNCATE ON public.patient TO steward")
        with pytest.raises(DatabaseError, match="55P03"):
            faults.run(db.dsn(), asked, lock_timeout="200ms")
        writer.execute(b"DELETE FROM public.parted")
        db.admin.execute(b"GRANT TRUNCATE ON public.parted TO steward")
        conn.execute(b"SET lock_timeout = '200ms'")
        with pytest.raises(DatabaseError, match="55P03"):
            forget_people(conn, "patients", "public.parted")
        writer.rollback()
    done = faults.run(db.dsn(), asked, lock_timeout="200ms")
    assert [text for text in done.warnings if text.startswith(said)] == []
    assert _unlocked(db) is None
    assert "not locked" not in pganon("show", "patients", "--dsn", db.dsn()).out
    with reading(conn, ExternalObjects(names("patient")), owner, at_once=True):
        assert _own_locks(conn, "ShareLock") == ["patient"]
    with reading(conn, ExternalObjects(names("patient")), owner):
        assert _own_locks(conn, "ShareLock") == []


def _own_locks(conn: Connection, mode: str) -> list[str]:
    rows = conn.execute(
        "SELECT c.relname::text FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
        " WHERE l.mode = %s AND l.pid = pg_backend_pid() ORDER BY 1",
        [mode],
    ).fetchall()
    return [row[0] for row in rows]


def _unlocked(db: Database) -> object:
    row = db.admin.execute(
        "SELECT measures -> 'unlocked' FROM pganon_private.version ORDER BY run_id DESC LIMIT 1"
    ).fetchone()
    assert row is not None
    return row[0]


def test_a_version_that_grows_names_what_any_of_its_runs_could_not_lock(db: Database) -> None:
    db.source(plans.SOURCE)
    citus.pretend(db, {"public.visit": 4})
    run(db, growing_policy("mondrian"))
    assert _unlocked(db) == ["public.visit"]
    db.source("GRANT TRUNCATE ON public.visit TO steward")
    more_visits(db, "20 + n % 7")
    assert run(db, growing_policy("mondrian")).version == 2
    assert _unlocked(db) == ["public.visit"]


def test_settings_are_set_for_the_transaction_alone(conn: Connection) -> None:
    """And what a later message sets does not reach workers with all of its text."""
    asked = b"SELECT current_setting('citus.propagate_set_commands')"
    owner = numbers(conn, ["source_owner"]).values()
    path = conn.execute(b"SHOW search_path").fetchone()
    with reading(conn, ExternalObjects(names("patient")), owner):
        assert conn.execute(asked).fetchone() == ("none",)
        assert conn.execute(b"SHOW search_path").fetchone() == path == ("pg_catalog, pg_temp",)
        assert conn.execute(b"SHOW TimeZone").fetchone() == ("UTC",)


def test_a_role_that_may_not_log_in_is_refused(db: Database, conn: Connection) -> None:
    owner = numbers(conn, ["source_owner"]).values()
    keeper = f"{db.name}_keeper"
    db.admin.execute(f"CREATE ROLE {keeper}; GRANT {keeper} TO steward".encode())
    try:
        db.admin.execute(f"GRANT SELECT ON public.patient, public.plain TO {keeper}".encode())
        set_role(conn, keeper)
        assert read(conn, "plain") is None
        for refused in (
            lambda: read(conn, "patient"),
            lambda: check_sessions(conn),
            lambda: reading(conn, ExternalObjects(names("patient")), owner).__enter__(),
        ):
            with pytest.raises(PreconditionError, match=f"{keeper}, and that role may not") as e:
                refused()
            assert e.value.code is ErrorCode.CLUSTER_LOGIN
    finally:
        conn.close()
        db.admin.execute(f"DROP OWNED BY {keeper}; DROP ROLE {keeper}".encode())


@pytest.mark.parametrize(
    ("setting", "refused"),
    [
        ("RESET search_path", True),
        ("SET search_path = pg_catalog, public", True),
        ('SET search_path = "pg_catalog, pg_temp"', True),
        ("SET search_path = ''", False),
        ("SET search_path = pg_catalog", False),
        ("SET application_name = 'search_path=pg_catalog'", False),
    ],
)
def test_sessions_of_other_servers_begin_with_no_schema_of_others(
    db: Database, conn: Connection, setting: str, refused: bool
) -> None:
    """Citus calls its own functions by name: a better fit in `public` of a worker would run."""
    alter = f"ALTER ROLE steward IN DATABASE {db.name} "
    db.admin.execute(f"{alter} {setting}".encode())
    assert read(conn, "plain") is None
    for look in (lambda: read(conn, "patient"), lambda: check_sessions(conn)):
        if refused:
            with pytest.raises(PreconditionError, match="of their search path") as raised:
                look()
            assert raised.value.code is ErrorCode.CLUSTER_PATH
        else:
            look()


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ('{"locale": {"datcollate": "en_US.utf8"}}', "another locale for its database than this"),
        (
            '{"settings": ["app.x"]}',
            "settings for its database or the role that this one lacks: app",
        ),
        (None, "does not say which locale it has"),
    ],
)
def test_servers_on_which_expressions_mean_something_else(
    db: Database, conn: Connection, other: str | None, told: str
) -> None:
    db.admin.execute(
        sql.SQL(
            "SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION"
            " pg_catalog.run_command_on_all_nodes(text, OUT nodeid integer, OUT success boolean,"
            " OUT result text) RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN EXECUTE $1 INTO"
            " result; nodeid := 1; success := true; RETURN NEXT; nodeid := 7;"
            " success := {0} IS NOT NULL; result := result::jsonb || {0}; RETURN NEXT; END $$"
        ).format(sql.Literal(other))
    )
    owner = numbers(conn, ["source_owner"]).values()
    assert read(conn, "plain") is None
    for look in (
        lambda: read(conn, "patient"),
        lambda: reading(conn, ExternalObjects(names("patient")), owner).__enter__(),
    ):
        with pytest.raises(PreconditionError, match=f"server 7 of the cluster .*{told}") as raised:
            look()
        assert raised.value.code is ErrorCode.CLUSTER_DIFFERS


def test_changes_in_shards_that_no_server_tells_of(db: Database, conn: Connection) -> None:
    """The fake has no answers; a silent server is not one without changes."""
    assert source_mark(conn, ['"public"."plain"'])
    assert source_mark(conn, ['"public"."patient"']) is None
    assert source_mark(conn, ['"public"."plain"', '"public"."one"']) is None


def test_a_name_of_a_table_is_no_part_of_a_command(db: Database, conn: Connection) -> None:
    """Attack: who owns a source names it so that servers would run what it is called, or creates
    operators there, in a schema that a worker's search path has first."""
    db.source(OPERATORS)
    db.source("""CREATE TABLE public."x') AS t; DROP TABLE ""y" (id integer)""")
    db.source("""CREATE TABLE public."x') AS t; DROP TABLE ""y_7" AS SELECT 3 AS id""")
    db.source("""ANALYZE public."x') AS t; DROP TABLE ""y_7\"""")
    name = '''"public"."x') AS t; DROP TABLE ""y"'''
    db.admin.execute("INSERT INTO pg_dist_partition VALUES (%s::regclass)", [name])
    db.admin.execute("INSERT INTO pg_dist_shard VALUES (%s::regclass, 7)", [name])
    db.admin.execute(
        b"SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION"
        b" pg_catalog.run_command_on_all_nodes(text, OUT nodeid integer, OUT success boolean,"
        b" OUT result text) RETURNS SETOF record LANGUAGE plpgsql"
        b" SET search_path = public, pg_catalog AS $$ BEGIN nodeid := 1;"
        b" success := true; EXECUTE $1 INTO result; RETURN NEXT; END $$"
    )
    mark = source_mark(conn, [name])
    assert mark is not None
    assert mark.count("1(") == 1
    relation = read_relation(conn, name)
    assert statistics_of_shard(conn, relation, ["id"]) == (1, [[-1, [0]]])


def test_an_error_of_another_server_is_not_called_the_end_of_this_one(conn: Connection) -> None:
    with pytest.raises(psycopg.Error) as raised:
        conn.execute(b"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '08006'; END $$")
    cause = translate(raised.value, step="snapshot")
    assert isinstance(cause, Interrupted)
    assert str(cause).startswith("another server of the cluster failed (step snapshot)")


def test_what_another_server_refuses_to_the_role_has_a_remedy(conn: Connection) -> None:
    for said, helps in [("while executing command on db:5432", True), ("elsewhere", False)]:
        nested = f"DO $$ BEGIN EXECUTE 'CREATE ROLE one -- {said}'; END $$"
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as raised:
            conn.execute(nested.encode())
        hint = failure("migrations", raised.value).hint
        assert (hint is not None and "ALTER TYPE public.known OWNER" in hint) is helps
