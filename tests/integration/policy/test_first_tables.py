"""First policies of related tables: what foreign keys lead to people, and runs that follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.sources import schemas

pytestmark = pytest.mark.primary_server_only

HOSPITAL = (Path(__file__).parents[3] / "docs" / "tutorial" / "hospital.sql").read_text()


def granted(db: Database, text: str, *names: str) -> None:
    db.source(text)
    for name in names:
        db.source(
            f"GRANT USAGE ON SCHEMA {name} TO steward;"
            f" GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO steward"
        )


def school(db: Database) -> None:
    granted(db, schemas.SCHOOL, "school")


def shop(db: Database) -> None:
    granted(db, schemas.SHOP, "shop", "catalogue")


def init(db: Database, root: str, *options: str) -> Ran:
    return pganon("policy", "init", root, "--tables", *options, "--dsn", db.dsn("steward"))


def written(db: Database, root: str, folder: Path) -> tuple[dict[str, Any], str, Path]:
    file = folder / "first.yaml"
    made = init(db, root, "-o", str(file), "--force")
    assert made.code == 0, made.err
    checked = pganon("policy", "check", "--source", str(file), "--dsn", db.dsn("steward"))
    assert checked.code == 0, (checked.err, file.read_text())
    return yaml.safe_load(file.read_text()), file.read_text(), file


def run(db: Database, file: Path) -> None:
    ran = pganon("run", str(file), "--dsn", db.dsn("steward"))
    assert ran.code == 0, (ran.err, file.read_text())


@pytest.mark.slow
def test_a_school(db: Database, tmp_path: Path) -> None:
    school(db)
    policy, text, file = written(db, "school.pupil", tmp_path)
    tables = policy["tables"]
    assert list(tables) == [
        *("pupil", "attendance", "counselling", "enrolment", "grade", "subject"),
    ]
    attendance = {name: one["role"] for name, one in tables["attendance"]["columns"].items()}
    assert attendance == {
        "pupil_id": "identifying",
        "term": "insensitive",
        "sheet": "identifying",
        "days_absent": "sensitive",
    }
    assert "groups" not in tables["attendance"]
    assert tables["pupil"]["columns"]["mentor"] == {"role": "identifying"}
    # Columns of a key that others name are never published, so grades lead to pupils at once.
    assert "key" not in tables["enrolment"]
    assert tables["enrolment"]["columns"]["subject"]["references"] == "subject"
    assert tables["enrolment"]["columns"]["term"]["role"] == "insensitive"
    assert tables["grade"]["references"] == {"pupil_id": "pupil"}
    assert {c["role"] for c in tables["grade"]["columns"].values()} == {
        "identifying",
        "sensitive",
        "insensitive",
    }
    assert tables["grade"]["columns"]["remark"] == {"role": "identifying"}
    assert tables["grade"]["columns"]["exam_no"] == {"role": "identifying"}
    assert tables["counselling"]["groups"] == "own"
    for told in (
        "school.siblings: shared_fact: 267 rows lead to two people each",
        "school.prize: too_few_holders: 2 people have rows, and k is 12",
        "school.library_card: no column of it is published",
        "school.loan: leads over school.library_card, which is left out",
        "school.teacher: seems to be about other people",
    ):
        assert f"#   {told}" in text, text
    assert "together:" in text
    assert not any("together" in table for table in tables.values())
    run(db, file)


@pytest.mark.slow
def test_a_shop(db: Database, tmp_path: Path) -> None:
    shop(db)
    policy, text, file = written(db, 'shop."Customer"', tmp_path)
    tables = policy["tables"]
    assert tables["Order"]["references"] == {"CustomerId": "Customer"}
    assert tables["Order"]["orphans"] == tables["order_line"]["orphans"] == "leave_out"
    assert "75 rows lead to nobody" in text
    assert "orphans" not in tables["address"]
    assert tables["Order"]["columns"]["persons"]["as"] == "persons_2"
    assert tables["order_line"]["columns"]["group_id"]["as"] == "group_id_2"
    assert tables["order_line"]["columns"]["sku"] == {"role": "sensitive", "references": "product"}
    assert "gift" not in tables["order_line"]["columns"]
    # Two ways, and both end at one person in every row.
    assert tables["delivery"]["references"] == {"CustomerId": "Customer", "OrderId": "Order"}
    assert "main_line" in tables["Order"]["columns"]  # leads back, and stays at home
    assert {"category", "supplier", "product"} <= tables.keys()
    assert tables["supplier"]["columns"] == {"company": {}}
    assert "apart" not in tables["Customer"]["columns"]["sex"]
    assert "too few to be kept apart" in text  # 30 have none
    run(db, file)


@pytest.mark.slow
def test_the_hospital_of_the_tutorial(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert list(policy["tables"]) == ["patient", "admission", "diagnosis", "ward"]
    assert policy["tables"]["admission"]["columns"]["ward_no"]["references"] == "ward"
    assert policy["tables"]["diagnosis"]["columns"]["code"] == {"role": "sensitive"}
    assert policy["group_size"] == 120
    assert {"model": "event_share", "beta": 0.9} in policy["privacy"]
    assert "sex: add apart: true if" in text
    run(db, file)


@pytest.mark.slow
def test_what_tells_sex_keeps_it_apart(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        "UPDATE hospital.admission AS a SET ward_no = 7 - ward_no FROM hospital.patient AS p"
        " WHERE p.patient_no = a.patient_no AND p.sex = 'M' AND a.ward_no = 1"
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert policy["tables"]["patient"]["columns"]["sex"]["apart"] is True
    assert "tell sex, so groups keep it apart" in text
    run(db, file)


@pytest.mark.slow
def test_what_may_not_be_read_is_named(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source("REVOKE SELECT ON hospital.admission FROM steward", grant=False)
    none = init(db, "hospital.patient")
    assert none.code != 0
    assert 'role "steward" lacks SELECT on hospital.admission' in none.err
    grant = "GRANT SELECT ({}) ON hospital.admission TO steward"
    db.source(grant.format("admission_no, admitted"), grant=False)
    none = init(db, "hospital.patient")
    assert "leads over hospital.patient, by other columns than its key, or such as" in none.err
    db.source(
        f"{grant.format('patient_no')}; ALTER TABLE hospital.diagnosis ENABLE ROW LEVEL SECURITY",
        grant=False,
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert list(policy["tables"]) == ["patient", "admission"]
    assert "ward_no: not released  # this role may not read it" in text
    assert "hospital.diagnosis: row-level security applies to this role" in text
    run(db, file)


def test_a_role_with_nothing_but_select(db: Database) -> None:
    db.source(HOSPITAL)
    db.source(
        "GRANT USAGE ON SCHEMA hospital TO analyst;"
        " GRANT SELECT ON ALL TABLES IN SCHEMA hospital TO analyst"
    )
    revoked = (
        f'REVOKE ALL ON DATABASE "{db.name}" FROM PUBLIC, analyst;'
        f' GRANT CONNECT ON DATABASE "{db.name}" TO analyst'
    )
    db.admin.execute(revoked.encode())
    made = pganon(
        "policy", "init", "hospital.patient", "--tables", "--json", "--dsn", db.dsn("analyst")
    )
    assert made.code == 0, made.err
    assert yaml.safe_load(json.loads(made.out)["policy"])["tables"]["diagnosis"]
    assert "name 17" not in made.out


@pytest.mark.slow
def test_references_that_name_no_row(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        "ALTER TABLE hospital.admission DROP CONSTRAINT admission_ward_no_fkey;"
        " UPDATE hospital.admission SET ward_no = 99 WHERE admission_no = 1;"
        " ALTER TABLE hospital.admission ADD FOREIGN KEY (ward_no) REFERENCES hospital.ward"
        " NOT VALID"
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert policy["tables"]["admission"]["columns"]["ward_no"] == {"role": "identifying"}
    assert "1 values name no row of hospital.ward" in text
    assert "#   hospital.ward: no published column names its rows" in text
    run(db, file)


@pytest.mark.slow
def test_a_lookup_of_one_person_each_is_none(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        "CREATE TABLE hospital.bed (bed_no int PRIMARY KEY, floor int);"
        " INSERT INTO hospital.bed SELECT n, n % 5 FROM generate_series(1, 2600) AS n;"
        " ALTER TABLE hospital.admission ADD bed_no int REFERENCES hospital.bed;"
        " UPDATE hospital.admission SET bed_no = admission_no;"
        " GRANT SELECT ON hospital.bed TO steward"
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert "bed" not in policy["tables"]
    assert "lookup_people: most rows of hospital.bed are of one person each" in text
    run(db, file)


def test_a_table_to_which_nothing_leads(db: Database) -> None:
    db.source(HOSPITAL)
    ran = init(db, "hospital.diagnosis")
    assert ran.code != 0
    assert "no table leads to hospital.diagnosis over foreign keys" in ran.err
    ran = init(db, "hospital.patient", "--task", "exact")
    assert ran.code != 0
    assert "related tables are released for the task survey" in ran.err


@pytest.mark.slow
def test_once_and_monthly(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    assert "--tables --monthly" in init(db, "hospital.patient").out
    assert "monthly" not in init(db, "hospital.patient", "--once").out
    file = tmp_path / "monthly.yaml"
    assert init(db, "hospital.patient", "--monthly", "-o", str(file)).code == 0
    assert yaml.safe_load(file.read_text())["refresh"] == "increments"
    run(db, file)
    shown = pganon("show", "hospital", "--dsn", db.dsn("steward"))
    assert shown.code == 0, shown.err
    report = tmp_path / "r.json"
    ran = pganon("report", "hospital", "-o", str(report), "--dsn", db.dsn("steward"))
    assert ran.code == 0, ran.err
    db.source(
        """
        INSERT INTO hospital.patient
        SELECT patient_no + 10000, name, born, sex FROM hospital.patient;
        INSERT INTO hospital.admission
        SELECT admission_no + 10000, patient_no + 10000, ward_no, admitted FROM hospital.admission;
        INSERT INTO hospital.diagnosis SELECT admission_no + 10000, code FROM hospital.diagnosis;
        """
    )
    run(db, file)
    ran = pganon("report", "hospital", "-o", str(report), "--force", "--dsn", db.dsn("steward"))
    assert ran.code == 0, ran.err
    verified = pganon("verify", "hospital", "--dsn", db.dsn("steward"))
    assert verified.code == 0, verified.err


@pytest.mark.slow
def test_circles_and_keys_that_others_do_not_name(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        """
        CREATE TABLE hospital.referral (
            referral_no int PRIMARY KEY, patient_no int REFERENCES hospital.patient, kind text,
            admission_no int REFERENCES hospital.admission
        );
        INSERT INTO hospital.referral
        SELECT admission_no, patient_no, chr(65 + admission_no % 4), admission_no
        FROM hospital.admission;
        ALTER TABLE hospital.admission ADD referral_no int REFERENCES hospital.referral;
        UPDATE hospital.admission SET referral_no = admission_no;
        ALTER TABLE hospital.patient ADD pass int UNIQUE;
        UPDATE hospital.patient SET pass = nullif(patient_no, 7);
        CREATE TABLE hospital.parking (pass int REFERENCES hospital.patient (pass), place text);
        INSERT INTO hospital.parking SELECT pass, 'A' FROM hospital.patient;
        """
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    tables = policy["tables"]
    # One of the two leads to the other, and both to the patient.
    assert tables["admission"]["references"] == {
        "patient_no": "patient",
        "referral_no": "referral",
    }
    assert tables["referral"]["references"] == {"patient_no": "patient"}
    assert "hospital.parking: leads over hospital.patient, by other columns than its key" in text
    run(db, file)


@pytest.mark.slow
def test_a_key_of_several_columns_that_leads_to_nobody(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        """
        CREATE TABLE hospital.stay (
            room text, bed int, patient_no int REFERENCES hospital.patient, meals text,
            PRIMARY KEY (room, bed)
        );
        INSERT INTO hospital.stay
        SELECT 'room ' || n / 4, n % 4, n, chr(65 + n % 3) FROM generate_series(1, 400) AS n;
        CREATE TABLE hospital.visit (
            room text, bed int, kind text, minutes numeric,
            FOREIGN KEY (room, bed) REFERENCES hospital.stay
        );
        INSERT INTO hospital.visit
        SELECT room, bed, chr(65 + bed % 3), patient_no / 7.0 FROM hospital.stay;
        """
    )
    policy, _, file = written(db, "hospital.patient", tmp_path)
    tables = policy["tables"]
    assert tables["stay"]["key"] == ["room", "bed"]
    assert tables["visit"]["references"] == [{"columns": ["room", "bed"], "table": "stay"}]
    # Others may know numbers of people; those of events are what nobody may learn.
    assert tables["visit"]["columns"]["minutes"] == {"role": "sensitive"}
    run(db, file)


@pytest.mark.slow
def test_tables_over_a_key_of_several_columns_have_no_groups_of_their_own(
    db: Database, tmp_path: Path
) -> None:
    """One has rows only where the other has; by names, and beside a key to the person."""
    db.source(HOSPITAL)
    db.source(
        """
        CREATE TABLE hospital.trial (
            patient_no int REFERENCES hospital.patient, arm text, PRIMARY KEY (patient_no, arm)
        );
        INSERT INTO hospital.trial
        SELECT n, chr(65 + n % 3) FROM generate_series(1, 200) AS n;
        CREATE TABLE hospital.adverse (
            patient_no int REFERENCES hospital.patient, arm text, kind text,
            FOREIGN KEY (patient_no, arm) REFERENCES hospital.trial
        );
        INSERT INTO hospital.adverse SELECT patient_no, arm, chr(75 + patient_no % 4)
        FROM hospital.trial;
        """
    )
    policy, _, file = written(db, "hospital.patient", tmp_path)
    tables = policy["tables"]
    assert tables["trial"]["columns"]["arm"]["role"] == "sensitive"
    assert tables["adverse"]["references"] == {"patient_no": "patient"}
    assert not any("groups" in tables[name] for name in ("trial", "adverse"))
    run(db, file)


@pytest.mark.slow
def test_no_part_is_left_without_what_models_need(db: Database, tmp_path: Path) -> None:
    """Kept apart, all men had one value of a sensitive column of the root."""
    db.source(HOSPITAL)
    db.source(
        "UPDATE hospital.admission AS a SET ward_no = 7 - ward_no FROM hospital.patient AS p"
        " WHERE p.patient_no = a.patient_no AND p.sex = 'M' AND a.ward_no = 1;"
        " ALTER TABLE hospital.patient ADD pregnancy text;"
        " UPDATE hospital.patient SET pregnancy = CASE WHEN sex = 'M' THEN 'none'"
        " WHEN patient_no % 2 = 0 THEN 'one' ELSE 'more' END"
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert policy["tables"]["patient"]["columns"]["pregnancy"]["role"] == "sensitive"
    assert "apart" not in policy["tables"]["patient"]["columns"]["sex"]
    assert "tell sex, and some of it are too few to be kept apart" in text
    run(db, file)


@pytest.mark.slow
def test_long_names_and_names_of_views(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    long = "a_very_long_name_of_a_column_that_leaves_no_room_for_more_words"
    db.source(
        f"""
        ALTER TABLE hospital.diagnosis ADD {long} int, ADD rows int, ADD voucher_code text;
        UPDATE hospital.diagnosis
        SET {long} = ascii(code) % 5, rows = length(code) + ascii(code) % 3,
            voucher_code = code || (admission_no / 2);
        CREATE TABLE hospital.groups (
            patient_no int REFERENCES hospital.patient, "group" text, diagnosis text
        );
        INSERT INTO hospital.groups
        SELECT patient_no, chr(65 + patient_no % 4), chr(65 + patient_no % 3)
        FROM hospital.patient;
        ALTER TABLE hospital.patient ADD group_id int;
        UPDATE hospital.patient SET group_id = patient_no % 40;
        """
    )
    policy, _, file = written(db, "hospital.patient", tmp_path)
    columns = policy["tables"]["diagnosis"]["columns"]
    assert columns[long]["as"] == f"{long[:20]}_2"
    assert columns["rows"]["as"] == "rows_2"
    assert columns["voucher_code"] == {"role": "identifying"}  # few rows of each
    assert policy["tables"]["hospital_groups"]["source"] == "hospital.groups"
    run(db, file)


@pytest.mark.slow
def test_tables_few_people_have_rows_in(db: Database, tmp_path: Path) -> None:
    """Three men have rows: kept apart, they were too few. What others lead over has no groups of
    its own, nor what leads over others."""
    db.source(HOSPITAL)
    db.source(
        """
        UPDATE hospital.admission AS a SET ward_no = 7 - ward_no FROM hospital.patient AS p
        WHERE p.patient_no = a.patient_no AND p.sex = 'M' AND a.ward_no = 1;
        CREATE TABLE hospital.study (
            study_no int PRIMARY KEY, patient_no int REFERENCES hospital.patient, arm text
        );
        INSERT INTO hospital.study
        SELECT patient_no, patient_no, chr(65 + patient_no % 3) FROM (
            (SELECT patient_no FROM hospital.patient WHERE sex = 'F' ORDER BY 1 LIMIT 150)
            UNION ALL (SELECT patient_no FROM hospital.patient WHERE sex = 'M' ORDER BY 1 LIMIT 3)
        ) AS p;
        CREATE TABLE hospital.visit (study_no int REFERENCES hospital.study, mood text);
        INSERT INTO hospital.visit SELECT study_no, chr(65 + study_no % 4) FROM hospital.study;
        """
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    tables = policy["tables"]
    assert "groups" not in tables["study"]
    assert "groups" not in tables["visit"]
    assert text.count("few people have rows, which makes all groups large") == 2
    assert "apart" not in tables["patient"]["columns"]["sex"]
    run(db, file)
    db.source("DROP TABLE hospital.visit")
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert policy["tables"]["study"]["groups"] == "own"
    db.source(
        "DELETE FROM hospital.study AS s USING hospital.patient AS p"
        " WHERE p.patient_no = s.patient_no AND p.sex = 'M'"
    )
    policy, _, _ = written(db, "hospital.patient", tmp_path)
    assert policy["tables"]["patient"]["columns"]["sex"]["apart"] is True
    db.source(
        "UPDATE hospital.patient SET sex = 'X' WHERE sex = 'M' AND patient_no BETWEEN 1000 AND 1099"
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert "some of it are too few to be kept apart" in text
    assert "apart" not in policy["tables"]["patient"]["columns"]["sex"]


def test_a_root_that_is_not_read_whole(db: Database) -> None:
    db.source(HOSPITAL)
    db.source("ALTER TABLE hospital.patient ENABLE ROW LEVEL SECURITY", grant=False)
    ran = init(db, "hospital.patient")
    assert ran.code == 2
    assert "hospital.patient: row-level security applies to this role" in ran.err
    db.source(
        "ALTER TABLE hospital.patient DISABLE ROW LEVEL SECURITY;"
        " REVOKE SELECT ON hospital.patient FROM steward;"
        " GRANT SELECT (born, sex) ON hospital.patient TO steward",
        grant=False,
    )
    ran = init(db, "hospital.patient")
    assert ran.code == 2
    assert "hospital.admission: leads over hospital.patient, by other columns" in ran.err


@pytest.mark.slow
def test_keys_that_may_not_be_read(db: Database, tmp_path: Path) -> None:
    """A table whose key this role may not read is released; what leads over it is not."""
    db.source(HOSPITAL)
    db.source(
        "REVOKE SELECT ON hospital.admission FROM steward;"
        " GRANT SELECT (patient_no, ward_no, admitted) ON hospital.admission TO steward",
        grant=False,
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    assert list(policy["tables"]) == ["patient", "admission", "ward"]
    assert "hospital.diagnosis: leads over hospital.admission, by other columns than" in text
    run(db, file)


@pytest.mark.slow
def test_keys_and_columns_that_are_never_released(db: Database, tmp_path: Path) -> None:
    db.source(HOSPITAL)
    db.source(
        """
        CREATE TABLE hospital.device (address inet PRIMARY KEY, patient_no int NOT NULL
            REFERENCES hospital.patient, colour text);
        INSERT INTO hospital.device
        SELECT inet '10.0.0.0' + patient_no, patient_no, chr(65 + patient_no % 5)
        FROM hospital.patient;
        CREATE TABLE hospital.uptime (address inet REFERENCES hospital.device, span interval);
        INSERT INTO hospital.uptime SELECT address FROM hospital.device;
        CREATE TABLE hospital.reading (address inet REFERENCES hospital.device, kind text);
        INSERT INTO hospital.reading SELECT address, colour || 'x' FROM hospital.device;
        ALTER TABLE hospital.ward ADD "floor
