"""What records that show a value tell of those that hide it, against its definition."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from pganon.methods.common.search import inference
from pganon.methods.common.search.inference import HIDDEN, SHOWN, Layout, guesses, taught_guesses
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record

Row = tuple[int, ...]


def world(
    seed: int,
    records: int,
    l: int,  # noqa: E741
    strength: float,
    attributes: int = 2,
    hiding: float = 0.4,
) -> list[Row]:
    """Rows (bucket, attributes.., value): hidden ones are dealt to buckets as they come."""
    rng = random.Random(seed)
    found, hidden = [], 0
    for _ in range(records):
        value = rng.randint(1, 6)
        known = [value if rng.random() < strength else rng.randint(1, 6) for _ in range(attributes)]
        known = [HIDDEN if rng.random() < 0.1 else one for one in known]
        bucket = SHOWN
        if rng.random() < hiding:
            bucket, hidden = 1 + hidden // l, hidden + 1
        found.append((bucket, *known, value))
    return found


def layout(attributes: int = 2, *, on_line: bool = False) -> Layout:
    return Layout(1, (on_line,) * attributes, on_line)


def expected(rows: list[Row]) -> list[float]:
    hidden = [row for row in rows if row[0] != SHOWN]
    counts: dict[Any, Counter[Any]] = {}
    for row in hidden:
        counts.setdefault(row[0], Counter())[row[-1]] += 1
    found = oracle.taught(
        [Record(row[0], row[1:-1]) for row in hidden],
        counts,
        {row[-1]: row[-1] for row in rows},
        [(row[1:-1], row[-1]) for row in rows if row[0] == SHOWN],
    )
    return sorted(max(one.values()) for one in found)


@pytest.mark.parametrize(("l", "attributes"), [(2, 1), (3, 2), (5, 3), (4, 0)])
def test_like_its_definition(l: int, attributes: int) -> None:  # noqa: E741
    for seed in range(5):
        rows = world(seed, 60, l, 0.7, attributes)
        found = taught_guesses(layout(attributes), rows)
        assert posterior_of(found) == pytest.approx(expected(rows), abs=1e-9), f"seed {seed}"


def posterior_of(found: Any) -> list[float]:
    return sorted(posterior for learner, posterior, _ in found.rows if learner == 1)


def right(found: Any) -> float:
    return float(np.mean([ok for learner, _, ok in found.rows if learner == 1]))


def test_shown_rows_tell_what_buckets_do_not() -> None:
    """In one bucket of all there is nothing to learn but from who shows the value."""
    rows = [(min(row[0], 1), *row[1:]) for row in world(1, 3_000, 4, 0.8)]
    assert right(taught_guesses(layout(), rows)) > 0.7
    hidden = [row for row in rows if row[0] != SHOWN]
    assert right(guesses(layout(), hidden)) < 0.3


def test_who_hides_is_told_by_that() -> None:
    """Another column is hidden by those with one value."""
    rng = random.Random(2)
    rows = []
    for number in range(2_000):
        value = rng.randint(1, 2)
        known = HIDDEN if value == 1 else rng.randint(1, 90)
        rows.append((SHOWN if number % 3 else 1 + number // 6, known, value))
    assert right(taught_guesses(layout(1, on_line=True), rows)) == 1


def test_independent_attributes_tell_nothing() -> None:
    rows = world(3, 6_000, 4, 0.0)
    counts: dict[int, Counter[int]] = {}
    for row in rows:
        if row[0] != SHOWN:
            counts.setdefault(row[0], Counter())[row[-1]] += 1
    by_shares = sum(max(held.values()) for held in counts.values())
    by_shares /= sum(held.total() for held in counts.values())
    assert right(taught_guesses(layout(), rows)) == pytest.approx(by_shares, abs=0.04)


def test_neighbours_on_a_line_are_alike() -> None:
    """No number occurs twice, so that it says nothing by itself."""
    rng = random.Random(4)
    numbers = rng.sample(range(1, 100_000), 4_000)
    rows = [
        (SHOWN if place % 2 else 1 + place // 6, number, 1 + (number > 50_000))
        for place, number in enumerate(numbers)
    ]
    assert right(taught_guesses(Layout(1, (True,), False), rows)) > 0.95
    assert right(taught_guesses(Layout(1, (False,), False), rows)) < 0.9


def test_nobody_shows_or_hides() -> None:
    shown = [(SHOWN, 1, 2), (SHOWN, 2, 1)]
    assert taught_guesses(layout(1), shown).rows == []
    assert taught_guesses(layout(1), []).rows == []
    hidden = [(1, 1, 1), (1, 2, 2), (1, 1, 3)]
    assert posterior_of(taught_guesses(layout(1), hidden)) == pytest.approx([1 / 3] * 3)


def test_rescaling_to_the_counts_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = world(5, 80, 3, 0.7)
    found = posterior_of(taught_guesses(layout(), rows))
    monkeypatch.setattr(inference, "RESCALINGS", 0)
    assert posterior_of(taught_guesses(layout(), rows)) != found
