"""A synthetic hospital of eight tables, the same for everybody: draws are hashes of what they are.

Admissions are more for the old; a ward follows from sex and age, a diagnosis from the ward and from
a chronic disease, a drug from the diagnosis.
"""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg

Connection = psycopg.Connection[Any]

_DRAW: LiteralString = """
DROP SCHEMA IF EXISTS hospital CASCADE;
CREATE SCHEMA hospital;
CREATE FUNCTION hospital.u(t text) RETURNS float8 IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN ('x' || left(md5(t), 7))::bit(28)::int / 268435456.0::float8;
"""

_TABLES: LiteralString = """
CREATE TABLE hospital.ward AS
  SELECT w AS ward_no, 'ward ' || w AS name, w %% 4 AS division FROM generate_series(1, 16) AS w;
CREATE TABLE hospital.drug AS
  SELECT d AS drug_no, 'drug ' || d AS name, d / 10 AS atc FROM generate_series(0, 199) AS d;
CREATE TABLE hospital.study AS
  SELECT s AS study_no, 'study ' || s AS title FROM generate_series(1, 10) AS s;
CREATE TABLE hospital.patient AS
  SELECT p AS patient_no, 'name ' || p AS name,
    2005 - floor(80 * sqrt(hospital.u('age' || p)))::int AS born,
    CASE WHEN hospital.u('sex' || p) < 0.52 THEN 'F' ELSE 'M' END AS sex,
    1 + floor(12 * power(hospital.u('district' || p), 1.5))::int AS district,
    1 + floor(3 * power(hospital.u('insurance' || p), 2))::int AS insurance
  FROM generate_series(1, %(patients)s) AS p;
CREATE TABLE hospital.admission AS
  SELECT row_number() OVER (ORDER BY p.patient_no, n)::int AS admission_no, p.patient_no, n,
    CASE WHEN p.sex = 'F' AND p.born > 1975 AND hospital.u('w1' || p.patient_no || n) < 0.35 THEN 1
         WHEN p.born > 2000 AND hospital.u('w2' || p.patient_no || n) < 0.5 THEN 2
         ELSE 3 + floor(14 * power(hospital.u('w3' || p.patient_no || (n / 2)), 1.3))::int
    END AS ward_no,
    date '2019-01-01' + floor(2190 * hospital.u('d' || p.patient_no || n))::int AS admitted
  FROM hospital.patient AS p, LATERAL generate_series(1, least(9, floor(
    -ln(1 - hospital.u('many' || p.patient_no)) * (1.2 + (2005 - p.born) / 60.0)
    + 0.25)::int)) AS n;
CREATE TABLE hospital.diagnosis AS
  SELECT a.admission_no,
    row_number() OVER (PARTITION BY a.admission_no ORDER BY n)::int AS place,
    CASE WHEN n = 1 AND a.ward_no <= 2
      THEN (a.ward_no - 1) * 15
        + floor(15 * power(hospital.u('c1' || a.admission_no || n), 2))::int
      WHEN n = 2 AND hospital.u('chronic' || a.patient_no) < 0.5
      THEN 30 + floor(60 * power(hospital.u('cc' || a.patient_no), 3))::int
      ELSE 30 + (floor(270 * power(hospital.u('c2' || a.admission_no || n), 2.5))::int
        + a.ward_no * 15) %% 270
    END AS code
  FROM (SELECT admission_no, patient_no, ward_no FROM hospital.admission) AS a,
    LATERAL generate_series(
      1, 1 + floor(4 * power(hospital.u('nd' || a.admission_no), 1.5))::int) AS n;
CREATE TABLE hospital.prescription AS
  SELECT d.admission_no,
    CASE WHEN hospital.u('follow' || d.admission_no || d.place) < 0.67 THEN d.code * 2 / 3
      ELSE floor(200 * power(hospital.u('dr' || d.admission_no || d.place), 2))::int
    END AS drug_no,
    (ARRAY['low', 'normal', 'high'])[
      1 + floor(3 * hospital.u('dose' || d.admission_no || d.place))::int] AS dose
  FROM hospital.diagnosis AS d
  WHERE hospital.u('rx' || d.admission_no || d.place) < 0.7;
CREATE TABLE hospital.patient_study AS
  SELECT p.patient_no, 1 + floor(10 * power(hospital.u('st' || p.patient_no || n), 1.5))::int
    AS study_no
  FROM hospital.patient AS p,
    LATERAL generate_series(1, 1 + (hospital.u('st2' || p.patient_no) < 0.2)::int) AS n
  WHERE hospital.u('in' || p.patient_no) < 0.08 GROUP BY 1, 2;
"""

