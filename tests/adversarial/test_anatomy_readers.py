"""Attack: a reader of an anatomized release looks for more than its three views show."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import visits

pytestmark = pytest.mark.primary_server_only


def _published(db: Database) -> None:
    visits.build(db, visits.rows(60))
    assert visits.release(db).run_id == 1
    for table in ("pganon_data.r1_qit", "pganon_data.r1_st", "pganon_private.r1_members"):
        db.admin.execute(f"ANALYZE {table}".encode())
    assert faults.exposed(db.owner()) == []


@pytest.fixture
def db(db_after: Any) -> Database:
    """A database with the release."""
    return db_after(_published)[0]


@pytest.fixture
def analyst(db: Database) -> Connection:
    return db.connect("analyst")


CLOSED = (
    "SELECT FROM pganon_data.r1_qit",
    "SELECT FROM pganon_data.r1_st",
    "SELECT ctid FROM pganon_data.r1_st",
    "SELECT FROM pganon_private.r1_members",
    "COPY pganon_data.r1_qit TO STDOUT",
    "SELECT FROM pganon_private.run_secret",
    *[
        statement.format(view)
        for view in visits.VIEWS
        for statement in (
            "UPDATE published.{} SET group_id = 1",
            "DELETE FROM published.{}",
            "INSERT INTO published.{} (group_id) VALUES (1)",
        )
    ],
)


def test_closed(analyst: Connection) -> None:
    for text in CLOSED:
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ):
            analyst.execute(text.encode())


def test_nobody_writes_through_the_views(analyst: Connection, db: Database) -> None:
    for view in visits.VIEWS:
        db.owner().execute(f"GRANT ALL ON published.{view} TO analyst".encode())
        for who in (analyst, db.owner(), db.admin):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                who.execute(f"UPDATE published.{view} SET group_id = 1".encode())
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                who.execute(f"DELETE FROM published.{view}".encode())


def test_three_views_are_open(analyst: Connection) -> None:
    seen = analyst.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname = 'published' AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    assert [row[0] for row in seen.fetchall()] == list(visits.VIEWS)
    for view in visits.VIEWS:
        assert analyst.execute(f"SELECT FROM published.{view}".encode()).rowcount > 0
        for column in ("ctid", "tableoid", "xmin"):
            with pytest.raises(psycopg.errors.UndefinedColumn):
                analyst.execute(f"SELECT {column} FROM published.{view}".encode())


def test_the_joined_view_is_the_join_of_the_others(analyst: Connection) -> None:
    join = (
        "SELECT q.*, t.disease, t.count / (SELECT sum(u.count) FROM published.visits_st AS u"
        " WHERE u.group_id = t.group_id) FROM published.visits_qit AS q"
        " JOIN published.visits_st AS t USING (group_id)"
    )
    for one, other in ((join, "TABLE published.visits"), ("TABLE published.visits", join)):
        left = analyst.execute(f"({one}) EXCEPT ALL ({other})".encode())
        assert left.fetchall() == []


def test_no_statistics_and_no_comments_with_values(analyst: Connection) -> None:
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        found = analyst.execute(f"SELECT FROM {view} WHERE schemaname ~ 'pganon'".encode())
        assert found.fetchall() == []
    described = analyst.execute("SELECT description FROM pg_description").fetchall()
    assert not any(visits.SECRET in str(row[0]) for row in described)


def test_releases_tell_no_counts(analyst: Connection) -> None:
    """Nor who was suppressed, nor how many."""
    (row,) = analyst.execute(
        "SELECT r, (SELECT array_agg(c) FROM pganon.release_columns AS c),"
        " (SELECT array_agg(g) FROM pganon.guarantees AS g) FROM pganon.releases AS r"
    ).fetchall()
    assert "r1_" not in str(row)
    assert "suppressed" not in str(row)
    assert visits.SECRET not in str(row)


def test_stored_relations_reference_nothing(analyst: Connection, db: Database) -> None:
    """No key, trigger or sequence ties them to each other or to the source."""
    found = db.admin.execute(
        "SELECT conrelid::regclass::text FROM pg_constraint"
        " WHERE contype IN ('f', 'c', 'p', 'u') AND conrelid = ANY"
        " ('{pganon_data.r1_qit,pganon_data.r1_st,pganon_private.r1_members}'::regclass[])"
        " UNION ALL SELECT tgrelid::regclass::text FROM pg_trigger"
        " WHERE tgrelid IN ('pganon_data.r1_qit'::regclass, 'pganon_data.r1_st'::regclass)"
    )
    assert found.fetchall() == []
    columns = db.admin.execute(
        "SELECT attname::text FROM pg_attribute WHERE attnum > 0"
        " AND attrelid IN ('pganon_data.r1_qit'::regclass, 'pganon_data.r1_st'::regclass)"
    ).fetchall()
    assert {name for (name,) in columns} == {
        *("group_id", "age", "zip", "ward", "nights", "disease", "count")
    }
