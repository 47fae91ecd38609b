"""The number of a combination of codes, by which records are joined and counted."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import sql

from pganon.encode import combination
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

KINDS = {"a": "integer", "b": "text", "c": "text"}


def build(db: Database) -> None:
    """A column without NULL, one with it, and one of NULLs alone."""
    rng = random.Random(7)
    rows = [
        [rng.randint(-9, 9), None if rng.random() < 0.2 else rng.choice("xyz"), None]
        for _ in range(300)
    ]
    make_table(db.connect("source_owner"), KINDS, rows)


def released(db: Database, **keys: Any) -> Staged:
    return run(db.owner(), policy({name: {} for name in KINDS}, 3, **keys))


def work(staged: Staged, table: str) -> list[dict[str, Any]]:
    return fetch(
        staged.conn,
        sql.SQL("SELECT * FROM {}").format(staged.state.work(table).identifier),
    )


def test_the_number_is_that_of_the_codes(db: Database) -> None:
    build(db)
    rows = work(released(db), "coded")
    bases = [max(row[f"c{i}"] for row in rows) + 1 for i in range(3)]
    for row in rows:
        expected = (row["c0"] * bases[1] + row["c1"]) * bases[2] + row["c2"]
        assert row["combination"] == expected


def test_cells_are_those_of_the_codes(db: Database) -> None:
    """Codes of cells come from the number."""
    build(db)
    staged = released(db)
    counted: dict[tuple[int, ...], int] = {}
    for row in work(staged, "coded"):
        codes = (row["c0"], row["c1"], row["c2"])
        counted[codes] = counted.get(codes, 0) + 1
    classes = work(staged, "grouped_classes")
    assert sorted((row["c0"], row["c1"], row["c2"]) for row in classes) == sorted(counted)
    sizes: dict[int, int] = {}
    for row in classes:
        number = counted[row["c0"], row["c1"], row["c2"]]
        sizes[row["class_id"]] = sizes.get(row["class_id"], 0) + number
    published: dict[int, int] = {}
    for row in staged.table("records"):
        published[row["class_id"]] = published.get(row["class_id"], 0) + 1
    assert published == sizes


def test_without_room_for_the_number_all_codes_are_compared(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release is the same."""
    build(db)
    shown = [
        sorted(map(str, staged.table("classes")))
        for most in (combination._MOST, 20 * 4 * 1 - 1)
        for staged in (_with_room(db, monkeypatch, most),)
    ]
    assert shown[0] == shown[1]


def _with_room(db: Database, monkeypatch: pytest.MonkeyPatch, most: int) -> Staged:
    monkeypatch.setattr(combination, "_MOST", most)
    staged = released(db)
    (first, *_) = work(staged, "coded")
    assert ("combination" in first) == (most > 1000)
    return staged


@pytest.mark.parametrize("method", [{"variant": "relaxed"}, {}])
def test_one_column_or_numbered_records_need_no_number(
    db: Database, method: dict[str, Any]
) -> None:
    build(db)
    columns = KINDS if method else ["a"]
    declared = policy({name: {} for name in columns}, 3, method={"name": "mondrian", **method})
    (first, *_) = work(run(db.owner(), declared), "coded")
    assert "combination" not in first
