"""`pganon report --for readers`: made of what readers see, the same whoever makes it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from pganon.privacy.base import ALL_VERSIONS, ONE_VERSION
from pganon.run.record import RunResult
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.reports import ATTACKED

pytestmark = pytest.mark.primary_server_only

HUSHED = (
    *("hushed_source", "hushed_approver", "hushed_reason", "hushed_file"),
    *("7319731", "7319732", "source_owner"),
)
"""A table, a role, a reason, a file, records left out, people attacked, another
reader: nothing for readers."""

PLANTED = """
INSERT INTO pganon_private.ledger
    (run_id, release, version, event, by_role, program_version, policy_hash, details)
SELECT v.run_id, v.release, v.version, e.event, 'hushed_approver', '0', v.policy_hash,
    '{"login": "hushed_approver", "reason": "hushed_reason", "code": "hushed_reason"}'
FROM pganon_private.version AS v, (VALUES ('approved'), ('refused'), ('rejected')) AS e(event);
INSERT INTO pganon_private.ledger (run_id, release, version, event, program_version, details)
SELECT v.run_id, v.release, v.version, e.event, '0', e.details
FROM pganon_private.version AS v, (VALUES
    ('exported', '{"file": "hushed_file", "view": "v", "rows": 1, "sha256": "DIGEST"}'::jsonb),
    ('attacked', ATTACKED::jsonb)
) AS e(event, details);
UPDATE pganon_private.version SET suppressed = 7319731
""".replace("ATTACKED", f"'{json.dumps({**ATTACKED, 'people': 7319732})}'").replace(
    "DIGEST", "ab" * 32
)


def _published(db: Database) -> RunResult:
    db.source(faults.SOURCE.replace("public.patient", "public.hushed_source"))
    publish = {"readers": ["analyst", "source_owner"]}
    return faults.run(db.dsn(), faults.policy(source="public.hushed_source", publish=publish))


@pytest.fixture
def db(db_after: Any) -> Database:
    made, _ = db_after(_published)
    return made


def reported(db: Database, file: Path, *options: str, role: str = "steward") -> bytes:
    ran = pganon("report", "patients", "-o", str(file), "--force", "--dsn", db.dsn(role), *options)
    assert (ran.code, ran.err) == (0, "")
    return file.read_bytes()


@pytest.mark.parametrize("ending", ["html", "json"])
def test_readers_and_steward_make_the_same_bytes(db: Database, tmp_path: Path, ending: str):
    """What only the steward sees changes nothing, and is nowhere in it."""
    file = tmp_path / f"report.{ending}"
    options = ("--for", "readers")
    before = reported(db, file, *options, role="analyst")
    db.admin.execute(PLANTED.encode())
    (secret,) = db.admin.execute("SELECT policy_hash FROM pganon_private.version").fetchall()
    assert reported(db, file, *options) == before
    assert reported(db, file, *options, role="analyst") == before
    assert reported(db, file, *options, role="source_owner") == before
    text = before.decode()
    assert [one for one in (*HUSHED, secret[0], "analyst", faults.SECRET) if one in text] == []
    officer = reported(db, tmp_path / "officer.json").decode()
    assert [one for one in (*HUSHED, secret[0], "analyst") if one not in officer] == []


def test_figures_are_those_of_the_views(db: Database, tmp_path: Path):
    report = json.loads(reported(db, tmp_path / "report.json", "--for", "readers", role="analyst"))
    groups: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for number, value in db.admin.execute("SELECT class_id, disease FROM published.patients"):
        groups[number][value] += 1
    sizes = [one.total() for one in groups.values()]
    assert report["risk"]["release"] == {
        "smallest": min(sizes),
        "highest": 1 / min(sizes),
        "mean": len(sizes) / sum(sizes),
    }
    found = report["class_sizes"]["release"]
    assert (found["people"], found["groups"], found["largest"]) == (24, len(sizes), max(sizes))
    assert found["above"] == {
        "0.09": sum(n for n in sizes if n <= 11),
    }
    in_bins = {
        one["from"]: sum(n for n in sizes if one["from"] <= n <= (one["to"] or n))
        for one in found["bins"]
    }
    assert {one["from"]: one["people"] for one in found["bins"]} == in_bins
    (disease,) = report["sensitive"]
    most = [one.most_common(1)[0][1] for one in groups.values()]
    assert disease["most"] == max(m / n for m, n in zip(most, sizes, strict=True))
    assert disease["mean"] == sum(most) / 24
    assert disease["fewest_values"] == min(map(len, groups.values()))
    assert {one["from"]: one["people"] for one in disease["bins"]} == {
        place / 20: sum(
            n for m, n in zip(most, sizes, strict=True) if place * n < 20 * m <= (place + 1) * n
        )
        for place in range(20)
    }
    assert [one["name"] for one in report["columns"]][:3] == ["class_id", "age", "age_null"]
    assert [one["sentence"] for one in report["guarantee"]][:2] == [
        "Everybody looks like at least 7 others of the release in the columns age, sex and city.",
        "Every group has at least 2 different values in the column disease.",
    ]


def test_it_is_about_the_version_that_is_seen(db: Database, tmp_path: Path):
    options = ("-o", str(tmp_path / "report.html"), "--for", "readers", "--dsn", db.dsn("analyst"))
    for named in (("patients", "--version", "1"), ("--request", "1")):
        assert "the version that they see" in pganon("report", *named, *options).err
    db.admin.execute("REVOKE SELECT ON published.patients FROM analyst")
    assert "patients" in pganon("report", "patients", *options).err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_views_of_others_are_not_read(db: Database, tmp_path: Path):
    """Nothing of a view that was put in the place of the release's is run or counted."""
    db.admin.execute(
        "ALTER VIEW published.patients RENAME TO old;"
        " CREATE VIEW published.patients AS SELECT 1 AS class_id, 'x' AS disease;"
        " GRANT SELECT ON published.patients TO analyst"
    )
    options = ("-o", str(tmp_path / "report.html"), "--for", "readers", "--dsn", db.dsn())
    assert pganon("report", "patients", *options).code != 0


