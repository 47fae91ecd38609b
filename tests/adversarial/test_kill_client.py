"""Fault: the client is killed with SIGKILL, in every step and around the publishing commit."""

from __future__ import annotations

import pytest

from pganon.publish import lifecycle
from pganon.run.tables import clean
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]


def _only_run(conn: Connection) -> int:
    """The run whose tables there are; no dead run left any."""
    runs = {int(name.split(".r")[1].split("_")[0]) for name in faults.run_tables(conn)}
    assert len(runs) <= 1, "tables of a dead run are left"
    return runs.pop() if runs else 0


def test_killed_in_every_step(db: Database) -> None:
    """Nothing changes for analysts, nothing private opens, and the next run clears what is left."""
    db.source(faults.SOURCE)
    steps = faults.steps_of(db.dsn())
    conn = db.owner()
    before = faults.content(conn)
    killed = 0
    with faults.ForkServer() as server:
        for step in dict.fromkeys(steps):
            with server.stopped(db.dsn(), step):
                _only_run(conn)
                assert faults.exposed(conn) == [], step
                assert faults.content(conn) == before, step
            faults.wait_for_backends(conn)
            killed += 1
            assert faults.content(conn) == before, step
            # The run before this one was ended by this one; this one by the next.
            assert faults.events(conn).count("failed: interrupted") == killed - 1, step
    assert killed > 50
    assert faults.version(conn) == 1
    assert faults.exposed(conn) == []
    assert faults.run(db.dsn()).version == 2
    assert faults.events(conn).count("failed: interrupted") == killed
    assert faults.run_tables(conn) == []
    assert conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone() == (2,)
    faults.guarantee_holds(conn)


# Function of the publishing transaction, and whether its version is there afterwards.
PUBLISHING = [
    ("pganon.publish.transaction._check_unchanged", "before", False),
    ("pganon.publish.transaction._move", "after", False),
    ("pganon.history.versions.remember", "after", False),
    ("pganon.publish.recording.add_version", "after", False),
    ("pganon.publish.views.swap", "before", False),
    ("pganon.publish.views.swap", "after", False),
    ("pganon.publish.transaction.retire", "after", False),
    ("pganon.ledger.repository.append", "before", False),
    ("pganon.ledger.repository.append", "after", False),
    ("pganon.run.pipeline.drop_run", "before", True),
    ("pganon.run.pipeline.drop_run", "after", True),
]


@pytest.mark.always
def test_killed_while_publishing(db: Database) -> None:
    """Before the commit nothing is published, after it everything."""
    db.source(faults.SOURCE)
    conn = db.owner()
    faults.run(db.dsn())
    before = faults.content(conn)
    shown = 1
    with faults.ForkServer() as server:
        for stop, where, done in PUBLISHING:
            with server.stopped(db.dsn(), stop, where):
                pass
            faults.wait_for_backends(conn)
            shown += done
            assert faults.version(conn) == shown, (stop, where)
            assert faults.exposed(conn) == [], (stop, where)
            if not done:
                assert faults.content(conn) == before, (stop, where)
            before = faults.content(conn)
            faults.guarantee_holds(conn)
            cleaned = clean(conn)
            assert bool(cleaned.interrupted) is not done, (stop, where)
            assert faults.run_tables(conn) == [], (stop, where)
    assert all(measured.holds for measured in lifecycle.verify(conn, "patients"))
    assert faults.run(db.dsn()).version == shown + 1


def test_killed_during_a_long_statement(db: Database) -> None:
    """The server notices that the client is gone and frees its locks, though it was busy."""
    db.source(
        faults.SOURCE + "CREATE VIEW public.slow AS SELECT p.* FROM public.patient AS p,"
        " (SELECT pg_sleep(60)) AS s;"
    )
    conn = db.owner()
    faults.run(db.dsn())
    before = faults.content(conn)
    with faults.ForkServer() as server, server.busy(db.dsn(), "public.slow"):
        faults.wait_for_statement(conn, "pg_catalog.pg_sleep", "public%slow")
    faults.wait_for_backends(conn)
    assert faults.content(conn) == before
    assert faults.run(db.dsn()).version == 2
    assert faults.events(conn, "slow") == ["started", "failed: interrupted"]
    assert faults.run_tables(conn) == []
