"""Attack: rewriting history. Not even the owner changes or removes a row of the ledger."""

from __future__ import annotations

import psycopg
import pytest

from pganon.errors import LedgerError
from pganon.publish import lifecycle
from pganon.server_errors import translate
from tests.support.harness.cluster import Database
from tests.support.sources.staging import release

ATTEMPTS = [
    "UPDATE pganon_private.ledger SET details = '{}'",
    "UPDATE pganon_private.ledger SET at = now() WHERE false",
    "DELETE FROM pganon_private.ledger WHERE event = 'refused'",
    "TRUNCATE pganon_private.ledger",
    "TRUNCATE pganon_private.ledger RESTART IDENTITY CASCADE",
    "INSERT INTO pganon_private.ledger (id, run_id, release, event, program_version)"
    " OVERRIDING SYSTEM VALUE VALUES (1, 1, 'adult', 'started', '0') ON CONFLICT (id)"
    " DO UPDATE SET release = 'x'",
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_owner_cannot(db: Database, attempt: str) -> None:
    conn = db.owner()
    release(conn)
    before = conn.execute("SELECT * FROM pganon.ledger ORDER BY id").fetchall()
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(attempt.encode())
    assert isinstance(translate(caught.value), LedgerError)
    assert conn.execute("SELECT * FROM pganon.ledger ORDER BY id").fetchall() == before


def test_through_the_view_neither(db: Database) -> None:
    conn = db.owner()
    release(conn)
    for text in ("UPDATE pganon.ledger SET release = 'x'", "DELETE FROM pganon.ledger"):
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(text.encode())
        assert isinstance(translate(caught.value), LedgerError)


def test_replica_sessions_neither(db: Database) -> None:
    """session_replication_role switches ordinary triggers off."""
    release(db.owner())
    db.admin.execute("SET session_replication_role = replica")
    with pytest.raises(psycopg.Error, match="append-only"):
        db.admin.execute("DELETE FROM pganon_private.ledger")


def test_every_step_leaves_a_row(db: Database) -> None:
    conn = db.owner()
    release(conn)
    release(conn)
    lifecycle.show_earlier(conn, "adult")
    lifecycle.drop(conn, "adult")
    rows = conn.execute("SELECT event, version, by_role FROM pganon.ledger ORDER BY id").fetchall()
    assert rows == [
        ("started", None, "steward"),
        ("released", 1, "steward"),
        ("started", None, "steward"),
        ("released", 2, "steward"),
        ("rolled_back", 1, "steward"),
        ("withdrawn", 1, "steward"),
        ("dropped", 1, "steward"),
    ]
