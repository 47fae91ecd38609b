"""What a report says of a release of related tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.forms.confidential import WITHHELD, told_measures
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only


@pytest.mark.slow
def test_requirements_of_tables_are_told_in_sentences(db: Database, tmp_path: Path) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    driver.publish(db, wards.policy(wards.WHOLE, 3, 0.9, group_size=30))
    for name in ("report.html", "report.json"):
        ran = pganon("report", "hospital", "-o", str(tmp_path / name), "--dsn", db.dsn())
        assert ran.code == 0, ran
    document = json.loads((tmp_path / "report.json").read_text())
    found = {one["published"]: one["sentence"] for one in document["guarantee"]}
    assert found["admission"] == (
        "Whoever knows that somebody has rows of admission finds at least 3 people of the group"
        " who have."
    )
    assert found["diagnosis.code"] == (
        "No value of diagnosis.code is held by over 90\u00a0% of the people of a group who have"
        " rows."
    )
    pairs = [one for one in document["guarantee"] if " + " in (one["published"] or "")]
    assert [one["sentence"].partition(" finds ")[0] for one in pairs] == [
        "Whoever knows ward_no of somebody's row",
        "Whoever knows admitted of somebody's row",
        "Whoever knows the second of admission.ward_no + admitted in somebody's row",
    ]
    assert not any(one["against"] for one in document["guarantee"])
    assert not any("satisfies the check" in sentence for sentence in found.values())
    assert found["admission"] in (tmp_path / "report.html").read_text()
    common = document["outcome"][2]
    assert common["result"] == "limit 90\u00a0% holds"
    most = max(
        one["measured"]
        for one in document["guarantee"]
        if one["model"] == "event_share" and one not in pairs
    )
    assert common["figure"] == f"{100 * most:.3g}\u00a0%"
    (inferred,) = [one for one in document["questions"] if one["name"] == "inference"]
    assert inferred["remains"].startswith(f"At most {common['figure']} of those in the group who")
    assert inferred["result"] == "bounded"
    goes_out = {one["name"]: one["role"] for one in document["columns"] if one["goes_out"]}
    assert goes_out["diagnosis.code"] == "protected"
    assert goes_out["ward.name"] == "of a table without people"
    not_promised = {one["name"]: one["text"] for one in document["not_protected"]}
    alone = document["form"]
    (telling,) = db.owner().execute(
        "SELECT evidence -> 'telling' FROM pganon_private.version"
    ).fetchone() or ({},)
    together = not_promised["Values that go together"]
    for table, one in telling.items():
        told = "few or nearly all" if one["told"] is None else one["told"]
        assert f"{told} of {one['values']} values of {table}" in together
    assert telling.keys() == {"admission", "diagnosis", "patient_study"}
    gcp = utility(db)["partitions"]["groups"]["gcp"]
    assert {"kind": "percent", "value": gcp} in alone[0]["parts"]


def utility(db: Database) -> Any:
    (found,) = db.owner().execute(
        "SELECT measures -> 'utility' FROM pganon_private.version"
    ).fetchone() or ({},)
    return found


def test_what_groups_lose_is_withheld() -> None:
    groups = {"groups": {"groups": 3, "gcp": 0.1}}
    measured = {"utility": {"gcp": 0.1, "ncp": {}, "partitions": groups}}
    assert told_measures(measured) == measured
    told = told_measures({**measured, WITHHELD: True})["utility"]["partitions"]
    assert told == {"groups": {"groups": 3, "gcp": None}}


@pytest.mark.slow
def test_guarantees_name_groups_and_pairs_in_sentences(db: Database) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    diagnosis = {**wards.WHOLE["diagnosis"], "membership": "sensitive"}
    tables = {**wards.WHOLE, "diagnosis": diagnosis}
    driver.publish(db, wards.policy(tables, 3, 0.95, group_size=30))
    rows = db.owner().execute(
        "SELECT requirement, reader, details ->> 'sentence' FROM pganon.guarantees"
        " WHERE release = 'hospital' ORDER BY position"
    )
    found = {requirement: (reader, sentence) for requirement, reader, sentence in rows.fetchall()}
    known = "who knows the quasi-identifiers of a person"
    assert found["group_size people=30"] == (
        known,
        "values of admission, diagnosis, patient_study are told of groups of at least 30 people",
    )
    assert found["holders k=3 table=admission"] == (
        f"{known}, and that there are rows",
        "whoever knows that somebody has rows of admission finds at least 3 people of the group"
        " who have",
    )
    reader, sentence = found["event_share(ward_no + admitted) beta=0.95 table=admission"]
    assert reader == f"{known}, and one value of a row"
    assert sentence.endswith("finds no other that is held by over 95 % of those")
    assert "holders(ward_no + admitted) k=3 table=admission" in found
    assert found["event_share beta=0.95 table=diagnosis"] == (
        known,
        "of who could have rows of diagnosis, at most 95 % have some",
    )
