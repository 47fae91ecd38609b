"""A hospital of 20,000 patients: related tables, by the statements of the reference, and figures.

The figures are those of pganon's own mondrian; docs/reference/related-tables.md has them, too.
"""

from __future__ import annotations

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
