"""How the executor makes the table of a step."""

from __future__ import annotations

import pytest

from pganon.run.executor import Executor
from pganon.run.options import Options, advise_planner
from pganon.sqltools import query
from pganon.steps import CreateTable, State, stamp_of
from pganon.steps.facts import count
from tests.support.harness.cluster import Connection, Database

_ROWS = count("rows")


def made(db: Database, *, sampled: bool = False) -> tuple[Connection, State]:
    """A staged table of many different numbers."""
    conn = db.owner()
    advise_planner(conn, Options())
    step = CreateTable(
        "numbers",
        "numbers",
        lambda s: s.stage("numbers"),
        lambda s: query("select g.n from generate_series(1, 5000) as g(n)"),
        sampled=sampled,
        counted=_ROWS,
    )
    return conn, Executor(conn, State(1)).run([step])


def test_the_stamp_knows_the_rows(db: Database) -> None:
    conn, state = made(db)
    assert state[_ROWS] == 5000
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
