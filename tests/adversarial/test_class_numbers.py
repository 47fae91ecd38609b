"""Attack: read the order of the source or the size of its values from class numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.driver import Staged, run
from tests.support.sources.builders import make_table, policy

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

RECORDS = 600


def build(db: Any, seed: int) -> Staged:
    rows = [[number * 7 % RECORDS, number % 3] for number in range(RECORDS)]
    make_table(db.connect("source_owner"), {"q": "integer", "s": "integer"}, rows)
    return run(db.owner(), policy({"q": "q", "s": "s"}, 2), seed=seed)


def by_value(staged: Staged) -> list[int]:
    """Class numbers in the order of their lowest value."""
    return sorted(staged.classes, key=lambda number: staged.classes[number]["q"].lower)


def rank_correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return 1 - 6 * squares / (n * (n * n - 1))


def test_two_secrets_give_two_numberings_of_the_same_classes(db: Any) -> None:
    first, second = build(db, 1), build(db, 2)
    groups = [{frozenset(ids) for ids in s.members.values()} for s in (first, second)]
    assert groups[0] == groups[1]
    assert by_value(first) != by_value(second)
    same = sum(a == b for a, b in zip(by_value(first), by_value(second), strict=True))
    assert same < len(by_value(first)) / 10


def test_numbers_follow_neither_values_nor_source_positions(db: Any) -> None:
    for seed in (1, 2, 3):
        staged = build(db, seed)
        numbers = by_value(staged)
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
        assert len(numbers) > 200
        # Five standard deviations of a random permutation.
        bound = 5 / (len(numbers) - 1) ** 0.5
        assert abs(rank_correlation(numbers)) < bound
        by_place = sorted(staged.members, key=lambda number: min(staged.members[number]))
        assert abs(rank_correlation(by_place)) < bound


def test_the_same_secret_gives_the_same_release(db: Any) -> None:
    first, second = build(db, 1), build(db, 1)
    assert first.members == second.members
    assert first.table("classes") == second.table("classes")
