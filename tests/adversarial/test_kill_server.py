"""Fault: the server is killed, or the tables of a run are emptied as a crash empties them."""

from __future__ import annotations

import pytest

from pganon.errors import Interrupted, PrivacyRefusal
from pganon.publish import lifecycle
from pganon.run.tables import clean
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, CrashableServer, Database

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]

# Where the run stands when the server dies, and whether its version is there afterwards.
MOMENTS = [
    ("snapshot.inspect", "step", False),
    ("partition.cut.best", "step", False),
    ("recode.members", "step", False),
    ("publish.publish", "step", False),
    ("pganon.ledger.repository.append", "after", False),  # all is done but the commit
    ("pganon.run.pipeline.drop_run", "before", True),  # the commit is done, nothing else
]


def _owner(server: CrashableServer) -> Connection:
    conn = server.connect()
    conn.execute("SET ROLE steward")
    return conn


@pytest.mark.always
def test_server_killed(crashable_server: CrashableServer) -> None:
    server = crashable_server
    server.source(faults.SOURCE)
    faults.run(server.dsn(), stable=True)
    before = faults.content(_owner(server))
    shown = 1
    for stop, where, done in MOMENTS:
        with faults.ForkServer() as forks, forks.stopped(server.dsn(), stop, where):
            server.crash()
        server.restart()
        conn = _owner(server)
        shown += done
        assert faults.version(conn) == shown, (stop, where)
        if done:
            faults.guarantee_holds(conn)
        else:
            assert faults.content(conn) == before, (stop, where)
        assert faults.exposed(conn) == [], (stop, where)
        assert all(m.holds for m in lifecycle.verify(conn, "patients")), (stop, where)
        before = faults.content(conn)
        # A run ends in the ledger exactly once.
        assert clean(conn).interrupted == (() if done else (_last_run(conn),)), (stop, where)
        assert faults.run_tables(conn) == [], (stop, where)
    assert faults.run(server.dsn()).version == shown + 1
    faults.guarantee_holds(_owner(server))


def _last_run(conn: Connection) -> int:
    row = conn.execute("SELECT max(run_id) FROM pganon_private.ledger").fetchone()
    assert row is not None
    return row[0]


def test_a_release_survives_a_crash_whole(crashable_server: CrashableServer) -> None:
    """Everything that publication moved is logged."""
    server = crashable_server
    server.source(faults.SOURCE)
    faults.run(server.dsn())
    before = faults.content(_owner(server))
    server.crash()
    server.restart()
    conn = _owner(server)
    assert faults.content(conn) == before
    members = conn.execute("SELECT members_table FROM pganon_private.version").fetchone()
    assert members is not None
    assert conn.execute(f"SELECT count(*) FROM {members[0]}".encode()).fetchone() == (24,)


WORK = r"""
    SELECT c.oid::regclass::text, regexp_replace(c.relname, '^r\d+_', '')
    FROM pg_class AS c
    WHERE c.relnamespace::regnamespace::text IN ('pganon_work', 'pganon_stage')
        AND c.relkind = 'r' ORDER BY 2
"""


def _tables(conn: Connection) -> dict[str, str]:
    conn.execute("SET search_path = pg_catalog")
    return {short: name for name, short in conn.execute(WORK).fetchall()}


class _Emptier:
    """Empties a table at the first moment at which it has rows; collects those moments."""

    def __init__(self, conn: Connection, wanted: str | None = None) -> None:
        self.conn = conn
        self.wanted = wanted
        self.phase_of: dict[str, str] = {}

    def __call__(self, step: str) -> None:
        for short, name in _tables(self.conn).items():
            if short in self.phase_of or not self._has_rows(name):
                continue
            self.phase_of[short] = step.split(".")[0]
            if short == self.wanted:
                self.conn.execute(f"TRUNCATE {name}".encode())

    def _has_rows(self, name: str) -> bool:
        return self.conn.execute(f"SELECT FROM {name} LIMIT 1".encode()).fetchone() is not None


def test_an_emptied_table_never_publishes(db: Database) -> None:
    """One table of every phase loses its rows: the run fails and says which it was."""
    db.source(faults.SOURCE)
    conn = db.owner()
    seen = _Emptier(conn)
    faults.run(db.dsn(), before=seen)
    before = faults.content(db.admin)
    samples = {phase: table for table, phase in sorted(seen.phase_of.items(), reverse=True)}
    assert {"encode", "partition", "recode"} <= set(samples)
    for table in {*samples.values(), "dict1", "members"}:
        with pytest.raises(Interrupted) as caught:
            faults.run(db.dsn(), before=_Emptier(conn, table))
        assert f"_{table}" in str(caught.value), table
        assert caught.value.step, table
    assert faults.version(conn) == 1
    assert faults.content(db.admin) == before
    assert faults.run_tables(conn) == []


def test_all_emptied_at_any_phase(db: Database) -> None:
    """What a crash does to a run that would go on: all unlogged tables are empty from then on."""
    db.source(faults.SOURCE)
    conn = db.owner()
    steps = faults.steps_of(db.dsn())
    firsts = {step.split(".")[0]: step for step in reversed(steps)}
    for step in ["partition.cut.moves", *firsts.values()]:
        if step in ("snapshot.snapshot", "publish.publish"):
            continue

        def empty() -> None:
            for name in _tables(conn).values():
                if "pganon_work" in name:
                    conn.execute(f"TRUNCATE {name}".encode())

        with pytest.raises(Interrupted):
            faults.run(db.dsn(), before=faults.at(step, empty))
        assert faults.last_details(conn)["code"] == "interrupted", step
    assert faults.version(conn) == 1
    assert faults.run_tables(conn) == []


def test_staged_tables_changed_before_publication(db: Database) -> None:
    """Verification reads what is published: a change after it, or during it, is found."""
    db.source(faults.SOURCE)
    conn = db.owner()
    for step in ("verify.fingerprint", "verify.k_anonymity_1", "publish.publish"):

        def change() -> None:
            name = _tables(conn)["records"]
            conn.execute(f"UPDATE {name} SET days = days + 1".encode())

        with pytest.raises(PrivacyRefusal) as caught:
            faults.run(db.dsn(), before=faults.at(step, change))
        assert caught.value.code == "changed_after_verification", step
    assert faults.content(conn) is None
