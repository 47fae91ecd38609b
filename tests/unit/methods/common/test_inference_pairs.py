"""The second learner of the deFinetti attack: naive Bayes with attributes joined to pairs."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from pganon.methods.common.search import inference as search
from pganon.methods.common.search.inference import (
    SHOWN,
    Labels,
    Layout,
    guesses,
    joined,
    taught_guesses,
    telling,
)
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record

Row = tuple[int, ...]


def sums(seed: int, records: int, l: int = 2, others: int = 2) -> list[Row]:  # noqa: E741
    """Rows (bucket, attributes.., value): the value is the sum of the first two attributes."""
    rng, values, found = random.Random(seed), 4, []
    for bucket in rng.sample(range(records), records // l):
        for value in rng.sample(range(values), l):
            one = rng.randrange(values)
            known = [one, (value - one) % values, *[rng.randrange(6) for _ in range(others)]]
            found.append((bucket, *known, value))
    return found


def layout(rows: list[Row], *, on_line: bool = False) -> Layout:
    return Layout(1, (on_line,) * (len(rows[0]) - 2), False)


def of(found: Any, learner: int) -> list[tuple[float, bool]]:
    return [(posterior, right) for number, posterior, right in found.rows if number == learner]


def accuracy(found: Any, learner: int) -> float:
    return float(np.mean([right for _, right in of(found, learner)]))


def chosen(rows: list[Row]) -> list[tuple[int, int]]:
    """Pairs that are found by the values themselves."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    n = len(rows)
    return telling(columns[1:-1], Labels(np.arange(n), columns[-1], np.ones(n)))


@pytest.mark.parametrize("l", [2, 3])
def test_two_columns_that_tell_only_together(l: int) -> None:  # noqa: E741
    found = guesses(layout(rows := sums(1, 600, l)), rows)
    assert accuracy(found, 1) < 1 / l + 0.1
    assert accuracy(found, 2) > 0.95
    assert len(of(found, 2)) == len(of(found, 1)) == len(rows)


def test_like_its_definition() -> None:
    rows = sums(2, 60, 3, others=1)
    counts: dict[Any, Counter[Any]] = {}
    for row in rows:
        counts.setdefault(row[0], Counter())[row[-1]] += 1
    kinds = {row[-1]: row[-1] for row in rows}
    as_one = [Record(row[0], ((row[1], row[2]), row[3])) for row in rows]
    expected = sorted(max(one.values()) for one in oracle.posteriors(as_one, counts, kinds))
    found = sorted(posterior for posterior, _ in of(guesses(layout(rows), rows), 2))
    assert found == pytest.approx(expected, abs=1e-9)


def test_taught_by_records_that_show_the_sum() -> None:
    rng = random.Random(3)
    rows = [
        (SHOWN if rng.random() < 0.6 else 1 + at // 6, *row[1:])
        for at, row in enumerate(sums(3, 900))
    ]
    found = taught_guesses(layout(rows), rows)
    assert accuracy(found, 1) < 0.6
    assert accuracy(found, 2) > 0.95
    hidden = [row for row in rows if row[0] != SHOWN]
    counts: dict[Any, Counter[Any]] = {}
    for row in hidden:
        counts.setdefault(row[0], Counter())[row[-1]] += 1
    shown = [(((row[1], row[2]), *row[3:-1]), row[-1]) for row in rows if row[0] == SHOWN]
    records = [Record(row[0], ((row[1], row[2]), *row[3:-1])) for row in hidden]
    kinds = {row[-1]: row[-1] for row in rows}
    expected = oracle.taught(records, counts, kinds, shown)
    assert sorted(posterior for posterior, _ in of(found, 2)) == pytest.approx(
        sorted(max(one.values()) for one in expected), abs=1e-9
    )


def test_the_same_from_any_order_of_rows() -> None:
    rows = sums(4, 300)
    again = rows[:]
    random.Random(1).shuffle(again)
    assert sorted(guesses(layout(rows), rows).rows) == sorted(guesses(layout(rows), again).rows)


def test_nothing_is_joined_by_chance() -> None:
    """Of columns that say nothing, few pairs; none of them helps."""
    joins = 0
    for seed in range(20):
        rng = random.Random(seed)
        rows = [(at // 2, *[rng.randrange(6) for _ in range(6)], at % 4) for at in range(400)]
        found = guesses(layout(rows), rows)
        joins += bool(of(found, 2))
        if of(found, 2):
            assert accuracy(found, 2) < 0.65
    assert joins < 15


def test_columns_that_say_the_same_stay_apart() -> None:
    """Together they tell no more than one of them."""
    rng = random.Random(6)
    rows = [(0, value, value, rng.randrange(5), value) for value in rng.choices(range(4), k=400)]
    assert (0, 1) not in chosen(rows)


def test_every_attribute_is_in_one_pair() -> None:
    """Two sums: of the first two attributes, which tells more, and of the second with a third."""
    rng = random.Random(7)
    rows = []
    for _ in range(2_000):
        a, b, c = (rng.randrange(4) for _ in range(3))
        told = (a + b) % 4 if rng.random() < 0.7 else (b + c) % 4
        rows.append((0, a, b, c, told))
    assert chosen(rows) == [(0, 1)]


def test_the_first_columns_and_some_records(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sums(9, 600, others=0)
    late = [(row[0], *[0] * 4, *row[1:]) for row in rows]
    assert chosen(late) == [(4, 5)]
    monkeypatch.setattr(search, "ATTRIBUTES", 5)
    assert chosen(late) == []
    monkeypatch.setattr(search, "ATTRIBUTES", 6)
    asked: list[int] = []
    monkeypatch.setattr(search, "RECORDS", 250)
    monkeypatch.setattr(
        search._Sample,
        "excess",
        lambda sample, codes: asked.append(len(codes)) or np.zeros(2),
    )
    chosen(late)
    assert set(asked) == {200}, "every third of 600"


def test_a_sample_has_the_labels_of_its_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "RECORDS", 3)
    labels = Labels(np.array([0, 0, 1, 2, 3, 4, 4]), np.arange(7), np.arange(7.0))
    found = search._Sample.of([np.arange(10, 15)], labels)
    assert found.attributes[0].tolist() == [10, 12, 14]
    assert found.labels.record.tolist() == [0, 0, 1, 2, 2]
    assert found.labels.kind.tolist() == [0, 1, 3, 5, 6]
    assert found.labels.weight.tolist() == [0, 1, 3, 5, 6]


def test_one_attribute_or_none() -> None:
    labels = Labels(np.arange(2), np.array([0, 1]), np.ones(2))
    assert telling([], labels) == []
    assert telling([np.array([0, 1])], labels) == []


def test_joined() -> None:
    one, two, three = np.array([0, 0, 1, 1]), np.array([0, 2, 0, 2]), np.array([5, 6, 7, 8])
    alone, together = joined([one, two, three], [(0, 1)])
    assert alone.tolist() == [5, 6, 7, 8]
    assert together.tolist() == [0, 1, 2, 3]
