"""Fault: the client is killed while clusters are built and staged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]


@contextmanager
def process(db: Database, file: Path) -> Iterator[int]:
    """A run in a process of its own; killed when the block ends."""
    started = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from pganon.cli.main import main; main()",
            "run",
            str(file),
            "--dsn",
            db.dsn(),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started.pid
    finally:
        os.kill(started.pid, signal.SIGKILL)
        started.wait()


def unpublished(conn: Any, shown: dict[str, Any]) -> None:
    assert faults.exposed(conn) == []
    for view, rows in shown.items():
        assert faults.content(conn, view) == rows


def test_killed_while_clusters_are_built(db: Database, tmp_path: Path) -> None:
    rows = [(n % 71, f"c{n % 67}", f"z{n % 61}", n * 7 % 59, f"note {n}", n) for n in range(8000)]
    source = db.connect("source_owner")
    make_table(source, vehicles.COLUMNS, rows, name=("public", "vehicle"))
    source.close()
    few = vehicles.policy(where="fee < 60", republication="allow")
    first = faults.run(db.dsn(), few)
    conn = db.owner()
    views = ("published.vehicles", "published.vehicles_expanded")
    shown = {view: faults.content(conn, view) for view in views}
    assert all(shown.values())
    slow = vehicles.document(
        method={"name": "qs_greedy", "block_size": 8192},
        privacy=vehicles.requirement(200),
        republication="allow",
    )
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(slow))
    with process(db, file):
        faults.wait_for_statement(conn, "SELECT b.block, pganon.qs\\_clusters(")
        unpublished(conn, shown)
    faults.wait_for_backends(conn)
    unpublished(conn, shown)
    assert faults.version(conn, "vehicles") == first.version
    assert faults.run(db.dsn(), few).version == 2
    assert faults.events(conn, "vehicles")[-4:] == [
        "started",
        "failed: interrupted",
        "started",
        "released",
    ]
    assert faults.run_tables(conn) == []


def test_stopped_before_every_step_of_its_own(db: Database) -> None:
    """Whatever step a run ends in, nothing of it stays and nothing of it was open."""
    make_table(
        db.connect("source_owner"), vehicles.COLUMNS, vehicles.rows(60), name=("public", "vehicle")
    )
    loaded = vehicles.policy(method={"name": "qs_greedy", "block_size": 32})
    conn = db.owner()
    steps = [
        step
        for step in dict.fromkeys(faults.steps_of(db.dsn(), loaded))
        if step.startswith(("partition.", "recode.", "measure."))
    ]
    assert len(steps) > 25
    views = ("published.vehicles", "published.vehicles_expanded")
    shown = {view: faults.content(conn, view) for view in views}

    class Stopped(BaseException):
        pass

    def stop() -> None:
        unpublished(conn, shown)
        raise Stopped

    for step in steps:
        with pytest.raises(Stopped):
            faults.run(db.dsn(), loaded, before=faults.at(step, stop))
        unpublished(conn, shown)
        assert faults.run_tables(conn) == [], step
    assert faults.version(conn, "vehicles") == 1
    assert faults.run(db.dsn(), loaded).version == 2
