"""Locks, secrets, the ledger of runs, and what is left of interrupted ones."""

from __future__ import annotations

import threading
from typing import cast

import psycopg
import pytest

from pganon import locks
from pganon.errors import DatabaseError, Interrupted, PreconditionError, PrivacyRefusal
from pganon.install.owner import become_owner
from pganon.ledger import repository as ledger
from pganon.run.erasure import forget_people
from pganon.run.tables import clean, drop_run
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import release, running, staged


def _tables(conn: Connection) -> list[str]:
    found = conn.execute(
        "SELECT relnamespace::regnamespace || '.' || relname FROM pg_class"
        " WHERE relkind = 'r' AND relname ~ '^r[0-9]+_' ORDER BY 1"
    )
    return [row[0] for row in found.fetchall()]


def test_a_release_has_one_run_at_a_time(db: Database) -> None:
    one, two = db.owner(), db.owner()
    with locks.hold(one, release="adult"):
        for conn in (one, two):
            with (
                pytest.raises(PreconditionError, match='release "adult" is in progress') as caught,
                locks.hold(conn, release="adult"),
            ):
                pass
            assert caught.value.code == "busy"
        with locks.hold(two, release="other"):
            pass
    with locks.hold(two, release="adult"):
        locks.assert_held(two, release="adult")
        with pytest.raises(PreconditionError):
            locks.assert_held(one, release="adult")


def test_locks_end_with_their_block_even_after_errors(db: Database) -> None:
    one, two = db.owner(), db.owner()
    with pytest.raises(ZeroDivisionError), running(one) as run:
        raise ZeroDivisionError
    with locks.hold(two, release="adult"), locks.hold(two, run_id=run):
        pass


def test_secrets(db: Database) -> None:
    conn = db.owner()
    runs = [ledger.start_run(conn, "a", "h") for _ in range(2)]
    runs += [ledger.start_run(conn, "a", "h", seed=b"seed") for _ in range(2)]
    rows = conn.execute(
        "SELECT key, seed_a, seed_b, partition_seed FROM pganon_private.run_secret ORDER BY run_id"
    ).fetchall()
    assert all(len(key) == 32 and len(set(seeds)) == 3 for key, *seeds in rows)
    assert rows[2] == rows[3]
    assert len(set(rows)) == 3
    started = conn.execute("SELECT id, run_id FROM pganon.ledger ORDER BY id").fetchall()
    assert started == [(run, run) for run in runs]


def test_a_run_ends_once(db: Database) -> None:
    conn = db.owner()
    run = ledger.start_run(conn, "adult", "h")
    refusal = PrivacyRefusal("text", model="k_anonymity", required=5, observed=3, code="no_k")
    assert ledger.finish_with(conn, run, refusal)
    assert not ledger.finish(conn, run, "failed")
    rows = conn.execute("SELECT event, policy_hash, details FROM pganon.ledger ORDER BY id")
    assert rows.fetchall()[1] == (
        "refused",
        "h",
        {"code": "no_k", "model": "k_anonymity", "required": 5, "observed": 3},
    )
    other = ledger.start_run(conn, "adult", "h")
    ledger.finish_with(conn, other, DatabaseError("a secret", sqlstate="22012", step="encode"))
    third = ledger.start_run(conn, "adult", "h")
    ledger.finish_with(conn, third, ValueError("a secret"))
    found = conn.execute("SELECT details FROM pganon.ledger WHERE event = 'failed' ORDER BY id")
    assert found.fetchall() == [
        ({"code": "database", "sqlstate": "22012", "step": "encode"},),
        ({"code": "internal", "type": "ValueError"},),
    ]


SILENT = """
CREATE OR REPLACE FUNCTION public.silent() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_name ~ '_coded$') THEN
        RAISE EXCEPTION USING ERRCODE = '08006';
    END IF;
END $$;
CREATE EVENT TRIGGER silent ON sql_drop EXECUTE FUNCTION public.silent()
"""


@pytest.mark.slow
def test_a_server_that_does_not_answer_keeps_no_table_of_this_one(db: Database) -> None:
    """Nor does it hold up runs that do not need it. Who forgets people is told what remains."""
    conn, at = db.owner(), ("--dsn", db.dsn())
    db.source(faults.SOURCE + "; CREATE TABLE public.gone AS SELECT 1 AS id")
    faults.run(db.dsn())
    leader = db.owner()
    dead = ledger.start_run(leader, "patients", "h")
    faults.end(leader, db.admin)
    for name in ("coded", "dict0"):
        conn.execute(f"CREATE UNLOGGED TABLE pganon_work.r{dead}_{name} ()".encode())
    db.admin.execute(SILENT.encode())
    coded = f"pganon_work.r{dead}_coded"
    assert coded in pganon("clean", *at).out
    assert faults.run_tables(conn) == [coded]
    cleaned = clean(conn)
    assert (cleaned.tables, cleaned.remaining) == (0, (coded,))
    faults.run(db.dsn())
    with pytest.raises(Interrupted, match=f"people are forgotten.*{coded}"):
        forget_people(conn, "patients", "public.gone")
    assert faults.events(conn)[-1] == "forgotten"
    db.admin.execute(b"DROP EVENT TRIGGER silent")
    db.admin.execute(SILENT.replace("08006", "22012").encode())
    with pytest.raises(psycopg.errors.DivisionByZero):  # of this server
        clean(conn)
    db.admin.execute(b"DROP EVENT TRIGGER silent")
    assert forget_people(conn, "patients", "public.gone").people == 0
    assert faults.run_tables(conn) == []


