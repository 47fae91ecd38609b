"""Attack: views of anybody upon published views, and readers who stay in a transaction.

Neither keeps the steward from taking a release away, or from changing its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from pganon.errors import LedgerError, PreconditionError
from pganon.identifiers import QualifiedName
from pganon.install.owner import become_owner
from pganon.publish import lifecycle, listing, transaction
from pganon.run.tables import clean
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import COLUMNS, ROWS, release

BUILT = """
    CREATE SCHEMA built AUTHORIZATION analyst;
    GRANT USAGE ON SCHEMA built TO steward;
    GRANT USAGE ON SCHEMA published TO source_owner;
"""
UPON = "SELECT age, disease FROM published.adult"
MINE = """
    CREATE VIEW built.v AS SELECT age, disease FROM published.adult;
    CREATE VIEW built.upon AS SELECT age FROM built.v;
    CREATE TABLE built.row_of (r published.adult);
    CREATE FUNCTION built.f() RETURNS SETOF published.adult LANGUAGE sql
        AS $$ SELECT * FROM published.adult $$;
    CREATE TEMPORARY VIEW passing AS SELECT age FROM published.adult;
"""
DEPENDS = {
    "view built.v depends on view published.adult",
    "view built.upon depends on view built.v",
    "function built.f() depends on type published.adult",
    "column r of table built.row_of depends on type published.adult",
}


@pytest.fixture
def analyst(db: Database) -> Connection:
    """Who has built on a release, as everybody may who may use the schema."""
    conn = db.owner()
    release(conn)
    release(conn)
    db.admin.execute(BUILT.encode())
    found = db.connect("analyst")
    found.execute(MINE.encode())
    return found


def _other_columns(conn: Connection) -> tuple[str, ...]:
    return release(conn, columns=COLUMNS[:2], rows=[r[:2] for r in ROWS]).dependents


def _other_name(conn: Connection) -> tuple[str, ...]:
    return release(conn, view=QualifiedName("published", "people")).dependents


def _withdrawn(conn: Connection) -> tuple[str, ...]:
    return lifecycle.withdraw(conn, "adult")


def _dropped(conn: Connection) -> tuple[str, ...]:
    return lifecycle.drop(conn, "adult").dependents


def _refused(conn: Connection, what: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(what.encode())


@pytest.mark.parametrize("act", [_other_columns, _other_name, _withdrawn, _dropped])
def test_who_has_built_on_a_view_loses_it(
    db: Database, analyst: Connection, act: Callable[[Connection], tuple[str, ...]]
) -> None:
    conn = db.owner()
    told = act(conn)
    assert set(told) >= DEPENDS
    assert any(line.startswith("view pg_temp") for line in told)
    for what in ("built.v", "built.upon", "passing"):
        _refused(analyst, f"TABLE {what}")
    assert faults.exposed(db.admin) == []
    row = conn.execute("SELECT details -> 'dependents' FROM pganon.ledger ORDER BY id DESC LIMIT 1")
    assert row.fetchone() == (list(told),)


@pytest.mark.parametrize("owner", ["steward", None])
def test_nothing_shows_what_was_withdrawn(
    db: Database, owner: str | None, analyst: Connection
) -> None:
    """Views of who may read everything, which others may read, say so for ever."""
    maker = db.connect(owner) if owner else db.admin
    maker.execute(f"CREATE VIEW published.open AS {UPON}".encode())
    maker.execute("GRANT SELECT ON published.open TO PUBLIC")
    conn = db.owner()
    lifecycle.withdraw(conn, "adult")
    _gone(analyst)
    assert release(conn).version == 3
    _gone(analyst)
    _gone(maker)


WAYS = (
    "TABLE {}",
    "SELECT count(*) FROM {}",
    "SELECT FROM {} LIMIT 1",
    "SELECT FROM {} WHERE age IS NULL",
)


def _gone(conn: Connection, view: str = "published.open") -> None:
    """Whoever asks, and however: none of it looks like an answer."""
    for way in WAYS:
        with pytest.raises(psycopg.DataError, match=r"published\.adult was withdrawn"):
            conn.execute(way.format(view).encode())


@pytest.mark.parametrize("owner", ["steward", None])
@pytest.mark.parametrize("how", ["withdraw", "drop"])
def test_nothing_shows_what_is_still_read(
    db: Database, owner: str | None, how: str, analyst: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that is in use stands for a while, and what others than readers have built on it."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(transaction, "PAUSES", ())
    maker = db.connect(owner) if owner else db.admin
    maker.execute(f"CREATE VIEW published.open AS {UPON}".encode())
    maker.execute("GRANT SELECT ON published.open TO PUBLIC")
    conn, reader = db.owner(), _reading(db)
    if how == "withdraw":
        lifecycle.withdraw(conn, "adult")
    else:
        with pytest.raises(PreconditionError, match="is withdrawn"):
            lifecycle.drop(conn, "adult")
    _refused(analyst, "TABLE published.open")
    reader.execute("ROLLBACK")
    clean(conn)
    _gone(analyst)
    assert lifecycle.show_earlier(conn, "adult").now == 2
    assert analyst.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    _gone(analyst)


def test_the_way_back(db: Database, analyst: Connection) -> None:
    """To the version that was shown, also while somebody reads the views that were withdrawn."""
    conn = db.owner()
    lifecycle.show_earlier(conn, "adult")
    done = pganon("withdraw", "adult", "--json", "--dsn", db.dsn())
    assert (done.json["before"], done.json["now"]) == (1, None)
    assert set(done.json["dependents"]) >= DEPENDS
    _refused(analyst, "TABLE built.v")
    assert pganon("withdraw", "adult", "--json", "--dsn", db.dsn()).json["error"]["code"] == (
        "unknown_release"
    )
    back = pganon("rollback", "adult", "--dsn", db.dsn())
    assert back.out == "adult: version 1 is shown, before it was none\n", back.err
    assert analyst.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    assert [found for found in lifecycle.verify(conn, "adult") if not found.holds] == []
    gone = pganon("withdraw", "adult", "--dsn", db.dsn())
    assert gone.out == "adult: withdrawn, before it was version 1\n"
    assert pganon("rollback", "adult", "--to", "2", "--json", "--dsn", db.dsn()).json["now"] == 2
    reader = _reading(db)
    lifecycle.withdraw(conn, "adult")
    reader.execute("ROLLBACK")
    assert lifecycle.show_earlier(conn, "adult").now == 2
    assert reader.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    lifecycle.drop(conn, "adult")
    with pytest.raises(LedgerError) as caught:
        lifecycle.show_earlier(conn, "adult")
    assert caught.value.code == "not_stored"


def test_columns_of_every_type_outlive_their_view(db: Database) -> None:
    conn = db.owner()
    db.admin.execute("CREATE TYPE public.mood AS ENUM ('good', 'bad')")
    columns = (
        ("class_id", "bigint"), ("Of a", "numeric(8,2)"), ("t", 'text COLLATE "C"'),
        ("r", "numrange[]"), ("n", "name"), ("b", "bit(3)"), ("c", '"char"'), ("m", "public.mood"),
    )  # fmt: skip
    made = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in columns)
    conn.execute("CREATE SCHEMA IF NOT EXISTS published")
    conn.execute(f"CREATE VIEW published.many AS SELECT {made}".encode())
    conn.execute("CREATE VIEW published.upon AS TABLE published.many")
    conn.execute("SELECT pganon.remove_view('published.many')")
    kinds = "SELECT format_type(atttypid, atttypmod), attcollation FROM pg_attribute"
    text = f"{kinds} WHERE attrelid = 'published.upon'::regclass ORDER BY attnum"
    assert len(conn.execute(text.encode()).fetchall()) == len(columns)
    with pytest.raises(psycopg.DataError, match=r"published\.many was withdrawn"):
        conn.execute("TABLE published.upon")
    become_owner(db.connect())  # nothing of it is foreign


def test_the_name_is_free_again(db: Database, analyst: Connection) -> None:
    conn = db.owner()
    lifecycle.withdraw(conn, "adult")
    assert release(conn).version == 3
    assert analyst.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    _other_columns(conn)
    lifecycle.show_earlier(conn, "adult")
    assert [found for found in lifecycle.verify(conn, "adult") if not found.holds] == []
    _refused(analyst, "TABLE built.v")


def test_what_was_set_aside_goes_when_nobody_needs_it(db: Database, analyst: Connection) -> None:
    conn = db.owner()
    lifecycle.withdraw(conn, "adult")
    conn.execute("CREATE VIEW pganon_private.by_hand AS SELECT 1 AS a")
    count = "SELECT count(*) FROM pg_class WHERE relname LIKE 'set\\_aside\\_%' AND relkind = 'v'"
    clean(conn)
    assert conn.execute(count).fetchone() == (1,)
    analyst.execute("DROP SCHEMA built CASCADE; DROP VIEW passing")
    clean(conn)
    assert conn.execute(count).fetchone() == (0,)
    assert conn.execute("TABLE pganon_private.by_hand").fetchall() == [(1,)]


def _reading(db: Database) -> Connection:
    """A reader in a transaction, who has a lock on the view and its tables."""
    reader = db.connect("analyst")
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    return reader


@pytest.mark.parametrize("how", ["pganon.withdraw_release", "lifecycle"])
def test_who_reads_delays_no_withdrawal(db: Database, how: str) -> None:
    conn = db.owner()
    release(conn, extra_views=["_st"])
    reader = _reading(db)
    conn.execute("SET statement_timeout = '2s'")
    if how == "lifecycle":
        lifecycle.withdraw(conn, "adult")
    else:
        conn.execute("SELECT pganon.withdraw_release('adult')")
    _refused(db.connect("analyst"), "TABLE published.adult")
    _refused(db.connect("analyst"), "TABLE published.adult_st")
    assert listing.releases(db.connect("analyst")) == []
    reader.execute("ROLLBACK")
    _refused(reader, "TABLE published.adult")
    queue.serve(db)
    left = conn.execute("SELECT to_regclass('published.adult'), to_regclass('published.adult_st')")
    assert left.fetchone() == (None, None), "the worker drops what is in use no more"


def test_who_reads_is_shut_out_of_what_is_dropped(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(transaction, "PAUSES", ())
    conn = db.owner()
    release(conn)
    reader = _reading(db)
    with pytest.raises(PreconditionError, match="is withdrawn") as caught:
        lifecycle.drop(conn, "adult")
    assert caught.value.code == "in_use"
    _refused(db.connect("analyst"), "TABLE published.adult")
    reader.execute("ROLLBACK")
    done = lifecycle.drop(conn, "adult")
    assert (done.dropped, done.now) == ((1,), None)
    assert conn.execute("SELECT to_regclass('published.adult')").fetchone() == (None,)


def test_a_view_in_use_is_made_again(db: Database) -> None:
    """A version of a withdrawn release takes the place of the view that still stands."""
    conn = db.owner()
    release(conn, extra_views=["_st"])
    reader = _reading(db)
    lifecycle.withdraw(conn, "adult")
    reader.execute("ROLLBACK")
    assert release(conn).version == 2
    assert reader.execute("SELECT count(*) FROM published.adult").fetchone() == (3,)
    assert conn.execute("SELECT to_regclass('published.adult_st')").fetchone() == (None,)


def test_a_view_of_another_release_stays(db: Database) -> None:
    """It has the name of one that is gone."""
    conn = db.owner()
    release(conn)
    lifecycle.withdraw(conn, "adult")
    release(conn, "other", view=QualifiedName("published", "adult"))
    clean(conn)
    queue.serve(db)
    assert lifecycle.drop(conn, "adult").dropped == (1,)
    assert db.connect("analyst").execute("TABLE published.adult").rowcount == 3


def test_a_view_of_another_role_stays(db: Database) -> None:
    """It stands where one of the release did."""
    conn = db.owner()
    release(conn)
    conn.execute("DROP VIEW published.adult")
    db.admin.execute("GRANT CREATE ON SCHEMA published TO analyst")
    analyst = db.connect("analyst")
    analyst.execute("CREATE VIEW published.adult AS SELECT 1 AS a")
    lifecycle.drop(conn, "adult")
    assert analyst.execute("TABLE published.adult").fetchall() == [(1,)]


@pytest.mark.slow
def test_a_request_to_drop_what_is_read_waits(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(transaction, "PAUSES", ())
    conn = db.owner()
    release(conn)
    reader = _reading(db)
    conn.execute("SELECT pganon.request_drop('adult')")
    queue.serve(db)
    assert queue.states(db) == ["waiting"]
    _refused(db.connect("analyst"), "TABLE published.adult")
    reader.execute("ROLLBACK")
    conn.execute("UPDATE pganon_private.request SET due_at = now()")
    queue.serve(db)
    assert queue.states(db) == ["released"]


@pytest.mark.slow
def test_a_review_is_kept_whoever_has_built_and_reads(db: Database) -> None:
    db.source(faults.SOURCE)
    publish: dict[str, Any] = {"readers": ["analyst"], "review_by": "2020-01-01"}
    faults.run(db.dsn(), faults.policy(publish=publish))
    db.admin.execute(BUILT.encode())
    analyst = db.connect("analyst")
    analyst.execute("CREATE VIEW built.v AS TABLE published.patients")
    analyst.execute("BEGIN; TABLE published.patients")
    assert "withdrawn release=patients reason=review_by" in queue.serve(db)
    analyst.execute("ROLLBACK")
    _refused(analyst, "TABLE built.v")


@pytest.mark.slow
def test_the_commands_name_what_others_have_built(db: Database, analyst: Connection) -> None:
    done = pganon("drop", "adult", "--yes", "--dsn", db.dsn())
    assert done.code == 0
    assert "is of no use any more: view built.v depends on view published.adult" in done.err
