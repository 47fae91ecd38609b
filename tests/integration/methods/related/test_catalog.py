"""Related tables beside the catalog: what cannot be, hostile names, kinds of values, keys."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.plan.explain import explain
from pganon.publish import lifecycle
from pganon.run.context import plan_release, resolve_policy
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only


def problems(db: Database, data: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(PolicyError) as raised:
        resolve_policy(db.owner(), loaded(data))
    return {problem.field: problem.message for problem in raised.value.problems}


@pytest.fixture
def built(db: Database) -> Database:
    wards.build(db.connect("source_owner"))
    db.source(
        "CREATE TABLE hospital.doctor (doctor_no integer PRIMARY KEY, name text);"
        " INSERT INTO hospital.doctor SELECT n, 'doctor ' || n FROM generate_series(1, 9) AS n;"
        " ALTER TABLE hospital.admission ADD doctor_no integer DEFAULT 1 REFERENCES hospital.doctor"
        '; ALTER TABLE hospital.diagnosis ADD span interval, ADD word text COLLATE "C";'
        " CREATE TABLE hospital.bed (bed_no integer PRIMARY KEY, patient_no integer"
        " REFERENCES hospital.patient); GRANT SELECT ON ALL TABLES IN SCHEMA hospital TO steward;"
        " CREATE TABLE hospital.closed (admission_no integer, code text);"
        " CREATE VIEW hospital.again AS SELECT admission_no, code FROM hospital.diagnosis;"
        " CREATE VIEW hospital.twin AS SELECT patient_no, born FROM hospital.patient;"
        " CREATE VIEW hospital.words AS SELECT a.patient_no, d.word FROM hospital.diagnosis AS d"
        " JOIN hospital.admission AS a USING (admission_no);"
        " GRANT SELECT ON hospital.again, hospital.twin, hospital.words TO steward"
    )
    db.admin.execute(
        "REVOKE SELECT ON hospital.closed FROM steward;"
        " GRANT SELECT (admission_no) ON hospital.closed TO steward"
    )
    return db


def changed(table: str, **keys: Any) -> dict[str, Any]:
    return wards.policy({**wards.WHOLE, table: {**wards.WHOLE[table], **keys}})


def with_column(table: str, name: str, **keys: Any) -> dict[str, Any]:
    return changed(table, columns={**wards.WHOLE[table]["columns"], name: keys})


def beside(name: str, table: dict[str, Any]) -> dict[str, Any]:
    return wards.policy({**wards.WHOLE, name: table}, trust=["source_owner"])


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no such column": (
        with_column("diagnosis", "cod", role="insensitive"),
        "tables.diagnosis.columns.cod",
        "hospital.diagnosis has no column cod",
    ),
    "no such key": (
        changed("admission", key="no"),
        "tables.admission.key",
        "hospital.admission has no column no",
    ),
    "no such key of the root": (
        changed("patient", key="no"),
        "tables.patient.columns.no",
        "hospital.patient has no column no",
    ),
    "condition": (
        changed("diagnosis", where="cod = 'a'"),
        "tables.diagnosis.where",
        "hospital.diagnosis has no column cod",
    ),
    "condition of the root": (
        changed("patient", where="bor > 3"),
        "tables.patient.where",
        "hospital.patient has no column bor",
    ),
    "closed column": (
        beside(
            "more",
            {
                "source": "hospital.closed",
                "references": {"admission_no": "admission"},
                "columns": {"code": {"role": "sensitive"}},
            },
        ),
        "tables.more.columns.code",
        "column code of hospital.closed may not be read",
    ),
    "values of a type": (
        with_column("diagnosis", "span", role="insensitive"),
        "tables.diagnosis.columns.span",
        "column span has the type interval or a collation that calls different texts equal; its"
        " values cannot be counted",
    ),
    "keys of a type": (
        changed("diagnosis", references={"span": "patient"}),
        "tables.diagnosis.references[0]",
        "column span is interval, a type in which equal values may be spelled differently; it tells"
        " nobody apart, and names no rows",
    ),
    "keys of two types": (
        changed("diagnosis", references={"word": "patient"}),
        "tables.diagnosis.references[0]",
        "column word is text, and patient_no that it names is integer",
    ),
    "a lookup of another type": (
        with_column("diagnosis", "word", role="insensitive", references="ward"),
        "tables.diagnosis.columns.word.references",
        "column word is text, and ward_no that it names is integer",
    ),
    "doctors": (
        with_column("admission", "doctor_no", role="insensitive"),
        "tables.admission.columns.doctor_no",
        "column doctor_no names rows of hospital.doctor, which may be about people",
    ),
    "beds": (
        beside(
            "bed",
            {"source": "hospital.bed", "people": "none", "key": "bed_no", "columns": {}},
        ),
        "tables.bed.people",
        "hospital.bed names rows of hospital.patient, which is about people",
    ),
    "beds of a view": (
        wards.policy(
            {
                **wards.WHOLE,
                "patient": {
                    **wards.ROOT,
                    "source": "hospital.twin",
                    "columns": {"born": wards.ROOT["columns"]["born"]},
                },
                "bed": {"source": "hospital.bed", "people": "none", "key": "bed_no", "columns": {}},
            }
        ),
        "tables.bed.people",
        "hospital.bed names rows of hospital.patient, which is about people",
    ),
    **{
        f"{source} as a lookup": (
            beside(
                "all",
                {"source": f"hospital.{source}", "people": "none", "key": key, "columns": {}},
            ),
            "tables.all.people",
            f"hospital.{source} shows columns of a table about people, whose rows would be"
            " published as they are",
        )
        for source, key in (
            ("patient", "patient_no"),
            ("admission", "admission_no"),
            ("patient_study", "study_no"),
            ("twin", "patient_no"),
            ("again", "code"),
        )
    },
    "hierarchy of another kind": (
        with_column("diagnosis", "code", role="sensitive", hierarchy={"date": ["year"]}, shown=1),
        "tables.diagnosis.columns.code.hierarchy",
        "hierarchy of column code: date levels are for dates and timestamps",
    ),
    "column twice": (
        beside(
            "again",
            {
                "source": "hospital.again",
                "references": {"admission_no": "admission"},
                "columns": {"code": {"role": "sensitive"}},
            },
        ),
        "tables.again.columns.code",
        "shows hospital.diagnosis.code, which diagnosis shows, too",
    ),
    "rows in groups of two kinds": (
        beside(
            "words",
            {
                "source": "hospital.diagnosis",
                "references": {"admission_no": "admission"},
                "groups": "own",
                "columns": {"word": {"role": "insensitive"}},
            },
        ),
        "tables.words.source",
        "has rows of a table that diagnosis has rows of, in other groups",
    ),
    "rows of a view in groups of two kinds": (
        beside(
            "words",
            {
                "source": "hospital.words",
                "references": {"patient_no": "patient"},
                "groups": "own",
                "columns": {"word": {"role": "insensitive"}},
            },
        ),
        "tables.words.source",
        "has rows of a table that diagnosis has rows of, in other groups",
    ),
    "column of the root": (
        beside(
            "twin",
            {
                "source": "hospital.twin",
                "references": {"patient_no": "patient"},
                "columns": {"born": {"role": "insensitive"}},
            },
        ),
        "tables.twin.columns.born",
        "shows hospital.patient.born, which patient shows, too",
    ),
    "view twice": (
        beside("diagnosis_code", {**wards.WARD, "source": "hospital.doctor", "key": "doctor_no"}),
        "tables.diagnosis_code",
        "two views would be named hospital_diagnosis_code",
    ),
    "view of pganon": (
        beside("flat", {**wards.WARD, "source": "hospital.doctor", "key": "doctor_no"}),
        "tables.flat",
        "two views would be named hospital_flat",
    ),
    "long name": (
        wards.policy(wards.WHOLE, release="h" * 40),
        "tables.admission",
        f"the name {'h' * 40}_admission_ward_no_admitted has more than 63 bytes",
    ),
    "column of groups": (
        with_column("diagnosis", "word", role="insensitive", **{"as": "persons"}),
        "tables.diagnosis.columns.word",
        "persons is a column that pganon adds",
    ),
    "number of groups": (
        changed(
            "patient",
            columns={**wards.ROOT["columns"], "blood": {"role": "insensitive", "as": "group_id"}},
        ),
        "tables.patient.columns.blood",
        "group_id is a column that pganon adds",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(built: Database, case: str) -> None:
    data, field, message = REFUSED[case]
    found = problems(built, data)
    assert found.get(field) == message, found


def test_a_table_named_as_a_column_of_groups(built: Database) -> None:
    tables = {"patient": wards.ROOT, "people": wards.DIAGNOSIS}
    found = problems(built, wards.policy(tables))
    assert found == {"tables.people": "people is a column that pganon adds"}


@pytest.mark.slow
def test_hostile_names(db: Database) -> None:
    """Names of tables and columns become names of views, and texts of comments."""
    db.source(
        'CREATE SCHEMA "h o"; GRANT USAGE ON SCHEMA "h o" TO steward;'
        ' CREATE TABLE "h o"."p""t" ("n""o" integer PRIMARY KEY, "b\'n" integer);'
        ' CREATE TABLE "h o"."e;v" ("n""o" integer, "c\'\'d" text, "x:y" integer, "%s" text);'
        ' CREATE TABLE "h o"."l%k" ("%s" text PRIMARY KEY, "a:b" text);'
        ' INSERT INTO "h o"."p""t" SELECT n, n % 20 FROM generate_series(1, 60) AS n;'
        ' INSERT INTO "h o"."e;v" SELECT n, chr(97 + n % 3), n % 2, chr(120 + n % 2)'
        " FROM generate_series(1, 60) AS n;"
        " INSERT INTO \"h o\".\"l%k\" VALUES ('x', 'one'), ('y', 'two');"
        ' GRANT SELECT ON ALL TABLES IN SCHEMA "h o" TO steward'
    )
    quasi = {"role": "quasi_identifying"}
    tables = {
        'p"; --': {"source": '"h o"."p""t"', "key": 'n"o', "columns": {"b'n": quasi}},
        "e'v\" x": {
            "source": '"h o"."e;v"',
            "references": {'n"o': 'p"; --'},
            "groups": "own",
            "columns": {
                "c''d": {"role": "sensitive"},
                "x:y": {"role": "insensitive"},
                "%s": {"role": "sensitive", "references": "l%k :x"},
            },
            "together": [["c''d", "x:y"]],
        },
        "l%k :x": {"source": '"h o"."l%k"', "people": "none", "key": "%s", "columns": {"a:b": {}}},
    }
    driver.publish(db, wards.policy(tables, 2, 0.9, release="r'\" :s%"))
    views = db.admin.execute(
        "SELECT viewname FROM pg_views WHERE schemaname = 'published' ORDER BY 1"
    ).fetchall()
    assert {view for (view,) in views} == {
        f"r'\" :s%{part}"
        for part in (
            "",
            "_flat",
            "_e'v\" x_groups",
            "_e'v\" x_c''d",
            "_e'v\" x_%s",
            "_e'v\" x_c''d_x:y",
            "_e'v\" x_rows",
            "_l%k :x",
        )
    }
    assert all(check.holds for check in lifecycle.verify(db.owner(), "r'\" :s%"))


@pytest.mark.slow
def test_kinds_of_values(db: Database) -> None:
    """Equal values are one, however they are spelled, and look the same whoever came first."""
    db.source(
        "CREATE SCHEMA h; GRANT USAGE ON SCHEMA h TO steward;"
        " CREATE TYPE h.size AS ENUM ('small', 'large'); CREATE DOMAIN h.grade AS integer;"
        " CREATE TABLE h.person (a text, b numeric, born integer, PRIMARY KEY (a, b));"
        " CREATE TABLE h.event (a text, b numeric(6, 2), amount numeric, size h.size,"
        " grade h.grade, at timestamptz, ratio real, letter char(3), yes boolean, id uuid);"
        " INSERT INTO h.person SELECT 'p' || n, n, n % 10 FROM generate_series(1, 40) AS n;"
        " INSERT INTO h.event SELECT 'p' || n, n, CASE WHEN n % 4 = 0 THEN 1.50 ELSE 1.5 END,"
        " (ARRAY['small', 'large'])[1 + n % 2]::h.size, n % 3, '2024-01-01 00:00+02',"
        " CASE WHEN n % 2 = 0 THEN '-0'::real ELSE 0 END, CASE WHEN n % 2 = 0 THEN 'x' END,"
        " n % 2 = 0, NULL FROM generate_series(1, 40) AS n;"
        " GRANT SELECT ON ALL TABLES IN SCHEMA h TO steward"
    )
    columns = ("amount", "size", "grade", "at", "ratio", "letter", "yes", "id")
    tables = {
        "person": {
            "source": "h.person",
            "key": ["a", "b"],
            "columns": {"born": {"role": "quasi_identifying"}},
        },
        "event": {
            "source": "h.event",
            "references": [{"columns": ["a", "b"], "table": "person"}],
            "columns": {name: {"role": "insensitive"} for name in columns},
        },
    }
    driver.publish(db, wards.policy(tables, 2, group_size=40, trust=["source_owner"]))
    shown = {
        name: db.admin.execute(
            f"SELECT {name}::text, persons, pg_typeof({name})::text"  # pyright: ignore
            f" FROM published.hospital_event_{name} ORDER BY 1"
        ).fetchall()
        for name in columns
    }
    assert shown == {
        "amount": [("1.5", 40, "numeric")],
        "size": [("large", 20, "text"), ("small", 20, "text")],
        "grade": [("0", 13, "integer"), ("1", 14, "integer"), ("2", 13, "integer")],
        "at": [("2023-12-31 22:00:00+00", 40, "timestamp with time zone")],
        "ratio": [("0", 40, "real")],
        "letter": [("x", 20, "character"), (None, 20, "character")],
        "yes": [("false", 20, "boolean"), ("true", 20, "boolean")],
        "id": [(None, 40, "uuid")],
    }


@pytest.mark.slow
def test_a_version_that_waits_for_approval(built: Database) -> None:
    """What waits is judged and published as what does not."""
    policy = wards.policy(wards.WHOLE, publish={"approval": {"by": ["steward"]}})
    done = faults.run(built.dsn(), loaded(policy))
    assert done.outcome == "awaiting_approval"
    assert faults.content(built.admin, "published.hospital_groups") is None


@pytest.mark.slow
def test_all_tables_are_read_by_one_statement(built: Database) -> None:
    """So they are of one instant, whatever is written meanwhile."""
    plan = plan_release(loaded(wards.policy(wards.WHOLE)), dsn=built.dsn())
    (reading,) = [one.sql for one in explain(plan) if one.step == "snapshot"]
    *made, filled = reading.split(";\n")
    assert len(made) == 7
    assert all(one.endswith("WITH NO DATA") for one in made)
    assert filled.startswith("WITH filled0 AS (INSERT INTO pganon_work.r0_root_keys")
    for name in ("patient", "admission", "diagnosis", "patient_study", "ward", "study"):
        assert filled.count(f'"hospital"."{name}"') == (2 if name == "patient" else 1)
    steps: list[str] = []
    faults.run(built.dsn(), loaded(wards.policy(wards.WHOLE)), before=steps.append)
    assert steps[:2] == ["snapshot.snapshot", "snapshot.inspect"]
