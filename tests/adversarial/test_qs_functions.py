"""Attack: the functions for clusters called directly, with arguments that make no sense."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.harness.cluster import Connection, Database

pytestmark = pytest.mark.primary_server_only

CELLS = """
CREATE SCHEMA mine;
CREATE TABLE mine."cells; drop" (block integer, place integer, cell integer, w bigint,
    ids integer[], x1 float8, x2 float8, x3 float8, x4 float8);
INSERT INTO mine."cells; drop"
    SELECT 1, n, n, 1, ARRAY[n, n + 10], n, 0, n, 0 FROM generate_series(1, 8) AS n;
CREATE TABLE mine.support1 (v1 integer);
INSERT INTO mine.support1 SELECT n FROM generate_series(1, 8) AS n;
CREATE TABLE mine.support2 AS SELECT v1 + 10 AS v1 FROM mine.support1;
CREATE TABLE mine.empty AS TABLE mine."cells; drop" WITH NO DATA;
CREATE TABLE mine.weightless AS SELECT block, place, cell, 0::bigint AS w, ids, x1, x2, x3, x4
    FROM mine."cells; drop";
CREATE TABLE mine.negative AS SELECT block, place, cell, -5::bigint AS w, ids, x1, x2, x3, x4
    FROM mine."cells; drop";
CREATE TABLE mine.unknown AS SELECT block, place, cell, NULL::bigint AS w, ids, x1, x2, x3, x4
    FROM mine."cells; drop";
CREATE TABLE mine.gaps AS SELECT block, place * 3 AS place, cell, w, ids, x1, x2, x3, x4
    FROM mine."cells; drop";
CREATE TABLE mine.unnumbered AS SELECT block, place, cell, w, NULL::integer[] AS ids, x1, x2, x3, x4
    FROM mine."cells; drop";
"""
GOOD = {
    "cells": """'mine."cells; drop"'""",
    "block": "1",
    "sets": "'{1,2}'",
    "heights": "'{0,0}'",
    "k": "2",
    "min_values": "1",
    "supports": "'{mine.support1,mine.support2}'",
    "nearest": "true",
    "start": "1",
}
NONSENSE = [
    {"cells": "'mine.empty'"},
    {"cells": "'mine.weightless'"},
    {"cells": "'mine.negative'"},
    {"cells": "'mine.unknown'"},
    {"cells": "'mine.gaps'"},
    {"cells": "'mine.unnumbered'"},
    {"cells": "'mine.support1'"},
    {"cells": "NULL"},
    {"block": "7"},
    {"block": "NULL"},
    {"sets": "'{}'"},
    {"sets": "NULL"},
    {"sets": "'{2,2}'"},
    {"sets": "'{1}'"},
    {"sets": "'{NULL,1}'"},
    {"sets": "'{-1,0}'"},
    {"sets": "'{1,2,3}'"},
    {"sets": "'{{1},{2}}'"},
    {"heights": "'{}'"},
    {"heights": "NULL"},
    {"heights": "'{-1,0}'"},
    {"heights": "'{9,9}'"},
    {"heights": "'{NULL,NULL}'"},
    {"k": "0"},
    {"k": "-3"},
    {"k": "NULL"},
    {"k": "9223372036854775807"},
    {"min_values": "0"},
    {"min_values": "99"},
    {"min_values": "NULL"},
    {"supports": "'{}'"},
    {"supports": "'{mine.support1}'"},
    {"supports": "'{mine.support1,NULL}'"},
    {"supports": "'{mine.empty,mine.empty}'"},
    {"nearest": "NULL"},
    {"start": "0"},
    {"start": "NULL"},
    {"start": "99"},
]


def call(arguments: dict[str, str]) -> bytes:
    return f"SELECT * FROM pganon.qs_clusters({', '.join(arguments.values())})".encode()


@pytest.mark.parametrize("nearest", ["true", "false"])
def test_clusters_of_nonsense_end(db: Database, nearest: str) -> None:
    """No call runs on, writes anything or ends the session; what is returned was in the cells."""
    conn = db.owner()
    conn.execute(CELLS.encode())
    conn.execute("SET statement_timeout = '2s'")
    good = {**GOOD, "nearest": nearest}
    clusters = conn.execute(call(good)).fetchall()
    assert sorted(row[1] for row in clusters) == list(range(1, 9))
    before = contents(db)
    for change in NONSENSE:
        for k in ({}, {"k": "1"}):
            rows, state = outcome(conn, {**good, **k, **change})
            assert {row[1] for row in rows} <= {None, *range(1, 9)}, change
            # Internal errors, lost connections, and the timeout of a call without an end.
            assert not state.startswith(("XX", "08", "57")), change
    assert contents(db) == before


def outcome(conn: Connection, arguments: dict[str, str]) -> tuple[list[Any], str]:
    """Rows, or the SQLSTATE of the error."""
    try:
        return conn.execute(call(arguments)).fetchall(), ""
    except psycopg.Error as error:
        return [], str(error.sqlstate)


def contents(db: Database) -> list[tuple[object, ...]]:
    tables = db.admin.execute(
        "SELECT c.oid::regclass::text FROM pg_class AS c"
        " WHERE relnamespace = 'mine'::regnamespace ORDER BY 1"
    ).fetchall()
    return [
        (name, *db.admin.execute(f"SELECT t::text FROM {name} AS t ORDER BY 1".encode()).fetchall())
        for (name,) in tables
    ]
