"""Full-domain recoding against brute force over all levels, and worked examples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.driver import Connection, Staged, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

AGES = {"*": {"2*": ["21", "26"], "3*": ["33", "37"]}}
ZIPS = {"*": {"10*": ["101", "102"], "20*": ["201"]}}
EIGHT = [
    (21, "101", "flu"),
    (26, "101", "flu"),
    (33, "101", "cold"),
    (33, "102", "asthma"),
    (33, "102", "angina"),
    (37, "102", "ulcer"),
    (37, "102", "gout"),
    (37, "201", "hives"),
]
K = {"model": "k_anonymity", "k": 2}
L = {"model": "distinct_l_diversity", "column": "disease", "l": 2}


@pytest.fixture
def owner(db: Any) -> Connection:
    """With the table of eight rows."""
    columns = {"age": "integer NOT NULL", "zip": "text NOT NULL", "disease": "text NOT NULL"}
    make_table(db.connect("source_owner"), columns, EIGHT)
    return db.owner()


def eight(privacy: list[dict[str, Any]], limit: int, **others: Any) -> dict[str, Any]:
    """A policy over the eight rows that may leave so many out."""
    method = {"name": "full_domain", **others}
    return policy(
        {
            "age": {"hierarchy": {"inline": AGES}},
            "zip": {"hierarchy": {"inline": ZIPS}},
            "disease": "s",
        },
        privacy,
        method=method,
        suppression_limit=limit / 8,
    )


def node(staged: Staged) -> tuple[int, ...]:
    return tuple(level for level, _ in staged.utility.levels.values())


@pytest.mark.parametrize(
    ("limit", "levels", "left_out", "cost"),
    [(0, (1, 2), 0, 0.75), (1, (2, 0), 1, 0.5625), (2, (1, 0), 2, 0.4375), (8, (1, 0), 2, 0.4375)],
)
def test_eight_rows(
    owner: Connection, limit: int, levels: tuple[int, ...], left_out: int, cost: float
) -> None:
    staged = run(owner, eight([K], limit))
    assert node(staged) == levels
    assert staged.facts["suppressed"] == left_out
    assert staged.utility.cost == pytest.approx(cost)
    assert staged.utility.gcp == pytest.approx(cost)
    assert staged.utility.proved


@pytest.mark.parametrize(
    ("limit", "levels", "cost"),
    [(0, (2, 2), 1.0), (1, (2, 0), 0.5625), (2, (2, 0), 0.5625), (8, (0, 0), 0.5)],
)
def test_eight_rows_with_two_values(
    owner: Connection, limit: int, levels: tuple[int, ...], cost: float
) -> None:
    staged = run(owner, eight([K, L], limit))
    assert node(staged) == levels
    assert staged.utility.gcp == pytest.approx(cost)
