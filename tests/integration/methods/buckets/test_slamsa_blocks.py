"""Blocks of the method slamsa: where they end, and what becomes of those that are too large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pganon.methods.buckets.slamsa import blocks
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.sources.builders import make_table, policy
from tests.support.sources.registry import records
from tests.support.sources.slamsa import Asked, check, shown, sizes

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"age": "integer", "a": "integer", "b": "integer"}
NAMES = [*COLUMNS]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of more than 20 records are large."""
    monkeypatch.setattr(blocks, "LARGE", 20)


def released(db: Database, rows: Sequence[Sequence[Any]], l: int = 2, **method: Any) -> Staged:  # noqa: E741
    make_table(db.connect("source_owner"), COLUMNS, rows)
    declared = policy(
        {"age": "q", "a": "s", "b": "s"},
        [{"model": "slicing_l_diversity", "l": l}],
        method={"name": "slamsa", "sensitive_tables": 1, "block_size": 5, **method},
    )
    return run(db.owner(), declared)


def checked(staged: Staged, rows: Sequence[Sequence[Any]], l: int = 2) -> list[int]:  # noqa: E741
    """Sizes of the buckets of a release that is as it should be."""
    found = shown(staged)
    check(found, records(NAMES, rows), Asked({"a": l, "b": l}, NAMES))
    return sorted(sizes(found.published.qits[0]).values())


@pytest.mark.parametrize("division", ["public", "eligible"])
@pytest.mark.parametrize("l", [2, 3])
def test_a_value_at_its_limit_does_not_make_one_block(db: Database, division: str, l: int) -> None:  # noqa: E741
    """All who have the most frequent value are young, so no piece of the curve is eligible."""
    rows = [(n, 0 if n < 120 // l else n, n) for n in range(120)]
    staged = released(db, rows, l, division=division)
    assert staged.facts["oversized"]
    assert staged.facts["largest_block"] <= 20
    assert set(checked(staged, rows, l)) == {l}


def test_what_is_large(db: Database) -> None:
    """Twenty records are not, beside a block that is."""
    twenty = [(n, 0 if n < 10 else n, n) for n in range(20)]
    staged = released(db, twenty)
    assert not staged.facts["oversized"]
    assert (staged.facts["blocks"], staged.facts["largest_block"]) == (1, 20)
    assert set(checked(staged, twenty)) == {2}
    more = [*twenty, *[(n, 0 if n < 80 else n, n) for n in range(20, 140)]]
    staged = released(db, more)
    assert staged.facts["oversized"]
    assert (staged.facts["blocks"], staged.facts["largest_block"]) == (1 + 120 // 5, 20)
    assert set(checked(staged, more)) == {2}


def test_what_several_columns_do_not_allow_is_refused(db: Database) -> None:
    """Both columns are at their limit, in such an order that dealing out one does not help."""
    rows = [(n, 0 if n % 2 else n + 1, 0 if n < 60 else n) for n in range(120)]
    with refused("large_block") as errors:
        released(db, rows)
    assert "120 records, more than 20" in str(errors[0])
    assert str(errors[0].hint).endswith("block_size: 60 and optimizer: base")
    with refused("large_block") as errors:
        released(db, rows, optimizer="base")
    assert str(errors[0].hint).endswith("block_size: 60")
    staged = released(db, rows, block_size=60, optimizer="base")
    checked(staged, rows)
    assert staged.facts["largest_block"] == 120


def test_dealt_blocks_keep_neighbours_together(db: Database) -> None:
    """Records of a value are dealt out in the order of the curve, but for `division: public`."""
    rows = [(n, 0 if n < 60 else 1, n) for n in range(120)]

    def spread(division: str) -> float:
        staged = released(db, rows, division=division, optimizer="base")
        held: dict[int, list[int]] = {}
        for row in shown(staged).published.qits[0]:
            held.setdefault(row["group_id"], []).append(row["age"])
        young = [max(n for n in ages if n < 60) for ages in held.values()]
        old = [min(n for n in ages if n >= 60) for ages in held.values()]
        return sum(abs(o - 60 - y) for o, y in zip(old, young, strict=True)) / len(young)

    assert spread("eligible") < spread("public") / 3


@pytest.mark.parametrize(("division", "number"), [("public", 5), ("eligible", 8)])
def test_blocks_by_rule(
    db: Database, monkeypatch: pytest.MonkeyPatch, division: str, number: int
) -> None:
    """Pieces of ten; where 3 of 10 share a value, a half of less might not hold them all."""
    monkeypatch.setattr(blocks, "LARGE", 100)
    rows = [(n, 0 if n >= 40 and n % 10 < 3 else n + 1, n) for n in range(80)]
    staged = released(db, rows, division=division, block_size=10)
    assert staged.facts["blocks"] == number
    checked(staged, rows)
