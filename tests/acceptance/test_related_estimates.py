"""What is asked of a hospital of 20,000 patients: 200 questions, and 40 about admissions.

Errors are medians over those that are true of ten people or more; docs/reference/related-tables.md
has them, too. Questions are drawn by hashes of what they are.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import pytest

from pganon.estimation.ask import ask
from tests.integration.estimation.test_every_form import can_be_read
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources import hospital

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

TABLE = {"code": "diagnosis", "drug_no": "prescription", "ward_no": "admission"}
TABLE |= {"study_no": "patient_study"}
KINDS = ("code, age, sex", "code, drug, age", "ward, drug, sex", "two codes", "study, age, sex")

ROWS = {
    "code": "SELECT code FROM hospital.diagnosis ORDER BY admission_no, place",
    "study_no": "SELECT study_no FROM hospital.patient_study ORDER BY 1, patient_no",
    "code, drug, age": """
        SELECT d.code, p.drug_no FROM hospital.prescription AS p
        JOIN (SELECT DISTINCT admission_no, code FROM hospital.diagnosis) AS d USING (admission_no)
        ORDER BY admission_no, code, drug_no, dose COLLATE "C"
    """,
    "ward, drug, sex": """
        SELECT a.ward_no, p.drug_no FROM hospital.prescription AS p
        JOIN hospital.admission AS a USING (admission_no)
        ORDER BY admission_no, drug_no, dose COLLATE "C"
    """,
    "two codes": """
        WITH f AS (SELECT DISTINCT patient_no, code FROM hospital.diagnosis
            JOIN hospital.admission USING (admission_no))
        SELECT a.code, b.code FROM f AS a JOIN f AS b USING (patient_no)
        WHERE a.code < b.code ORDER BY patient_no, 1, 2
    """,
}
PEOPLE = """
    SELECT 'code', code, patient_no FROM hospital.diagnosis
        JOIN hospital.admission USING (admission_no)
    UNION SELECT 'drug_no', drug_no, patient_no FROM hospital.prescription
        JOIN hospital.admission USING (admission_no)
    UNION SELECT 'ward_no', ward_no, patient_no FROM hospital.admission
    UNION SELECT 'study_no', study_no, patient_no FROM hospital.patient_study
"""


def drawn(text: str) -> float:
    return int(hashlib.md5(text.encode()).hexdigest()[:7], 16) / 2**28


@dataclass(frozen=True)
class Asked:
    """A question; `people` are those with all its facts."""

    kind: str
    facts: tuple[tuple[str, int], ...]
    born: tuple[int, int] | None
    sex: str | None

    @property
    def text(self) -> str:
        conditions = [
            f"EXISTS (SELECT FROM {TABLE[column]} WHERE {column} = {value})"
            for column, value in self.facts
        ]
        if self.born is not None:
            conditions.append(f"born BETWEEN {self.born[0]} AND {self.born[1]}")
        if self.sex is not None:
            conditions.append(f"sex = '{self.sex}'")
        return f"SELECT count(*) FROM patient WHERE {' AND '.join(conditions)}"


def questions(db: Database) -> Iterator[tuple[Asked, int]]:
    """Each with how many people it is true of."""
    rows = {name: db.admin.execute(text.encode()).fetchall() for name, text in ROWS.items()}
    people: dict[tuple[str, int], set[int]] = defaultdict(set)
    for column, value, person in db.admin.execute(PEOPLE):
        people[column, value].add(person)
    patients = db.admin.execute("SELECT patient_no, born, sex FROM hospital.patient").fetchall()
    for i in range(200):
        kind = KINDS[i % 5]
        low = 1930 + int(60 * drawn(f"q:{i}:lo"))
        high = low + 5 + int(30 * drawn(f"q:{i}:w"))
        columns = {"two codes": ("code", "code"), "ward, drug, sex": ("ward_no", "drug_no")}
        columns |= {"code, age, sex": ("code",), "study, age, sex": ("study_no",)}
        own = columns.get(kind, ("code", "drug_no"))
        found = rows[kind if kind in rows else own[0]]
        values = found[int(drawn(f"q:{i}:a") * len(found))]
        born = (low, high) if "age" in kind else None
        sex = ("F" if drawn(f"q:{i}:sex") < 0.5 else "M") if "sex" in kind else None
        one = Asked(kind, tuple(zip(own, values, strict=True)), born, sex)
        hit = set.intersection(*[people[fact] for fact in one.facts])
        true = [
            person
            for person, year, is_ in patients
            if person in hit and (born is None or born[0] <= year <= born[1]) and sex in (None, is_)
        ]
        yield one, len(true)


def error(found: dict[str, Any], true: int) -> float:
    return abs(found["count"] - true) / true


FIFTY = {
    "code, age, sex": 0.0295,
    "study, age, sex": 0.0443,
    "admissions": 0.0371,
    "ward, drug, sex": 0.3329,
    "two codes": 0.4292,
    "code, drug, age": 0.9417,
}
FIVE = {
    "code, age, sex": 0.02,
    "study, age, sex": 0.0467,
    "admissions": 0.0312,
    "ward, drug, sex": 0.2818,
    "two codes": 0.3601,
    "code, drug, age": 0.8375,
}


@pytest.mark.parametrize(("size", "expected"), [(50, FIFTY), (5, FIVE)], ids=["50", "5"])
def test_a_hospital_is_asked(db: Database, size: int, expected: dict[str, float]) -> None:
    hospital.build(db.connect("source_owner"))
    driver.publish(db, hospital.policy(size))
    can_be_read(db)
    errors: dict[str, list[float]] = defaultdict(list)
    with db.connect("analyst") as analyst:
        for one, true in questions(db):
            (found,) = ask(analyst, "hospital", one.text).as_dicts()
            assert found["count_lower"] <= true <= found["count_upper"], one.text
            if true >= 10:
                errors[one.kind].append(error(found, true))
        for text, true in admissions(db):
            (found,) = ask(analyst, "hospital", text).as_dicts()
            assert found["count_lower"] is found["count_upper"] is None
            if true >= 10:
                errors["admissions"].append(error(found, true))
    found = {kind: median(each) for kind, each in errors.items()}
    # Seeds decide which of people that are alike are in which class.
    assert found == pytest.approx(expected, abs=0.005)


def admissions(db: Database) -> Iterator[tuple[str, int]]:
    wards = "SELECT ward_no FROM hospital.admission ORDER BY admission_no"
    rows = db.admin.execute(wards.encode()).fetchall()
    for i in range(40):
        low = 1930 + int(60 * drawn(f"r:{i}:lo"))
        high = low + 5 + int(30 * drawn(f"r:{i}:w"))
        sex = "F" if drawn(f"r:{i}:sex") < 0.5 else "M"
        (ward,) = rows[int(drawn(f"r:{i}:a") * len(rows))]
        where = f"ward_no = {ward} AND born BETWEEN {low} AND {high} AND sex = '{sex}'"
        text = "SELECT count(*) FROM {0}admission JOIN {0}patient USING (patient_no) WHERE " + where
        (true,) = db.admin.execute(text.format("hospital.").encode()).fetchone() or (0,)
        yield text.format(""), true
