"""A release of related tables in every command, as somebody new would use them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from alembic import command
from alembic.config import Config

from pganon.applied.check import check
from pganon.applied.store import store
from tests.support.harness import dbt, driver, queue
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only

VIEWS = {
    "hospital",
    "hospital_flat",
    "hospital_groups",
    "hospital_patient_study_groups",
    "hospital_admission_ward_no",
    "hospital_admission_ward_no_admitted",
    "hospital_admission_rows",
    "hospital_diagnosis_code",
    "hospital_diagnosis_rows",
    "hospital_patient_study_study_no",
    "hospital_patient_study_rows",
    "hospital_ward",
    "hospital_study",
}


def policy(**others: Any) -> dict[str, Any]:
    return wards.policy(wards.WHOLE, 3, 0.9, group_size=30, **others)


def run(db: Database, *command_line: str, fails: bool = False) -> Ran:
    ran = pganon(*command_line, "--dsn", db.dsn())
    assert (ran.code != 0) == fails, ran
    return ran


def written(folder: Path, name: str = "hospital.yaml", **others: Any) -> str:
    file = folder / name
    file.write_text(yaml.safe_dump(policy(**others), sort_keys=False), "utf-8")
    return str(file)


def others(people: int = 220) -> wards.Rows:
    """A hospital of other people."""
    made = wards.rows(people, 9)
    moved = {"patient": (0,), "admission": (0, 1), "diagnosis": (0, 1), "patient_study": (0,)}
    return {
        name: [
            tuple(v + 1000 if i in moved.get(name, ()) else v for i, v in enumerate(row))
            for row in rows
        ]
        for name, rows in made.items()
    }


@pytest.fixture
def built(db: Database) -> Database:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    return db


@pytest.fixture
def released(built: Database) -> Database:
    driver.publish(built, policy(publish={"readers": ["analyst"]}))
    return built


def shown(db: Database) -> set[str]:
    query = "SELECT table_name FROM information_schema.views WHERE table_schema = 'published'"
    return {row[0] for row in db.connect("analyst").execute(query)}


def test_plan_and_policy_check_name_all_tables(built: Database, tmp_path: Path) -> None:
    file = written(tmp_path)
    plan = run(built, "plan", file).out
    assert "tables         hospital.admission, hospital.diagnosis, hospital.patient_study" in plan
    assert "holders k=3 table=diagnosis" in plan
    assert all(f"columns of published.{view} " in plan for view in VIEWS)
    checked = json.loads(run(built, "policy", "check", "--source", "--json", file).out)
    assert checked["columns"]["diagnosis.code"] == "sensitive"
    assert checked["columns"]["born"] == "quasi_identifying"


@pytest.mark.slow
def test_columns_that_come_to_a_table_are_found(built: Database, tmp_path: Path) -> None:
    columns = {**wards.ROOT["columns"], "blood": {"role": "identifying"}}
    admission = {**wards.ADMISSION, "columns": {**wards.ADMISSION["columns"]}}
    admission["columns"]["kind"] = {"role": "identifying"}
    diagnosis = {**wards.WHOLE["diagnosis"], "columns": {**wards.DIAGNOSIS["columns"]}}
    diagnosis["columns"]["patient_no"] = {"role": "identifying"}
    tables = {
        **wards.WHOLE,
        "patient": {**wards.ROOT, "columns": columns},
        "admission": admission,
        "diagnosis": diagnosis,
    }
    file = tmp_path / "hospital.yaml"
    made = wards.policy(tables, undeclared="refuse")
    file.write_text(yaml.safe_dump(made, sort_keys=False), "utf-8")
    run(built, "check", str(file))
    run(built, "policy", "check", "--source", str(file))
    built.source("ALTER TABLE hospital.diagnosis ADD birth_date date, ADD severity int")
    built.source("ALTER TABLE hospital.ward ADD head text")
    found = run(built, "check", str(file), fails=True).out
    assert "hospital.diagnosis has columns that no policy mentions: birth_date, severity" in found
    assert "hospital.ward has columns that no policy mentions: head" in found
    assert "birth_date: {role: insensitive}" in found
    assert "head: {}" in found
    refused = run(built, "policy", "check", "--source", str(file), fails=True).err
    assert "tables.diagnosis.columns" in refused
    assert "hospital.ward has the column head, which is not declared" in refused
    file.write_text(yaml.safe_dump({**made, "undeclared": "warn"}, sort_keys=False), "utf-8")
    plan = json.loads(run(built, "plan", "--json", str(file)).out)
    assert plan["unreleased"] == ["diagnosis.birth_date", "diagnosis.severity", "ward.head"]


@pytest.mark.slow
def test_every_view_is_exported(released: Database, tmp_path: Path) -> None:
    assert shown(released) == VIEWS
    conn = released.connect("analyst")
    for view in VIEWS:
        file = tmp_path / f"{view}.csv"
        ran = pganon(
            *("export", "hospital", "--view", view, "-o", str(file)),
            *("--dsn", released.dsn("analyst")),
        )
        assert ran.code == 0, ran
        with file.open(encoding="utf-8", newline="") as lines:
            exported = sum(1 for _ in csv.reader(lines)) - 1
        counted = conn.execute(f"SELECT count(*) FROM published.{view}".encode()).fetchone()
        assert counted == (exported,)


@pytest.mark.slow
def test_the_life_of_versions(built: Database, tmp_path: Path) -> None:
    """A second person, other people, an earlier version, none, all again."""
    publish = {"readers": ["analyst"], "approval": {"by": ["source_owner"]}}
    run(built, "run", written(tmp_path, publish={"readers": ["analyst"]}))
    wards.build(built.connect("source_owner"), others())
    renewed = written(tmp_path, publish=publish, population={"renewed": True})
    waits = json.loads(run(built, "run", renewed, "--json").out)
    assert waits["outcome"] == "awaiting_approval"
    file = tmp_path / "waits.json"
    run(built, "report", "--request", str(waits["request"]), "-o", str(file))
    assert json.loads(file.read_text())["properties"]["request"] == waits["request"]
    built.connect("source_owner").execute(
        "SELECT pganon.approve_release(%s, 'looked at it')", [waits["request"]]
    )
    queue.serve(built)
    status = json.loads(run(built, "releases", "--json").out)
    assert [one["version"] for one in status] == [2]
    assert json.loads(run(built, "verify", "hospital", "--json").out)["holds"]
    run(built, "rollback", "hospital")
    assert json.loads(run(built, "verify", "hospital", "--json").out)["holds"]
    run(built, "withdraw", "hospital")
    assert shown(built) == set()
    run(built, "rollback", "hospital")
    assert shown(built) == VIEWS
    run(built, "drop", "hospital", "--yes")
    assert built.owner().execute(
        "SELECT count(*) FROM pg_tables WHERE schemaname IN ('pganon_data', 'pganon_stage')"
    ).fetchone() == (0,)


@pytest.mark.slow
def test_a_listing_leaves_tables_to_show(released: Database) -> None:
    listed = run(released, "releases").out
    assert "group_size people=30" in " ".join(listed.split())
    assert "holders" not in listed
    assert "holders k=3 table=diagnosis" in run(released, "show", "hospital").out


@pytest.mark.slow
def test_who_may_ask_gets_all_parts(built: Database) -> None:
    conn = built.owner()
    asked = {"requests": {"roles": ["analyst"]}, "publish": {"readers": ["analyst"]}}
    check(conn, "hospital", store(conn, loaded(policy(**asked))))
    analyst = built.connect("analyst")
    first = queue.ask(analyst, "hospital")
    queue.serve(built)
    assert queue.state(built, first) == ("released", None)
    assert shown(built) == VIEWS
    built.source("INSERT INTO hospital.diagnosis VALUES (999999, 1, 'a')")
    orphan = queue.ask(analyst, "hospital")
    queue.serve(built)
    assert queue.state(built, orphan) == ("failed", "orphans")
    told = analyst.execute("SELECT reason FROM pganon.requests WHERE id = %s", [orphan]).fetchone()
    assert told == (None,)  # how many there are is not for who asks
    built.source("DELETE FROM hospital.diagnosis WHERE admission_no = 999999")
    again = queue.ask(analyst, "hospital")
    queue.serve(built)
    assert queue.state(built, again) == ("unchanged", None)


@pytest.mark.slow
def test_migrations(built: Database, tmp_path: Path) -> None:
    folder = tmp_path / "releases"
    folder.mkdir()
    written(folder, "0001_hospital.yaml")
    (folder / "0002_withdraw_hospital.yaml").write_text("withdraw: hospital\n")
    assert "hospital, version 1: released" in run(built, "migrate", str(folder)).out
    assert shown(built) == set()
    run(built, "migrate", "down", str(folder), "--to", "1")
    granted = "SELECT count(*) FROM pg_views WHERE schemaname = 'published'"
    assert built.owner().execute(granted).fetchone() == (len(VIEWS),)
    (folder / "0002_withdraw_hospital.yaml").unlink()
    out = tmp_path / "out"
    ran = pganon("migrate", str(folder), "--emit", "sql", "--output", str(out))
    assert ran.code == 0, ran
    conn = built.owner()
    with queue.serving(built.dsn()):
        lines = (out / "hospital.sql").read_text().splitlines()
        conn.execute("\n".join(one for one in lines if not one.startswith("\\")).encode())
    assert queue.states(built)[-1] == "unchanged"


@pytest.mark.slow
def test_alembic_compares_and_releases(built: Database, tmp_path: Path) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    written(folder)
    scripts = tmp_path / "scripts"
    with contextlib.redirect_stdout(io.StringIO()):
        config = Config(output_buffer=io.StringIO())
        config.set_main_option("script_location", str(scripts))
        config.set_main_option("path_separator", "os")
        config.config_file_name = str(tmp_path / "alembic.ini")
        command.init(config, str(scripts))
    (scripts / "env.py").write_text(
        "import psycopg\n"
        "from alembic import context\n"
        "from sqlalchemy import MetaData, create_engine, pool\n"
        "import pganon.integrations.alembic\n"
        "engine = create_engine('postgresql+psycopg://',"
        f" creator=lambda: psycopg.connect({built.dsn()!r}), poolclass=pool.NullPool)\n"
        "with engine.connect() as connection:\n"
        "    context.configure(connection=connection, target_metadata=MetaData(),"
        " transaction_per_migration=True, autogenerate_plugins=['pganon'],"
        f" pganon_policies={str(folder)!r}, version_table_schema='steward')\n"
        "    with context.begin_transaction():\n"
        "        context.run_migrations()\n",
        "utf-8",
    )
    built.admin.execute("CREATE SCHEMA steward AUTHORIZATION steward")
    with contextlib.redirect_stdout(io.StringIO()):
        command.revision(config, "tables", autogenerate=True, rev_id="1")
        with queue.serving(built.dsn()):
            command.upgrade(config, "head")
        command.check(config)  # raises where policies differ
    assert built.owner().execute("SELECT release, version FROM pganon.releases").fetchall() == [
        ("hospital", 1)
    ]


@pytest.mark.slow
def test_dbt_makes_models_of_parts(built: Database, tmp_path: Path) -> None:
    conn = built.owner()
    asked = {"requests": {"roles": ["analyst"]}, "publish": {"readers": ["analyst"]}}
    check(conn, "hospital", store(conn, loaded(policy(**asked))))
    queue.ask(built.connect("analyst"), "hospital")
    queue.serve(built)
    built.admin.execute("CREATE SCHEMA marts AUTHORIZATION analyst")
    part = "{{{{ config(materialized='pganon_release', release='hospital', alias='{}') }}}}"
    models = {
        "codes": part.format("hospital_diagnosis_code"),
        "groups": part.format("hospital_groups"),
        "persons": "{{ config(materialized='table', schema='marts') }}"
        " SELECT sum(c.persons) AS persons FROM {{ ref('codes') }} AS c"
        " JOIN {{ ref('groups') }} AS g USING (group_id)",
    }
    place = dbt.project(built, tmp_path, models)
    with queue.serving(built.dsn()):
        done = dbt.run(place)
    assert done.code == 0, done.out
    with psycopg.connect(built.dsn("analyst")) as analyst:
        counted = analyst.execute("SELECT sum(persons) FROM published.hospital_diagnosis_code")
        assert analyst.execute("SELECT persons FROM marts.persons").fetchone() == counted.fetchone()