plan" text, ADD area point, ADD beds int;
        """
    )
    policy, text, file = written(db, "hospital.patient", tmp_path)
    tables = policy["tables"]
    assert "hospital.uptime: no column of it is published" in text
    assert tables["reading"]["references"] == {"address": "device"}
    assert tables["ward"]["columns"] == {"name": {}, "beds": {}}
    assert '"floor\\nplan": not released  # its name holds control characters' in text
    assert "area: not released  # type point is not supported" in text
    run(db, file)


@pytest.mark.slow
def test_names_that_leave_little_room(db: Database, tmp_path: Path) -> None:
    """Names of views hold those of the release, a table and a column, in 63 bytes."""
    db.source(HOSPITAL)
    schema = "national_register_of_patients_and_stays"
    db.source(
        f"ALTER TABLE hospital.diagnosis ADD responsible_department text, ADD {'診' * 21} text;"
        f" UPDATE hospital.diagnosis SET responsible_department = code, {'診' * 21} = code;"
        f" ALTER SCHEMA hospital RENAME TO {schema}"
    )
    policy, _, file = written(db, f"{schema}.patient", tmp_path)
    columns = policy["tables"]["diagnosis"]["columns"]
    assert columns["responsible_department"]["as"] == "responsible_2"
    assert columns["診" * 21]["as"] == "診診診_2"
    run(db, file)
