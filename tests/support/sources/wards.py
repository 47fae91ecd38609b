"""A small hospital of related tables, and its policy."""

from __future__ import annotations

import random
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]

TABLES = {
    "patient": "patient_no integer PRIMARY KEY, born integer, sex text, blood text",
    "ward": "ward_no integer PRIMARY KEY, name text",
    "study": "study_no integer PRIMARY KEY, title text",
    "admission": "admission_no integer PRIMARY KEY, patient_no integer, ward_no integer,"
    " admitted date, kind text",
    "diagnosis": "admission_no integer, patient_no integer, code text",
    "patient_study": "patient_no integer, study_no integer",
}


Rows = dict[str, list[tuple[Any, ...]]]


def rows(people: int = 200, seed: int = 1) -> Rows:
    """Rows of all tables; values that few people have are spread widely."""
    draw = random.Random(seed)
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    found["ward"] = [(n, f"ward {n}") for n in range(1, 5)]
    found["study"] = [(n, f"study {n}") for n in range(1, 4)]
    number = 0
    for person in range(1, people + 1):
        sex = draw.choice("FM")
        found["patient"].append((person, draw.randint(1930, 2005), sex, draw.choice("ABO")))
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            number += 1
            day = f"202{draw.randint(0, 3)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            ward = draw.randint(1, 4)
            found["admission"].append((number, person, ward, day, draw.choice(("plan", "now"))))
            for _ in range(draw.choice((0, 1, 1, 2))):
                code = draw.choice(("a", "b", "c", "d", None))
                found["diagnosis"].append((number, person, code))
        if draw.random() < 0.3:
            found["patient_study"].append((person, draw.randint(1, 3)))
    return found


def build(conn: Connection, tables: dict[str, list[tuple[Any, ...]]] | None = None) -> None:
    """(Re)create the tables in the schema `hospital`, readable for `steward`."""
    conn.execute("DROP SCHEMA IF EXISTS hospital CASCADE; CREATE SCHEMA hospital")
    conn.execute("GRANT USAGE ON SCHEMA hospital TO steward")
    for name, made in (rows() if tables is None else tables).items():
        table = sql.Identifier("hospital", name)
        columns = sql.SQL(TABLES[name])  # pyright: ignore[reportArgumentType]
        conn.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        with conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in made:
                copy.write_row(row)
        conn.execute(sql.SQL("GRANT SELECT ON {} TO steward").format(table))


ROOT = {
    "source": "hospital.patient",
    "key": "patient_no",
    "columns": {
        "born": {"role": "quasi_identifying"},
        "sex": {"role": "quasi_identifying"},
    },
}
DIAGNOSIS = {
    "source": "hospital.diagnosis",
    "references": {"patient_no": "patient"},
    "columns": {"code": {"role": "sensitive"}},
}
ADMISSION = {
    "source": "hospital.admission",
    "key": "admission_no",
    "references": {"patient_no": "patient"},
    "columns": {
        "ward_no": {"role": "sensitive", "references": "ward"},
        "admitted": {"role": "insensitive", "hierarchy": {"date": ["quarter", "year"]}, "shown": 2},
    },
    "together": [["ward_no", "admitted"]],
}
STUDIES = {
    "source": "hospital.patient_study",
    "references": {"patient_no": "patient"},
    "groups": "own",
    "columns": {"study_no": {"role": "sensitive", "references": "study"}},
}
WARD = {
    "source": "hospital.ward",
    "people": "none",
    "key": "ward_no",
    "columns": {"name": {}},
}
STUDY = {
    "source": "hospital.study",
    "people": "none",
    "key": "study_no",
    "columns": {"title": {}},
}
WHOLE = {
    "patient": ROOT,
    "admission": ADMISSION,
    "diagnosis": {**DIAGNOSIS, "references": {"admission_no": "admission"}},
    "patient_study": STUDIES,
    "ward": WARD,
    "study": STUDY,
}


def policy(
    tables: dict[str, Any] | None = None, k: int = 3, beta: float = 0.7, **others: Any
) -> dict[str, Any]:
    """A policy; by default one table of events, which names people."""
    return {
        "release": "hospital",
        "tables": {"patient": ROOT, "diagnosis": DIAGNOSIS} if tables is None else tables,
        "privacy": [
            {"model": "k_anonymity", "k": k},
            {"model": "event_share", "beta": beta},
        ],
        "method": {"name": "mondrian"},
        "group_size": 10,
        **others,
    }