def test_it_can_be_signed_with_an_exported_file(db: Database, tmp_path: Path):
    table, file, key = tmp_path / "patients.csv", tmp_path / "report.html", tmp_path / "key"
    dsn = ("--dsn", db.dsn("analyst"))
    assert pganon("export", "patients", "-o", str(table), *dsn).code == 0
    assert pganon("report", "key", str(key)).code == 0
    reported(
        db, file, "--for", "readers", "--sign", str(key), "--export", str(table), role="analyst"
    )
    ran = pganon(
        *("report", "verify", str(file), "--key", f"{key}.pub", "--export", str(table), "--json")
    )
    assert (ran.code, ran.json["statement"]["edition"]) == (0, "readers")
    assert [one["model"] for one in ran.json["counted"]] == ["k_anonymity", "distinct_l_diversity"]


@pytest.mark.slow
def test_a_version_that_others_cross_promises_nothing_for_who_has_both(
    db: Database, tmp_path: Path
):
    """Also one that was published when there was no other, and promised it for all versions."""

    def summary() -> tuple[int, str, set[str]]:
        file = tmp_path / "report.json"
        report = json.loads(reported(db, file, "--for", "readers", role="analyst"))
        held = {one["over_versions"] for one in report["guarantee"]}
        return report["properties"]["version"], report["summary"], held

    version, text, held = summary()
    assert (version, "so a guess is right with a chance of at most" in text) == (1, True)
    assert held == {ALL_VERSIONS}
    db.source("DELETE FROM public.hushed_source WHERE id = 7", grant=False)
    publish = {"readers": ["analyst", "source_owner"]}
    changes = {"publish": publish, "republication": "allow"}
    faults.run(db.dsn(), faults.policy(source="public.hushed_source", **changes))
    for number in (2, 1):
        if number == 1:
            assert pganon("rollback", "patients", "--dsn", db.dsn()).code == 0
        version, text, held = summary()
        assert (version, held) == (number, {ONE_VERSION})
        assert "so a guess of who has no other version is right with a chance" in text
        said = db.connect("analyst").execute("SELECT guarantee FROM pganon.releases").fetchone()
        assert said is not None
        assert said[0].endswith("and has no other version")
