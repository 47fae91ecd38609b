"""Association of columns on a server: worked examples, and random tables against definitions."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from pganon.identifiers import QualifiedName
from pganon.methods.common.association import Associated, Mode, association, dependencies, matrix
from pganon.methods.common.search.clustering import clustered, pam
from pganon.sqltools import col, statement
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles import association as oracle
from tests.support.sources.registry import REGISTRY, SLICING

MODES: tuple[Mode, ...] = ("contingency", "msc", "pearson")
TABLE = QualifiedName("pg_temp", "records")

MIXED = (
    ("p", "u", 1, 2.0, 5),
    ("p", "u", 2, 4.1, 5),
    ("p", "u", 3, 6.2, 5),
    ("q", "u", 4, 7.9, 5),
    ("q", "v", 5, 10.1, 5),
    ("q", "v", 6, 12.0, 5),
    ("q", "v", 7, 14.2, 5),
    ("p", "v", 8, 15.8, 5),
)


class Table:
    """Columns of values in a table of codes k<i> and numbers x<i>."""

    def __init__(
        self, conn: Connection, columns: Sequence[Sequence[Any]], numeric: Sequence[bool]
    ) -> None:
        self.conn = conn
        self.columns, self.numeric = columns, numeric
        names = [f"k{i} int, x{i} float8" for i in range(len(columns))]
        conn.execute("DROP TABLE IF EXISTS pg_temp.records")
        conn.execute(f"CREATE TEMP TABLE records ({', '.join(names)})".encode())
        coded = [_codes(values) for values in columns]
        with conn.cursor().copy("COPY pg_temp.records FROM STDIN") as copy:
            for place in range(len(columns[0])):
                row: list[Any] = []
                for values, codes, number in zip(columns, coded, numeric, strict=True):
                    row += [codes[place], values[place] if number else None]
                copy.write_row(row)

    @property
    def associated(self) -> list[Associated]:
        return [
            Associated(f"a{i}", col(f"k{i}", "t"), col(f"x{i}", "t") if number else None)
            for i, number in enumerate(self.numeric)
        ]

    def association(self, mode: Mode) -> list[list[float]]:
        tree = association(TABLE, self.associated, mode)
        row = self.conn.execute(statement(tree)).fetchone()
        assert row is not None
        return matrix(row[0], len(self.columns))

    def dependencies(self) -> set[tuple[int, int]]:
        row = self.conn.execute(statement(dependencies(TABLE, self.associated))).fetchone()
        assert row is not None
        return {(i, j) for i, j, _ in json.loads(row[0])}

    def check(self) -> None:
        for mode in MODES:
            found = self.association(mode)
            for (i, j), value in oracle.association(self.columns, self.numeric, mode).items():
                assert found[i][j] == found[j][i] == pytest.approx(value, abs=1e-7), (mode, i, j)
        assert self.dependencies() == oracle.dependencies(self.columns)


def _codes(values: Sequence[Any]) -> list[int | None]:
    """From 1 in order; NULL is NULL, which is allowed."""
    order = sorted({value for value in values if value is not None})
    places = {value: code for code, value in enumerate(order, start=1)}
    return [places.get(value) for value in values]


@pytest.mark.primary_server_only
def test_the_example_of_slicing(db: Database) -> None:
    columns = list(zip(*SLICING, strict=True))
    records = Table(db.connect(), columns, [True, False, True, False])
    msc, corrected = records.association("msc"), records.association("contingency")
    expected = {
        (0, 1): (3 / 4, 0.2041),
        (0, 2): (5 / 6, 0.5),
        (0, 3): (8 / 9, 0.6055),
        (1, 2): (1 / 2, 0.2887),
        (1, 3): (2 / 3, 0.5270),
        (2, 3): (1 / 3, 0),
    }
    for (i, j), (square, v) in expected.items():
        assert msc[i][j] == pytest.approx(square)
        assert corrected[i][j] == pytest.approx(v, abs=5e-5)
    assert clustered(msc, 2, "pam") == ((0, 2, 3), (1,))
    records.check()


def test_the_registry(db: Database) -> None:
    cancer, treatment, symptom, date, physician, method = range(6)
    columns = list(zip(*REGISTRY, strict=True))[4:]
    records = Table(db.connect(), columns, [False] * 6)
    msc, corrected = records.association("msc"), records.association("contingency")
    assert msc[cancer][treatment] == pytest.approx(5 / 18)
    assert msc[cancer][symptom] == pytest.approx(3 / 4)
    assert msc[cancer][physician] == 1
    assert msc[treatment][physician] == pytest.approx(2 / 9)
    assert msc[date] == pytest.approx([1] * 6)
    assert corrected[cancer][physician] == pytest.approx(0.9129, abs=5e-5)
    assert corrected[cancer][symptom] == pytest.approx(0.6325, abs=5e-5)
    assert corrected[symptom][physician] == pytest.approx(0.8165, abs=5e-5)
    assert corrected[physician][method] == pytest.approx(1)
    assert corrected[date] == [0, 0, 0, 1, 0, 0]
    assert corrected[treatment] == [0, 1, 0, 0, 0, 0]
    assert clustered(corrected, 3) == ((cancer, symptom, physician, method), (treatment,), (date,))
    roots = pam([[1 - value**0.5 for value in row] for row in msc], 3)
    assert roots.clusters == ((cancer, physician, method), (treatment,), (symptom, date))
    assert roots.cost == pytest.approx(0, abs=1e-6)
    assert (physician, method) in records.dependencies()
    assert (cancer, physician) in records.dependencies()
    assert (physician, cancer) not in records.dependencies()
    assert {j for i, j in records.dependencies() if i == date} == {0, 1, 2, 4, 5}
    records.check()


def test_mixed_scales(db: Database) -> None:
    conn = db.connect()
    a, b, x, y, z = range(5)
    records = Table(conn, list(zip(*MIXED, strict=True)), [False, False, True, True, True])
    found = records.association("pearson")
    assert found[a][b] == pytest.approx(0.353553, abs=1e-6)
    assert found[x][y] == pytest.approx(0.999611, abs=1e-6)
    assert found[x][z] == found[y][z] == found[a][z] == 0
    assert found[a][x] == pytest.approx(0.436436, abs=1e-6)
    assert found[b][x] == pytest.approx(0.872872, abs=1e-6)
    assert records.association("msc")[a][b] == pytest.approx(0.25)
    records.check()
    quarters = Table(conn, [oracle.quarters(range(8), most=4), records.columns[b]], [True, False])
    assert quarters.association("msc")[0][1] == pytest.approx(1)
    assert quarters.association("contingency")[0][1] == pytest.approx(0.816497, abs=1e-6)


@pytest.mark.primary_server_only
def test_null_is_a_value(db: Database) -> None:
    conn = db.connect()
    records = Table(conn, [["p", None, "p", None], ["u", "v", "u", "v"]], [False, False])
    assert records.association("msc")[0][1] == pytest.approx(1)
    assert records.dependencies() == {(0, 1), (1, 0)}
    records.check()
    many = [None if i % 3 == 0 else i for i in range(120)]
    Table(conn, [many, [i % 3 for i in range(120)]], [True, False]).check()


def test_numbers_that_have_no_correlation(db: Database) -> None:
    conn = db.connect()
    tenths = [0.1] * 10
    steps = [0.1 * i for i in range(10)]
    apart = [[0.1] * 5 + [None] * 5, [None] * 5 + [0.2] * 5]
    letters = list("ab" * 5)
    Table(conn, [tenths, steps, *apart, letters, [None] * 10], [True] * 4 + [False, True]).check()
    strange = Table(conn, [[1.0, 2.0, float("inf")], [3.0, float("nan"), 1.0]], [True, True])
    assert strange.association("pearson") == [[1, 0], [0, 1]]


@pytest.mark.primary_server_only
def test_fewer_than_two_columns(db: Database) -> None:
    conn = db.connect()
    number, letter = Table(conn, [[1.0, 2.0]], [True]), Table(conn, [["a", "b"]], [False])
    nothing = Table(conn, [[1.0]], [True])
    nothing.columns = nothing.numeric = []
    for mode in MODES:
        assert number.association(mode) == letter.association(mode) == [[1.0]]
        assert nothing.association(mode) == []
    for records in (number, letter, nothing):
        assert records.dependencies() == set()


@pytest.mark.primary_server_only
def test_no_records(db: Database) -> None:
    records = Table(db.connect(), [[], [], []], [True, False, True])
    for mode in MODES:
        assert records.association(mode) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert records.dependencies() == set()


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_random_tables(db: Database) -> None:
    rng = random.Random(5)
    conn = db.connect()
    for _ in range(15):
        size, count = rng.choice([1, 2, 5, 40, 150]), rng.randint(2, 5)
        numeric = [rng.random() < 0.5 for _ in range(count)]
        columns: list[list[Any]] = []
        for number in numeric:
            domain = rng.choice([1, 2, 4, 30, 34, 300])
            null = rng.choice([0, 0, 0.2])
            values = [int(domain * rng.random() ** 2) for _ in range(size)]
            typed = [value / 10 if number else f"v{value:03}" for value in values]
            columns.append([None if rng.random() < null else value for value in typed])
        if rng.random() < 0.5:
            columns[-1], numeric[-1] = list(columns[0]), numeric[0]
        Table(conn, columns, numeric).check()


@pytest.mark.primary_server_only
def test_a_row_may_stand_for_several_records(db: Database) -> None:
    rng = random.Random(7)
    conn = db.connect()
    for domain in (2, 5, 400):
        # The larger the number, the more records: quarters of rows are no quarters of records.
        numbers = [int(domain * rng.random() ** 2) for _ in range(60)]
        rows = [(n, rng.choice("abc"), 1 + n * 8 // domain + rng.randint(0, 1)) for n in numbers]
        each = [row for row in rows for _ in range(row[2])]
        whole = Table(conn, [[row[0] for row in each], [row[1] for row in each]], [True, False])
        expected = whole.association("contingency")
        few = Table(conn, [[row[0] for row in rows], [row[1] for row in rows]], [True, False])
        conn.execute("ALTER TABLE pg_temp.records ADD COLUMN w bigint")
        for place, row in enumerate(rows, start=1):
            conn.execute(
                f"UPDATE pg_temp.records SET w = %s WHERE ctid = '(0,{place})'".encode(), [row[2]]
            )
        tree = association(TABLE, few.associated, "contingency", weighted=True)
        (found,) = conn.execute(statement(tree)).fetchone() or ("",)
        assert matrix(found, 2) == expected


@pytest.mark.primary_server_only
def test_thirty_two_columns(db: Database) -> None:
    """More than GROUPING() takes."""
    rng = random.Random(6)
    columns = [[rng.randint(0, 1 + i % 5) for _ in range(30)] for i in range(32)]
    records = Table(db.connect(), columns, [i % 2 == 0 for i in range(32)])
    found = records.association("msc")
    for (i, j), value in oracle.association(columns, records.numeric, "msc").items():
        assert found[i][j] == pytest.approx(value, abs=1e-8)
