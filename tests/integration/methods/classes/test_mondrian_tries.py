"""Which quasi-identifiers Mondrian tries, where there are more than compete, or many values."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.methods.common.rounds.rounds import SEVERAL
from pganon.methods.common.rounds.rule import FEW
from tests.support.harness.cluster import Database
from tests.support.harness.driver import run
from tests.support.oracles import definitions as oracle
from tests.support.sources.builders import make_table, policy

K = 4


def partition(
    rows: list[list[Any]], attributes: list[oracle.Attribute], choose: str, candidates: int = 3
) -> set[frozenset[int]]:
    records = [oracle.Record(i, tuple(row)) for i, row in enumerate(rows, start=1)]
    mondrian = oracle.Mondrian(
        attributes, lambda group: len(group) >= K, K, choose, candidates=candidates
    )
    return {frozenset(record.id for record in group) for group in mondrian.partition(records)}


def released(
    db: Database,
    rows: list[list[Any]],
    types: list[str],
    choose: str,
    declared: dict[str, dict[str, Any]] | None = None,
) -> Any:
    columns = {f"q{i}": kind for i, kind in enumerate(types)}
    make_table(db.connect("source_owner"), columns, rows)
    method = {"name": "mondrian", "choose": choose}
    roles = {**dict.fromkeys(columns, "q"), **(declared or {})}
    staged = run(db.owner(), policy(roles, K, method=method))
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


@pytest.mark.parametrize("size", [62, 63, 64])
def test_null_beside_as_many_values_as_a_word_has_bits(db: Database, size: int) -> None:
    """The last value is the most frequent, NULL a rare one: they are on different sides."""
    values = [
        None,
        None,
        *[f"{n:02}" for n in range(size) for _ in range(4 if n + 1 < size else 9)],
    ]
    rows = [[value, at % 5] for at, value in enumerate(values)]
    attributes = [oracle.Nominal(values), oracle.Ordered([row[1] for row in rows])]
    expected = partition(rows, attributes, "width")
    assert released(db, rows, ["text", "int"], "width") == expected


def test_a_value_on_both_sides_of_a_relaxed_cut_keeps_its_place(db: Database) -> None:
    """Five, four, three and two of the same: the only cut goes through the four."""
    rows = [[value] for value in "aaaaabbbbcccdd"]
    make_table(db.connect("source_owner"), {"q0": "text"}, rows)
    method = {"name": "mondrian", "variant": "relaxed"}
    staged = run(db.owner(), policy({"q0": "q"}, 7, method=method))
    found = sorted("".join(sorted(rows[n - 1][0] for n in ids)) for ids in staged.members.values())
    assert found == ["aaaaabb", "bbcccdd"]


TOWNS = {
    f"{region}{district}{town}": (
        f"{region}{district}{town}",
        f"{region}{district}",
        region,
        "all",
    )
    for region in "abc"
    for district in "12"
    for town in "xyz"
}


class EverySideAsItIs(oracle.Mondrian):
    """Trees count like all others: by what both sides of the cut lose."""

    def _left_over(self, sides: Any, cut: int, group: Any) -> float:
        return sum(len(side) * self.weighted_loss(side) for side in sides)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1, 0.4])
def test_a_tree_competes_as_if_its_children_were_apart(db: Database, weight: float) -> None:
    """Against numbers and texts, which count by what both sides lose."""
    rng = random.Random(11)
    rows = [
        [rng.choice([*TOWNS]), rng.randint(0, 60), rng.randint(0, 9) ** 2, rng.choice("uvw")]
        for _ in range(600)
    ]
    towns, numbers, squares, letters = map(list, zip(*rows, strict=True))
    attributes = [
        oracle.Tree(towns, weight=weight, paths=TOWNS),
        oracle.Ordered(numbers),
        oracle.Intervals(squares, widths=[10, 40]),
        oracle.Nominal(letters),
    ]
    expected = partition(rows, attributes, "loss")
    records = [oracle.Record(i, tuple(row)) for i, row in enumerate(rows, start=1)]
    plain = EverySideAsItIs(attributes, lambda group: len(group) >= K, K, "loss")
    assert expected != {frozenset(r.id for r in group) for group in plain.partition(records)}
    assert expected != partition(rows, attributes, "width")
    tree: dict[str, Any] = {}
    for town, district, region, _ in TOWNS.values():
        tree.setdefault(region, {}).setdefault(district, []).append(town)
    declared = {
        "q0": {"hierarchy": {"inline": {"all": tree}}, "weight": weight},
        "q2": {"hierarchy": {"intervals": [10, 40]}},
    }
    assert released(db, rows, ["text", "int", "int", "text"], "loss", declared) == expected


@pytest.mark.slow
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