_KEYS: LiteralString = """
ALTER TABLE hospital.patient ADD PRIMARY KEY (patient_no);
ALTER TABLE hospital.ward ADD PRIMARY KEY (ward_no);
ALTER TABLE hospital.drug ADD PRIMARY KEY (drug_no);
ALTER TABLE hospital.study ADD PRIMARY KEY (study_no);
ALTER TABLE hospital.admission ADD PRIMARY KEY (admission_no),
  ADD FOREIGN KEY (patient_no) REFERENCES hospital.patient,
  ADD FOREIGN KEY (ward_no) REFERENCES hospital.ward;
ALTER TABLE hospital.diagnosis ADD FOREIGN KEY (admission_no) REFERENCES hospital.admission;
ALTER TABLE hospital.prescription ADD FOREIGN KEY (admission_no) REFERENCES hospital.admission,
  ADD FOREIGN KEY (drug_no) REFERENCES hospital.drug;
ALTER TABLE hospital.patient_study ADD PRIMARY KEY (patient_no, study_no),
  ADD FOREIGN KEY (patient_no) REFERENCES hospital.patient,
  ADD FOREIGN KEY (study_no) REFERENCES hospital.study;
GRANT USAGE ON SCHEMA hospital TO steward;
GRANT SELECT ON ALL TABLES IN SCHEMA hospital TO steward;
ANALYZE;
"""


def build(conn: Connection, patients: int = 20_000) -> None:
    conn.execute(_DRAW)
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            with psycopg.ClientCursor(conn) as cursor:
                cursor.execute(statement, {"patients": patients})  # pyright: ignore
    conn.execute(_KEYS)


def policy(size: int = 50, **changes: Any) -> dict[str, Any]:
    """Of the specification of related tables, with all its quasi-identifiers."""
    quasi = {"role": "quasi_identifying"}
    return {
        "release": "hospital",
        "tables": {
            "patient": {
                "source": "hospital.patient",
                "key": "patient_no",
                "columns": {
                    "born": quasi,
                    "sex": {**quasi, "apart": True},
                    "district": {**quasi, "type": "categorical"},
                    "insurance": {**quasi, "type": "categorical"},
                },
            },
            "admission": {
                "source": "hospital.admission",
                "key": "admission_no",
                "references": {"patient_no": "patient"},
                "columns": {
                    "ward_no": {"role": "sensitive", "references": "ward"},
                    "admitted": {
                        "role": "insensitive",
                        "hierarchy": {"date": ["quarter", "year"]},
                        "shown": 2,
                    },
                },
                "together": [["ward_no", "admitted"]],
            },
            "diagnosis": {
                "source": "hospital.diagnosis",
                "references": {"admission_no": "admission"},
                "columns": {"code": {"role": "sensitive"}},
            },
            "prescription": {
                "source": "hospital.prescription",
                "references": {"admission_no": "admission"},
                "columns": {"drug_no": {"role": "sensitive", "references": "drug"}},
            },
            "patient_study": {
                "source": "hospital.patient_study",
                "references": {"patient_no": "patient"},
                "groups": "own",
                "columns": {"study_no": {"role": "sensitive", "references": "study"}},
            },
            "ward": {
                "source": "hospital.ward",
                "people": "none",
                "key": "ward_no",
                "columns": {"name": {}},
            },
            "drug": {
                "source": "hospital.drug",
                "people": "none",
                "key": "drug_no",
                "columns": {"name": {}},
            },
            "study": {
                "source": "hospital.study",
                "people": "none",
                "key": "study_no",
                "columns": {"title": {}},
            },
        },
        "privacy": [
            {"model": "k_anonymity", "k": 5},
            {"model": "event_share", "beta": 0.9},
        ],
        "method": {"name": "mondrian"},
        "group_size": size,
        **changes,
    }
