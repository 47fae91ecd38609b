"""Counting supported combinations of many clusters costs what the clusters hold, not more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pganon.identifiers import QualifiedName
from pganon.privacy.quasi_sensitive import QSSet, supported_histogram
from pganon.sqltools import render
from tests.support.harness.cluster import Database

CLUSTERS = 1500
# Correlated values, as in real data: the planner takes the joins for much smaller than they are.
TABLES = """
CREATE TABLE known AS SELECT DISTINCT i % 70 AS v1, (i % 70) / 10 AS v2, i % 15 AS v3, 0 AS v4
    FROM generate_series(0, 1049) AS i;
CREATE TABLE clusters AS SELECT i AS cluster_no, ARRAY[i % 70, (i + 35) % 70] AS a1,
    ARRAY[(i % 70) / 10, ((i + 35) % 70) / 10] AS a2, ARRAY[i % 15, (i + 1) % 15] AS a3,
    ARRAY[0] AS a4
    FROM generate_series(1, {clusters}) AS i;
ANALYZE known;
ANALYZE clusters;
"""


def test_no_join_holds_more_than_the_beginnings_of_combinations(db: Database) -> None:
    names = ["a1", "a2", "a3", "a4"]
    found = QSSet(range(4), names, QualifiedName("public", "known"))
    tree = supported_histogram(
        QualifiedName("public", "clusters"), "cluster_no", {1: found}, lambda x, i: x
    )
    db.source(TABLES.format(clusters=CLUSTERS))
    explain = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {render(tree)}"
    row = db.connect().execute(explain.encode()).fetchone()
    assert row
    # Two values per attribute: at most 2 * 2 * 2 beginnings, and each existing one is joined once.
    assert max(_joined(row[0][0]["Plan"])) <= CLUSTERS * 8


def _joined(node: dict[str, Any]) -> Iterator[float]:
    """Rows that every join of the plan gives."""
    if "Join Type" in node:
        yield node["Actual Rows"] * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _joined(child)
