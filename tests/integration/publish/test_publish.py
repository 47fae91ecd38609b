"""Publication: one transaction, or nothing."""

from __future__ import annotations

import dataclasses

import psycopg
import pytest

from pganon.catalog.roles import numbers
from pganon.errors import LedgerError, PganonError, PreconditionError, PrivacyRefusal, UsageError
from pganon.identifiers import QualifiedName
from pganon.publish import listing
from pganon.publish.transaction import publish
from pganon.publish.views import check_target
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import ROWS, release, running, staged

VIEW = QualifiedName("published", "adult")


def _tables(conn: Connection, schema: str) -> list[str]:
    found = conn.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname = %s AND c.relkind = 'r' AND c.relname ~ '^r[0-9]+_' ORDER BY 1",
        [schema],
    )
    return [row[0] for row in found.fetchall()]


@pytest.mark.parametrize("joined", [False, True])
def test_publish(db: Database, joined: bool) -> None:
    conn = db.owner()
    done = release(conn, joined=joined)
    assert (done.version, done.replaced) == (1, None)
    analyst = db.connect("analyst")
    rows = analyst.execute("SELECT class_id, age::text, disease FROM published.adult").fetchall()
    assert sorted(rows) == sorted((n, age[:-1] + "]", d) for n, age, d in ROWS)
    assert _tables(conn, "pganon_stage") == []
    run = done.run_id
    assert _tables(conn, "pganon_private") == [f"r{run}_members"]
    parts = [f"r{run}_classes", f"r{run}_records"] if joined else [f"r{run}_records"]
    assert _tables(conn, "pganon_data") == parts
    events = conn.execute("SELECT event, version, policy_hash, run_id FROM pganon.ledger")
    assert events.fetchall() == [("started", None, "abc", run), ("released", 1, "abc", run)]
    assert analyst.execute("SELECT release, version FROM pganon.releases").fetchall() == [
        ("adult", 1)
    ]
    comments = conn.execute(
        "SELECT obj_description(o, 'pg_class'), col_description(o, 2)"
        " FROM (SELECT 'published.adult'::regclass::oid AS o) AS t"
    ).fetchone()
    assert comments == ("2-anonymous: it's so", "column age's comment")
    kept = conn.execute("SELECT measures, row_count FROM pganon_private.version").fetchone()
    assert kept == ({"ncp": None, "k": 1}, len(ROWS))


def test_same_columns_keep_dependents_and_grants(db: Database) -> None:
    conn = db.owner()
    release(conn)
    conn.execute("GRANT SELECT ON published.adult TO source_owner")
    conn.execute("CREATE SCHEMA mine")
    conn.execute("CREATE VIEW mine.on_top AS SELECT age FROM published.adult")
    done = release(conn, rows=ROWS[:2])
    assert (done.version, done.replaced) == (2, 1)
    assert conn.execute("SELECT count(*) FROM mine.on_top").fetchone() == (2,)
    granted = conn.execute(
        "SELECT has_table_privilege('source_owner', 'published.adult', 'SELECT')"
    )
    assert granted.fetchone() == (True,)


WIDER = (("class_id", "bigint"), ("age", "text"), ("disease", "text"))


def test_changed_columns_and_dependents(db: Database) -> None:
    conn = db.owner()
    release(conn)
    conn.execute("GRANT SELECT ON published.adult TO source_owner WITH GRANT OPTION")
    conn.execute("GRANT SELECT (age) ON published.adult TO PUBLIC")
    conn.execute("GRANT SELECT (disease) ON published.adult TO PUBLIC")
    conn.execute("CREATE SCHEMA mine")
    conn.execute("CREATE VIEW mine.on_top AS SELECT age FROM published.adult")
    conn.execute(
        "CREATE FUNCTION mine.f() RETURNS SETOF published.adult LANGUAGE sql AS $$"
        " SELECT * FROM published.adult $$"
    )
    done = release(conn, columns=WIDER[:2], rows=[r[:2] for r in ROWS])
    assert set(done.dependents) == {
        "view mine.on_top depends on view published.adult",
        "function mine.f() depends on type published.adult",
    }
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="has other columns now"):
        conn.execute("SELECT count(*) FROM mine.on_top")
    kept = conn.execute(
        "SELECT has_table_privilege('source_owner', 'published.adult', 'SELECT WITH GRANT OPTION'),"
        " has_column_privilege('public', 'published.adult', 'age', 'SELECT'),"
        " has_table_privilege('public', 'published.adult', 'SELECT'),"
        " has_table_privilege('analyst', 'published.adult', 'SELECT')"
    )
    assert kept.fetchone() == (True, True, False, True)


