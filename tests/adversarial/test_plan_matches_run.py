"""`pganon plan` shows what a run does: the same steps, nothing secret, nothing at random."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import faults
from tests.support.cli import pganon
from tests.support.cluster import Database


def _once(steps: list[str], repeated: str) -> list[str]:
    """Steps with all rounds of a repetition shown as its first."""
    found: list[str] = []
    for step in steps:
        if not (step.startswith(f"{repeated}.") and step in found):
            found.append(step)
    return found


@pytest.fixture
def policy_file(tmp_path: Path) -> str:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    return str(file)


def test_the_plan_lists_the_steps_of_a_run(db: Database, policy_file: str) -> None:
    db.source(faults.SOURCE)
    planned = pganon("plan", policy_file, "--dsn", db.dsn(), "--json")
    assert planned.code == 0, planned.err
    steps = [f"{step['phase']}.{step['step']}" for step in planned.json["steps"]]
    ran = _once(faults.steps_of(db.dsn(), jobs=1), "partition.cut")
    assert steps == ran
    # Side by side, steps begin in whatever order connections are free.
    again = faults.steps_of(db.dsn(), jobs=1)
    assert sorted(faults.steps_of(db.dsn())) == sorted(again)


def test_plans_are_equal_byte_for_byte(db: Database, policy_file: str) -> None:
    db.source(faults.SOURCE)
    arguments = ("plan", policy_file, "--sql", "--dsn", db.dsn())
    first = pganon(*arguments)
    faults.run(db.dsn())
    db.source("INSERT INTO public.patient VALUES (100, 30, 'f', 'Rome', 'plague', 1)")
    second = pganon(*arguments)
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out


def test_a_plan_holds_no_secret(db: Database, policy_file: str) -> None:
    """Neither keys and seeds of runs nor values of rows: both are read inside the server only."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    text = pganon("plan", policy_file, "--sql", "--dsn", db.dsn()).out
    rows = db.admin.execute(
        "SELECT encode(key, 'hex'), seed_a, seed_b, partition_seed FROM pganon_private.run_secret"
    )
    for row in rows.fetchall():
        assert not any(str(value) in text for value in row)
    assert faults.SECRET not in text
    assert re.search(r"\b\d{15,}\b", text) is None
