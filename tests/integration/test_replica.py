"""Commands on a read replica: what reads works, everything else says where it was sent."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import CrashableServer

pytestmark = pytest.mark.slow


def test_a_read_replica(crashable_server: CrashableServer, tmp_path: Path) -> None:
    server = crashable_server
    policy = tmp_path / "patients.json"
    policy.write_text(json.dumps(faults.POLICY))
    with psycopg.connect(server.dsn("source_owner"), autocommit=True) as conn:
        conn.execute("GRANT CREATE ON SCHEMA public TO steward")
    server.source(faults.SOURCE)
    assert pganon("run", str(policy), "--dsn", server.dsn()).code == 0
    replica = ["--dsn", server.replica()]
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")

    reading = [
        ["check", str(policy)],
        ["plan", str(policy)],
        ["releases"],
        ["show", "patients"],
        ["verify", "patients"],
        ["history", "patients"],
        ["readers", "patients"],
        ["guard", str(policy)],
        ["export", "patients", "-o", str(tmp_path / "out.csv")],
        ["assess", "public.patient", "--qi", "sex,city", "--sensitive", "disease"],
        ["policy", "init", "public.patient"],
        ["policy", "list"],
    ]
    for command in reading:
        ran = pganon(*command, *replica)
        assert ran.code in (0, 1 if command[0] == "check" else 0), (command, ran.err)

    writing = [
        ["run", str(policy)],
        ["run", str(policy), "--dry-run"],
        ["init"],
        ["upgrade"],
        ["clean"],
        ["rollback", "patients"],
        ["drop", "patients", "--yes"],
        ["import", str(table), "public.things"],
        ["policy", "apply", str(policy)],
        ["worker", "--once"],
    ]
    for command in writing:
        ran = pganon(*command, *replica, "--json")
        error = ran.json["error"] if ran.out else {}
        assert (ran.code, error.get("code")) == (2, "read_replica"), (command, ran.out, ran.err)
        assert "this server is a read replica" in error["message"]

    # It counts no changes, so nothing follows from the numbers of the primary that it started with.
    status = pganon("status", *replica, "--json").json
    assert [(d["release"], d["source"]) for d in status["drift"]] == [("patients", "unknown")]
    assert any("read replica" in warning for warning in status["warnings"])
