"""Places of points on curves, from their definitions; and indexes as the server computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sqlglot import exp

from pganon.encode.hilbert import WORD_BITS, word_widths
from pganon.identifiers import QualifiedName
from pganon.sqltools import statement
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection

Point = Sequence[int]
Index = Callable[[QualifiedName, Sequence[str], int, Sequence[str]], exp.Select]

POINTS = QualifiedName("pg_temp", "points")


def indexed(
    db: Database, points: Sequence[Point], bits: int, index: Index
) -> list[tuple[int, Point]]:
    """The points by their words, each with the number that the words make."""
    dimensions = len(points[0])
    names = [f"c{i}" for i in range(dimensions)]
    conn = db.connect()
    conn.execute(f"CREATE TEMP TABLE points (id int, {', '.join(f'{c} bigint' for c in names)})")
    with conn.cursor().copy("COPY points FROM STDIN") as copy:
        for number, point in enumerate(points):
            copy.write_row([number, *point])
    words = [f"h{i}" for i in range(len(word_widths(dimensions, bits)))]
    tree = index(POINTS, names, bits, ["id"]).order_by(*words, "id")
    return [(joined(row[1:], dimensions * bits), points[row[0]]) for row in rows(conn, tree)]


def rows(conn: Connection, tree) -> list[tuple[int, ...]]:
    return conn.execute(statement(tree)).fetchall()


def joined(words: Sequence[int], bits: int) -> int:
    number = 0
    for word in words:
        width = min(bits, WORD_BITS)
        assert 0 <= word < 1 << width
        number, bits = number << width | word, bits - width
    assert bits == 0
    return number


def sample(dimensions: int, bits: int, size: int) -> list[Point]:
    """Random points, corners, and points with coordinates close to each other."""
    rng = np.random.default_rng([dimensions, bits])
    top = (1 << bits) - 1
    found = rng.integers(0, top, (size, dimensions), endpoint=True)
    near = np.clip(found[:5, :1] + rng.integers(-2, 3, (5, dimensions)), 0, top)
    corners = rng.integers(0, 2, (5, dimensions)) * top
    points: list[Point] = np.concatenate([found, near, corners]).tolist()
    return [*points, [0] * dimensions, [top] * dimensions]


def place_in_gray_codes(point: Point, bits: int) -> int:
    """Its bits level by level, the highest first, read as a Gray code."""
    code = 0
    for bit in reversed(range(bits)):
        for coordinate in point:
            code = code << 1 | (coordinate >> bit & 1)
    place = 0
    while code:
        place ^= code
        code >>= 1
    return place
