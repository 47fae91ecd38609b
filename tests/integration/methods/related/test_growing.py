"""Related tables that grow: new people alone, in classes and groups of their own."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import lifecycle
from pganon.run.record import RunResult
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only

Rows = dict[str, list[tuple[Any, ...]]]


def growing(tables: dict[str, Any] | None = None, **changes: Any) -> LoadedPolicy:
    others = {"group_size": 30, "increment_size": 60, "refresh": "increments", **changes}
    k, beta = others.pop("k", 3), others.pop("beta", 0.9)
    return load_policy(json.dumps(wards.policy(tables or wards.WHOLE, k, beta, **others)))


def grow(db: Database, loaded: LoadedPolicy | None = None, **options: Any) -> RunResult:
    return faults.run(db.dsn(), loaded or growing(), force=False, **options)


@pytest.fixture
def built(db: Database) -> Database:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    return db


def moved(people: int, seed: int, by: int = 1000) -> Rows:
    """Rows of other people, with other keys of people and admissions."""
    more = wards.rows(people, seed)
    return {
        "patient": [(row[0] + by, *row[1:]) for row in more["patient"]],
        "admission": [(row[0] + by, row[1] + by, *row[2:]) for row in more["admission"]],
        "diagnosis": [(row[0] + by, row[1] + by, row[2]) for row in more["diagnosis"]],
        "patient_study": [(row[0] + by, row[1]) for row in more["patient_study"]],
    }


def add(db: Database, rows: Rows) -> None:
    conn = db.connect("source_owner")
    for name, made in rows.items():
        with conn.cursor().copy(f"COPY hospital.{name} FROM STDIN".encode()) as copy:
            for row in made:
                copy.write_row(row)


VIEWS = [
    "hospital",
    "hospital_groups",
    "hospital_patient_study_groups",
    "hospital_admission_ward_no",
    "hospital_admission_kind",
    "hospital_admission_ward_no_admitted",
    "hospital_diagnosis_code",
    "hospital_patient_study_study_no",
    "hospital_diagnosis_rows",
    "hospital_ward",
]


def shown(db: Database) -> dict[str, Counter[str]]:
    """Rows of all views as texts."""
    found = {}
    for (view,) in db.admin.execute(
        "SELECT viewname FROM pg_views WHERE schemaname = 'published'"
    ).fetchall():
        rows = db.admin.execute(f"SELECT v::text FROM published.{view} AS v".encode()).fetchall()
        found[view] = Counter(row for (row,) in rows)
    return found


def test_new_people_are_added_in_groups_of_their_own(built: Database) -> None:
    assert grow(built).version == 1
    before = shown(built)
    add(built, moved(120, 2))
    done = grow(built)
    assert (done.version, done.added.released, done.released) == (2, 120, 340)
    after = shown(built)
    assert all(rows <= after[view] for view, rows in before.items())
    assert after["hospital_ward"] == before["hospital_ward"]
    assert all(check.holds for check in lifecycle.verify(built.owner(), "hospital"))
