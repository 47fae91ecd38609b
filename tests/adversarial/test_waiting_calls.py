"""`CALL pganon.release`: waits in autocommit alone, and runs no code of others."""

from __future__ import annotations

import threading

import psycopg
import pytest

from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, Database

CALL = "CALL pganon.release('patients')"


def _notices(conn: Connection) -> list[str]:
    found: list[str] = []
    conn.execute("SET client_min_messages = notice")
    conn.add_notice_handler(lambda notice: found.append(notice.message_primary or ""))
    return found


@pytest.mark.slow
def test_a_call_waits_for_its_release(db: Database) -> None:
    queue.applied(db)
    analyst = db.connect("analyst")
    told = _notices(analyst)
    with queue.serving(db.dsn()):
        analyst.execute(CALL.encode())
        analyst.execute(f"DO $$ BEGIN {CALL}; END $$".encode())
    last = 'request {} for the release "patients": {}, version 1'
    assert last.format(1, "released") in told
    assert last.format(2, "unchanged") in told


@pytest.mark.parametrize(
    "text",
    [f"BEGIN; {CALL}", f"SELECT 1; {CALL}", f"BEGIN; DO $$ BEGIN {CALL}; END $$"],
    ids=["block", "several statements", "DO in a block"],
)
def test_inside_a_transaction_nothing_is_queued(db: Database, text: str) -> None:
    queue.applied(db)
    analyst = db.connect("analyst")
    with pytest.raises(psycopg.Error) as caught:
        analyst.execute(text.encode())
    assert caught.value.sqlstate == "PA405"
    analyst.execute("ROLLBACK")
    assert queue.states(db) == []


def test_inside_a_function_nothing_is_queued(db: Database) -> None:
    queue.applied(db)
    analyst = db.connect("analyst")
    body = f"RETURNS void LANGUAGE plpgsql AS $$ BEGIN {CALL}; END $$"
    analyst.execute(f"CREATE FUNCTION pg_temp.f() {body}".encode())
    with pytest.raises(psycopg.Error) as caught:
        analyst.execute("SELECT pg_temp.f()")
    assert caught.value.sqlstate == "PA405"
    with psycopg.connect(db.dsn("analyst")) as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute(CALL.encode())
    assert caught.value.sqlstate == "PA405"
    assert queue.states(db) == []


@pytest.mark.slow
def test_ends_without_a_version(db: Database) -> None:
    queue.applied(db, privacy=[{"model": "k_anonymity", "k": 30}])
    analyst = db.connect("analyst")
    with queue.serving(db.dsn()), pytest.raises(psycopg.Error) as caught:
        analyst.execute(CALL.encode())
    assert caught.value.sqlstate == "PA407"
    code = "SELECT state, code FROM pganon.requests"
    assert analyst.execute(code).fetchall() == [("refused", "refused")], "a code, and no more"
    assert queue.state(db, 1) == ("refused", "too_few_records")
    with pytest.raises(psycopg.Error) as caught:
        analyst.execute("CALL pganon.release('patients', wait => '1 second')")
    assert caught.value.sqlstate == "PA406"
    assert queue.states(db) == ["refused", "waiting"], "it stays in the queue"


def test_probing_by_refusals_is_stopped(db: Database) -> None:
    """Attack: a requester raises k until it is refused; many requests are queued at once."""
    asked = {"roles": ["analyst"], "parameters": {"k": {"min": 8, "max": 30}}}
    queue.applied(db, requests=asked)
    analyst = db.connect("analyst")
    for k in (25, 26, 27, 28, 29):
        queue.ask(analyst, k=k)
    queue.serve(db)
    assert queue.states(db) == ["refused"] * 3 + ["failed"] * 2
    assert queue.state(db, 5) == ("failed", "limit")
    with pytest.raises(psycopg.Error) as caught:
        queue.ask(analyst, k=30)
    assert caught.value.sqlstate == "PA403"
    assert faults.content(db.owner()) is None


