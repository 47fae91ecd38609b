"""Fault: the server refuses or fails in a step, as a full disk or a time limit makes it."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from pganon import database, steps
from pganon.errors import DatabaseError, PganonError
from pganon.ledger import repository as ledger
from pganon.run import executor, tables
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database


@pytest.fixture(autouse=True)
def _side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "SHARED_FROM", 0)


DISK_FULL = "DO $$ BEGIN RAISE disk_full USING MESSAGE = 'no space left', DETAIL = '%s'; END $$"


def _clean(conn: Connection, before: list[str] | None, where: str) -> None:
    assert faults.content(conn) == before, where
    assert faults.run_tables(conn) == [], where
    assert faults.exposed(conn) == [], where
    row = conn.execute(
        "SELECT count(*) FROM pganon_private.run_secret AS s"
        " WHERE NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.run_id = s.run_id)"
    ).fetchone()
    assert row == (0,), where


def _fail_in(monkeypatch: pytest.MonkeyPatch, wanted: str, statement: str) -> None:
    """Let the server fail at a step, as part of it."""
    original = executor.Executor._run_one

    def run_one(self: Any, step: Any, name: str) -> None:
        if name == wanted:
            self.conn.execute(statement.encode())
        original(self, step, name)

    monkeypatch.setattr(executor.Executor, "_run_one", run_one)


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_an_error_in_any_step(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger knows step and SQLSTATE; nothing is left, no message holds what the server says
    about values."""
    db.source(faults.SOURCE)
    conn = db.owner()
    steps = [step.split(".", 1)[1] for step in faults.steps_of(db.dsn())]
    before = faults.content(conn)
    statement = DISK_FULL % faults.SECRET
    unique = list(dict.fromkeys(steps))[:-1]  # publication is not a step of the executor
    for step in unique[::4] + unique[-1:]:
        with monkeypatch.context() as patch:
            _fail_in(patch, step, "SELECT 1/0")
            with pytest.raises(DatabaseError) as caught:
                faults.run(db.dsn())
        assert (caught.value.sqlstate, caught.value.step) == ("22012", step)
        details = faults.last_details(conn)
        assert details.pop("code") in ("database", "expression"), "the latter where it reads views"
        assert details == {"sqlstate": "22012", "step": step}
        _clean(conn, before, step)
    with monkeypatch.context() as patch:
        _fail_in(patch, "coded", statement)
        with pytest.raises(DatabaseError) as caught:
            faults.run(db.dsn())
    assert caught.value.sqlstate == "53100"
    assert "disk" in str(caught.value.hint)
    assert faults.SECRET not in str(caught.value)
    assert faults.run(db.dsn()).version == 2


def test_a_value_in_an_error_stays_in_the_server(db: Database) -> None:
    """A cast in a view over the source fails on a value; the message names the condition only."""
    db.source(
        faults.SOURCE + "CREATE VIEW public.cast_view AS"
        " SELECT id, disease::integer AS age, sex, city, disease, days FROM public.patient"
    )
    with pytest.raises(DatabaseError) as caught:
        faults.run(db.dsn(), faults.policy(source="public.cast_view", trust=["source_owner"]))
    assert caught.value.sqlstate == "22P02"
    conn = db.owner()
    ledger = conn.execute("SELECT string_agg(l::text, ' ') FROM pganon_private.ledger AS l")
    shown = f"{caught.value} {caught.value.hint} {ledger.fetchone()}"
    assert not any(value in shown for value in (faults.SECRET, "flu", "cold"))
    _clean(conn, None, "view")


