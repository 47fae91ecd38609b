"""Attack: a policy or an import names what pganon itself stores, such as the seeds of its runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon import assess
from pganon.catalog.introspect import read_relation
from pganon.errors import PganonError, PreconditionError
from pganon.importing import files as importing
from pganon.loading import load_policy
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

OWN = (
    "pganon_private.run_secret",
    "pganon_private.ledger",
    "pganon.releases",
    "pganon.guarantees",
    "pganon.release_columns",
    "pg_catalog.pg_statistic",
    "pg_catalog.pg_stats",
    "information_schema.tables",
)


def _policy(source: str, column: str) -> Any:
    return load_policy(
        json.dumps(
            {
                "release": "stolen",
                "source": source,
                "columns": {column: {"role": "quasi_identifying"}},
                "privacy": [{"model": "k_anonymity", "k": 2}],
                "method": {"name": "mondrian"},
            }
        )
    )


@pytest.fixture
def released(db_after: Any) -> Database:
    """A database with one published release."""
    db, _ = db_after(faults.published)
    return db


def _refused(db: Database, source: str, column: str = "run_id") -> None:
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), _policy(source, column))
    assert caught.value.code == "own_schema", source
    found = db.owner().execute("SELECT to_regclass('published.stolen')").fetchone()
    assert found == (None,)


@pytest.mark.slow
def test_no_release_of_what_is_stored(released: Database) -> None:
    for source in OWN:
        _refused(released, source)
    tables = released.owner().execute(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname ~ '^pganon' AND c.relkind IN ('r', 'v', 'p')"
    )
    for (table,) in tables.fetchall():
        _refused(released, table)


def test_no_release_through_views(released: Database) -> None:
    """A view over a view over the seeds, a filled view, and the release of another release."""
    conn = released.owner()
    conn.execute("CREATE SCHEMA mine")
    conn.execute("CREATE VIEW mine.one AS SELECT run_id FROM pganon_private.run_secret")
    conn.execute(
        "CREATE VIEW mine.two AS SELECT o.run_id FROM mine.one AS o, generate_series(1, 2)"
    )
    conn.execute("CREATE MATERIALIZED VIEW mine.three AS SELECT run_id FROM mine.two")
    conn.execute(
        "CREATE VIEW mine.four AS SELECT 1 AS run_id"
        " WHERE EXISTS (SELECT FROM published.patients WHERE days > 1)"
    )
    for source in ("one", "two", "three", "four"):
        _refused(released, f"mine.{source}")
    _refused(released, "published.patients", "days")


def test_views_over_other_tables_are_sources(released: Database) -> None:
    released.source("CREATE VIEW public.others AS SELECT days FROM public.patient WHERE days > 0")
    assert read_relation(released.owner(), "public.others").kind == "view"


def test_no_first_policy(released: Database) -> None:
    done = pganon("policy", "init", "pganon_private.run_secret", "--dsn", released.dsn(), "--json")
    assert done.code == 2
    assert json.loads(done.out)["error"]["code"] == "own_schema"


def test_no_assessment(released: Database) -> None:
    with pytest.raises(PreconditionError) as caught:
        assess("pganon_private.run_secret", ["run_id"], dsn=released.dsn())
    assert caught.value.code == "own_schema"
    assert assess("published.patients", ["sex"], dsn=released.dsn("analyst")).measures


@pytest.mark.primary_server_only
def test_no_public_relation(db: Database) -> None:
    owner = db.connect("source_owner")
    make_table(owner, vehicles.COLUMNS, vehicles.rows(40), name=("public", "vehicle"))
    document = vehicles.document()
    document["privacy"][0] |= {
        "count": "supported",
        "public": {"vehicle": "pganon_private.run_secret"},
    }
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), load_policy(json.dumps(document)))
    assert caught.value.code == "own_schema"


@pytest.mark.parametrize(
    "target",
    [
        *("pganon_private.t", "pganon_data.t", "pganon.t", "pganon_stage.r1_t", "pganon_work.r1_t"),
        *("pg_catalog.t", "information_schema.t", "pganon_private.run_secret"),
    ],
)
@pytest.mark.primary_server_only
def test_no_import(db: Database, tmp_path: Path, target: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a\n1\n")
    conn = db.owner()
    with pytest.raises(PganonError) as caught:
        importing.import_file(conn, file, target, replace=True)
    assert caught.value.code == "own_schema"
    table = sql.SQL("SELECT count(*) FROM {}").format(
        sql.Identifier("pganon_private", "run_secret")
    )
    conn.execute(table)
