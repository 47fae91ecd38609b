"""Buckets follow the order of a column's values: the policy's own, or the leaves of a hierarchy."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from tests.integration.methods.local.test_local import K2, diverse, local_policy, values
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.oracles.lgb import Attribute, nominal, tree
from tests.support.oracles.lgb_buckets import dealt_values, histogram, leaves, segments, total
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ORDERED = {"type": "ordinal", "order": DAYS}
TOWNS = {"FR": ["Paris", "Lyon"], "IT": ["Rome", "Milan", "Turin"]}
TREE = {"hierarchy": {"inline": {"EU": TOWNS}}}


def made(
    db: Database, held: list[Any], column: dict[str, Any], kind: str = "text", **method: Any
) -> Staged:
    """A table whose first records hide their value; one more for each value shows it."""
    rows = [(1, value, True) for value in held]
    rows += [(1, value, False) for value in dict.fromkeys(held) for _ in range(2)]
    make_table(db.connect("source_owner"), {"x": "integer", "v": kind, "p": "boolean"}, rows)
    declared = {"role": "semi_sensitive", "sensitive_when": {"column": "p"}, **column}
    columns = {"x": "quasi_identifying", "v": declared}
    return run(db.owner(), local_policy(columns, [K2, diverse("v", 2)], method=method))


def expected(held: list[Any], attribute: Attribute, assign: str) -> list[list[Any]]:
    found: list[list[Any]] = []
    for leaf in leaves(histogram(held, attribute), 2):
        if assign == "deal":
            found += dealt_values(leaf, total(leaf) // 2)
        else:
            found += [list(held) for alpha, held in segments(leaf, 2) for _ in range(alpha)]
    return sorted(sorted(bucket, key=attribute.null_last) for bucket in found)


FOUR = ["mon", "tue", "wed", "thu"]


@pytest.mark.parametrize(
    ("column", "found"),
    [({}, [["mon", "thu"], ["tue", "wed"]]), (ORDERED, [["mon", "tue"], ["thu", "wed"]])],
    ids=["collation C", "declared order"],
)
def test_declared_order(db: Database, column: dict[str, Any], found: list[list[str]]) -> None:
    assert values(made(db, FOUR, column), 0, "v") == found


@pytest.mark.parametrize(
    ("column", "found"),
    [({}, [["Lyon", "Milan"], ["Paris", "Rome"]]), (TREE, [["Lyon", "Paris"], ["Milan", "Rome"]])],
    ids=["collation C", "leaves"],
)
def test_leaves(db: Database, column: dict[str, Any], found: list[list[str]]) -> None:
    assert values(made(db, ["Lyon", "Milan", "Paris", "Rome"], column), 0, "v") == found


@pytest.mark.parametrize("assign", ["m_invariance", "deal"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["order", "tree"])
def test_as_defined(db: Database, kind: str, seed: int, assign: str) -> None:
    drawn = random.Random(seed)
    named = {child: parent for parent, below in TOWNS.items() for child in sorted(below)}
    attribute = nominal("v", *DAYS) if kind == "order" else tree("v", {**named, "FR": "EU"})
    towns = [town for below in TOWNS.values() for town in below]
    held = [drawn.choice(DAYS if kind == "order" else towns) for _ in range(40)]
    staged = made(db, held, ORDERED if kind == "order" else TREE, assign=assign)
    found = values(staged, 0, "v")
    assert sorted(sorted(b, key=attribute.null_last) for b in found) == expected(
        held, attribute, assign
    )


def test_null_is_last(db: Database) -> None:
    """Cut at the median behind tue: NULL is in the half of the late days."""
    rows = [(1, v, True) for v in ("tue", "mon", None, "sun")] + [(1, "mon", False)] * 2
    make_table(db.connect("source_owner"), {"x": "integer", "v": "text", "p": "boolean"}, rows)
    declared = {"role": "semi_sensitive", "sensitive_when": {"column": "p"}, **ORDERED}
    columns = {"x": "quasi_identifying", "v": declared}
    staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
    assert values(staged, 0, "v") == [["mon", "tue"], ["sun", None]]


def test_intervals_keep_the_order_of_numbers(db: Database) -> None:
    column = {"hierarchy": {"intervals": [10, 100]}}
    assert values(made(db, [9, 10, 100, 200], column, "integer"), 0, "v") == [[9, 10], [100, 200]]


@pytest.mark.parametrize(
    ("kind", "order", "held"),
    [
        ("integer", ["10", "9", "200", "100"], [9, 10, 100, 200]),
        ("numeric", ["1.5", "1", "3", "2"], ["1.5", "1", "2", "3"]),
        ("citext", ["Bad", "Good", "A1", "C1"], ["Good", "Bad", "A1", "C1"]),
    ],
)
def test_order_of_other_types(db: Database, kind: str, order: list[str], held: list[Any]) -> None:
    if kind == "citext":
        try:
            db.admin.execute("CREATE EXTENSION IF NOT EXISTS citext SCHEMA public")
        except psycopg.Error:
            pytest.skip("the server has no citext")
    staged = made(db, held, {"type": "ordinal", "order": order}, kind)
    found = {frozenset(map(str, bucket)) for bucket in values(staged, 0, "v")}
    assert found == {frozenset(order[:2]), frozenset(order[2:])}


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ({"type": "ordinal", "order": DAYS[:3]}, "order_gap"),
        ({"hierarchy": {"inline": {"week": {"early": DAYS[:2], "late": [DAYS[2]]}}}}, None),
    ],
)
def test_a_hidden_value_without_a_place(
    db: Database, column: dict[str, Any], code: str | None
) -> None:
    """Nobody shows thu; that somebody hides it must not go unnoticed."""
    rows = [(1, v, True) for v in FOUR] + [(1, v, False) for v in FOUR[:3] for _ in range(2)]
    make_table(db.connect("source_owner"), {"x": "integer", "v": "text", "p": "boolean"}, rows)
    declared = {"role": "semi_sensitive", "sensitive_when": {"column": "p"}, **column}
    columns = {"x": "quasi_identifying", "v": declared}
    with refused(code) as caught:
        run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
    assert "thu" not in f"{caught[0]}{caught[0].hint}"
    assert "v" in str(caught[0])


def test_no_more_is_shown_than_before(db: Database) -> None:
    """Neither the leaves of hidden values nor their places change what is generalized."""
    found = []
    for hidden in (["Lyon", "Milan", "Paris", "Rome"], ["Turin", "Milan", "Turin", "Rome"]):
        rows = [(1, v, True) for v in hidden] + [(1, v, False) for v in ("Paris", "Rome")] * 2
        make_table(db.connect("source_owner"), {"x": "integer", "v": "text", "p": "boolean"}, rows)
        declared = {"role": "semi_sensitive", "sensitive_when": {"column": "p"}, **TREE}
        columns = {"x": "quasi_identifying", "v": declared}
        staged = run(db.owner(), local_policy(columns, [K2, diverse("v", 2)]))
        found.append((staged.utility.gcp, sorted(map(str, staged.table("groups")))))
    assert found[0] == found[1]