def test_clean(db: Database) -> None:
    """A dead run goes, a live one stays, published versions and their members stay."""
    conn = db.owner()
    first = release(conn, keep=1).run_id
    second = release(conn, keep=1).run_id
    kept = [
        f"pganon_data.r{second}_records",
        f"pganon_private.r{first}_members",
        f"pganon_private.r{second}_members",
    ]
    assert _tables(conn) == kept
    leader, worker = db.owner(), db.owner()
    dead = ledger.start_run(leader, "adult", "h")
    staged(leader, dead)
    leader.execute(f"CREATE UNLOGGED TABLE pganon_work.r{dead}_cells ()".encode())
    leader.execute(f"CREATE TABLE pganon_data.r{dead}_records ()".encode())
    leader.execute(f"CREATE UNLOGGED TABLE pganon_work.r{second}_cells ()".encode())
    assert locks.take_worker(worker, dead)
    assert clean(conn).alive == (dead,)
    faults.end(leader, db.admin)
    assert clean(conn).alive == (dead,)
    faults.end(worker, db.admin)
    with running(conn, "mine") as mine:
        conn.execute(f"CREATE UNLOGGED TABLE pganon_work.r{mine}_cells ()".encode())
        done = clean(conn)
        assert (done.alive, done.interrupted, done.secrets) == ((mine,), (dead,), 1)
        assert _tables(conn) == [*kept, f"pganon_work.r{mine}_cells"]
        drop_run(conn, mine)
        assert _tables(conn) == kept
    assert clean(conn).interrupted == (mine,)
    failed = conn.execute("SELECT run_id, details FROM pganon.ledger WHERE event = 'failed'")
    assert failed.fetchall() == [(r, {"reason": "interrupted"}) for r in (dead, mine)]
    secrets = conn.execute("SELECT run_id FROM pganon_private.run_secret ORDER BY 1").fetchall()
    assert secrets == [(first,), (second,)]
    assert not clean(conn).changed


@pytest.mark.primary_server_only
def test_clean_drops_many_tables(db: Database) -> None:
    conn = db.owner()
    with conn.transaction():
        conn.execute(
            "DO $$ BEGIN FOR i IN 1..120 LOOP"
            " EXECUTE format('CREATE TABLE pganon_work.r9_%s ()', i); END LOOP; END $$"
        )
    conn.execute("CREATE TABLE pganon_work.unrelated ()")
    assert clean(conn).tables == 120
    assert conn.execute("SELECT to_regclass('pganon_work.unrelated')").fetchone() != (None,)


def test_two_publications_at_once(db: Database) -> None:
    """Versions of two releases are published side by side, and both arrive."""
    problems: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(3):
                release(conns[name], name)
        except BaseException as error:
            problems.append(error)

    conns = {name: db.owner() for name in ("a", "b")}
    threads = [threading.Thread(target=work, args=[name]) for name in conns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    rows = db.owner().execute("SELECT release, version FROM pganon.releases ORDER BY 1")
    assert rows.fetchall() == [("a", 3), ("b", 3)]


@pytest.mark.slow
def test_crash_after_publication(crashable_server) -> None:
    """What was published is there after the server was killed."""

    conn = crashable_server.connect()
    become_owner(conn)
    release(conn)
    crashable_server.crash()
    crashable_server.restart()
    analyst = crashable_server.connect("analyst")
    assert analyst.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    again = crashable_server.connect()
    become_owner(again)
    assert again.execute("SELECT bool_and(holds) FROM pganon.verify('adult')").fetchone() == (True,)


def test_autovacuum_waits_for_publication(db: Database) -> None:
    """It would make who drops or moves a table wait; published tables have it as any other.

    It stays away from private ones, because everybody sees in pg_class how many rows it found.
    """
    db.source(faults.SOURCE)
    found: dict[str, bool] = {}

    def look(step: str) -> None:
        rows = db.admin.execute(
            "SELECT c.oid::regclass::text, coalesce('autovacuum_enabled=false' = ANY (c.reloptions)"
            " AND (t.oid IS NULL OR 'autovacuum_enabled=false' = ANY (t.reloptions)), false)"
            " FROM pg_class AS c LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid"
            " WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text ~ '^pganon_(work|stage)'"
        )
        found.update(dict(cast("list[tuple[str, bool]]", rows.fetchall())))

    run = faults.run(db.dsn(), before=look).run_id
    assert all(found.values())
    assert {f"pganon_work.r{run}_coded", f"pganon_stage.r{run}_records"} <= set(found)
    options = db.admin.execute(
        "SELECT DISTINCT c.relnamespace::regnamespace::text, c.reloptions FROM pg_class AS c"
        " WHERE c.relname ~ %s AND c.relkind = 'r' ORDER BY 1",
        [f"^r{run}_"],
    )
    assert options.fetchall() == [
        ("pganon_data", None),
        ("pganon_private", ["autovacuum_enabled=false"]),
    ]
