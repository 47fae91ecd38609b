"""Who interrupts a long command gets what it has, and is told what is missing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

ASLEEP = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pganon.assessment import call
from pganon.cli.main import main
from pganon.run import executor

measure, step = call.Call._fetch, executor.Executor._run_one
seen, name, times = [], sys.argv.pop(1), int(sys.argv.pop(1))


def asleep(conn, at):
    seen.append(at)
    if seen.count(name) == times and at == name:
        conn.execute("SELECT pg_sleep(60)")


def fetch(self, at, values):
    asleep(self.conn, at)
    return measure(self, at, values)


def run_one(self, one, at):
    asleep(self.conn, at)
    return step(self, one, at)


call.Call._fetch, executor.Executor._run_one = fetch, run_one
sys.exit(main())
"""
"""Falls asleep when it begins something for the n-th time."""

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def interrupted(
    db: Database, number: signal.Signals, at: str, times: int, *arguments: str
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command that got a signal in a statement."""
    running = subprocess.Popen(
        [sys.executable, "-c", ASLEEP, at, str(times), *arguments, "--dsn", db.dsn()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    faults.wait_for_statement(db.owner(), "pg_sleep")
    running.send_signal(number)
    out, err = running.communicate(timeout=faults.LONG)
    return running.returncode, out, err


@pytest.fixture
def source(db: Database) -> Database:
    db.source(faults.SOURCE)
    return db


ASSESS = ("assess", "patient", "--qi", "age,city", "--sensitive", "disease")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_figures_that_were_measured_are_shown(
    source: Database, number: signal.Signals, code: int
) -> None:
    sized = (*ASSESS, "--population-size", "5000", "--suda", "2")
    found = interrupted(source, number, "distinguishing", 1, *sized)
    assert found[0] == code
    assert "privacy of public.patient" in found[1]
    assert "population uniques of 5000 people" in found[1]
    missing = "sets of columns, look-alikes, SUDA were not measured"
    assert found[2].endswith(f"error: interrupted: this is not all: {missing}\n")


@pytest.mark.slow
def test_programs_are_told_in_the_same_document(source: Database) -> None:
    code, out, _ = interrupted(source, signal.SIGINT, "risk", 1, *ASSESS, "--json")
    found = json.loads(out)
    assert code == 130
    assert found["measures"]
    assert (found["risk"], found["error"]["code"]) == ([], "interrupted")
    assert "risk, population uniques, sets of columns" in found["error"]["message"]


@pytest.mark.slow
def test_nothing_is_shown_of_what_has_nothing(source: Database) -> None:
    code, out, err = interrupted(source, signal.SIGINT, "assess", 1, *ASSESS)
    assert (code, out) == (130, "")
    assert "error: interrupted" in err
    assert "not all" not in err


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_sets_that_were_tried_are_shown(source: Database, as_json: bool) -> None:
    asked = ["quasi", "patient", "--separation", "0.999", *(["--json"] if as_json else [])]
    code, out, err = interrupted(source, signal.SIGTERM, "set_figures", 2, *asked)
    assert code == 143
    if not as_json:
        assert "minimal quasi-identifiers of patient" in out
        assert "sets were not tried" in err
        return
    found = json.loads(out)
    assert found["sets"]
    assert found["error"]["code"] == "interrupted"
    assert "sets were not tried" in found["error"]["message"]


def policy_file(folder: Path) -> str:
    file = folder / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_candidates_that_were_measured_are_shown(
    source: Database, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Nothing of the others remains, and the page has them as what they are."""
    page = tmp_path / "compared.json"
    asked = ("compare", policy_file(tmp_path), "--vary", "k=4,8,12,1000", "-o", str(page))
    found = interrupted(source, number, "classes", 3, *asked)
    assert found[0] == code
    assert "4 candidates for patients" in found[1]
    assert "refused: 3, 4 (interrupted): not measured before" in found[1]
    assert "error: interrupted: this is not all: candidates 3, 4 may be better" in found[2]
    verdicts = [one["verdict"] for one in json.loads(page.read_text())["candidates"]]
    assert verdicts[2:] == ["refused"] * 2
    assert "refused" not in verdicts[:2]
    conn = source.owner()
    assert faults.events(conn)[-2:] == ["failed: interrupted"] * 2
    assert faults.run_tables(conn) == []


@pytest.mark.slow
def test_programs_get_candidates_with_the_error(source: Database, tmp_path: Path) -> None:
    asked: tuple[Any, ...] = ("compare", policy_file(tmp_path), "--vary", "k=4,8", "--json")
    code, out, _ = interrupted(source, signal.SIGINT, "classes", 2, *asked)
    found = json.loads(out)
    assert code == 130
    assert [one["code"] for one in found["candidates"]] == [None, "interrupted"]
    assert found["error"]["code"] == "interrupted"


@pytest.mark.slow
def test_a_comparison_without_a_candidate_is_none(source: Database, tmp_path: Path) -> None:
    asked = ("compare", policy_file(tmp_path), "--vary", "k=4,8")
    code, out, err = interrupted(source, signal.SIGINT, "classes", 1, *asked)
    assert (code, out) == (130, "")
    assert "nothing was published, and its tables were removed" in err
