"""`pganon demo`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import typer

from pganon import database, embedded, files
from pganon.cli import common
from pganon.cli.failures import error_object
from pganon.cli.policy import first
from pganon.cli.progress import progress
from pganon.demo import policies
from pganon.demo.hospital import ANALYST, Hospital, build
from pganon.errors import PganonError, PrivacyRefusal
from pganon.install import installer
from pganon.policy.tasks import TASKS

if TYPE_CHECKING:
    from pganon.demo.request import Served
    from pganon.run.record import RunResult

FIRST_ROWS = (
    "SELECT age, sex, zip, diagnosis, days FROM published.admissions"
    " ORDER BY class_id, diagnosis LIMIT 6"
)
QUESTION = (
    "SELECT diagnosis, count(*) AS patients, round(avg(days), 1) AS days FROM published.admissions"
    " WHERE age && '[70,100]' GROUP BY diagnosis ORDER BY patients DESC LIMIT 5"
)
ASSERTED = "SELECT pganon.assert_release('hospital_stays', max_age => '1 hour') AS version"
CLINIC = "clinic.patient"
HELD = (
    "SELECT g.group_id, g.people, g.diagnosis AS diagnosed, f.code, f.persons"
    " FROM published.clinic_diagnosis_code AS f JOIN published.clinic_groups AS g USING (group_id)"
    " ORDER BY group_id, code LIMIT 4"
)
PROMISED = (
    "SELECT details ->> 'sentence' AS promised FROM pganon.guarantees WHERE release = 'clinic'"
    " AND details ->> 'table' = 'diagnosis'"
)
FORBIDDEN = "SELECT name, diagnosis FROM hospital.patient LIMIT 1"


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(json: common.JsonOption = False) -> None:
    """Show it all on an embedded server: releases, a refusal, a request, related tables."""
    from pganon.demo.request import serve_request
    from pganon.loading import load_policy
    from pganon.run.release import run_release

    with progress("starting PostgreSQL, admitting 20,000 patients", quiet=json):
        hospital = build()
        with contextlib.closing(database.connect(hospital.steward)) as conn:
            installer.init(conn)
    folder = embedded.home() / "demo"
    files.write(folder / "admissions.yaml", policies.PUBLISHED)
    files.write(folder / "admissions_even.yaml", policies.REFUSED)
    files.write(folder / "hospital_stays.yaml", policies.REQUESTED)
    with progress("computing and verifying the release", quiet=json):
        result = run_release(load_policy(folder / "admissions.yaml"), dsn=hospital.steward)
    refusal = _refused(folder / "admissions_even.yaml", hospital)
    with progress("serving an analyst's request", quiet=json):
        served = serve_request(hospital, folder / "hospital_stays.yaml")
    with progress("releasing four related tables", quiet=json):
        with contextlib.closing(database.connect(hospital.steward)) as conn:
            text = first(conn, CLINIC, next(iter(TASKS)), related=True)
        files.write(folder / "clinic.yaml", text.replace("readers: []  ", f"readers: [{ANALYST}]"))
        tables = run_release(load_policy(folder / "clinic.yaml"), dsn=hospital.steward)
    if json:
        common.emit_json(
            {
                "dsn": {"steward": hospital.steward, "analyst": hospital.analyst},
                "patients": hospital.patients,
                "policies": str(folder),
                "published": result.as_dict(),
                "refused": error_object(refusal),
                "requested": served.__dict__,
                "tables": tables.as_dict(),
            }
        )
        return
    _tell(hospital, folder, result, refusal, served, tables)


def _refused(policy: Path, hospital: Hospital) -> PrivacyRefusal:
    from pganon.loading import load_policy
    from pganon.run.release import run_release

    try:
        run_release(load_policy(policy), dsn=hospital.steward)
    except PrivacyRefusal as refusal:
        return refusal
    raise PganonError("the demo's impossible release was not refused")


def _tell(
    hospital: Hospital,
    folder: Path,
    result: RunResult,
    refusal: PrivacyRefusal,
    served: Served,
    tables: RunResult,
) -> None:
    from pganon.cli.show_run import show_result

    _heading(f"1. A steward releases hospital.patient, {hospital.patients:,} patients")
    common.block(policies.PUBLISHED)
    show_result(result)
    _heading("2. What an analyst sees")
    with psycopg.connect(hospital.analyst, autocommit=True) as conn:
        _query(conn, FIRST_ROWS)
        _query(conn, QUESTION)
        _query(conn, FORBIDDEN)
    _heading("3. A release that cannot keep its promise is refused")
    common.block("  - {model: entropy_l_diversity, column: diagnosis, l: 18}\n")
    common.line(f"refused: {refusal.message}")
    common.line(f"hint: {refusal.hint}")
    _heading("4. An analyst asks for a release in SQL, and a worker makes it")
    common.line("The steward applied hospital_stays.yaml, which lets demo_analyst ask, and started")
    common.block("a worker.\n")
    common.line(f"demo_analyst=> {served.call}", style="dim")
    for notice in served.notices:
        common.line(f"NOTICE: {notice}")
    with psycopg.connect(hospital.analyst, autocommit=True) as conn:
        _query(conn, ASSERTED)
    _heading("5. Four related tables are one release")
    common.line(f"pganon policy init {CLINIC} --tables -o {folder}/clinic.yaml", style="dim")
    common.line(f"pganon run {folder}/clinic.yaml", style="dim")
    common.line(f"published {tables.view} and what belongs to it, version {tables.version}")
    common.line("")
    with psycopg.connect(hospital.analyst, autocommit=True) as conn:
        _query(conn, HELD)
        _query(conn, PROMISED)
    _heading("Go on")
    common.line(f"export PGANON_DSN='{hospital.steward}'")
    for command in (
        f"pganon plan {folder}/admissions.yaml",
        f"pganon run {folder}/admissions.yaml --timing",
        "pganon releases",
        "pganon verify admissions",
        "pganon status",
        "pganon export admissions -o admissions.csv",
    ):
        common.line(command)
    common.line(f"pganon server psql --dsn '{hospital.analyst}'")
    common.line("pganon server stop")


def _heading(text: str) -> None:
    common.line("")
    common.line(text, style="bold")
    common.line("")


def _query(conn: psycopg.Connection[Any], text: str) -> None:
    common.line(f"demo_analyst=> {text}", style="dim")
    try:
        cursor = conn.execute(text.encode())
    except psycopg.errors.InsufficientPrivilege as error:
        common.block(f"ERROR: {error.diag.message_primary}\n")
        return
    names = [column.name for column in cursor.description or ()]
    rows = [[_shown(cell) for cell in row] for row in cursor.fetchall()]
    common.table(names, rows, whole=[name for name in names if name != "diagnosis"])


def _shown(value: object) -> str:
    """A cell as psql shows it, shortened where a set is long."""
    if isinstance(value, list):
        return "{" + ",".join(str(item) for item in value) + "}"
    if hasattr(value, "bounds"):
        lower, upper = value.lower, value.upper  # pyright: ignore
        return f"{value.bounds[0]}{lower},{upper}{value.bounds[1]}"  # pyright: ignore
    return str(value)