def test_views_that_a_version_lacks_go(db: Database) -> None:
    conn = db.owner()
    release(conn, extra_views=["_st"])
    assert conn.execute("SELECT count(*) FROM published.adult_st").fetchone() == (3,)
    release(conn)
    assert conn.execute("SELECT to_regclass('published.adult_st')").fetchone() == (None,)


def test_readers_that_the_policy_no_longer_names(db: Database) -> None:
    conn = db.owner()
    release(conn, readers=("analyst", "source_owner"))
    release(conn, readers=("source_owner", "public"))
    held = conn.execute(
        "SELECT has_table_privilege(r, 'published.adult', 'SELECT')"
        " FROM unnest('{analyst,public,source_owner}'::text[]) AS r"
    )
    assert held.fetchall() == [(True,), (True,), (True,)]
    release(conn, readers=())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.connect("analyst").execute("SELECT FROM published.adult")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM pganon_stage.{}_records WHERE disease = 'cold'",
        "UPDATE pganon_stage.{}_records SET disease = 'x' WHERE class_id = 2",
        "UPDATE pganon_stage.{}_members SET record = 1 WHERE record = 7",
        "ALTER TABLE pganon_stage.{}_records RENAME disease TO illness",
        "TRUNCATE pganon_stage.{}_records",
    ],
)
def test_what_changed_after_verification_is_refused(db: Database, change: str) -> None:
    conn = db.owner()
    with running(conn) as run:
        ready = staged(conn, run)
        conn.execute(change.format(f"r{run}").encode())
        with pytest.raises(PrivacyRefusal) as caught:
            publish(conn, ready)
    assert caught.value.code == "changed_after_verification"
    assert conn.execute("SELECT count(*) FROM pganon_private.version").fetchone() == (0,)
    assert conn.execute("SELECT to_regnamespace('published')").fetchone() == (None,)


def test_fingerprint_sees_order_of_columns_not_of_rows(db: Database) -> None:
    conn = db.owner()
    with running(conn) as run:
        one = staged(conn, run)
        conn.execute(
            f"CREATE TABLE pganon_stage.copy AS SELECT * FROM pganon_stage.r{run}_records"
            " ORDER BY disease, age".encode()
        )
        conn.execute(
            f"CREATE TABLE pganon_stage.turned AS SELECT class_id, disease, age"
            f" FROM pganon_stage.r{run}_records".encode()
        )
        prints = conn.execute(
            "SELECT pganon.fingerprint(%s, ARRAY[r::regclass]) FROM unnest(%s::text[]) AS r",
            [run, [str(one.relations[0].staged), "pganon_stage.copy", "pganon_stage.turned"]],
        ).fetchall()
    assert prints[0] == prints[1] != prints[2]
    with running(conn, "b") as second:
        other = conn.execute(
            "SELECT pganon.fingerprint(%s, '{pganon_stage.copy}')", [second]
        ).fetchone()
    assert other != prints[0], "the key of the run is part of it"


def test_a_failure_leaves_nothing(db: Database) -> None:
    conn = db.owner()
    release(conn, rows=ROWS[:2])
    with running(conn) as run:
        ready = dataclasses.replace(staged(conn, run), readers={"nobody here": 1})
        with pytest.raises(PreconditionError, match='"nobody here"') as caught:
            publish(conn, ready)
    assert caught.value.code == "missing_role"
    assert conn.execute("SELECT count(*) FROM published.adult").fetchone() == (2,)
    assert _tables(conn, "pganon_data") == ["r1_records"]


def test_unlogged_tables_are_refused(db: Database) -> None:
    """They would be empty after a crash of the server."""
    conn = db.owner()
    with running(conn) as run:
        ready = staged(conn, run)
        conn.execute(f"ALTER TABLE pganon_stage.r{run}_records SET UNLOGGED".encode())
        with pytest.raises(PganonError, match="not a logged table"):
            publish(conn, ready)


def test_retention_names_what_stands_in_its_way(db: Database) -> None:
    conn = db.owner()
    run = release(conn, keep=1).run_id
    conn.execute("CREATE SCHEMA mine")
    conn.execute(f"CREATE VIEW mine.v AS SELECT age FROM pganon_data.r{run}_records".encode())
    with pytest.raises(PreconditionError, match=r"view mine\.v") as caught:
        release(conn, keep=1)
    assert "published view" in str(caught.value.hint)
    assert conn.execute("SELECT version FROM pganon.releases").fetchall() == [(1,)]


def test_locks_must_be_held(db: Database) -> None:
    conn = db.owner()
    with running(conn) as run:
        ready = staged(conn, run)
    with pytest.raises(PreconditionError) as caught:
        publish(conn, ready)
    assert caught.value.code == "lock_lost"
    with running(conn) as run, conn.transaction(), pytest.raises(UsageError):
        publish(conn, ready)


