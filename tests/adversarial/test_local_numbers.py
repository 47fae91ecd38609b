"""Attack: records are numbered by the values that they hide; learn these from who is where."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from tests.integration.methods.local.test_local import K2, closeness, diverse, local_policy, semi
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

TYPES = {"x": "integer", "y": "text", "hides": "boolean", "v": "text", "t": "text"}
COLUMNS = {
    "x": "quasi_identifying",
    "y": semi("hides"),
    "v": "sensitive",
    "t": "sensitive",
}
VALUES = "abcdefgh"


def alike(n: int = 400) -> list[list[Any]]:
    """Records that tie in all that they show; what they hide hangs on nothing."""
    rng = random.Random(3)
    held = [list(VALUES * (n // len(VALUES))) for _ in range(3)]
    for values in held:
        rng.shuffle(values)
    return [[1, y, i % 4 > 0, v, t] for i, (y, v, t) in enumerate(zip(*held, strict=True))]


def together(staged: Staged, column: str, hidden: dict[str, str]) -> float:
    """How often two members of a bucket, or of a group, hide the same value."""
    places: dict[int, list[str]] = {}
    for row in staged.table("members"):
        if row[column] is not None:
            places.setdefault(row[column], []).append(hidden[row["member"]])
    pairs = [a == b for held in places.values() for a, b in combinations(held, 2)]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("assign", ["m_invariance", "deal"])
@pytest.mark.parametrize("method", ["lgb_mdp", "lgb_ncp", "local_bucketization"])
def test_buckets_of_other_columns_do_not_follow_the_numbers(
    db: Database, method: str, assign: str
) -> None:
    rows = alike()
    make_table(db.connect("source_owner"), TYPES, rows)
    privacy = [diverse("y", 2), diverse("v", 2), diverse("t", 2)]
    privacy += [K2] if method != "local_bucketization" else []
    options = {"name": method, "assign": assign, "link_threshold": 1}
    staged = run(db.owner(), local_policy(COLUMNS, privacy, method=options))
    hidden = {str(i): row[3] for i, row in enumerate(rows, 1)}
    for column in ("y_bucket", "t_bucket", "group_id"):
        # By chance an eighth. Neighbours by number nearly always hide the same.
        assert together(staged, column, hidden) == pytest.approx(1 / 8, abs=0.08), column


@pytest.mark.parametrize("key", [True, False])
def test_records_that_are_equal_are_not_dealt_one_after_the_other(db: Database, key: bool) -> None:
    """Else as many of them as have the same value would be in every bucket."""
    rows = [[i // 120, "yz"[i == 239], i > 237, "ab"[i % 2], "t"] for i in range(240)]
    source = db.connect("source_owner")
    make_table(source, TYPES, rows)
    if not key:
        source.execute("ALTER TABLE public.t DROP COLUMN id")
    columns = {name: role for name, role in COLUMNS.items() if name != "t"}
    privacy = [K2, closeness("y", 0.9, 2), closeness("v", 0.2, 12)]
    options = {"name": "lgb_mdp", "link_threshold": 1}
    staged = run(db.owner(), local_policy(columns, privacy, method=options))
    shown = {row["group_id"]: row["x"] for row in staged.table("groups")}
    zeros = [row for row in staged.table("records") if 1 not in shown[row["group_id"]]]
    assert len(zeros) == 120
    counted = Counter(row["v_bucket"] for row in zeros)
    counts = [counted[number] for number in range(1, 21)]
    assert max(counts) - min(counts) > 4, counts
