"""Attack: somebody who may write to staged tables slips something in before they are published."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from pganon.errors import PreconditionError, PrivacyRefusal
from pganon.publish import transaction
from pganon.publish.staging import Staged
from pganon.publish.transaction import publish, stamps
from pganon.run import executor
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import running, staged

CHANGED = (
    "UPDATE {t} SET disease = disease",
    "UPDATE {t} SET disease = 'x' WHERE class_id = 2",
    "WITH gone AS (DELETE FROM {t} WHERE class_id = 2 RETURNING *)"
    " INSERT INTO {t} SELECT * FROM gone",
    "ALTER TABLE {t} ADD COLUMN name text DEFAULT 'John'",
    "ALTER TABLE {t} DROP COLUMN age",
    "ALTER TABLE {t} RENAME COLUMN disease TO illness",
    "ALTER TABLE {t} ALTER COLUMN disease TYPE varchar",
    "ALTER TABLE {t} ALTER COLUMN class_id TYPE integer",
    "CREATE TABLE {t}_copy AS TABLE {t}; TRUNCATE {t}; INSERT INTO {t} TABLE {t}_copy",
    "TRUNCATE {t}",
    "CREATE TABLE {t}_child () INHERITS ({t});"
    " INSERT INTO {t}_child SELECT * FROM ONLY {t} LIMIT 1",
    "ALTER TABLE {t} RENAME TO r{run}_old;"
    " CREATE TABLE {t} AS SELECT * FROM pganon_stage.r{run}_old",
    # What a crash leaves of a table that is not logged.
    "ALTER TABLE {t} SET UNLOGGED; TRUNCATE {t}; ALTER TABLE {t} SET LOGGED",
)
HARMLESS = (
    "VACUUM (FREEZE) {t}",
    "VACUUM FULL {t}",
    "ANALYZE {t}",
    "CREATE INDEX ON {t} (class_id)",
    "BEGIN; DELETE FROM {t}; ROLLBACK",
)


@contextmanager
def _ready(conn: Connection) -> Iterator[tuple[Staged, str]]:
    """A release to publish, and its table of records."""
    with running(conn) as run:
        ready = staged(conn, run)
        yield ready, str(ready.relations[0].staged)


def _refused(conn: Connection, ready: Staged, note: str = "") -> None:
    with pytest.raises(PrivacyRefusal, match=str(ready.relations[0].staged)) as caught:
        publish(conn, ready)
    assert caught.value.code == "changed_after_verification", note
    assert conn.execute("SELECT count(*) FROM pganon_private.version").fetchone() == (0,)


def test_changed_tables_are_refused(db: Database) -> None:
    conn = db.owner()
    for change in CHANGED:
        with _ready(conn) as (ready, table):
            conn.execute(change.format(t=table, run=ready.run_id).encode())
            _refused(conn, ready, change)


def test_upkeep_is_no_change(db: Database) -> None:
    conn = db.owner()
    with _ready(conn) as (ready, table):
        for upkeep in HARMLESS:
            conn.execute(upkeep.format(t=table).encode())
        assert publish(conn, ready).version == 1


@pytest.mark.parametrize("number_kept", [False, True])
@pytest.mark.parametrize("written", ["before", "after"])
def test_a_transaction_older_than_the_stamp(db: Database, written: str, number_kept: bool) -> None:
    """It writes under a number that is older than those that verification saw."""
    conn, writer = db.owner(), db.connect()
    with writer.transaction():
        writer.execute("SELECT pg_current_xact_id()")
        with _ready(conn) as (ready, table):

            def write() -> None:
                writer.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1".encode())
                if number_kept:
                    writer.execute(
                        f"DELETE FROM {table} WHERE ctid = (SELECT min(ctid) FROM {table})".encode()
                    )

            if written == "before":
                write()
            now = tuple(stamp for stamp, _ in stamps(conn, [r.staged for r in ready.relations]))
            assert now == ready.stamps
            if written == "after":
                write()
            writer.execute("COMMIT; BEGIN")
            _refused(conn, ready)


def test_a_writer_who_has_not_finished_is_waited_for(db: Database) -> None:
    """Publication looks when the writer has ended, not before."""
    conn, writer, onlooker = db.owner(), db.connect(), db.connect()
    waited: list[bool] = []

    def somebody_waits() -> bool:
        row = onlooker.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
        return row != (0,)

    def finish() -> None:
        try:
            faults.wait_until(somebody_waits)
            waited.append(True)
        finally:
            writer.execute("COMMIT")

    with _ready(conn) as (ready, table):
        writer.execute(f"BEGIN; UPDATE {table} SET disease = 'x' WHERE class_id = 2".encode())
        thread = threading.Thread(target=finish)
        thread.start()
        try:
            _refused(conn, ready)
        finally:
            thread.join()
    assert waited


def test_a_writer_who_does_not_finish(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "PAUSES", (0.01,))
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "50ms")
    conn, writer = db.owner(), db.connect()
    with _ready(conn) as (ready, table):
        with writer.transaction(force_rollback=True):
            writer.execute(f"DELETE FROM {table}".encode())
            with pytest.raises(PreconditionError, match="staged tables are in use") as caught:
                publish(conn, ready)
            assert caught.value.code == "in_use"
        assert publish(conn, ready).version == 1, "nothing was changed"


def test_nobody_writes_between_the_look_and_the_move(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn, writer = db.owner(), db.connect()
    writer.execute("SET lock_timeout = '50ms'")
    move = transaction._move
    tried: list[str] = []

    def wait_and_move(inside: Connection, relations: Any) -> None:
        for relation in relations:
            with pytest.raises(psycopg.errors.LockNotAvailable):
                writer.execute(f"DELETE FROM {relation.staged}".encode())
            tried.append(relation.part)
        move(inside, relations)

    monkeypatch.setattr(transaction, "_move", wait_and_move)
    with _ready(conn) as (ready, _):
        publish(conn, ready)
    assert tried == ["records", "members"]


def test_each_table_is_looked_at(db: Database) -> None:
    conn = db.owner()
    with running(conn) as run:
        ready = staged(conn, run, joined=True)
        for relation in ready.relations:
            name = relation.staged
            conn.execute(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1".encode())
            with pytest.raises(PrivacyRefusal, match=f": {name}$"):
                publish(conn, ready)
            tables = [r.staged for r in ready.relations]
            again = tuple(stamp for stamp, _ in stamps(conn, tables))
            ready = dataclasses.replace(ready, stamps=again)
        assert publish(conn, ready).version == 1


def test_what_changes_before_verification_is_refused(db: Database) -> None:
    """Stamps are of when the tables were made: verification measures what was made, or nothing
    is published."""
    db.source(faults.SOURCE)
    conn = db.owner()

    def swap() -> None:
        conn.execute(
            "DO $$ BEGIN EXECUTE (SELECT format('UPDATE %s SET days = 4 - days', c.oid::regclass)"
            " FROM pg_class AS c WHERE c.relname ~ '_records$' AND c.relkind = 'r'"
            " AND c.relnamespace = 'pganon_stage'::regnamespace); END $$"
        )

    hook = faults.at("verify.fingerprint", swap)
    with pytest.raises(PrivacyRefusal) as caught:
        faults.run(db.dsn(), before=hook, jobs=1)
    assert caught.value.code == "changed_after_verification"
    assert faults.content(conn) is None
    assert faults.run_tables(conn) == []


@pytest.mark.usefixtures("steps_alone")
def test_staged_tables_are_stamped_by_the_transaction_that_makes_them(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else somebody could write between the two, and the stamp would hold for that, too.

    Of small runs see `tests/integration/run/test_small_runs.py`.
    """
    found = []
    original = executor.stamp_of_written

    def looked(conn: Any, target: Any, rows: int) -> str:
        found.append(conn.info.transaction_status)
        return original(conn, target, rows)

    monkeypatch.setattr(executor, "stamp_of_written", looked)
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    assert set(found) == {psycopg.pq.TransactionStatus.INTRANS}