def test_probing_by_failures_is_stopped(db: Database) -> None:
    """Attack: whether a run fails may depend on a value, such as one that no hierarchy has."""
    columns = {
        **faults.POLICY["columns"],
        "city": {"role": "quasi_identifying", "hierarchy": {"inline": {"any": ["Rome", "Oslo"]}}},
    }
    queue.applied(db, columns=columns)
    analyst = db.connect("analyst")
    for k in (8, 9, 10, 11):
        queue.ask(analyst, k=k)
    queue.serve(db)
    assert queue.states(db) == ["failed"] * 4
    assert queue.state(db, 3)[1] != "limit"
    assert queue.state(db, 4) == ("failed", "limit")
    seen = analyst.execute("SELECT DISTINCT code FROM pganon.requests WHERE id < 4").fetchall()
    assert seen == [("failed",)]


@pytest.mark.slow
def test_a_hostile_search_path(db: Database) -> None:
    """Attack: types and operators of another role stand first in the path of the caller."""
    queue.applied(db)
    db.admin.execute(
        "CREATE SCHEMA evil AUTHORIZATION source_owner; GRANT USAGE ON SCHEMA evil TO PUBLIC"
    )
    db.source(
        """
        CREATE TABLE evil.caught (who text DEFAULT current_user);
        GRANT ALL ON evil.caught TO PUBLIC;
        CREATE FUNCTION evil.catch(anyelement) RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO evil.caught DEFAULT VALUES; RETURN true; END $$;
        CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO evil.caught DEFAULT VALUES; RETURN pg_catalog.now(); END $$;
        CREATE FUNCTION evil.both(x timestamptz, y timestamptz) RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO evil.caught DEFAULT VALUES; RETURN true; END $$;
        CREATE OPERATOR evil.> (
            LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.both
        );
        """,
        grant=False,
    )
    for name in ("text", "jsonb", "int8", "bool", "interval", "timestamptz"):
        db.source(
            f"CREATE DOMAIN evil.{name} AS pg_catalog.{name} CHECK (evil.catch(VALUE))", grant=False
        )
    analyst, steward = db.connect("analyst"), db.owner()
    with queue.serving(db.dsn()):
        for conn in (analyst, steward):
            conn.execute("SET search_path = evil, pg_catalog")
        analyst.execute("CALL pganon.release('patients'::pg_catalog.text)")
        analyst.execute("SELECT pganon.assert_release('patients'::pg_catalog.text)")
        analyst.execute("SELECT id, state, parameters, expires_at FROM pganon.requests")
        with pytest.raises(psycopg.Error, match="does not wait any more"):
            analyst.execute("SELECT pganon.cancel_request(1)")
        with pytest.raises(psycopg.Error, match="may decide"):
            analyst.execute("SELECT pganon.approve_release(1, 'x'::pg_catalog.text)")
        steward.execute("SELECT alive FROM pganon.worker")
        steward.execute("CALL pganon.revert_release('patients'::pg_catalog.text)")
        analyst.execute("RESET search_path")
        queue.ask(steward_again := db.owner())
        faults.wait_until(lambda: faults.content(steward_again) is not None)
        steward.execute("CALL pganon.drop_release('patients'::pg_catalog.text)")
    caught = db.admin.execute("SELECT * FROM evil.caught").fetchall()
    assert caught == []
    assert queue.states(db) == ["released"] * 4


def test_a_requester_that_disconnects(db: Database) -> None:
    """What was asked is done all the same."""
    queue.applied(db)
    with psycopg.connect(db.dsn("analyst"), autocommit=True) as leaving:

        def call() -> None:
            with pytest.raises(psycopg.Error):
                leaving.execute(CALL.encode())

        thread = threading.Thread(target=call)
        thread.start()
        faults.wait_until(lambda: queue.states(db) == ["waiting"])
        pid = leaving.info.backend_pid
        db.admin.execute("SELECT pg_terminate_backend(%s)", [pid])
        thread.join()
    queue.serve(db)
    assert queue.states(db) == ["released"]
