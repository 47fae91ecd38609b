"""A hospital of 20,000 patients: related tables, by the statements of the reference, and figures.

The figures are those of pganon's own mondrian; docs/reference/related-tables.md has them, too.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources import hospital

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

VERIFIED = (
    "SELECT count(*) FROM published.hospital_groups WHERE people < {size}"
    " OR admission BETWEEN 1 AND 4 OR diagnosis BETWEEN 1 AND 4 OR prescription BETWEEN 1 AND 4",
    "SELECT count(*) FROM published.hospital_patient_study_groups"
    " WHERE people < {size} OR persons BETWEEN 1 AND 4",
    "SELECT count(*) FROM published.hospital_diagnosis_code AS f"
    " JOIN published.hospital_groups AS g USING (group_id) WHERE f.persons > 0.9 * g.diagnosis",
    "SELECT count(*) FROM published.hospital_admission_ward_no AS f"
    " JOIN published.hospital_groups AS g USING (group_id) WHERE f.persons > 0.9 * g.admission",
    "SELECT count(*) FROM published.hospital_prescription_drug_no AS f"
    " JOIN published.hospital_groups AS g USING (group_id) WHERE f.persons > 0.9 * g.prescription",
    "SELECT count(*) FROM published.hospital_patient_study_study_no AS f"
    " JOIN published.hospital_patient_study_groups AS g USING (patient_study_group_id)"
    " WHERE f.persons > 0.9 * g.persons",
    "SELECT count(*) FROM published.hospital_admission_ward_no_admitted AS p"
    " JOIN published.hospital_admission_ward_no AS x USING (group_id, ward_no)"
    " WHERE p.persons > 0.9 * x.persons",
    "SELECT count(*) FROM (SELECT FROM published.hospital GROUP BY class_id"
    " HAVING count(DISTINCT (group_id, patient_study_group_id)) > 1 OR count(*) < 5) AS s",
    "SELECT count(*) FROM (SELECT group_id, count(*) AS n FROM published.hospital GROUP BY 1) AS s"
    " JOIN published.hospital_groups AS g USING (group_id) WHERE s.n <> g.people"
    " OR g.diagnosis > g.admission OR g.prescription > g.admission OR g.admission > g.people",
    "SELECT count(*) FROM (SELECT group_id, max(persons) AS m, sum(persons) AS s"
    " FROM published.hospital_diagnosis_code GROUP BY 1) AS s"
    " JOIN published.hospital_groups AS g USING (group_id)"
    " WHERE s.m > g.diagnosis OR g.diagnosis > s.s",
    "SELECT count(*) FROM published.hospital_prescription_drug_no AS f"
    " LEFT JOIN published.hospital_drug AS d USING (drug_no)"
    " WHERE d.name IS NULL AND f.drug_no IS NOT NULL",
)

LOSS = """
    WITH g AS (
        SELECT {number} AS g, count(*) AS n, min(lower(born)) AS lo, max(upper(born)) AS hi,
            count(DISTINCT sex) AS sexes
        FROM published.hospital GROUP BY 1
    ), d AS (
        SELECT {number} AS g, count(DISTINCT x) AS n
        FROM published.hospital, unnest(district) AS x GROUP BY 1
    ), i AS (
        SELECT {number} AS g, count(DISTINCT x) AS n
        FROM published.hospital, unnest(insurance) AS x GROUP BY 1
    ), span AS (
        SELECT max(born) - min(born) AS born, count(DISTINCT district) - 1 AS district,
            count(DISTINCT insurance) - 1 AS insurance
        FROM hospital.patient
    )
    SELECT round(sum(g.n * ((g.hi - g.lo) / span.born + (d.n - 1.0) / span.district
        + (i.n - 1.0) / span.insurance + (g.sexes - 1))) / sum(g.n) / 4, 4)::float8
    FROM g JOIN d USING (g) JOIN i USING (g), span
