"""The materialization `pganon_release`, in projects that dbt itself runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import dbt, faults, queue
from tests.support.harness.cluster import Database
from tests.support.harness.pages import blocks

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]


def _release(**config: Any) -> str:
    """A model that is the release `patients`, unless the configuration says something else."""
    chosen = {"release": "patients", "wait": "5 minutes", **config}
    words = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    return f"{{{{ config(materialized='pganon_release', {words}) }}}}\n-- the policy says what\n"


@pytest.fixture
def clinic(db: Database) -> Database:
    """A release, and a schema in which the analyst may make tables of it."""
    queue.applied(db)
    faults.run(db.dsn(), faults.policy(requests=queue.ASKED, republication="allow"))
    db.admin.execute("CREATE SCHEMA marts AUTHORIZATION analyst")
    db.connect("analyst").execute("CREATE TABLE marts.said (what text)")
    return db


def _note(what: str) -> str:
    return f"INSERT INTO marts.said VALUES ('{what}')"


@pytest.mark.parametrize("profile", [{}, {"autocommit": True}], ids=["default", "autocommit"])
def test_releases_and_what_is_made_of_them(
    clinic: Database, tmp_path: Path, profile: dict[str, Any]
) -> None:
    hooks = (
        f'pre_hook=before_begin("{_note("before")}"), post_hook=after_commit("{_note("after")}"),'
    )
    models = {
        "patients": _release(parameters={"k": 9}).replace("release=", f"{hooks} release="),
        "readable": _release(alias="patients_flat", max_age="1 day"),
        "mean": "{{ config(materialized='table', schema='marts') }}"
        " SELECT avg(days) AS days, count(*) AS people FROM {{ ref('patients') }}"
        " WHERE (SELECT count(*) FROM {{ ref('readable') }}) > 0",
    }
    place = dbt.project(clinic, tmp_path, models, **profile)
    with queue.serving(clinic.dsn()):
        done = dbt.run(place)
    assert done.code == 0, done.out
    assert {name: status for name, (status, _) in done.models.items()} == dict.fromkeys(
        models, "success"
    )
    asked = clinic.admin.execute(
        "SELECT release, parameters, requester, state FROM pganon_private.request"
        " WHERE origin = 'request' ORDER BY id"
    ).fetchall()
    assert asked[0] == ("patients", {"k": 9}, "analyst", "released")
    assert asked[1] == ("patients", {}, "analyst", "released")
    assert "patients: version 2" in done.out
    assert "patients: version 3" in done.out
    conn = clinic.connect("analyst")
    assert conn.execute("SELECT people FROM marts.mean").fetchone() == (24,)
    said = conn.execute("SELECT what FROM marts.said").fetchall()
    assert said == [("before",), ("after",)]


WRONG = {
    "elsewhere": (_release(), "set alias and schema"),
    "granted": (_release(grants={"select": ["analyst"]}), "publish.readers"),
    "commented": (_release(persist_docs={"relation": True}), "persist_docs has no effect"),
    "with_sql": (_release() + "SELECT 1 AS a", "has no SQL"),
    "hooked": (_release(pre_hook="SELECT 1"), "before_begin"),
    "unknown": (_release(release="it's nothing"), 'there is no release "it\'s nothing"'),
    "unknown_parameter": (_release(alias="patients", parameters={"j": 1}), '"j"'),
    "too_old": (_release(alias="patients", max_age="0 seconds"), "is older than"),
    "other_policy": (_release(alias="patients_flat", policy_hash="x"), "has another policy"),
}


def test_the_page_about_it(clinic: Database, tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "use-with-dbt.md"
    files = {
        block.words[1]: block.text
        for block in blocks(page.read_text("utf-8"))
        if block.words[:1] == ("no-run",) and len(block.words) > 1
    }
    assert {"packages.yml", "models/visits.sql", "models/ages.sql"} < set(files)
    place = dbt.project(clinic, tmp_path, {})
    for name, text in files.items():
        if name != "packages.yml":  # That of the test names the same folder.
            renamed = text.replace("'visits'", "'patients'").replace("visits_flat", "patients_flat")
            (place / name.replace("visits", "patients")).write_text(renamed, "utf-8")
    (place / "macros" / "schemas.sql").unlink()
    with queue.serving(clinic.dsn()):
        done = dbt.run(place)
    assert done.code == 0, done.out
    assert {status for status, _ in done.models.values()} == {"success"}
    counted = clinic.connect("analyst").execute("SELECT sum(visits) FROM marts.ages").fetchone()
    assert counted == (24,)


# Two models of a project cannot be in one place.
ALONE = {"unknown_parameter"}


def test_what_is_wrong_is_an_error(clinic: Database, tmp_path: Path) -> None:
    for alone in (False, True):
        chosen = {name: both for name, both in WRONG.items() if (name in ALONE) == alone}
        models = {name: text for name, (text, _) in chosen.items()}
        place = dbt.project(clinic, tmp_path / str(alone), models)
        with queue.serving(clinic.dsn()):
            done = dbt.run(place)
        assert done.code == 1
        for name, (_, expected) in chosen.items():
            status, message = done.models[name]
            assert status == "error", name
            assert expected in message, (name, message)
    asked = clinic.admin.execute(
        "SELECT state FROM pganon_private.request WHERE origin = 'request'"
    ).fetchall()
    assert asked == [("unchanged",)] * 2, "only those whose version was wrong"


def test_a_refused_release_fails_and_the_version_before_stays(db: Database, tmp_path: Path) -> None:
    queue.applied(db)
    faults.run(db.dsn(), faults.policy(requests=queue.ASKED, republication="allow"))
    queue.apply(db, privacy=[{"model": "k_anonymity", "k": 25}])
    place = dbt.project(db, tmp_path, {"patients": _release()})
    with queue.serving(db.dsn()):
        done = dbt.run(place)
    status, message = done.models["patients"]
    assert (done.code, status) == (1, "error")
    assert "was refused\nHINT: the steward sees why; version 1 is shown as before" in re.sub(
        r"\n\s+", "\n", message
    )
    assert "CONTEXT" not in message
    assert faults.version(db.owner()) == 1
