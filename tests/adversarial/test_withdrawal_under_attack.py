"""Attack: roles that may little keep a release from being withdrawn, or others from being shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psycopg
import pytest

from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.publish import lifecycle, listing, transaction
from pganon.publish.privileges import beyond_policy, unopened
from pganon.run import grants
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import release

NOTHING = b"GRANT SELECT ON published.adult TO analyst"
"""Who may not grant gets a warning, and keeps the row with the privileges until it commits."""


def _holds(db: Database) -> Connection:
    reader = db.connect("analyst")
    reader.autocommit = False
    reader.execute(NOTHING)
    return reader


def _read(db: Database) -> None:
    db.connect("analyst").execute("SELECT FROM published.adult")


@pytest.mark.parametrize("commits", [False, True])
def test_a_reader_cannot_hold_up_a_withdrawal(db: Database, commits: bool) -> None:
    conn = db.owner()
    release(conn)
    release(conn, "other")
    _read(db)
    reader = _holds(db)
    timer = threading.Timer(0.2, reader.commit)
    if commits:  # while the withdrawal waits
        timer.start()
    lifecycle.withdraw(conn, "adult")
    assert [info.release for info in listing.releases(conn) if info.version] == ["other"]
    if commits:
        timer.join()
        with pytest.raises(psycopg.errors.UndefinedTable):
            _read(db)
        return
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="r1_records"):
        _read(db)
    # What it holds is gone as soon as it lets go, and the owner may read the version again.
    timer = threading.Timer(0.05, reader.commit)  # while it waits, too
    timer.start()
    for _ in range(2):
        conn.execute("SELECT pganon.tidy_views(NULL)")
        timer.join()
    with pytest.raises(psycopg.errors.UndefinedTable):
        _read(db)
    assert conn.execute("SELECT count(*) FROM pganon_data.r1_records").fetchone() == (3,)


def _admit(conn: Connection) -> None:
    grants.change_readers(conn, "adult", add=["source_owner"])


def _again(conn: Connection) -> None:
    release(conn)


@pytest.mark.parametrize("act", [_admit, _again])
def test_a_reader_cannot_hold_up_all_publications(
    db: Database, act: Callable[[Connection], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for each other, so none of them waits for a reader without end."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(transaction, "PAUSES", (0.05,))
    conn = db.owner()
    release(conn)
    conn.execute("SET statement_timeout = '20s'")
    reader = _holds(db)
    with pytest.raises(PreconditionError) as caught:
        act(conn)
    assert caught.value.code == "in_use"
    reader.commit()
    act(conn)


@pytest.mark.parametrize("act", [_admit, _again])
def test_a_reader_that_lets_go_of_privileges_meanwhile(
    db: Database, act: Callable[[Connection], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the row that was waited for is another one, and the server refuses to change it."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "10s")
    conn = db.owner()
    release(conn)
    reader = _holds(db)

    def let_go() -> None:
        while not db.admin.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall():
            time.sleep(0.01)
        reader.commit()

    letting = threading.Thread(target=let_go)
    letting.start()
    act(conn)
    letting.join()


def test_what_others_have_under_the_name_of_a_withdrawn_view(db: Database) -> None:
    """Whoever may create tables there can change what others may do with them at any time."""
    conn = db.owner()
    db.admin.execute("GRANT CREATE, USAGE ON SCHEMA public TO steward")
    release(conn, view=QualifiedName("public", "adult"))
    lifecycle.withdraw(conn, "adult")
    with conn.transaction(), unopened(conn):
        db.connect("source_owner").execute(
            "CREATE TABLE public.adult (i int); GRANT SELECT ON public.adult TO analyst"
        )


def test_what_was_open_before_prevents_no_withdrawal(db: Database) -> None:
    conn = db.owner()
    release(conn)
    conn.execute("GRANT SELECT ON pganon_private.ledger TO source_owner")
    with pytest.raises(PreconditionError, match=r"SELECT on pganon_private\.ledger"):
        release(conn)
    lifecycle.withdraw(conn, "adult")
    lifecycle.drop(conn, "adult")
    assert not listing.releases(conn)[0].version


def test_texts_of_rights_do_not_follow_settings(db: Database) -> None:
    conn = db.owner()
    release(conn)
    conn.execute("GRANT SELECT ON published.adult TO PUBLIC")
    conn.execute("SET quote_all_identifiers = on")
    rights = [(right.place, right.text) for right in beyond_policy(conn)]
    assert ("published.adult", "SELECT on published.adult to public") in rights
    assert "schema pganon" not in [place for place, _ in rights]
