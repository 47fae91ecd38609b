"""SUDA2: records that few columns single out, against trying all sets, and figures of sdcMicro."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.importing.files import Format, import_file
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles import suda as oracle

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"

MODEST = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = ["A", "b", "c", "d e"]
CELL = st.sampled_from([None, 0, 1, 2])


@pytest.fixture
def conn(db: Database) -> Connection:
    conn = db.connect("analyst")
    conn.execute('CREATE TEMP TABLE t ("A" int, b text, c numeric, "d e" date, id serial)')
    return conn


def fill(conn: Connection, rows: Any) -> None:
    conn.execute("TRUNCATE pg_temp.t")
    conn.cursor().executemany(
        'INSERT INTO pg_temp.t ("A", b, c, "d e")'
        " VALUES (%s, %s, %s, date '2020-01-01' + %s::int)",
        rows,
    )


def measured(
    conn: Connection, names: list[str], largest: int, fraction: float, table: str = "t"
) -> dict[Any, float]:
    rows = conn.execute(
        "SELECT * FROM pganon.suda(%s, %s, %s, %s::numeric)", [table, names, largest, fraction]
    ).fetchall()
    return {(name, column or size): float(value) for name, column, size, value in rows}


@MODEST
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=20),
    columns=st.integers(1, 4),
    largest=st.integers(1, 5),
    fraction=st.sampled_from([0.01, 0.3, 1]),
)
def test_suda_is_the_brute_force(
    conn: Connection, rows: Any, columns: int, largest: int, fraction: float
) -> None:
    fill(conn, rows)
    names = NAMES[:columns]
    keys = [row[:columns] for row in rows]
    wanted = {}
    for number, row in enumerate(keys):
        sets = oracle.minimal(keys, row, largest)
        if sets:
            named = sorted([sorted(names[i] for i in one) for one in sets])
            wanted[number] = (oracle.score(sets, columns, largest), named)
    found = conn.execute(
        "SELECT score, minimal FROM pganon.special_uniques('t', %s, %s)", [names, largest]
    ).fetchall()
    got = sorted((int(score), sorted(sorted(one) for one in sets)) for score, sets in found)
    assert got == sorted(wanted.values())
    figures = measured(conn, names, largest, fraction)
    scores = [score for score, _ in wanted.values()]
    alone = sum(keys.count(row) == 1 for row in keys)
    probability = oracle.dis(keys, fraction)
    risks = oracle.dis_suda(scores, alone, probability, columns) if scores else [0]
    expected: dict[Any, float] = {
        ("special_uniques", None): len(scores),
        ("score_total", None): sum(scores),
        ("score_highest", None): max(scores, default=0),
        ("dis", None): probability,
        ("dis_suda_total", None): sum(risks),
        ("dis_suda_highest", None): max(risks),
    }
    every = [oracle.minimal(keys, row, largest) for row in keys]
    for size in range(1, columns + 1):
        if number := sum(len(one) == size for sets in every for one in sets):
            expected["minimal_sets", size] = number
    for i, name in enumerate(names):
        share = sum(
            oracle.score([one], columns, largest) for sets in every for one in sets if i in one
        )
        if share:
            expected["contribution", name] = share / sum(scores)
    assert figures == pytest.approx(expected, abs=1e-12)


def test_scores_that_sdcmicro_gives(conn: Connection) -> None:
    """Of its data set francdat."""
    keys = ["1251", "1211", "1211", "3315", "4314", "4311", "6215", "1251"]
    fill(conn, [(int(a), b, int(c), int(d)) for a, b, c, d in keys])
    found = conn.execute(
        "SELECT class_values, score FROM pganon.special_uniques('t', %s)", [NAMES]
    ).fetchall()
    scores = {
        f"{key['A']}{key['b']}{key['c']}{int(key['d e'][-2:]) - 1}": int(score)
        for key, score in found
    }
    assert scores == {"3315": 8, "4314": 6, "4311": 4, "6215": 8}
    assert measured(conn, NAMES, 3, 0.01)["score_total", None] == 26


def test_a_column_that_is_named_as_an_alias(conn: Connection) -> None:
    conn.execute("CREATE TEMP TABLE short AS SELECT 1 AS v, 2 AS b")
    for call in ("special_uniques", "equivalence_classes"):
        found = conn.execute(
            f"SELECT class_values FROM pganon.{call}('short', '{{v,b}}')".encode()
        ).fetchall()
        assert found == [({"v": 1, "b": 2},)], call


def test_a_table_in_which_nobody_is_alone(conn: Connection) -> None:
    fill(conn, [(1, "1", 1, 1)] * 2)
    figures = measured(conn, NAMES, 3, 0.01)
    assert set(figures.values()) == {0}
    assert len(figures) == 6


def test_what_is_refused(conn: Connection) -> None:
    conn.execute('INSERT INTO pg_temp.t ("A") VALUES (1)')
    many = ", ".join(f"c{n} int" for n in range(32))
    conn.execute(f"CREATE TEMP TABLE wide ({many})".encode())
    conn.execute("INSERT INTO pg_temp.wide (c0) VALUES (1)")
    wide = "ARRAY(SELECT 'c' || n FROM generate_series(0, {}) AS n)"
    for call, state, part in (
        ("pganon.suda('t', '{A}')", "PA114", "sampling fraction"),
        ("pganon.suda('t', '{A}', 3, 0)", "PA114", "sampling fraction"),
        ("pganon.suda('t', '{A}', 3, 1.1)", "PA114", "sampling fraction"),
        ("pganon.suda('t', '{A}', 3, 'NaN')", "PA114", "sampling fraction"),
        ("pganon.suda('t', '{A}', 0, 0.5)", "PA114", "at least one column"),
        ("pganon.special_uniques('t', '{A}', NULL)", "PA114", "at least one column"),
        ("pganon.special_uniques('t', '{z}')", "PA112", "no column"),
        (
            f"pganon.special_uniques('wide', {wide.format(19)}, 4)",
            "PA114",
            "up to 4 of 20 columns are 6195 sets",
        ),
        (
            f"pganon.special_uniques('wide', {wide.format(31)}, 1)",
            "PA114",
            "32 columns are too many",
        ),
    ):
        with pytest.raises(psycopg.Error, match=part) as caught:
            conn.execute(f"SELECT * FROM {call}".encode())
        assert caught.value.sqlstate == state, call


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
def test_suda_of_adult_as_sdcmicro_measures_it(db: Database) -> None:
    steward = db.connect()
    steward.execute("CREATE SCHEMA data")
    import_file(steward, ADULT, "data.adult", form=Format(separator=";"))
    names = ["age", "sex", "race", "marital-status", "education", "native-country"]
    found = measured(steward, names, 6, 0.01, "data.adult")
    sizes = [found.get(("minimal_sets", size), 0) for size in range(1, 7)]
    assert sizes == [2, 908, 4768, 3120, 592, 25]
    assert (found["score_total", None], found["score_highest", None]) == (57_497, 120)
    assert found["dis", None] == pytest.approx(0.0266544267, abs=1e-10)
    assert found["dis_suda_total", None] == pytest.approx(391.4731, abs=1e-4)
    assert found["dis_suda_highest", None] == pytest.approx(0.541989, abs=1e-6)
    assert found["contribution", "age"] == pytest.approx(0.831556, abs=1e-6)
    assert measured(steward, names, 3, 0.01, "data.adult")["score_total", None] == 25_320
