"""Attack: a schema for publication that belongs to somebody who can replace what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pganon.errors import PreconditionError
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

LISTED = "SELECT release FROM pganon.releases"


def _squat(db: Database) -> None:
    db.source(faults.SOURCE)
    db.source("""
        CREATE SCHEMA published;
        GRANT USAGE, CREATE ON SCHEMA published TO steward WITH GRANT OPTION;
        GRANT USAGE ON SCHEMA published TO analyst
    """)


def test_a_schema_of_somebody_else_is_refused(db: Database) -> None:
    _squat(db)
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn())
    assert caught.value.code == "foreign_schema"
    assert "source_owner" in caught.value.message
    assert "trust: [" in str(caught.value.hint)
    assert faults.events(db.owner()) == []


@pytest.mark.slow
def test_a_policy_may_trust_the_owner_of_the_schema(db: Database) -> None:
    _squat(db)
    policy = faults.policy(trust=["source_owner"])
    assert faults.run(db.dsn(), policy).version == 1
    # A version that is shown again has the trust of its own policy.
    assert faults.run(db.dsn(), policy).version == 2
    assert lifecycle.show_earlier(db.owner(), "patients").now == 1


@pytest.mark.slow
def test_a_rollback_trusts_nobody_else(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    faults.run(db.dsn())
    db.admin.execute("ALTER SCHEMA published OWNER TO source_owner")
    db.source("GRANT USAGE, CREATE ON SCHEMA published TO steward WITH GRANT OPTION")
    with pytest.raises(PreconditionError) as caught:
        lifecycle.show_earlier(db.owner(), "patients")
    assert caught.value.code == "foreign_schema"


def test_schemas_of_superusers_are_taken(db: Database) -> None:
    """They could replace the views anyway."""
    db.source(faults.SOURCE)
    db.admin.execute("CREATE SCHEMA published")
    db.admin.execute("GRANT USAGE, CREATE ON SCHEMA published TO steward WITH GRANT OPTION")
    assert faults.run(db.dsn()).version == 1


def test_the_schema_public_is_the_database_owners(db: Database) -> None:
    db.source(faults.SOURCE)
    db.admin.execute("GRANT CREATE ON SCHEMA public TO steward WITH GRANT OPTION")
    policy = faults.policy(publish={"schema": "public", "readers": ["analyst"]})
    assert faults.run(db.dsn(), policy).version == 1
    if db.version < 15:
        return
    db.admin.execute(f"ALTER DATABASE {db.name} OWNER TO source_owner".encode())
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), policy)
    assert caught.value.code == "foreign_schema"


@pytest.mark.slow
def test_a_view_in_the_place_of_a_release_is_not_listed(db: Database, tmp_path: Path) -> None:
    """The schema changes hands afterwards, and its new owner puts a view of the old name there."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    for role in ("steward", "analyst"):
        assert db.connect(role).execute(LISTED).fetchall() == [("patients",)]
    db.admin.execute("ALTER SCHEMA published OWNER TO source_owner")
    db.source("DROP VIEW published.patients")
    db.source("CREATE VIEW published.patients AS SELECT 1 AS class_id, 'x' AS disease")
    db.source("GRANT SELECT ON published.patients TO PUBLIC")
    for role in ("steward", "analyst"):
        assert db.connect(role).execute(LISTED).fetchall() == []
    out = tmp_path / "out.csv"
    done = pganon("export", "patients", "-o", str(out), "--dsn", db.dsn("analyst"), "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_release")
    shown = pganon("show", "patients", "--dsn", db.dsn("analyst"), "--json")
    assert shown.json["error"]["code"] == "unknown_release"
    assert not out.exists()
    assert pganon("verify", "patients", "--dsn", db.dsn()).code == 1


def test_export_by_the_steward_takes_the_recorded_view(db: Database, tmp_path: Path) -> None:
    """The steward sees the release in the state tables; the view there is another one's."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.admin.execute("ALTER SCHEMA published OWNER TO source_owner")
    db.source("DROP VIEW published.patients")
    db.source("CREATE VIEW published.patients AS SELECT 1 AS class_id, 'x' AS disease")
    db.source("GRANT SELECT ON published.patients TO PUBLIC")
    out = tmp_path / "out.csv"
    done = pganon("export", "patients", "-o", str(out), "--dsn", db.dsn(), "--json")
    assert done.code == 0
    assert len(out.read_text().splitlines()) == 25
