"""Attack: something changes between the look that allows a read, and the read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from pganon import install
from pganon.catalog import code
from pganon.errors import PganonError
from pganon.install import access
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import policy

ATTACKER = "source_owner"

HIT = """
    CREATE SCHEMA evil;
    GRANT USAGE ON SCHEMA evil TO PUBLIC;
    CREATE SEQUENCE evil.calls;
    GRANT ALL ON SEQUENCE evil.calls TO PUBLIC;
    CREATE FUNCTION evil.hit(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        IF current_user <> 'source_owner' THEN
            PERFORM nextval('evil.calls');
        END IF;
        RETURN $1;
    END $$;
"""
"""A sequence counts for good, whatever is rolled back."""


def called(db: Database) -> bool:
    row = db.admin.execute("SELECT is_called FROM evil.calls").fetchone()
    assert row is not None
    return row[0]


def loaded(declared: dict[str, Any]) -> LoadedPolicy:
    return LoadedPolicy(policy_from(declared), None, Path.cwd())


def changed_before(db: Database, declared: dict[str, Any], before: str, change: str) -> bool:
    """Whether a run came to a step, before which the owner of the source does `change`."""
    reached = False

    def act(phase: str, step: str, purpose: str) -> None:
        nonlocal reached
        if step == before:
            reached = True
            db.source(change)

    run_release(loaded(declared), dsn=db.dsn(), options=Options(on_step=act, jobs=1))
    return reached


def refused(db: Database, declared: dict[str, Any], before: str, change: str) -> PganonError:
    with pytest.raises(PganonError) as caught:
        changed_before(db, declared, before, change)
    return caught.value


@pytest.mark.parametrize(("step", "seen"), [("public0", True), ("support1", False)])
def test_an_index_of_a_public_relation(db: Database, step: str, seen: bool) -> None:
    """The step that reads it looks first; no other step goes near it."""
    db.source(
        HIT + "CREATE TABLE public.t AS SELECT n % 4 AS q, n % 3 AS s"
        " FROM generate_series(1, 24) AS n;"
        "CREATE TABLE public.known AS SELECT DISTINCT q FROM public.t"
    )
    declared = policy(
        {name: {"role": "quasi_sensitive", "set": name} for name in "qs"},
        [
            {
                "model": "qs_k_anonymity",
                "k": 2,
                "count": "supported",
                "public": {"q": "public.known"},
            }
        ],
        method={"name": "qs_efficient"},
    )
    planted = "CREATE INDEX ON public.known (q) WHERE evil.hit(1) = 1"
    if seen:
        assert refused(db, declared, step, planted).code == "untrusted_code"
    else:
        assert changed_before(db, declared, step, planted)
    assert not called(db)


def test_a_function_that_is_swapped_and_taken_away(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions cannot be locked, and who owns their schema may drop those of others."""
    db.source(
        HIT + "CREATE SCHEMA shared; GRANT ALL ON SCHEMA shared TO steward;"
        "CREATE TABLE public.t AS SELECT n % 4 AS q, n % 3 AS s"
        " FROM generate_series(1, 24) AS n; ALTER TABLE public.t ALTER q SET NOT NULL"
    )
    head = "CREATE FUNCTION shared.group_of(text, integer) RETURNS text"
    made = head + " LANGUAGE {} IMMUTABLE AS $${}$$"
    tree = "SELECT CASE $2 WHEN 0 THEN $1 WHEN 1 THEN '*' END"
    db.owner().execute(made.format("sql", tree).encode())
    other = psycopg.connect(db.dsn(ATTACKER), autocommit=True)
    drop = "DROP FUNCTION shared.group_of(text, integer)"
    look = code.check_code
    looks = 0

    def swap(conn: Any, outside: Any, trusted: Any, **given: Any) -> None:
        nonlocal looks
        about = bool(outside.functions) and not outside.relations
        looks += about
        if about and looks == 2:
            other.execute(drop)
        look(conn, outside, trusted, **given)
        if about and looks == 1:
            other.execute(drop)
            body = (
                "BEGIN PERFORM evil.hit(1); RETURN CASE $2 WHEN 0 THEN $1 WHEN 1 THEN '*' END; END"
            )
            other.execute(made.format("plpgsql", body).encode())

    monkeypatch.setattr(code, "check_code", swap)
    columns = {"q": {"hierarchy": {"function": "shared.group_of"}, "type": "categorical"}, "s": "s"}
    with pytest.raises(PganonError) as caught:
        run_release(loaded(policy(columns, 2)), dsn=db.dsn(), options=Options(jobs=1))
    other.close()
    assert looks == 2
    assert caught.value.code == "source_changed"


def test_a_schema_that_is_made_during_the_run(db: Database) -> None:
    db.source(faults.SOURCE)
    hook = faults.at(
        "publish.publish",
        lambda: db.source(
            "CREATE SCHEMA published; GRANT ALL ON SCHEMA published TO steward", grant=False
        ),
    )
    with pytest.raises(PganonError) as caught:
        faults.run(db.dsn(), before=hook)
    assert caught.value.code == "foreign_schema"
    views = db.admin.execute("SELECT count(*) FROM pg_views WHERE schemaname = 'published'")
    assert views.fetchone() == (0,)


LIST = """
    CREATE OR REPLACE VIEW pganon.releases AS
    SELECT 'r'::text AS release, 1 AS version, 'm'::text AS method, {} AS guarantee,
        '2020-01-01 00:00+00'::timestamptz AS published_at {};
    GRANT SELECT ON pganon.releases TO PUBLIC
"""
COLUMNS = """
    CREATE OR REPLACE VIEW pganon.release_columns AS
    SELECT 'r'::text AS release, 1 AS version, {}::text AS view, 1::bigint AS position,
        'c'::text AS column_name, 't'::text AS type, ''::text AS comment, NULL::text AS form,
        NULL::text AS kind, NULL::text AS collation, false AS attained, NULL::text AS part,
        NULL::text AS bucket {};
    GRANT SELECT ON pganon.release_columns TO PUBLIC
"""
GUARANTEES = """
    CREATE OR REPLACE VIEW pganon.guarantees AS
    SELECT 'r'::text AS release, 1 AS version, 1::bigint AS position, {}::text AS requirement,
        'w'::text AS reader, '{{}}'::text[] AS assumes, 'o'::text AS over_versions,
        '{{}}'::jsonb AS details;
    GRANT SELECT ON pganon.guarantees TO PUBLIC
"""
TRAPS = {
    "index": "CREATE INDEX ON pganon_private.release (name) WHERE evil.hit(1) = 1",
    "statistics": """
        CREATE STATISTICS pganon_private.s ON (name || evil.hit(1)::text), policy_source
            FROM pganon_private.release
    """,
    "check": "ALTER TABLE pganon_private.release ADD CHECK (evil.hit(1) = 1)",
    "cast of a column to json": """
        CREATE TYPE evil.e AS ENUM ('a');
        CREATE FUNCTION evil.j(evil.e) RETURNS json LANGUAGE plpgsql AS
            'BEGIN PERFORM evil.hit(1); RETURN ''1''; END';
        CREATE CAST (evil.e AS json) WITH FUNCTION evil.j(evil.e);
        CREATE TABLE pganon_private.t (x evil.e);
        INSERT INTO pganon_private.t VALUES ('a');
    """
    + LIST.format("pg_catalog.jsonb_build_array(t.x)::text", "FROM pganon_private.t"),
    "a domain that no dependency tells": """
        CREATE DOMAIN evil.d AS integer CHECK (evil.hit(1) = 1);
        CREATE TABLE pganon_private.t (x jsonb);
        INSERT INTO pganon_private.t VALUES ('[1]');
    """
    + LIST.format(
        "CASE WHEN JSON_VALUE(t.x, '$[0]' RETURNING evil.d) IS NULL THEN '1' END",
        "FROM pganon_private.t",
    ),
    "function in the guarantees": GUARANTEES.format("evil.hit(1)"),
    "function in the columns": COLUMNS.format("evil.hit(1)", ""),
    "columns over another view": """
        CREATE VIEW pganon.mine AS SELECT evil.hit(1) AS x;
    """
    + COLUMNS.format("x", "FROM pganon.mine"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_planning_the_list_of_releases(bare_db: Database, trap: str) -> None:
    """A hostile owner's list runs code without naming a function."""
    install.init(bare_db.connect(ATTACKER))
    conn = psycopg.connect(bare_db.dsn(ATTACKER), autocommit=True)
    conn.execute(HIT.encode())
    try:
        conn.execute(TRAPS[trap].encode())
    except (psycopg.errors.SyntaxError, psycopg.errors.UndefinedFunction):
        pytest.skip("this version of the server has no JSON_VALUE")
    finally:
        conn.close()
    done = pganon("releases", "--dsn", bare_db.dsn("analyst"), "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "foreign_view")
    assert not called(bare_db)


def test_the_list_of_releases_is_held(bare_db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be exchanged after the look at it."""
    install.init(bare_db.connect(ATTACKER))
    conn = psycopg.connect(bare_db.dsn(ATTACKER), autocommit=True)
    conn.execute(HIT.encode())
    conn.execute("SET lock_timeout = '200ms'")
    look = access.check_view

    def exchange(reader: Any, view: Any, **more: Any) -> None:
        look(reader, view, **more)
        for text in (LIST.format("to_jsonb(evil.hit(1))", ""), COLUMNS.format("evil.hit(1)", "")):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                conn.execute(text.encode())

    monkeypatch.setattr(access, "check_view", exchange)
    assert pganon("releases", "--dsn", bare_db.dsn("analyst"), "--json").json == []
    conn.close()
    assert not called(bare_db)


@pytest.mark.parametrize("command", ["assess", "policy init"])
def test_a_superuser_reads_no_table_of_others(db: Database, command: str) -> None:
    """Who owns a table can have code planned for a moment that no lock keeps away."""
    db.source(faults.SOURCE)
    arguments = {
        "assess": ("assess", "public.patient", "--qi", "age"),
        "policy init": ("policy", "init", "public.patient"),
    }[command]
    done = pganon(*arguments, "--dsn", db.admin_dsn, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "untrusted_code")
    assert "table public.patient" in done.json["error"]["message"]
    done = pganon(*arguments, "--trust", "source_owner", "--dsn", db.admin_dsn, "--json")
    assert done.code == 0


@pytest.mark.parametrize("command", ["assess", "policy init"])
def test_reading_leaves_nothing(
    db: Database, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What code of others did meanwhile is undone, as far as transactions go."""
    db.source(faults.SOURCE)
    look = code.check_code

    def grant(conn: Any, *given: Any, **more: Any) -> None:
        look(conn, *given, **more)
        conn.execute("GRANT USAGE ON SCHEMA pganon_private TO analyst")

    monkeypatch.setattr(code, "check_code", grant)
    arguments = {
        "assess": ("assess", "public.patient", "--qi", "age"),
        "policy init": ("policy", "init", "public.patient"),
    }[command]
    assert pganon(*arguments, "--dsn", db.dsn()).code == 0
    may = db.admin.execute("SELECT has_schema_privilege('analyst', 'pganon_private', 'USAGE')")
    assert may.fetchone() == (False,)