def test_names_that_are_taken(db: Database) -> None:
    conn = db.owner()
    conn.execute("CREATE SCHEMA published")
    for text, what in [
        ("CREATE TABLE published.adult (a int)", "a table"),
        ("CREATE VIEW published.adult AS SELECT 1 AS a", "a view"),
        ("CREATE TYPE published.adult AS ENUM ('a')", "a type"),
    ]:
        conn.execute(text.encode())
        for act in (lambda: _check(conn, VIEW, source="s"), lambda: release(conn)):
            with pytest.raises(PreconditionError, match=what) as caught:
                act()
            assert caught.value.code == "name_taken"
        kind = text.split()[1]
        conn.execute(f"DROP {kind} published.adult".encode())
    release(conn)
    with pytest.raises(PreconditionError, match="did not make"):
        release(conn, "other", view=VIEW)
    conn.execute("DROP VIEW published.adult")
    conn.execute("CREATE VIEW published.adult AS SELECT 1 AS a")
    with pytest.raises(PreconditionError, match="did not make"):
        release(conn)


def test_a_release_has_one_source(db: Database) -> None:
    conn = db.owner()
    release(conn)
    with pytest.raises(LedgerError, match=r"is made from public\.adult"):
        release(conn, source="public.other")


def _check(
    conn: Connection, view: QualifiedName, *readers: str, source: str = "public.adult"
) -> None:
    check_target(conn, "adult", source, [view], readers, numbers(conn, readers), {})


def test_target_is_checked_before_work(db: Database) -> None:
    conn = db.owner()
    _check(conn, VIEW, "analyst", "public")
    db.admin.execute("CREATE SCHEMA foreign_one")
    for schema, code in [("pganon_data", "bad_schema"), ("foreign_one", "no_create")]:
        with pytest.raises(PreconditionError) as caught:
            _check(conn, QualifiedName(schema, "x"))
        assert caught.value.code == code
    db.admin.execute("GRANT ALL ON SCHEMA foreign_one TO steward")
    with pytest.raises(PreconditionError, match="analyst") as caught:
        _check(conn, QualifiedName("foreign_one", "x"), "analyst", source="s")
    assert caught.value.code == "no_grant"
    with pytest.raises(PreconditionError, match="analyst") as caught:
        release(conn, view=QualifiedName("foreign_one", "x"))
    db.admin.execute("GRANT USAGE ON SCHEMA foreign_one TO analyst")
    release(conn, view=QualifiedName("foreign_one", "x"))
    with pytest.raises(PreconditionError) as caught:
        _check(conn, VIEW, "ghost")
    assert caught.value.code == "missing_role"


def test_retention(db: Database) -> None:
    conn = db.owner()
    done = [release(conn, keep=2) for _ in range(4)]
    assert [d.retired for d in done] == [(), (), (1,), (2,)]
    assert _tables(conn, "pganon_data") == [f"r{d.run_id}_records" for d in done[2:]]
    assert _tables(conn, "pganon_private") == [f"r{d.run_id}_members" for d in done]


def test_long_readers(db: Database, monkeypatch) -> None:
    monkeypatch.setattr("pganon.publish.transaction.PAUSES", (0.05,))
    monkeypatch.setattr("pganon.publish.transaction.LOCK_TIMEOUT", "50ms")
    conn = db.owner()
    release(conn)
    analyst = db.connect("analyst")
    with analyst.transaction():
        analyst.execute("SELECT FROM published.adult")
        with pytest.raises(PreconditionError, match="in use"):
            release(conn)
    assert release(conn).version == 2


HOSTILE = ['x"; drop table t; --', "Age", "t", "%s {0}", "é" * 31, "a.b", "select", "'"]


@pytest.mark.slow
def test_hostile_names(db: Database) -> None:
    conn = db.owner()
    columns = [("no", "bigint"), *((name, "text") for name in HOSTILE)]
    rows = [(1, *HOSTILE)]
    for i, name in enumerate(HOSTILE):
        view = QualifiedName(name, HOSTILE[-1 - i])
        release(conn, f"{name}", view=view, columns=columns, rows=rows)
        assert listing.find(conn, name).view_names == {view}
        release(
            conn,
            name,
            view=view,
            columns=columns[::-1][:-1] + columns[:1],
            rows=[(*HOSTILE[::-1], 1)],
        )
    count = db.connect("analyst").execute("SELECT count(*) FROM pganon.releases").fetchone()
    assert count == (len(HOSTILE),)
