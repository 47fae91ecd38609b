"""Fault: a pooler between client and server, which may lend one session to several clients.

PgBouncer takes part where it is there; poolers made of sessions of the test where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import psycopg
import pytest
from psycopg import pq

from pganon import database, locks, pooling
from pganon.errors import DatabaseError, PreconditionError
from pganon.ledger import repository as ledger
from tests.support.harness import bouncer, faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database

_LOCKED = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND database = (
    SELECT oid FROM pg_database WHERE datname = current_database())
"""


class _Client:
    """What a pooler gives a client: a number of its own, and these sessions in turn."""

    def __init__(self, sessions: Sequence[Connection]) -> None:
        self.sessions = sessions
        self.count = 0
        self.info = self
        self.backend_pid = 0
        self.server_version = sessions[0].info.server_version
        self.dbname, self.host, self.port, self.user = "d", "h", 6432, "u"

    @property
    def pgconn(self) -> pq.abc.PGconn:
        return self.sessions[0].pgconn

    def execute(self, *arguments: Any) -> Any:
        self.count += 1
        return self.sessions[self.count % len(self.sessions)].execute(*arguments)

    def close(self) -> None:
        self.sessions[0].execute("ROLLBACK")


def _check(mine: Sequence[Connection], others: Connection) -> None:
    another = cast(Connection, _Client([others]))
    pooling.check_unshared(cast(Connection, _Client(mine)), lambda: another)


def test_shared_sessions_are_found(db: Database) -> None:
    one, two, three, other = (db.connect() for _ in range(4))
    for mine, others in (
        ([one], one),  # the one given back last is lent next
        ([one, two], other),  # they are lent in turn
        ([one, two, three], other),
    ):
        with pytest.raises(PreconditionError) as caught:
            _check(mine, others)
        assert caught.value.code == "pooler"
    _check([one], two)
    direct = db.connect()
    pooling.check_unshared(direct, lambda: pytest.fail("a direct connection needs no other"))


def test_no_connection_of_pganon_is_a_shared_one(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = db.connect()
    session.execute("SET search_path = public")
    monkeypatch.setattr(psycopg, "connect", lambda *given, **settings: _Client([session]))
    with pytest.raises(PreconditionError) as caught:
        database.connect(db.dsn())
    assert (caught.value.code, caught.value.exit_code) == ("pooler", 2)
    assert session.execute("SHOW search_path").fetchone() == ("public",), "others use it as it was"


@pytest.mark.slow
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_nothing_is_done_through_shared_sessions(
    bare_db: Database, mode: str, in_turn: bool
) -> None:
    bare_db.source(faults.SOURCE)
    with bouncer.pooled(bare_db, mode, in_turn=in_turn) as dsn:
        refused = pganon("init", "--dsn", dsn, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (2, "pooler")
        assert "session" in refused.json["error"]["hint"]
        schemas = "SELECT FROM pg_namespace WHERE nspname ~ '^pganon'"
        assert not bare_db.admin.execute(schemas).rowcount
        assert pganon("init", "--dsn", bare_db.dsn()).code == 0
        for act in (
            lambda: faults.run(dsn),
            lambda: queue.serve(bare_db, dsn),
            lambda: database.connect(dsn),
        ):
            with pytest.raises(PreconditionError) as caught:
                act()
            assert caught.value.code == "pooler"
        assert bare_db.admin.execute(_LOCKED).fetchone() == (0,)
    conn = bare_db.owner()
    assert faults.events(conn) == []
    assert faults.run_tables(conn) == []
    assert conn.execute("SELECT count(*) FROM pganon_private.activity").fetchone() == (0,)
    assert faults.run(bare_db.dsn()).version == 1


@pytest.mark.slow
def test_sessions_of_ones_own_are_as_good_as_the_server(bare_db: Database) -> None:
    with bouncer.pooled(bare_db, "session") as dsn:
        assert pganon("init", "--dsn", dsn).code == 0
        bare_db.source(faults.SOURCE)
        assert [faults.run(dsn).version for _ in range(2)] == [1, 2]
        queue.apply(bare_db)
        queue.ask(bare_db.connect("analyst"), k=9)
        assert any(line.startswith("released") for line in queue.serve(bare_db, dsn))
        assert "nothing to clean" in pganon("clean", "--dsn", dsn).out
        assert bare_db.admin.execute(_LOCKED).fetchone() == (0,)
    assert faults.version(bare_db.owner()) == 3


@pytest.mark.slow
def test_a_run_whose_session_ends_leaves_no_lock_behind_a_pooler(db: Database) -> None:
    db.source(faults.SOURCE)
    held: list[Connection] = []
    with bouncer.pooled(db, "session") as dsn:

        def end() -> None:
            (pid,) = held[0].execute("SELECT pg_backend_pid()").fetchone() or (0,)
            db.admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

        with faults.run_connection(held.append), pytest.raises(DatabaseError):
            faults.run(dsn, before=faults.at("publish.publish", end))
        assert db.admin.execute(_LOCKED).fetchone() == (0,)
        assert faults.run(dsn).version == 1


@pytest.mark.slow
def test_a_pooler_without_a_second_session_does_not_share_the_first(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling, "PATIENCE", 0.2)
    with bouncer.pooled(db, "session", size=1) as dsn:
        database.connect(dsn).close()
    with bouncer.pooled(db, "transaction", size=1) as dsn, pytest.raises(PreconditionError):
        database.connect(dsn)


def test_a_run_that_could_not_begin_holds_nothing(db: Database) -> None:
    """Its session may go on: that of a worker, or one that a pooler gives to the next client."""
    conn = db.owner()
    conn.execute("ALTER TABLE pganon_private.ledger ADD CHECK (release <> 'patients')")
    with pytest.raises(psycopg.Error):
        ledger.start_run(conn, "patients", "h")
    assert db.admin.execute(_LOCKED).fetchone() == (0,)
    assert conn.execute("SELECT count(*) FROM pganon_private.activity").fetchone() == (0,)


def test_a_lost_lock_stops_publication(db: Database) -> None:
    """A pooler that was missed: the locks are asked for again in the publishing transaction."""
    db.source(faults.SOURCE)
    conn = db.owner()
    lost = (
        "SELECT pg_catalog.pg_advisory_unlock_all() FROM"
        " (SELECT set_config('search_path', 'pg_catalog', true)) AS s"
    )
    held: list[Any] = []
    hook = faults.at("publish.publish", lambda: held[0].execute(lost))
    with faults.run_connection(held.append), pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), before=hook)
    assert caught.value.code == "lock_lost"
    assert faults.content(conn) is None
    assert faults.run_tables(conn) == []
    assert faults.events(conn) == ["started", "failed: lock_lost"]


def test_a_run_is_known_by_the_servers_number(db: Database) -> None:
    """Behind a pooler the client's number of its session is not the server's."""
    conn = db.owner()

    class Pooled(psycopg.Connection[Any]):
        @property
        def info(self) -> Any:
            found = super().info
            return type(
                "Info", (), {"backend_pid": -1, "transaction_status": found.transaction_status}
            )

    run_id = ledger.start_run(conn, "patients", "h")
    with (
        pytest.raises(PreconditionError, match="is led by process"),
        locks.hold(db.owner(), run_id=run_id),
    ):
        pass
    conn.__class__ = Pooled
    with locks.hold(conn, run_id=run_id):
        pass
