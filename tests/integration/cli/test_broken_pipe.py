"""Commands whose reader ends early end as they would have with one that reads everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

COMMANDS = (
    ("run", "{policy}", "--force"),
    ("verify", "patients"),
    ("verify", "patients", "--json"),
    ("show", "patients", "--json"),
    ("assess", "public.patient", "--qi", "age"),
    ("estimate", "patients", "SELECT count(*) FROM patients WHERE age < 30"),
    ("quasi", "public.patient"),
)


def code(db: Database, policy: Path, command: tuple[str, ...]) -> int:
    """With a reader of stdout that is gone before the first line."""
    arguments = [part.format(policy=policy) for part in command]
    with subprocess.Popen(
        [sys.executable, "-m", "pganon.cli.main", *arguments, "--dsn", db.dsn()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as started:
        assert started.stdout is not None
        started.stdout.close()
        return started.wait()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.slow
def test_the_code_is_that_of_the_work(
    db_after: Any, tmp_path: Path, command: tuple[str, ...]
) -> None:
    db, _ = db_after(faults.published)
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(faults.POLICY))
    assert code(db, policy, command) == 0


def test_what_is_missed_is_told_without_a_reader(db_after: Any, tmp_path: Path) -> None:
    db, _ = db_after(faults.published)
    missed = ("assess", "public.patient", "--qi", "age", "--require", "k=1000")
    assert code(db, tmp_path, missed) == 1
