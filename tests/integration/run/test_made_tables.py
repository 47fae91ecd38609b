"""How the executor makes the table of a step."""

from __future__ import annotations

import pytest

from pganon.run.executor import Executor
from pganon.sqltools import fragment, query
from pganon.steps import CreateTable, State, stamp_of
from pganon.steps.facts import count
from tests.support.harness.cluster import Connection, Database

_ROWS = count("rows")
_WORKERS = "max_parallel_workers_per_gather"


def made(db: Database, *, alone: bool = False, sampled: bool = False) -> tuple[Connection, State]:
    """A staged table of many different numbers, with the setting under which they were made."""
    conn = db.owner()
    conn.execute(f"SET {_WORKERS} = 2".encode())
    step = CreateTable(
        "numbers",
        "numbers",
        lambda s: s.stage("numbers"),
        lambda s: query(
            "select g.n, :workers as workers from generate_series(1, 5000) as g(n)",
            workers=fragment(f"current_setting('{_WORKERS}')"),
        ),
        alone=alone,
        sampled=sampled,
        counted=_ROWS,
    )
    return conn, Executor(conn, State(1)).run([step])


@pytest.mark.parametrize(("alone", "workers"), [(False, "2"), (True, "0")])
def test_processes(db: Database, alone: bool, workers: str) -> None:
    conn, state = made(db, alone=alone)
    assert state[_ROWS] == 5000
    rows = conn.execute("SELECT DISTINCT workers FROM pganon_stage.r1_numbers").fetchall()
    assert rows == [(workers,)]
    assert conn.execute(f"SHOW {_WORKERS}".encode()).fetchone() == ("2",)


@pytest.mark.parametrize("alone", [False, True])
def test_the_stamp_knows_the_rows(db: Database, alone: bool) -> None:
    conn, state = made(db, alone=alone)
    found = conn.execute(
        "SELECT s.stamp FROM pganon.stamp('pganon_stage.r1_numbers', 5000) AS s"
    ).fetchone()
    assert found is not None
    assert state[stamp_of(state.stage("numbers"))] == str(found[0])


@pytest.mark.parametrize(("sampled", "bounds"), [(False, 101), (True, 11)])
def test_sample(db: Database, sampled: bool, bounds: int) -> None:
    conn, _ = made(db, sampled=sampled)
    row = conn.execute(
        "SELECT cardinality(histogram_bounds::text::integer[]) FROM pg_stats"
        " WHERE schemaname = 'pganon_stage' AND tablename = 'r1_numbers' AND attname = 'n'"
    ).fetchone()
    assert row == (bounds,)
