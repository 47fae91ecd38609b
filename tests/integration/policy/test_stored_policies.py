"""`pganon policy apply|list|show|diff`, `run NAME`, `policy check --stored` and `status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.applied.check import check
from pganon.applied.store import loaded, read, store
from pganon.errors import LedgerError, PolicyError
from pganon.loading import load_policy
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

TREE = "Rome,south,any\nBern,south,any\nOslo,north,any\nKyiv,north,any\n"


def _write(folder: Path, name: str = "patients", csv: str = "trees/city.csv", **more: Any) -> Path:
    columns = {
        **faults.POLICY["columns"],
        "city": {"role": "quasi_identifying", "hierarchy": {"csv": csv}},
    }
    policy = {**faults.POLICY, "release": name, "columns": columns, **more}
    file = folder / f"{name}.json"
    file.write_text(json.dumps(policy), "utf-8")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("trees", "policies"):
        (tmp_path / name).mkdir()
    (tmp_path / "trees" / "city.csv").write_text(TREE, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_from_file_to_database_to_release(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    file = _write(folder)
    at = ("--dsn", db.dsn())
    assert pganon("policy", "apply", str(file), "--comment", "first", *at).out == (
        "applied policy patients, revision 1\n"
    )
    assert pganon("policy", "apply", str(file), *at, "--json").json[0]["revision"] == 1
    (folder / "trees" / "city.csv").unlink()
    ran = pganon("run", "patients", *at, "--json")
    assert (ran.json["version"], ran.json["outcome"]) == (1, "released")
    listed = pganon("policy", "list", *at, "--json").json
    assert [(p["release"], p["revision"], p["state"]) for p in listed] == [
        ("patients", 1, "usable")
    ], "a run by name stores nothing"
    shown = pganon("policy", "show", "patients", *at, "--json").json
    assert (shown["comment"], shown["policy"]["release"]) == ("first", "patients")
    assert "state     usable" in pganon("policy", "show", "patients", *at).out
    assert pganon("run", "nothing", *at, "--json").json["error"]["code"] == "unknown_policy"
    assert pganon("plan", "patients", *at, "--json").json["release"] == "patients"
    status = pganon("status", "patients", *at, "--json").json
    assert [(r["release"], r["version"]) for r in status["releases"]] == [("patients", 1)]
    assert pganon("status", "nothing", *at, "--json").json["error"]["code"] == "unknown_release"


@pytest.mark.slow
def test_a_run_of_a_file_stores_it(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    file, at = _write(folder), ("--dsn", db.dsn())
    assert pganon("run", str(file), "--dry-run", *at).code == 0
    assert pganon("policy", "list", *at, "--json").json == []
    assert pganon("run", str(file), *at).code == 0
    weaker = _write(folder, privacy=[{"model": "k_anonymity", "k": 4}])
    diff = pganon("policy", "diff", "patients", str(weaker), *at)
    assert "privacy.k_anonymity.k 8 -> 4: weaker" in diff.out
    assert pganon("policy", "diff", "other", str(weaker), *at).code == 2


def test_a_folder_is_applied_as_a_whole(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    policies, at = folder / "policies", ("--dsn", db.dsn(), "--json")
    assert pganon("policy", "apply", str(policies), *at).json["error"]["code"] == "usage"
    for name in ("a", "b"):
        _write(policies, name, csv="../trees/city.csv")
    (policies / "c.yaml").write_text("release: c\n", "utf-8")
    assert pganon("policy", "apply", str(policies), *at).json["error"]["code"] == "policy"
    assert pganon("policy", "list", *at).json == []
    (policies / "c.yaml").unlink()
    applied = pganon("policy", "apply", str(policies), *at).json
    assert [p["release"] for p in applied] == ["a", "b"]
    # What lies outside of the folder was taken along under a path within.
    conn = db.owner()
    with loaded(conn, read(conn, "a")) as policy:
        path = policy.policy.columns["city"].hierarchy.csv  # pyright: ignore
        assert (policy.base_dir / path).read_text("utf-8") == TREE
        assert path.startswith("files/")
    (policies / "again.yaml").write_text((policies / "a.json").read_text("utf-8"), "utf-8")
    assert pganon("policy", "apply", str(policies), *at).json["error"]["code"] == "usage"


@pytest.mark.parametrize("path", ["/etc/hostname", "../../etc/hostname", "not/applied.csv"])
def test_a_stored_policy_reads_no_file_of_the_worker(db: Database, path: str) -> None:
    """Attack: a policy that was applied in SQL names files of whoever runs it."""
    conn = db.owner()
    policy = json.loads(json.dumps(faults.POLICY))
    policy["columns"]["city"]["hierarchy"] = {"csv": path}
    conn.execute("SELECT pganon.apply_policy(%s::json)", [json.dumps(policy)])
    found = check(conn, "patients")
    assert found.state == "unusable"
    assert f"the file {path} was not applied with the policy" in found.problems[0]
    files = json.dumps({path: TREE})
    conn.execute("SELECT pganon.apply_policy(%s::json, %s::json)", [json.dumps(policy), files])
    if path.startswith(("/", "..")):
        with (
            pytest.raises(PolicyError, match="leaves the folder"),
            loaded(conn, read(conn, "patients")),
        ):
            pass


def test_variables_are_filled_in_when_applied(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.source(faults.SOURCE)
    monkeypatch.setenv("SOURCE_TABLE", "public.patient")
    text = json.dumps({**faults.POLICY, "source": "${SOURCE_TABLE}", "variables": ["SOURCE_TABLE"]})
    conn = db.owner()
    store(conn, load_policy(text))
    monkeypatch.delenv("SOURCE_TABLE")
    assert read(conn, "patients").data["source"] == "public.patient"
    assert check(conn, "patients").state == "usable"
    conn.execute("SELECT pganon.apply_policy(%s::json)", [text])
    assert "has no environment" in check(conn, "patients").problems[0]


def test_check_stored(db: Database) -> None:
    stored, at = queue.applied(db), ("--stored", "--dsn", db.dsn())
    conn = db.owner()
    assert pganon("policy", "check", *at, "--json").json == []
    conn.execute('SELECT pganon.apply_policy(\'{"release": "bad"}\')')
    status = pganon("status", "--dsn", db.dsn(), "--json").json
    assert status["warnings"] == ["bad: revision 1 of its policy is unchecked"]
    done = pganon("policy", "check", *at)
    assert done.code == 2
    assert done.out.startswith("policy bad, revision 1: unusable\n  policy bad, revision 1: ")
    status = pganon("status", "--dsn", db.dsn(), "--json").json
    assert status["warnings"] == ["bad: revision 1 of its policy cannot be used"]
    again = pganon("policy", "check", "patients", *at, "--json").json
    assert again == [{"release": "patients", "revision": stored.revision, "problems": []}]
    with pytest.raises(LedgerError):
        check(conn, "nothing")
    assert pganon("policy", "check").code == 2


def test_status_of_what_waits(db: Database) -> None:
    queue.applied(db, schedule="0 3 * * 1")
    queue.ask(db.connect("analyst"))
    status = pganon("status", "--dsn", db.dsn(), "--json").json
    assert [(r["release"], r["state"], r["requester"]) for r in status["requests"]] == [
        ("patients", "waiting", "analyst")
    ]
    assert status["warnings"] == ["requests wait, and no worker is alive: start `pganon worker`"]
    text = pganon("status", "--dsn", db.dsn())
    assert "not done yet" in text.out
    with queue.serving(db.dsn()):
        faults.wait_until(lambda: queue.states(db) == ["released"])
        status = pganon("status", "--dsn", db.dsn(), "--json").json
        assert len(status["workers"]) == 1
    assert status["requests"] == []
    assert status["warnings"] == []
