"""`pganon compare` as a user sees it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database


class Steward:
    """Gives the command with a policy over the patients, in a file."""

    def __init__(self, db: Database, folder: Path) -> None:
        db.source(faults.SOURCE)
        self.db = db
        self.file = folder / "patients.json"
        self.file.write_text(json.dumps(faults.POLICY))

    def compare(self, *options: str, policy: str | None = None) -> Ran:
        return pganon("compare", policy or str(self.file), *options, "--dsn", self.db.dsn())


@pytest.fixture
def steward(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.setenv("COLUMNS", "140")
    return Steward(db, tmp_path)


def table(ran: Ran) -> list[list[str]]:
    """Rows of numbered candidates, by words."""
    lines = [line.split() for line in ran.out.splitlines()]
    return [words for words in lines if words[1:2] in (["mondrian"], ["anatomy"])]


def test_what_is_printed(steward: Steward) -> None:
    ran = steward.compare("--vary", "k=8,25", "--methods", "mondrian, anatomy")
    assert ran.code == 0, ran.err
    first, *_ = ran.out.splitlines()
    assert first == (
        "4 candidates for patients, dry runs over 24 records of public.patient:"
        " nothing was published"
    )
    [heads] = [line.split() for line in ran.out.splitlines() if "method" in line and "loss" in line]
    assert heads == [
        *("#", "method", "k", "highest", "average", "loss", "error", "left", "out", "groups"),
        *("l", "t", "time", "result"),
    ]
    rows = table(ran)
    assert rows[0][:5] == ["1", "mondrian", "8", "8.3%", "8.3%"]
    assert rows[0][-1] == "candidate"
    assert rows[1] == ["2", "mondrian", "25", "refused:", "too_few_records"]
    assert rows[2] == ["3", "anatomy", "8", "refused:", "policy"]
    assert "1 of 4 remain, with a highest chance of at most 9% and not beaten" in ran.out
    assert (
        "refused: 2 (too_few_records): public.patient has 24 records, a class needs at least 25"
        in ran.out
    )
    reason = "privacy[0].model: the method anatomy cannot guarantee k_anonymity"
    assert f"refused: 3, 4 (policy): {reason}" in ran.out
    assert faults.SECRET not in ran.out + ran.err


def test_a_narrow_terminal(steward: Steward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = steward.compare("--vary", "k=8")
    [heads] = [line.split() for line in ran.out.splitlines() if "method" in line and "loss" in line]
    assert heads == ["#", "method", "k", "highest", "average", "loss", "error", "l", "t", "result"]
    assert "not shown on a narrow terminal: left out, groups, time" in ran.out
    assert max(map(len, ran.out.splitlines()[1:6])) <= 80


def test_as_json(steward: Steward) -> None:
    ran = steward.compare("--vary", "k=8,25", "--seed", "7", "--workload", "queries=20", "--json")
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = ran.json
    assert (found["release"], found["seed"], found["records"]) == ("patients", 7, 24)
    assert found["workload"] == {
        "queries": 20,
        "predicates": 2,
        "selectivity": 0.05,
        "seed": 1,
        "sensitive": False,
    }
    first, second = found["candidates"]
    assert first["varied"] == {"k": 8}
    assert first["method"] == {"name": "mondrian"}
    assert first["figures"]["groups"] == 2
    assert (second["verdict"], second["code"], second["figures"]) == (
        *("refused", "too_few_records", None),
    )


@pytest.mark.slow
def test_a_page_and_its_document(steward: Steward, tmp_path: Path) -> None:
    file, page = tmp_path / "candidates.json", tmp_path / "candidates.html"
    written = ("--vary", "k=8,25", "--workload", "queries=20", "-o", str(file))
    found = steward.compare(*written, "--json").json
    made = json.loads(file.read_text())
    assert {key: made[key] for key in found} == found
    assert (made["format"], stat.S_IMODE(file.stat().st_mode)) == ("pganon comparison 1", 0o600)
    assert f"error: {file} exists" in steward.compare(*written).err
    assert steward.compare("--vary", "k=8", "-o", str(page)).out.endswith(f"written: {page}\n")
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert faults.SECRET not in text + file.read_text()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--vary", "k=25"), 1),
        (("--vary", "k=25", "--methods", "mondrian,anatomy"), 1),
        (("--methods", "anatomy"), 2),
        (("--vary", "k=25,8"), 0),
    ],
)
def test_exit_codes(steward: Steward, options: tuple[str, ...], code: int) -> None:
    ran = steward.compare(*options)
    assert ran.code == code
    assert ("no candidate can be released" in ran.out) is (code != 0)
    assert "candidates for patients" in ran.out or "1 candidate for patients" in ran.out


def test_without_any_candidate_nothing_is_read(steward: Steward) -> None:
    found = steward.compare("--methods", "anatomy", "--json").json
    assert (found["comparison"], found["records"]) == (None, None)
    assert [row["exit_code"] for row in found["candidates"]] == [2]
    assert steward.db.owner().execute("SELECT FROM pganon_private.ledger").fetchall() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--vary", "q=1"), "no privacy model and no method here has this parameter"),
        (("--vary", "k"), "a parameter and its values are expected"),
        (("--methods", "mondrain"), '"mondrain" is not a method'),
        (("-o", "candidates.pdf"), "ends in .html or .json"),
        (("--workload", "queries=x"), "queries is not a number"),
    ],
)
def test_wrong_commands(steward: Steward, options: tuple[str, ...], message: str) -> None:
    ran = steward.compare(*options)
    assert ran.code == 2
    assert message in ran.err
    assert ran.out == ""
    assert steward.db.owner().execute("SELECT FROM pganon_private.ledger").fetchall() == []


@pytest.mark.slow
def test_a_policy_of_the_database(steward: Steward) -> None:
    """It stays what it is, and `show` says how many candidates there were."""
    dsn = ("--dsn", steward.db.dsn())
    assert pganon("run", str(steward.file), *dsn).code == 0
    before = pganon("policy", "show", "patients", "--json", *dsn).json
    assert "compared" not in pganon("show", "patients", *dsn).out
    assert steward.compare(policy="patients").code == 0
    assert "1 candidate in 1 comparison\n" in pganon("show", "patients", *dsn).out
    assert steward.compare("--vary", "k=8,9", policy="patients").code == 0
    assert pganon("policy", "show", "patients", "--json", *dsn).json == before
    assert "3 candidates in 2 comparisons\n" in pganon("show", "patients", *dsn).out
    assert pganon("show", "patients", "--json", *dsn).json["compared"] == {
        "candidates": 3,
        "comparisons": 2,
    }
    assert "comparison" in pganon("history", "patients", *dsn).out


@pytest.mark.slow
def test_a_measured_column_and_one_of_the_same_name(steward: Steward) -> None:
    ran = steward.compare("--vary", "l=2,3")
    assert ran.code == 0, ran.err
    assert "measured" in ran.out
    assert [row[2] for row in table(ran)] == ["2", "3"]
