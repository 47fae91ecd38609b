"""The Hilbert index is that of the package `hilbertcurve`."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hilbertcurve.hilbertcurve import HilbertCurve

from pganon.encode.hilbert import hilbert_index
from pganon.identifiers import QualifiedName
from pganon.sqltools import query, render
from tests.support.harness.cluster import Database
from tests.support.oracles.curves import POINTS, indexed, rows, sample


def check(db: Database, dimensions: int, bits: int, size: int = 50) -> None:
    points = sample(dimensions, bits, size)
    curve = HilbertCurve(bits, dimensions)
    found = indexed(db, points, bits, hilbert_index)
    assert len(found) == len(points)
    assert all(index == curve.distance_from_point(point) for index, point in found)
    assert all(one[0] <= next_one[0] for one, next_one in pairwise(found))


@pytest.mark.parametrize(
    ("dimensions", "bits"),
    [(1, 1), (1, 7), (1, 62), (2, 1), (2, 16), (2, 31), (3, 2), (3, 20), (3, 21), (8, 7)],
)
def test_index_of_one_or_two_words(db: Database, dimensions: int, bits: int) -> None:
    check(db, dimensions, bits)


LARGE = ((40, 16), (40, 20), (100, 3))


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("dimensions", "bits"),
    [
        *[(2, 62), (3, 62), (8, 16), (8, 20), (12, 7), (13, 7), (25, 5), (32, 3), (33, 3)],
        *[(40, 1), (40, 2), (40, 7), (62, 2), (63, 2), (150, 1)],
        *[pytest.param(*large, marks=pytest.mark.slow) for large in LARGE],
    ],
)
def test_index_of_many_words(db: Database, dimensions: int, bits: int) -> None:
    check(db, dimensions, bits)


@pytest.mark.slow
def test_index_with_rows_stored_in_between(db: Database) -> None:
    names = [f"c{i}" for i in range(20)]
    assert "MATERIALIZED" in render(hilbert_index(POINTS, names, 13, []))
    check(db, 20, 13)


@pytest.mark.parametrize(
    ("dimensions", "bits"), [(1, 4), (2, 1), (2, 3), (2, 5), (3, 2), (3, 3), (4, 2), (9, 1)]
)
def test_the_curve_visits_every_point_by_steps_of_one(
    db: Database, dimensions: int, bits: int
) -> None:
    points = list(product(range(1 << bits), repeat=dimensions))
    found = indexed(db, points, bits, hilbert_index)
    assert [index for index, _ in found] == list(range(len(points)))
    assert all(
        sum(abs(a - b) for a, b in zip(one, next_one, strict=True)) == 1
        for (_, one), (_, next_one) in pairwise(found)
    )


def test_any_relation_types_and_names(db: Database) -> None:
    conn = db.connect()
    conn.execute('CREATE TEMP TABLE t (x1 text, "h""0" smallint, pass1 integer, w0 bigint)')
    conn.execute("INSERT INTO t VALUES ('b', 5, 2, NULL), ('a', 1, 6, 7), ('c', 0, 0, 9)")
    relation = query(
        'with s as (select * from pg_temp.t) select s."h""0" + 1 as "x1", s.pass1, s.x1 as "k0",'
        " s.w0 from s"
    )
    tree = hilbert_index(relation, ["pass1", "x1"], 3, ["w0", "k0"])
    curve = HilbertCurve(3, 2)
    expected = [
        (None, "b", curve.distance_from_point([2, 6])),
        (7, "a", curve.distance_from_point([6, 2])),
        (9, "c", curve.distance_from_point([0, 1])),
    ]
    assert rows(conn, tree) == expected
    outer = query("select h.k0 from h order by h.h0", {"h": tree})
    assert [row[0] for row in rows(conn, outer)] == [
        row[1] for row in sorted(expected, key=lambda row: row[2])
    ]


def test_parallel_workers_share_the_points(db: Database) -> None:
    db.source(
        "CREATE TABLE t AS SELECT n AS id, n % 128 AS a, n % 97 AS b, n % 5 AS c"
        " FROM generate_series(1, 5000) AS n; ANALYZE t"
    )
    conn = db.connect()
    for name in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
        conn.execute("SELECT set_config(%s, '0', false)", [name])
    tree = hilbert_index(QualifiedName("public", "t"), ["a", "b", "c"], 7, ["id"])
    lines = conn.execute(
        f"EXPLAIN (COSTS OFF) CREATE TEMP TABLE o AS {render(tree)}".encode()
    ).fetchall()
    plan = [line for (line,) in lines]
    assert "Gather" in plan[0]
    assert any("Parallel Seq Scan" in line for line in plan)
