"""`pganon report` of published versions."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.faults import published

pytestmark = pytest.mark.primary_server_only


@pytest.fixture
def db(db_after: Any) -> Database:
    made, _ = db_after(published)
    return made


def reported(db: Database, folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "report.json"
    ran = pganon("report", "patients", "-o", str(file), "--force", "--dsn", db.dsn(), *options)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(file.read_text())


def stored(db: Database) -> tuple[dict[str, Any], str]:
    """The evidence of the version, and the digest in the ledger."""
    row = db.admin.execute(
        "SELECT v.evidence, l.details ->> 'evidence_sha256' FROM pganon_private.version AS v"
        " JOIN pganon_private.ledger AS l ON l.run_id = v.run_id AND l.event = 'released'"
    ).fetchone()
    assert row is not None
    return row


def test_the_ledger_has_the_digest_of_the_evidence_in_the_report(db: Database, tmp_path: Path):
    evidence, digest = stored(db)
    text = json.dumps(evidence, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    report = reported(db, tmp_path)
    proof = report["proof"]
    assert (proof["evidence_sha256"], proof["recorded_sha256"], proof["intact"]) == (
        digest,
        digest,
        True,
    )
    assert report["class_sizes"] == evidence["class_sizes"]
    people = db.admin.execute("SELECT count(*) FROM published.patients").fetchone()
    assert people == (report["properties"]["released"],)
    groups = db.admin.execute(
        "SELECT min(n), count(*) FROM (SELECT count(*) AS n FROM published.patients"
        " GROUP BY class_id) AS g"
    ).fetchone()
    release = evidence["class_sizes"]["release"]
    assert groups == (release["smallest"], release["groups"])


def test_evidence_that_somebody_changed_is_seen(db: Database, tmp_path: Path):
    db.admin.execute(
        "UPDATE pganon_private.version SET evidence ="
        " jsonb_set(evidence, '{class_sizes,release,smallest}', '99')"
    )
    report = reported(db, tmp_path)
    assert (report["status"], report["proof"]["intact"]) == ("fail", False)


def test_what_fits_no_report_is_named(db: Database, tmp_path: Path):
    db.admin.execute(
        "UPDATE pganon_private.version SET evidence ="
        " jsonb_set(evidence, '{class_sizes,release,largest}', '\"secret\"')"
    )
    file = tmp_path / "report.json"
    ran = pganon("report", "patients", "-o", str(file), "--dsn", db.dsn())
    assert (ran.code, file.exists(), "secret" in ran.err) == (2, False, False)
    assert "does not fit a report: Report.class_sizes.release.largest\n" in ran.err


def test_what_the_policy_says_now_is_reported(db: Database, tmp_path: Path):
    db.admin.execute(
        "UPDATE pganon_private.policy SET document ="
        """ jsonb_set(document::jsonb, '{about}', '{"purpose": "Research"}')::json"""
    )
    about = reported(db, tmp_path)["about"]
    assert (about["purpose"], about["contact"]) == ("Research", None)


def test_a_form_of_an_authority(db: Database, tmp_path: Path):
    file = tmp_path / "report.html"
    dsn = ("--dsn", db.dsn())
    ran = pganon("report", "patients", "--form", "hipaa", "-o", str(file), *dsn)
    assert (ran.code, ran.err) == (0, "")
    open_items = ran.out.splitlines()[1].removeprefix("form hipaa, to be written by the steward: ")
    assert open_items.split(", ")[:3] == ["conditions", "expert.conclusion", "expert.credentials"]
    ran = pganon(
        "report", "patients", "--form", "hipaa", "-o", str(file), "--force", "--json", *dsn
    )
    assert ran.json["authority"]["open"] == len(open_items.split(", "))
    assert "(b)(1)(i) Anticipated recipients" in file.read_text()
    assert "authority" not in reported(db, tmp_path)
    wrong = pganon("report", "patients", "--form", "gdpr", "-o", str(file), *dsn)
    assert (wrong.code, "'ema', 'iso27559', 'hipaa', 'ico'" in wrong.err) == (2, True)


def test_public_is_what_everybody_may_read(db: Database, tmp_path: Path):
    """And not what everybody might if the schema were open."""

    def rights() -> str:
        found = reported(db, tmp_path)["dataset"]["dct:accessRights"]["@id"]
        return found.rpartition("/")[2]

    assert rights() == "RESTRICTED"
    db.admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA published TO PUBLIC")
    db.admin.execute("REVOKE USAGE ON SCHEMA published FROM PUBLIC")
    assert rights() == "RESTRICTED"
    db.admin.execute("GRANT USAGE ON SCHEMA published TO PUBLIC")
    assert rights() == "PUBLIC"
    db.admin.execute("REVOKE SELECT ON published.patients FROM PUBLIC")
    assert rights() == "RESTRICTED"


@pytest.mark.slow
def test_a_page_for_its_owner_alone(db: Database, tmp_path: Path):
    file = tmp_path / "report.html"
    ran = pganon("report", "patients", "-o", str(file), "--dsn", db.dsn())
    assert ran.out.startswith(f"{file}: patients, version 1; ")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().startswith("<!doctype html>")
    again = pganon("report", "patients", "-o", str(file), "--dsn", db.dsn())
    assert again.err.startswith(f"error: {file} exists")


def test_what_cannot_be_reported_is_named(db: Database, tmp_path: Path):
    file = str(tmp_path / "report.html")
    other = pganon("report", "patients", "-o", str(tmp_path / "report.pdf"), "--dsn", db.dsn())
    assert "ends in .html or .json" in other.err
    missing = pganon("report", "patients", "-o", file, "--version", "7", "--dsn", db.dsn())
    assert "has no version 7; its versions: 1" in missing.err
    unknown = pganon("report", "patient", "-o", file, "--dsn", db.dsn())
    assert "did you mean patients?" in unknown.err
    assert not Path(file).exists()


def test_readers_get_no_report(db: Database, tmp_path: Path):
    file = tmp_path / "report.html"
    ran = pganon("report", "patients", "-o", str(file), "--dsn", db.dsn("analyst"))
    assert ran.code != 0
    assert not file.exists()


def test_an_exported_file_is_held_against_the_report(db: Database, tmp_path: Path):
    table, file, key = tmp_path / "patients.csv", tmp_path / "report.html", tmp_path / "key"
    dsn = ("--dsn", db.dsn())
    assert pganon("export", "patients", "-o", str(table), *dsn).code == 0
    assert pganon("report", "key", str(key)).code == 0
    ran = pganon(
        *("report", "patients", "-o", str(file), "--sign", str(key), "--export", str(table), *dsn)
    )
    assert (ran.code, ran.err) == (0, "")
    public = f"{key}.pub"
    ran = pganon("report", "verify", str(file), "--key", public, "--export", str(table), "--json")
    assert ran.code == 0
    smallest = db.admin.execute(
        "SELECT min(n) FROM (SELECT count(*) AS n FROM published.patients GROUP BY class_id) AS g"
    ).fetchone()
    counted = {one["model"]: one["counted"] for one in ran.json["counted"]}
    assert (counted["k_anonymity"],) == smallest


def test_exported_files_are_those_of_the_ledger(db: Database, tmp_path: Path):
    dsn = ("--dsn", db.dsn())
    tables = [tmp_path / name for name in ("first.csv", "again.csv", "other.csv.gz", "read.csv")]
    for table in tables[:3]:
        assert pganon("export", "patients", "-o", str(table), *dsn).code == 0
    assert (
        pganon(
            *("export", "patients", "-o", str(tables[3]), "--safe-csv"),
            *("--dsn", db.dsn("analyst")),
        ).code
        == 0
    )
    tables[3].write_bytes(tables[3].read_bytes() + b"\n")
    digests = [hashlib.sha256(table.read_bytes()).hexdigest() for table in tables]
    report = reported(db, tmp_path, *("--export", str(tables[1]), "--export", str(tables[3])))
    assert [(one["name"], one["sha256"]) for one in report["files"]] == [
        ("again.csv", digests[0]),
        ("other.csv.gz", digests[2]),
        ("read.csv", digests[3]),
    ]
    first, packed, unknown = (one["exported"] for one in report["files"])
    assert (first["by"], first["view"], first["rows"]) == ("steward", "published.patients", 24)
    assert (packed["rows"], unknown) == (24, None)
    said = [one["what"] for one in report["events"] if one["event"] == "exported"]
    assert said == [
        "Exported 24 rows of version 1 as first.csv",
        "Exported 24 rows of version 1 as other.csv.gz",
    ]
    file = tmp_path / "report.html"
    assert pganon("report", "patients", "-o", str(file), *dsn, "--export", str(tables[3])).code == 0
    assert "the ledger has no export of this version with it" in file.read_text()
