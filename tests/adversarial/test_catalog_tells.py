"""What a role without any privilege learns from the catalog: all that the threat model names."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Database

COMMENT = "SELECT obj_description('published.patients'::regclass, 'pg_class')"
COMMENTS = """
    SELECT d.description FROM pg_description AS d
    JOIN pg_class AS c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'published'
"""
DEFINITION = """
    SELECT pg_get_viewdef(c.oid) FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'published' AND c.relname = 'patients'
"""
DELETED = """
    SELECT n_tup_ins, n_tup_del FROM pg_stat_all_tables
    WHERE schemaname = 'pganon_private' AND relname = 'run_secret'
"""
TEXTS = """
    SELECT coalesce(string_agg(t.text, ' '), '') FROM (
        SELECT description AS text FROM pg_description
        UNION ALL SELECT nspname FROM pg_namespace
        UNION ALL SELECT relname FROM pg_class
        UNION ALL SELECT attname FROM pg_attribute
        UNION ALL SELECT pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v'
        UNION ALL SELECT most_common_vals::text FROM pg_stats
        UNION ALL SELECT histogram_bounds::text FROM pg_stats
    ) AS t
"""


def test_what_everybody_can_read(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    stranger = db.connect("analyst")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.execute("SELECT FROM published.patients")
    comments = stranger.execute(COMMENTS.encode()).fetchall()
    assert any("k_anonymity" in text for (text,) in comments), comments
    (definition,) = stranger.execute(DEFINITION.encode()).fetchone() or ("",)
    assert "pganon_data.r1_" in definition
    assert stranger.execute(DELETED.encode()).fetchone() is not None
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.execute(COMMENT.encode())


@pytest.mark.slow
def test_no_value_is_in_the_catalog(db: Database) -> None:
    """The only tables with statistics of values are closed, so `pg_stats` does not show them."""
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    db.admin.execute("ANALYZE")
    (texts,) = db.connect("analyst").execute(TEXTS.encode()).fetchone() or ("",)
    assert "patients" in texts
    assert faults.SECRET not in texts
