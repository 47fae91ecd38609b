"""Worlds that remain for who knows the method, against all of them, one by one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from pganon.attacks import worlds
from pganon.attacks.worlds import Class, Condition, Cut, Family, remaining
from pganon.methods.classes.mondrian.minimality import holds
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from tests.support.oracles import uncut as oracle

MODELS = [
    DistinctLDiversity.of(l=2),
    EntropyLDiversity.of(l=2),
    RecursiveCLDiversity.of(c=2, l=2),
    RelativeFrequency(alpha=0.5),
]


def satisfied(model: Any, values: list[int]) -> bool:
    """By the definitions of the papers."""
    counts = sorted(Counter(values).values(), reverse=True)
    match model:
        case DistinctLDiversity():
            return len(counts) >= model.l
        case EntropyLDiversity():
            # exp of the entropy is n / prod(c^(c/n)).
            n = sum(counts)
            return float(np.prod([float(c) ** (-c / n) for c in counts])) * n >= model.l - 1e-9
        case RecursiveCLDiversity():
            return counts[0] < model.c * sum(counts[model.l - 1 :])
        case _:
            return Fraction(counts[0], sum(counts)) <= Fraction(str(model.alpha))


def all_satisfied(asked: list[tuple[int, Any]], side: Sequence[tuple[int, ...]]) -> bool:
    return all(satisfied(model, [row[column] for row in side]) for column, model in asked)


def drawn(rng: random.Random, most: int) -> Class:
    weights = [rng.choice([1, 1, 1, 2]) for _ in range(rng.randint(2, 6))]
    while sum(weights) > most:
        weights.pop()
    positions = {attr: [rng.randint(1, 4) for _ in weights] for attr in range(rng.randint(1, 2))}
    values = Counter((rng.randint(0, 2), rng.randint(0, 1)) for _ in range(sum(weights)))
    return Class(weights, positions, sorted(values.items()))


def related(rng: random.Random) -> Family:
    """Two classes that were one group."""
    classes = [drawn(rng, 4), drawn(rng, 4)]
    left, right = ([rng.randint(1, 4) for _ in one.weights] for one in classes)
    if rng.random() < 0.5:
        left, right = left, [4 + position for position in right]
    else:
        left, right = [4 + position for position in left], right
        classes.reverse()
        left, right = right, left
    return Family(classes, [Cut((0, 1), [*left, *right], classes[0].size)])


def close(found: Any, wanted: Any) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return all(
        a.keys() == b.keys() and all(abs(a[v] - b[v]) < 1e-9 for v in a)
        for one, other in zip(found, wanted, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_all_worlds_are_tried(model: Any, pairs: bool) -> None:
    rng = random.Random(model.name)
    told = 0
    for _ in range(40):
        family = related(rng) if pairs else Family([drawn(rng, 6)])
        asked = [(0, model)] + [(1, DistinctLDiversity.of(l=2))] * rng.randint(0, 1)
        conditions = [Condition(column, holds(one)) for column, one in asked]
        wanted = oracle.remaining(family, 2, partial(all_satisfied, asked))
        if wanted is not None and not wanted[0][0]:
            continue  # nobody publishes it: it is cut otherwise in every world
        found = remaining(family, 2, conditions, np.random.default_rng(1))
        assert close(found, wanted), family
        told += wanted is not None
    assert told > 5


TWO = [Condition(0, holds(DistinctLDiversity.of(l=2)))]


def test_who_is_in_the_middle() -> None:
    """Of aaabc, in the order of ages, both cuts fail if three a are first or last."""
    one = Class([1] * 5, {0: [1, 2, 3, 4, 5]}, [((0,), 3), ((1,), 1), ((2,), 1)])
    found = remaining(Family([one]), 2, TWO, np.random.default_rng(1))
    assert found is not None
    assert found[2] == [{0: 1.0}]
    assert [cell[0] for cell in (found[0], found[4])] == [{0: 0.5, 1: 0.25, 2: 0.25}] * 2


def test_a_cut_that_is_farther_from_balance() -> None:
    """Ages 1 to 5: two of three were not cut off, so they have the same value."""
    three = Class([1, 1, 1], {}, [((0,), 2), ((1,), 1)])
    two = Class([1, 1], {}, [((2,), 1), ((3,), 1)])
    cut = Cut((0, 1), [1, 2, 3, 4, 5], 3)
    found = remaining(Family([three, two], [cut]), 2, TWO, np.random.default_rng(1))
    assert found is not None
    assert [cell[0] for cell in found] == [
        {0: 1.0},
        {0: 1.0},
        {1: 1.0},
        {2: 0.5, 3: 0.5},
        {2: 0.5, 3: 0.5},
    ]
    assert remaining(Family([three]), 2, TWO, np.random.default_rng(1)) is None


def test_worlds_that_are_drawn_are_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [((0,), 4), ((1,), 2), ((2,), 2)]
    family = Family([Class([1] * 8, {0: list(range(8))}, rows)])
    conditions = [Condition(0, holds(DistinctLDiversity.of(l=3)))]

    def shares() -> Any:
        return remaining(family, 3, conditions, np.random.default_rng(1))

    every = shares()
    monkeypatch.setattr(worlds, "EXACT", 0)
    some = shares()
    assert some == shares()
    first = [one[0][0] for one in every]
    assert max(first) - min(first) > 0.05
    assert [one[0][0] for one in some] == pytest.approx(first, abs=0.08)
    monkeypatch.setattr(worlds, "FEWEST", 100_000)
    assert shares() is None
    monkeypatch.setattr(worlds, "EXACT", 10_000)
    assert shares() == every
    monkeypatch.setattr(worlds, "LARGEST", 7)
    assert shares() is None
