"""What a report says of a release of related tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only


def test_requirements_of_tables_are_told_in_sentences(db: Database, tmp_path: Path) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    driver.publish(db, wards.policy(wards.WHOLE, 3, 0.9, group_size=30))
    for name in ("report.html", "report.json"):
        ran = pganon("report", "hospital", "-o", str(tmp_path / name), "--dsn", db.dsn())
        assert ran.code == 0, ran
    document = json.loads((tmp_path / "report.json").read_text())
    found = {one["published"]: one["sentence"] for one in document["guarantee"]}
    assert found["admission"] == (
        "Whoever knows that somebody has a row of admission finds at least 3 people of the group"
        " who have."
    )
    assert found["diagnosis.code"].startswith("Nothing that is told of diagnosis.code is true of")
    assert not any("satisfies the check" in sentence for sentence in found.values())
    assert found["admission"] in (tmp_path / "report.html").read_text()
