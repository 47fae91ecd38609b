"""Records numbered by the values of a column, whose buckets follow from these numbers."""

from __future__ import annotations

import random
import sys
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from psycopg import sql

from pganon.methods.local import record_order
from pganon.run.executor import Executor
from tests.integration.methods.local.test_local import K2, diverse, groups, local_policy, semi
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch, run
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

# Of these numerics some are equal and look different.
KINDS: dict[str, list[Any]] = {
    "integer": [*range(7), None],
    "text": ["a", "B", "b", "", None],
    "numeric": ["1", "1.0", "1.00", "2", "3.5", "7", None],
    "boolean": [True, False],
    "date": ["2020-01-01", "2020-01-02", "2021-03-04", "2021-03-05"],
}
PRINCIPLES: dict[str, tuple[dict[str, Any], str]] = {
    "m_invariance": (diverse("v", 2), "m_invariance"),
    "deal": (diverse("v", 2), "deal"),
    "closeness": ({"model": "t_closeness", "column": "v", "t": 0.9, "min_size": 3}, "deal"),
}


def made(db: Database, kind: str, records: int = 90) -> None:
    drawn = random.Random(records)
    # Every value as often as any other, so that there are buckets of two.
    held = [KINDS[kind][at % len(KINDS[kind])] for at in range(records)]
    drawn.shuffle(held)
    rows = [(drawn.randint(1, 9), drawn.randint(1, 5), drawn.random() < 0.3, v) for v in held]
    columns = {"x": "integer", "y": "integer", "hides": "boolean", "v": kind}
    make_table(db.connect("source_owner"), columns, rows)


def released(db: Database, principle: str) -> Staged:
    model, assign = PRINCIPLES[principle]
    db.disconnect()
    drop_leftovers(db.owner())
    columns = {"x": "quasi_identifying", "y": semi("hides"), "v": "sensitive"}
    method = {"name": "lgb_mdp", "assign": assign, "link_threshold": 1}
    return run(db.owner(), local_policy(columns, [K2, diverse("y", 2), model], method=method))


def buckets(db: Database, staged: Staged) -> list[Counter[Any]]:
    """The published values of every bucket, which are those of its members in the source."""
    texts = fetch(db.connect("source_owner"), sql.SQL("SELECT id, v::text FROM public.t"))
    own = {str(row["id"]): row["v"] for row in texts}
    held: dict[int, Counter[Any]] = {}
    for row in staged.table("members"):
        held.setdefault(row["v_bucket"], Counter())[own[str(row["member"])]] += 1
    told: dict[int, Counter[Any]] = {}
    published = sql.SQL("SELECT v_bucket, v::text, count FROM {}").format(staged.name("values1"))
    for row in fetch(staged.conn, published):
        told.setdefault(row["v_bucket"], Counter())[row["v"]] += row["count"]
    assert held == told
    assert sorted(told) == list(range(1, len(told) + 1))
    return list(told.values())


def equal(values: Counter[Any], kind: str) -> list[str]:
    """Spellings of a number are one value."""
    if kind == "numeric":
        return sorted(str(v and Decimal(v).normalize()) for v in values.elements())
    return sorted(map(str, values.elements()))


@pytest.mark.parametrize("principle", PRINCIPLES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_in_the_bucket_of_its_record(
    db: Database, monkeypatch: pytest.MonkeyPatch, kind: str, principle: str
) -> None:
    """However it is looked up; neither groups nor what is in buckets depend on that."""
    if kind == "boolean" and principle == "closeness":
        pytest.skip("two values alone")
    made(db, kind)
    found: list[Any] = []
    for most, as_they_are in ((record_order.MOST, True), (0, True), (record_order.MOST, False)):
        monkeypatch.setattr(record_order, "MOST", most)
        if not as_they_are:
            for module in ("released_records", "record_order"):
                of = sys.modules[f"pganon.methods.local.{module}"]
                monkeypatch.setattr(of, "as_encoded", lambda context, state: False)
        staged = released(db, principle)
        composed = sorted(equal(held, kind) for held in buckets(db, staged))
        found.append((groups(staged), composed))
    assert found[0] == found[1] == found[2]


def test_the_order_of_members_tells_nothing_of_values(db: Database) -> None:
    """Records lie in the order of their values, and digests in their own."""
    made(db, "integer")
    staged = released(db, "m_invariance")
    lying = sql.SQL("SELECT member FROM {} ORDER BY ctid").format(staged.name("members"))
    digests = [row["member"] for row in fetch(staged.conn, lying)]
    assert len(digests) == 90
    assert digests == sorted(digests)


@pytest.mark.usefixtures("steps_alone")
@pytest.mark.slow
def test_nothing_is_written_out_twice(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records, and the buckets of the column, only where it is necessary."""
    made(db, "integer")
    begun: list[str] = []
    original = Executor._create

    def create(self: Any, step: Any) -> None:
        begun.append(step.name)
        original(self, step)

    monkeypatch.setattr(Executor, "_create", create)
    released(db, "m_invariance")
    assert {"ranges1", "bucketed0"} < set(begun)
    assert not {"placed", "bucketed1", "ranges0"} & set(begun)
    begun.clear()
    monkeypatch.setattr(record_order, "MOST", 0)
    released(db, "m_invariance")
    assert {"bucketed0", "bucketed1"} < set(begun)
    assert not {"placed", "ranges1"} & set(begun)
