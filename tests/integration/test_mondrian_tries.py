"""Which quasi-identifiers Mondrian tries, where there are more than compete, or many values."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.methods.mondrian.shape import FEW
from pganon.methods.mondrian.tries import SEVERAL
from tests.support import oracle
from tests.support.builders import make_table, policy
from tests.support.cluster import Database
from tests.support.driver import run

K = 4


def partition(
    rows: list[list[Any]], attributes: list[oracle.Attribute], choose: str, candidates: int = 3
) -> set[frozenset[int]]:
    records = [oracle.Record(i, tuple(row)) for i, row in enumerate(rows, start=1)]
    mondrian = oracle.Mondrian(
        attributes, lambda group: len(group) >= K, K, choose, candidates=candidates
    )
    return {frozenset(record.id for record in group) for group in mondrian.partition(records)}


def released(db: Database, rows: list[list[Any]], types: list[str], choose: str) -> Any:
    columns = {f"q{i}": kind for i, kind in enumerate(types)}
    make_table(db.connect("source_owner"), columns, rows)
    method = {"name": "mondrian", "choose": choose}
    staged = run(db.owner(), policy(dict.fromkeys(columns, "q"), K, method=method))
    return {frozenset(ids) for ids in staged.members.values()}


@pytest.mark.parametrize("choose", ["width", "loss"])
def test_the_three_widest_that_can_be_cut_compete(db: Database, choose: str) -> None:
    """Rare values make columns wide that cannot be cut, so others have to be tried after them."""
    rng = random.Random(5)
    rows = [
        [
            *[rng.choices("ab", [199, 1])[0] for _ in range(3)],
            rng.randint(0, 40),
            rng.choices("uvwxyz", [9, 5, 3, 2, 1, 1])[0],
            rng.randint(0, 9) ** 2,
            rng.choice("pq"),
            rng.randint(0, 300),
        ]
        for _ in range(500)
    ]
    types = ["text", "text", "text", "int", "text", "int", "text", "int"]
    attributes = [
        oracle.Nominal(values) if kind == "text" else oracle.Ordered(values)
        for kind, values in zip(types, map(list, zip(*rows, strict=True)), strict=True)
    ]
    expected = partition(rows, attributes, choose)
    if choose == "loss":
        others = [partition(rows, attributes, choose, candidates=n) for n in (2, 4, 8)]
        assert expected not in others
    assert released(db, rows, types, choose) == expected


@pytest.mark.parametrize("choose", ["width", "loss"])
def test_more_values_than_bit_masks_hold(db: Database, choose: str) -> None:
    rng = random.Random(7)
    rows = [
        [f"{int(rng.random() ** 2 * 700):03}", rng.randint(0, 50), rng.choice("abc")]
        for _ in range(1500)
    ]
    texts, numbers, letters = map(list, zip(*rows, strict=True))
    assert len(set(texts)) > 512
    attributes = [oracle.Nominal(texts), oracle.Ordered(numbers), oracle.Nominal(letters)]
    expected = partition(rows, attributes, choose)
    assert released(db, rows, ["text", "int", "text"], choose) == expected


@pytest.mark.parametrize("choose", ["width", "loss"])
def test_more_attributes_than_values_are_described_by(db: Database, choose: str) -> None:
    """Small groups are tried on several at first, most of which cannot be cut, then on all."""
    rng = random.Random(11)
    rare = SEVERAL + 2
    rows = [
        [
            *[rng.choices("ab", [60, 1])[0] for _ in range(rare)],
            *[rng.randint(0, 9) ** 2 for _ in range(5)],
            *[rng.choices("uvwx", [9, 4, 2, 1])[0] for _ in range(FEW - rare)],
        ]
        for _ in range(240)
    ]
    types = ["text"] * rare + ["int"] * 5 + ["text"] * (FEW - rare)
    assert len(types) > FEW
    attributes = [
        oracle.Nominal(values) if kind == "text" else oracle.Ordered(values)
        for kind, values in zip(types, map(list, zip(*rows, strict=True)), strict=True)
    ]
    assert released(db, rows, types, choose) == partition(rows, attributes, choose)
