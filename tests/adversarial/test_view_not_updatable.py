"""Attack: writing through a published view, which PostgreSQL allows to a simple view's owner."""

from __future__ import annotations

import psycopg
import pytest

from pganon.errors import PreconditionError
from pganon.publish import lifecycle
from tests.support.harness.cluster import Database
from tests.support.sources.staging import ROWS, release

ATTEMPTS = [
    "INSERT INTO published.adult (class_id) VALUES (9)",
    "UPDATE published.adult SET disease = 'none'",
    "DELETE FROM published.adult",
]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nobody_writes(db: Database, attempt: str, joined: bool) -> None:
    conn = db.owner()
    release(conn, joined=joined)
    conn.execute("GRANT ALL ON published.adult TO analyst")
    for who in (conn, db.connect("analyst"), db.admin):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            who.execute(attempt.encode())
    with pytest.raises(psycopg.errors.WrongObjectType):
        conn.execute("TRUNCATE published.adult")
    failing = [(m.model, m.against) for m in lifecycle.verify(conn, "adult") if not m.holds]
    assert failing == [("privileges", "published.adult")]


def test_a_rule_that_writes_is_refused(db: Database) -> None:
    conn = db.owner()
    done = release(conn)
    conn.execute(
        "CREATE RULE w AS ON DELETE TO published.adult DO INSTEAD"
        f" DELETE FROM pganon_data.r{done.run_id}_records".encode()
    )
    with pytest.raises(PreconditionError):
        release(conn)


def test_conditions_still_reach_an_index(db: Database) -> None:
    """What makes the view read-only must not make it slow."""
    conn = db.owner()
    run = release(conn, rows=ROWS * 20).run_id
    conn.execute(f"CREATE INDEX ON pganon_data.r{run}_records (class_id)".encode())
    conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    plan = conn.execute("EXPLAIN (COSTS off) SELECT * FROM published.adult WHERE class_id = 2")
    text = "\n".join(row[0] for row in plan.fetchall())
    assert text.startswith("Index Scan")
    assert "Join" not in text
    assert "Loop" not in text


def test_the_view_depends_on_nothing_of_pganon(db: Database) -> None:
    conn = db.owner()
    release(conn)
    release(conn, "joined", joined=True)
    found = db.admin.execute(
        "SELECT count(*) FROM pg_depend AS d JOIN pg_rewrite AS w ON w.oid = d.objid"
        " WHERE d.classid = 'pg_rewrite'::regclass"
        " AND w.ev_class::regclass::text ~ '^published' AND ("
        "  d.refclassid = 'pg_proc'::regclass AND d.refobjid IN"
        "   (SELECT oid FROM pg_proc WHERE pronamespace = 'pganon'::regnamespace)"
        "  OR d.refclassid = 'pg_class'::regclass AND d.refobjid IN"
        "   (SELECT oid FROM pg_class WHERE relnamespace = 'pganon'::regnamespace))"
    )
    assert found.fetchone() == (0,)
    options = db.admin.execute(
        "SELECT reloptions, relowner::regrole::text FROM pg_class"
        " WHERE relnamespace = 'published'::regnamespace"
    )
    assert options.fetchall() == [(None, "steward")] * 2
