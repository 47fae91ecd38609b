"""The deFinetti attack against its definition in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from pganon.methods.common.search import inference
from pganon.methods.common.search.inference import Layout, alike, guesses
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record

Row = tuple[int, ...]


def world(seed: int, records: int, l: int, attributes: int, strength: float) -> list[Row]:  # noqa: E741
    """Rows (bucket, attributes.., value): attributes are the value, or else anything."""
    rng = random.Random(seed)
    found = []
    for number in range(records):
        value = rng.randint(0, 5)
        known = [value if rng.random() < strength else rng.randint(0, 5) for _ in range(attributes)]
        found.append((number // l, *known, value))
    return found


def pairs(seed: int) -> list[Row]:
    """Rows (bucket, attribute, value): buckets of two values, of which the attribute is one."""
    rows = world(seed, 2_000, 2, 1, 1.0)
    sizes = Counter((row[0], row[-1]) for row in rows)
    return [row for row in rows if sizes[row[0], row[-1]] == 1]


def layout(attributes: int, *, keys: int = 1, on_line: bool = False) -> Layout:
    return Layout(keys, (on_line,) * attributes, on_line)


def posterior_of(found: Any, learner: int = 1) -> list[float]:
    return sorted(posterior for number, posterior, _ in found.rows if number == learner)


def expected(rows: list[Row], keys: int = 1) -> list[float]:
    records = [Record(row[:keys], row[keys:-1]) for row in rows]
    counts: dict[Any, Counter[Any]] = {}
    for row in rows:
        counts.setdefault(row[:keys], Counter())[row[-1]] += 1
    kinds = {row[-1]: row[-1] for row in rows}
    return sorted(max(one.values()) for one in oracle.posteriors(records, counts, kinds))


@pytest.mark.parametrize(("l", "attributes"), [(2, 1), (3, 2), (5, 3), (60, 1), (4, 0)])
def test_like_its_definition(l: int, attributes: int) -> None:  # noqa: E741
    for seed in range(6):
        rows = world(seed, 60, l, attributes, strength=0.7)
        found = guesses(layout(attributes), rows)
        assert posterior_of(found) == pytest.approx(expected(rows), abs=1e-9), f"seed {seed}"


def test_several_columns_name_a_bucket() -> None:
    rows = [
        (bucket, bucket % 2 + value % 2, a, value) for bucket, a, value in world(1, 60, 8, 1, 1)
    ]
    found = guesses(layout(1, keys=2), rows)
    assert posterior_of(found) == pytest.approx(expected(rows, keys=2), abs=1e-9)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = world(2, 200, 4, 2, 0.5)
    again = rows[:]
    random.Random(1).shuffle(again)
    assert sorted(guesses(layout(2), rows).rows) == sorted(guesses(layout(2), again).rows)


def test_names_of_codes_do_not_matter() -> None:
    """Hashes of values are as good as codes."""
    rows = world(3, 200, 4, 2, 0.5)
    hashed = [tuple(hash((place, code)) for place, code in enumerate(row)) for row in rows]
    assert posterior_of(guesses(layout(2), hashed)) == pytest.approx(
        posterior_of(guesses(layout(2), rows)), abs=1e-9
    )


def test_what_determines_the_value_tells_it() -> None:
    found = guesses(layout(1), pairs(4))
    assert rightly(found) > 0.99
    assert np.mean(posterior_of(found)) > 0.9


def rightly(found: Any, learner: int = 1) -> float:
    return float(np.mean([right for number, _, right in found.rows if number == learner]))


def test_independent_attributes_tell_nothing() -> None:
    rows = world(5, 4_000, 4, 2, 0.0)
    found = guesses(layout(2), rows)
    shares = expected_by_shares(rows)
    assert rightly(found) == pytest.approx(shares, abs=0.04)


def expected_by_shares(rows: list[Row]) -> float:
    """How often who knows the buckets alone is right."""
    counts: dict[int, Counter[int]] = {}
    for row in rows:
        counts.setdefault(row[0], Counter())[row[-1]] += 1
    return sum(max(held.values()) for held in counts.values()) / len(rows)


def test_a_lonely_value_is_certain() -> None:
    assert guesses(layout(1), [(7, 1, 3), (8, 2, 4)]).rows == [(1, 1.0, True), (1, 1.0, True)]


def test_no_rows() -> None:
    assert guesses(layout(1), []).rows == []


def test_probabilities_far_apart() -> None:
    """Many columns that say the same: probabilities become small, but none is lost."""
    rows = [(bucket, *[a] * 400, value) for bucket, a, value in pairs(1)]
    found = guesses(layout(400), rows)
    assert all(0.5 <= posterior <= 1 for posterior in posterior_of(found))
    assert rightly(found) > 0.99


def test_many_columns_that_say_nothing() -> None:
    """Every probability by itself is small beyond the range of numbers."""
    rows = world(7, 40, 2, 500, strength=0.02)
    found = guesses(layout(500), rows)
    assert posterior_of(found) == pytest.approx(expected(rows), abs=1e-6)


def test_a_value_that_nobody_of_the_bucket_can_have() -> None:
    rows = [(bucket, *[a] * 400, value) for bucket, a, value in pairs(1)]
    rows += [(10_000, *[0] * 400, 0), (10_000, *[0] * 400, 1)]
    found = guesses(layout(400), rows)
    assert len(posterior_of(found)) == len(rows)
    assert posterior_of(found)[:2] == pytest.approx([0.5, 0.5])


def test_rounds_end_when_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = world(2, 2_000, 2, 1, strength=0.02)
    ended = posterior_of(guesses(layout(1), rows))
    assert ended == pytest.approx(expected(rows), abs=1e-9)
    monkeypatch.setattr(inference, "ROUNDS", 6)
    monkeypatch.setattr(inference, "UNCHANGED", 0.0)
    assert posterior_of(guesses(layout(1), rows)) == ended
    monkeypatch.setattr(inference, "ROUNDS", 8)
    assert posterior_of(guesses(layout(1), rows)) != ended


def test_neighbours_on_a_line_are_alike() -> None:
    """Every value of the attribute is there once, and tells nothing by itself."""
    rng = random.Random(1)
    rows = [(bucket, a * 10_000 + rng.randint(1, 9_999), value) for bucket, a, value in pairs(1)]
    assert rightly(guesses(Layout(1, (True,), False), rows)) > 0.95
    untold = guesses(Layout(1, (False,), False), rows)
    assert np.mean(posterior_of(untold)) < 0.6


def test_values_on_a_line_are_learned_together() -> None:
    """Nobody else has the sensitive value of anybody."""
    rows = [(b, a, value * 10_000 + n) for n, (b, a, value) in enumerate(pairs(1), start=1)]
    assert rightly(guesses(Layout(1, (False,), True), rows)) > 0.95
    untold = guesses(Layout(1, (False,), False), rows)
    assert np.mean(posterior_of(untold)) < 0.6


def test_pieces_of_a_line() -> None:
    few = np.array([5, 0, 5, 9])
    assert alike(few, on_line=True).tolist() == [1, 0, 1, 2]
    rare = np.array([1] * 500 + [2, 3] + [4] * 500)
    assert len(set(alike(rare, on_line=True).tolist())) == 4
    many = np.array([0, 0, *range(1, 200), *[200] * 300])
    assert len(set(alike(many, on_line=False).tolist())) == 201
    pieces = alike(many, on_line=True)
    assert pieces.max() < inference.MOST_VALUES
    assert (np.diff(pieces) >= 0).all()
    assert (pieces == pieces[0]).sum() == 2, "NULL is alone"
    assert (pieces == pieces[-1]).sum() >= 300, "equal values are together"
    assert set(pieces.tolist()) == set(range(pieces.max() + 1))
    smallest = min(Counter(pieces[2:].tolist()).values())
    assert smallest >= 200 // inference.MOST_VALUES
