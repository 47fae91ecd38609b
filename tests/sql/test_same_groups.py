"""pganon.same_groups: whether two tables of members have the same members together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pganon.ledger import repository as ledger
from tests.support.harness.cluster import Connection, Database

ONE = [("a", 1), ("b", 1), ("c", 2), ("c", 2), ("d", 3)]
OTHER = {
    "renumbered": ([("a", 7), ("b", 7), ("c", 1), ("c", 1), ("d", 2)], True),
    "moved": ([("a", 1), ("b", 2), ("c", 2), ("c", 2), ("d", 3)], False),
    "exchanged": ([("a", 1), ("d", 1), ("c", 2), ("c", 2), ("b", 3)], False),
    "united": ([("a", 1), ("b", 1), ("c", 2), ("c", 2), ("d", 2)], False),
    "once less": ([("a", 1), ("b", 1), ("c", 2), ("d", 3)], False),
    "one less": ([("a", 1), ("b", 1), ("c", 2), ("c", 2)], False),
    "one more": ([*ONE, ("e", 4)], False),
    "nothing": ([], False),
}


def make(conn: Connection, name: str, rows: Sequence[Sequence[object]], *groups: str) -> None:
    names = ", ".join(f"{group} integer" for group in groups or ("class_id",))
    conn.execute(f"CREATE TABLE pganon_work.{name} (member text, {names})".encode())
    for row in rows:
        marks = ", ".join(["%s"] * len(row))
        conn.execute(f"INSERT INTO pganon_work.{name} VALUES ({marks})".encode(), row)


def same(conn: Connection, run: int, one: str = "one", other: str = "other") -> bool | None:
    row = conn.execute(
        "SELECT pganon.same_groups(%s, to_regclass(%s), to_regclass(%s))",
        [run, f"pganon_work.{one}", f"pganon_work.{other}"],
    ).fetchone()
    assert row is not None
    return row[0]  # type: ignore[return-value]


def test_one_partition(db: Database) -> None:
    conn = db.owner()
    run = ledger.start_run(conn, "r", "abc")
    make(conn, "one", ONE)
    for name, (rows, expected) in OTHER.items():
        make(conn, "other", rows)
        assert same(conn, run) == expected, name
        assert same(conn, run, "other", "one") == expected, name
        conn.execute("DROP TABLE pganon_work.other")
    assert same(conn, run) is None


@pytest.mark.primary_server_only
def test_several_partitions(db: Database) -> None:
    """Each is compared by itself: numbers of one are free of those of the other."""
    conn = db.owner()
    run = ledger.start_run(conn, "r", "abc")
    columns = ("st1_group_id", "st2_group_id")
    make(conn, "one", [("a", 1, 1), ("b", 1, 2), ("c", 2, 2)], *columns)
    make(conn, "other", [("a", 5, 9), ("b", 5, 8), ("c", 6, 8)], *columns)
    make(conn, "moved", [("a", 5, 9), ("b", 5, 9), ("c", 6, 8)], *columns)
    make(conn, "fewer", [("a", 1), ("b", 1), ("c", 2)], "st1_group_id")
    assert same(conn, run) is True
    assert same(conn, run, "one", "moved") is False
    assert same(conn, run, "one", "fewer") is False