@pytest.mark.slow
def test_statement_timeout(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit that ends a step does not end the record of it."""
    limits: list[object] = []

    def looked(conn: Connection, run_id: int) -> int:
        limits.append(conn.execute("SHOW statement_timeout").fetchone())
        return tables.drop_run(conn, run_id)

    monkeypatch.setattr("pganon.run.record.drop_run", looked)
    db.source(
        faults.SOURCE + "CREATE VIEW public.slow AS SELECT p.* FROM public.patient AS p,"
        " (SELECT pg_sleep(60)) AS s;"
    )
    with pytest.raises(DatabaseError) as caught:
        faults.run(
            db.dsn(),
            faults.policy(source="public.slow", trust=["source_owner"]),
            statement_timeout="3s",  # more than any other statement takes on a busy machine
        )
    assert (caught.value.code, caught.value.step) == ("statement_timeout", "snapshot")
    assert limits == [("0",)]
    conn = db.owner()
    assert faults.last_details(conn)["sqlstate"] == "57014"
    _clean(conn, None, "timeout")
    assert faults.run(db.dsn()).version == 1


@pytest.mark.slow
def test_a_terminated_session(db: Database) -> None:
    """The administrator ends the session: the run fails, and another session tidies up."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    conn = db.owner()
    before = faults.content(conn)

    def terminate() -> None:
        db.admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND application_name = 'pganon' AND datname = current_database() AND pid <> %s",
            [conn.info.backend_pid],
        )
        faults.wait_for_backends(conn)

    for step in ("partition.cut.best", "verify.balance", "publish.publish"):
        with pytest.raises(PganonError) as caught:
            faults.run(db.dsn(), before=faults.at(step, terminate))
        assert caught.value.code == "interrupted", step
        assert caught.value.exit_code == 3
        assert faults.events(conn)[-1] == "failed: interrupted", step
        _clean(conn, before, step)
    assert faults.run(db.dsn()).version == 2
    _clean(conn, faults.content(conn), "terminated")


def test_an_interrupt_of_the_user(db: Database) -> None:
    db.source(faults.SOURCE)
    conn = db.owner()

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        faults.run(db.dsn(), before=faults.at("recode.classes", interrupt))
    assert faults.events(conn) == ["started", "failed: interrupted"]
    _clean(conn, None, "interrupt")


@pytest.mark.slow
def test_an_interrupt_between_sending_and_waiting(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session is busy with a statement that nobody waits for: another one records the end."""
    db.source(faults.SOURCE)
    conn = db.owner()
    opened: list[Connection] = []
    connect = database.connect

    def remembering(*args: Any, **settings: Any) -> Connection:
        opened.append(connect(*args, **settings))
        return opened[-1]

    def interrupt() -> None:
        opened[0].pgconn.send_query(b"SELECT pg_sleep(60)")
        opened[0].cancel_safe()
        raise KeyboardInterrupt

    monkeypatch.setattr(database, "connect", remembering)
    with pytest.raises(KeyboardInterrupt):
        faults.run(db.dsn(), before=faults.at("recode.classes", interrupt))
    assert faults.events(conn) == ["started", "failed: interrupted"]
    assert faults.last_details(conn) == {"code": "interrupted"}
    _clean(conn, None, "interrupt")


def test_a_session_that_does_not_end(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody ends a run whose session is alive, however long it is looked at."""
    db.source(faults.SOURCE)
    conn, leader = db.owner(), db.owner()
    run_id = ledger.start_run(leader, "patients", "0" * 64)
    monkeypatch.setattr(tables, "_LOOKS", 2)
    assert not tables.end_dead(conn, run_id, KeyboardInterrupt())
    assert faults.events(conn) == ["started"]
    leader.close()
    faults.wait_for_backends(conn)
    assert tables.end_dead(conn, run_id, KeyboardInterrupt())
    assert faults.events(conn) == ["started", "failed: interrupted"]


@pytest.mark.slow
def test_a_failing_clean_up_does_not_undo_a_publication(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the commit the release is public, whatever follows; the next run removes the rest."""
    db.source(faults.SOURCE)
    conn = db.owner()

    def fail(*_: object) -> None:
        raise errors.LockNotAvailable

    with monkeypatch.context() as patch:
        patch.setattr("pganon.run.pipeline.drop_run", fail)
        assert faults.run(db.dsn()).version == 1
    assert faults.events(conn) == ["started", "released"]
    assert faults.run(db.dsn()).version == 2
    assert faults.run_tables(conn) == []


def _fail(conn: Connection, *_: object, **__: object) -> None:
    conn.execute("SELECT 1/0")


@pytest.mark.slow
def test_an_error_in_the_publishing_transaction(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.source(faults.SOURCE)
    loaded = faults.policy(publish={**faults.POLICY["publish"], "keep": 1})
    faults.run(db.dsn(), loaded)
    conn = db.owner()
    before = faults.content(conn)
    for function in (
        "recording.add_version",
        "views.swap",
        "recording.drop_stored",
        "ledger.append",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"pganon.publish.transaction.{function}", _fail)
            with pytest.raises(DatabaseError) as caught:
                faults.run(db.dsn(), loaded)
        assert caught.value.step == "publish", function
        assert faults.last_details(conn)["step"] == "publish", function
        _clean(conn, before, function)
    assert faults.run(db.dsn()).version == 2
