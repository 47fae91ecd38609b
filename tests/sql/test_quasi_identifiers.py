"""Minimal sets of columns that tell records apart, against trying all sets."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.assessment import identifying_columns
from pganon.importing.files import Format, import_file
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles import model as oracle

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"

MODEST = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CELL = st.sampled_from([None, 0, 1, 2])


@pytest.fixture
def conn(db: Database) -> Connection:
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (a int, b int, c int, d int)")
    return conn


@MODEST
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=20),
    separation=st.sampled_from([0.5, 0.9, 1]),
    largest=st.integers(1, 4),
)
def test_minimal_sets_are_the_brute_force(
    conn: Connection, rows: Any, separation: float, largest: int
) -> None:
    conn.execute("TRUNCATE pg_temp.t")
    conn.cursor().executemany("INSERT INTO pg_temp.t VALUES (%s, %s, %s, %s)", rows)
    sets = {
        columns
        for size in range(1, largest + 1)
        for columns in combinations(range(4), size)
        if oracle.separation([tuple(row[i] for i in columns) for row in rows]) >= separation
    }
    wanted = {one for one in sets if not any(set(other) < set(one) for other in sets)}
    found = conn.execute(
        "SELECT columns FROM pganon.quasi_identifiers('t', '{a,b,c,d}', %s::numeric, %s::int)",
        [separation, largest],
    ).fetchall()
    assert {tuple("abcd".index(name) for name in columns) for (columns,) in found} == wanted
    assert len(found) == len(wanted)


def test_what_is_refused(conn: Connection) -> None:
    conn.execute("INSERT INTO pg_temp.t VALUES (1)")
    many = "ARRAY(SELECT 'c' || n FROM generate_series(1, 20) AS n)"
    for call, part in (
        ("pganon.quasi_identifiers('t', '{a}', 0)", "separation"),
        ("pganon.quasi_identifiers('t', '{a}', 'NaN')", "separation"),
        ("pganon.quasi_identifiers('t', '{a}', 0.5, 0)", "at least one column"),
        (
            f"pganon.special_uniques('t', {many}, 4)",
            "up to 4 of 20 columns are 6195 sets",
        ),
        ("pganon.quasi_identifiers('t', NULL)", "no quasi-identifying column"),
    ):
        with pytest.raises(psycopg.Error, match=part) as caught:
            conn.execute(f"SELECT * FROM {call}".encode())
        assert caught.value.sqlstate == "PA114", call


def test_of_too_many_sets_one_is_found_column_by_column(conn: Connection) -> None:
    """`b` and `c` would do, but `a` tells most rows apart by itself; the others tell none."""
    names = ["z", "d", *"abc", *[f"x{n}" for n in range(15)]]
    columns = ", ".join(f"{name} int" for name in names)
    conn.execute(f"CREATE TEMP TABLE wide ({columns})".encode())
    conn.execute(
        "INSERT INTO pg_temp.wide (a, b, c, d, z)"
        " SELECT i % 7, i % 6, i / 6, i % 6, i % 6 FROM generate_series(0, 35) AS i"
    )
    call = "SELECT * FROM pganon.quasi_identifiers('wide', %s, %s::numeric, %s::int)"
    assert conn.execute(call, [names, 1, 4]).fetchall() == [(["a", "b"], 1, 1, False)]
    assert conn.execute(call, [names[:5], 1, 4]).fetchone() == (["a", "b"], 1, 1, True)
    assert conn.execute(call, [[*names[::-1]], 1, 4]).fetchone() == (["a", "b"], 1, 1, False)
    # `b`, `d` and `z` are equal: the first by name, of whatever order.
    (found,) = conn.execute(call, [[*names[:2], *names[5:], "b"], 0.8, 5]).fetchall()
    assert (found[0], float(found[2])) == (["b"], pytest.approx(1 - 6 * 15 / 630))
    nothing = [name for name in names if name.startswith("x")]
    assert conn.execute(call, [nothing, 0.5, 6]).fetchall() == [], "no set of six reaches it"


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
def test_minimal_sets_of_adult(db: Database) -> None:
    steward = db.connect()
    steward.execute("CREATE SCHEMA data")
    done = import_file(steward, ADULT, "data.adult", form=Format(separator=";"))
    names = [name for name, _ in done.columns]
    call = "SELECT * FROM pganon.quasi_identifiers('data.adult', %s, %s::numeric)"
    found = {tuple(row[0]): row[2] for row in steward.execute(call, [names, 0.99]).fetchall()}
    assert len(found) == 15
    assert float(found["age", "education"]) == pytest.approx(0.9953820581, abs=1e-10)
    assert len(steward.execute(call, [names, 0.999]).fetchall()) == 6
    chain = "SELECT columns FROM pganon.greedy_set('data.adult', %s, 0.999, 4)"
    assert steward.execute(chain, [names]).fetchall() == [(["age", "occupation", "education"],)]
    (hint,) = [h for h in identifying_columns("data.adult", conn=steward) if h.kind == "C"]
    assert (hint.column, hint.why) == ("age", "35 records above 89")
