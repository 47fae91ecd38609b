"""Attack: a reader of a release in clusters looks for more than its two views show."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only


def _published(db: Database) -> None:
    make_table(
        db.connect("source_owner"), vehicles.COLUMNS, vehicles.rows(60), name=("public", "vehicle")
    )
    run = faults.run(db.dsn(), vehicles.policy())
    assert run.run_id == 1
    for table in (
        "pganon_data.r1_clusters",
        "pganon_private.r1_members",
        "pganon_private.r1_reference",
    ):
        db.admin.execute(f"ANALYZE {table}".encode())
    assert faults.exposed(db.owner()) == []


@pytest.fixture
def analyst(db_after: Any) -> Connection:
    db, _ = db_after(_published)
    return db.connect("analyst")


def test_closed(analyst: Connection) -> None:
    for text in (
        "SELECT FROM pganon_data.r1_clusters",
        "SELECT FROM pganon_private.r1_members",
        "SELECT FROM pganon_private.r1_reference",
        "COPY pganon_private.r1_reference TO STDOUT",
        "SELECT FROM pganon_private.run_secret",
        "SELECT pganon.qs_loss('{0}')",
        "SELECT pganon.qs_known('published.vehicles', 1, '{1}', '{published.vehicles}', 1)",
        "SELECT pganon.qs_lookups('published.vehicles', '{0}', 1)",
        "SELECT pganon.qs_universe('published.vehicles', 1, '{1}', '{published.vehicles}')",
        "SELECT pganon.qs_clusters('published.vehicles', 1, '{1}', '{0}', 1, 1, NULL, false)",
        "SELECT pganon.qs_absorb('published.vehicles', 'published.vehicles',"
        " 'published.vehicles', '{0}')",
        "UPDATE published.vehicles SET size = 1",
        "DELETE FROM published.vehicles",
        "DELETE FROM published.vehicles_expanded",
    ):
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ):
            analyst.execute(text.encode())


def test_two_views_are_open(analyst: Connection) -> None:
    seen = analyst.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname = 'published' AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    assert seen.fetchall() == [("vehicles",), ("vehicles_expanded",)]
    for view in ("vehicles", "vehicles_expanded"):
        assert analyst.execute(f"SELECT FROM published.{view}".encode()).rowcount > 0
        for column in ("ctid", "tableoid", "xmin"):
            with pytest.raises(psycopg.errors.UndefinedColumn):
                analyst.execute(f"SELECT {column} FROM published.{view}".encode())


def test_the_expanded_view_says_no_more_than_the_clusters(analyst: Connection) -> None:
    """It is the product of the arrays and nothing else; frequencies and bags stay out."""
    product = (
        "SELECT c.cluster_no, a.v, b.v, d.v, e.v FROM published.vehicles AS c, unnest(reg_year)"
        " AS a(v), unnest(colour) AS b(v), unnest(zone) AS d(v), unnest(hour) AS e(v)"
    )
    expanded = "SELECT * FROM published.vehicles_expanded"
    for one, other in ((product, expanded), (expanded, product)):
        left = analyst.execute(f"({one}) EXCEPT ALL ({other})".encode())
        assert left.fetchall() == []


def test_no_statistics_and_no_comments_with_values(analyst: Connection) -> None:
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        found = analyst.execute(f"SELECT FROM {view} WHERE schemaname ~ 'pganon'".encode())
        assert found.fetchall() == []
    described = analyst.execute("SELECT description FROM pg_description").fetchall()
    constraints = analyst.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'"
    ).fetchall()
    assert not any(vehicles.SECRET in str(row[0]) for row in (*described, *constraints))


def test_releases_tell_no_counts(analyst: Connection) -> None:
    (row,) = analyst.execute(
        "SELECT r, (SELECT array_agg(c) FROM pganon.release_columns AS c),"
        " (SELECT array_agg(g) FROM pganon.guarantees AS g) FROM pganon.releases AS r"
    ).fetchall()
    assert "r1_" not in str(row)
    assert vehicles.SECRET not in str(row)