"""


def figures(db: Database) -> dict[str, Any]:
    def one(text: str) -> Any:
        (found,) = db.admin.execute(text).fetchone() or (None,)  # pyright: ignore
        return found

    def rows(part: str) -> int:
        return one(f"SELECT count(*) FROM published.hospital_{part}")

    return {
        "classes": one("SELECT count(DISTINCT class_id) FROM published.hospital"),
        "loss": one(LOSS.format(number="class_id")),
        "groups": rows("groups"),
        "loss of groups": one(LOSS.format(number="group_id")),
        "own groups": rows("patient_study_groups"),
        "loss of own groups": one(LOSS.format(number="patient_study_group_id")),
        "wards": rows("admission_ward_no"),
        "pairs": rows("admission_ward_no_admitted"),
        "codes": rows("diagnosis_code"),
        "codes of one": one(
            "SELECT round(avg((persons = 1)::int), 2)::float8"
            " FROM published.hospital_diagnosis_code"
        ),
        "drugs": rows("prescription_drug_no"),
        "studies": rows("patient_study_study_no"),
    }


FIFTY: dict[str, Any] = {
    "classes": 2333,
    "loss": 0.0036,
    "groups": 270,
    "loss of groups": 0.048,
    "own groups": 183,
    "loss of own groups": 0.066,
    "wards": 3806,
    "pairs": 16728,
    "codes": 42980,
    "codes of one": 0.58,
    "drugs": 30959,
    "studies": 1117,
}
FIVE: dict[str, Any] = {
    "classes": 2333,
    "loss": 0.0036,
    "groups": 1614,
    "loss of groups": 0.008,
    "own groups": 198,
    "loss of own groups": 0.0642,
    "wards": 15244,
    "pairs": 866,
    "codes": 64524,
    "codes of one": 0.91,
    "drugs": 47141,
    "studies": 1154,
}


@pytest.mark.parametrize(("size", "expected"), [(50, FIFTY), (5, FIVE)], ids=["50", "5"])
def test_a_hospital(db: Database, size: int, expected: dict[str, Any]) -> None:
    hospital.build(db.connect("source_owner"))
    driver.publish(db, hospital.policy(size))
    for statement in VERIFIED:
        text = statement.format(size=size)
        assert db.admin.execute(text).fetchone() == (0,), text  # pyright: ignore
    assert figures(db) == expected
    (partitions,) = db.admin.execute(
        "SELECT measures #> '{utility,partitions}' FROM pganon_private.version"
    ).fetchone() or ({},)
    for part, name in (("groups", "groups"), ("patient_study_groups", "own groups")):
        assert partitions[part]["gcp"] == pytest.approx(expected[f"loss of {name}"], abs=6e-5)


# -- values that tell others -----------------------------------------------------------------------

INFORMS = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "informs"
QUASI = {"role": "quasi_identifying"}
COLUMNS = {
    "DOBYY": QUASI,
    "DOBMM": QUASI,
    "SEX": {**QUASI, "type": "categorical"},
    "RACEX": {**QUASI, "type": "categorical"},
    "EDUCYEAR": QUASI,
    "marry": {**QUASI, "type": "categorical"},
}


def _copied(db: Database, table: str, columns: dict[str, str], file: str) -> None:
    conn = db.connect("source_owner")
    names = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    conn.execute(f"CREATE TABLE informs.{table} ({names})".encode())
    with gzip.open(INFORMS / file, "rt", newline="") as lines:
        rows = list(csv.DictReader(lines))
    with conn.cursor().copy(f"COPY informs.{table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([row[name] for name in columns])


@pytest.mark.skipif(not INFORMS.exists(), reason="PGANON_DATA is not set, or holds no informs")
@pytest.mark.parametrize(
    ("size", "alone", "told"),
    [(5, 62_610, 0.132), (20, 37_175, 0.0162), (50, 22_361, 0.0043)],
)
def test_diagnoses_that_tell_others(db: Database, size: int, alone: int, told: float) -> None:
    """Beside 12.6, 1.0 and 0.1 % that were measured with other cuts; ties are cut at random."""
    db.connect("source_owner").execute("CREATE SCHEMA informs")
    people = {"DUPERSID": "text PRIMARY KEY", **dict.fromkeys(COLUMNS, "integer")}
    _copied(db, "person", people, "demographics05test.csv.gz")
    _copied(db, "condition", {"DUPERSID": "text", "ICD9CODX": "text"}, "conditions05.csv.gz")
    db.connect("source_owner").execute(
        "GRANT USAGE ON SCHEMA informs TO steward; GRANT SELECT ON ALL TABLES IN SCHEMA informs"
        " TO steward; ANALYZE informs.person, informs.condition"
    )
    policy = {
        "release": "informs",
        "tables": {
            "person": {"source": "informs.person", "key": "DUPERSID", "columns": COLUMNS},
            "condition": {
                "source": "informs.condition",
                "references": {"DUPERSID": "person"},
                "columns": {"ICD9CODX": {"role": "sensitive"}},
            },
        },
        "privacy": [
            {"model": "k_anonymity", "k": 5},
            {"model": "event_share", "beta": 0.9},
        ],
        "method": {"name": "mondrian"},
        "group_size": size,
    }
    driver.publish(db, policy)
    (found,) = db.admin.execute(
        "SELECT evidence #> '{telling,condition}' FROM pganon_private.version"
    ).fetchone() or ({},)
    assert found["values"] == pytest.approx(alone, rel=0.02)
    assert found["told"] / found["values"] == pytest.approx(told, rel=0.15)
