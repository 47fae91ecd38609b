"""What people read when something is wrong: one line that names it, and what to do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pganon import database, server_errors
from pganon.errors import UsageError
from pganon.server_errors import translate
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

IN_FOREGROUND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pganon.cli.main import main
sys.exit(main())
"""


def write(folder: Path, **changes: Any) -> str:
    file = folder / "policy.json"
    file.write_text(json.dumps({**faults.POLICY, **changes}))
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "as_json"),
    [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False)],
)
def test_a_signal(db: Database, tmp_path: Path, number: signal.Signals, as_json: bool) -> None:
    """The command says what it leaves: nothing."""
    db.source(
        faults.SOURCE + "CREATE VIEW public.slow AS SELECT p.* FROM public.patient AS p,"
        " (SELECT pg_sleep(60)) AS s;"
    )
    file = write(tmp_path, source="public.slow", trust=["source_owner"])
    options = ["--json"] if as_json else []
    running = subprocess.Popen(
        [sys.executable, "-c", IN_FOREGROUND, "run", file, "--dsn", db.dsn(), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    conn = db.owner()
    faults.wait_for_statement(conn, "pg_catalog.pg_sleep", "public%slow")
    running.send_signal(number)
    out, err = running.communicate(timeout=faults.LONG)
    assert running.returncode == 128 + number
    left = "interrupted: nothing was published, and its tables were removed"
    if as_json:
        error = json.loads(out)["error"]
        assert (error["code"], error["message"], error["hint"]) == ("interrupted", left, None)
    else:
        assert (out, err) == ("", f"error: {left}\n")
    assert faults.events(conn) == ["started", "failed: interrupted"]
    assert faults.run_tables(conn) == []


BUSY = """
import sys
from pganon.cli.main import main
from pganon.run import executor

original = executor.Executor._run_one


def run_one(self, step, name):
    with self.conn.transaction(), self.conn.transaction():
        if name == "classes":
            self.conn.pgconn.send_query(b"SELECT pg_sleep(60)")
            self.conn.cancel_safe()
            raise KeyboardInterrupt
    original(self, step, name)

executor.Executor._run_one = run_one
sys.exit(main())
"""


@pytest.mark.slow
def test_an_interrupt_between_sending_and_waiting(db: Database, tmp_path: Path) -> None:
    """One line for people, whatever the driver has to say of its session."""
    db.source(faults.SOURCE)
    ran = subprocess.run(
        [sys.executable, "-c", BUSY, "run", write(tmp_path), "--dsn", db.dsn()],
        capture_output=True,
        text=True,
        timeout=faults.LONG,
    )
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "error: interrupted: nothing was published, and its tables were removed\n"
    assert faults.events(db.owner()) == ["started", "failed: interrupted"]


@pytest.mark.parametrize(
    ("ends", "code"),
    [("SELECT pg_cancel_backend(%s)", "interrupted"), (None, "statement_timeout")],
)
def test_who_ended_a_statement(db: Database, ends: str | None, code: str) -> None:
    """The server has one state for too long a time and for somebody who cancels."""
    conn: Any = db.owner()
    pid, other = conn.info.backend_pid, db.admin

    def end() -> None:
        if ends is not None:
            faults.wait_for_statement(other, "pg_sleep(30)")
            other.execute(ends.encode(), [pid])

    later = threading.Thread(target=end)
    if ends is None:
        conn.execute("SET statement_timeout = '100ms'")
    later.start()
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        conn.execute("SELECT pg_sleep(30)")
    later.join()
    assert translate(caught.value).code == code


def test_a_timeout_in_whatever_words(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers speak many languages; how this one says it is learned when there is a limit."""
    monkeypatch.setattr("pganon.server_errors._timeouts", set())
    with database.connect(db.dsn(), settings=database.Settings(statement_timeout="100ms")) as conn:
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            conn.execute("SELECT pg_sleep(30)")
        assert conn.execute("SHOW statement_timeout").fetchone() == ("100ms",)
    assert translate(caught.value).code == "statement_timeout"


def test_a_time_that_is_over_too_early(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the server says what it says of a cancelled statement, which is not learned."""
    learned: set[str] = set()
    monkeypatch.setattr("pganon.server_errors._timeouts", learned)
    conn: Any = db.owner()
    said = server_errors._said(conn, "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(30)")
    assert said.endswith("user request")
    monkeypatch.setattr(server_errors, "_said", lambda conn, *statements: said)
    server_errors.learn_timeout(conn)
    assert learned == set()


def test_a_role_that_may_cancel_nothing(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of a timeout are learned all the same, and a connection is opened."""
    learned: set[str] = set()
    monkeypatch.setattr("pganon.server_errors._timeouts", learned)
    db.admin.execute("REVOKE EXECUTE ON FUNCTION pg_cancel_backend(int) FROM PUBLIC")
    with database.connect(db.dsn(), settings=database.Settings(statement_timeout="9s")):
        assert len(learned) == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--work-mem", "lots"),
        ("--work-mem", "1"),
        ("--work-mem", "64 XB"),
        ("--statement-timeout", "soon"),
        ("--statement-timeout", "-5"),
    ],
)
def test_a_setting_that_the_server_does_not_take(
    db: Database, tmp_path: Path, option: str, value: str
) -> None:
    ran = pganon("run", write(tmp_path), f"{option}={value}", "--dsn", db.dsn(), "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "bad_setting")
    assert ran.json["error"]["message"].startswith(f"{option} {value}: ")


def test_a_setting_of_a_program(db: Database) -> None:
    with pytest.raises(UsageError, match="--lock-timeout never"):
        database.connect(db.dsn(), settings=database.Settings(lock_timeout="never"))


def _with_file(name: str) -> dict[str, Any]:
    columns = {**faults.POLICY["columns"]}
    columns["city"] = {"role": "quasi_identifying", "hierarchy": {"csv": name}}
    return {"columns": columns}


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "no file"), (b"Rome,*\n\xff,*\n", "UTF-8"), (b'"Rome"x,*\n', "cities.csv")],
)
def test_check_looks_at_files(tmp_path: Path, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / "cities.csv").write_bytes(content)
    ran = pganon("policy", "check", write(tmp_path, **_with_file("cities.csv")), "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "policy")
    (problem,) = ran.json["error"]["problems"]
    assert problem["field"] == "columns.city.hierarchy"
    assert says in problem["message"]
    (tmp_path / "cities.csv").write_text("Rome,*\nOslo,*\n")
    assert pganon("policy", "check", write(tmp_path, **_with_file("cities.csv"))).code == 0


@pytest.mark.parametrize(
    "roles", [{"publish": {"readers": ["nobody_such"]}}, {"trust": ["nobody_such"]}]
)
def test_check_looks_for_roles(db: Database, tmp_path: Path, roles: dict[str, Any]) -> None:
    db.source(faults.SOURCE)
    call = ("policy", "check", write(tmp_path, **roles), "--dsn", db.dsn(), "--json")
    assert pganon(*call).code == 0
    ran = pganon(*call, "--source")
    assert (ran.code, ran.json["error"]["code"]) == (2, "missing_role")
    assert "nobody_such" in ran.json["error"]["message"]
    call = ("policy", "check", write(tmp_path), "--dsn", db.dsn(), "--source")
    assert pganon(*call).code == 0
