"""Worlds that remain for who knows the method, against all of them, one by one."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pganon.attacks import worlds
from pganon.attacks.worlds import Condition, Group, remaining
from pganon.methods.classes.mondrian.minimality import holds
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
)

MODELS = [
    DistinctLDiversity(l=2),
    EntropyLDiversity(l=2),
    RecursiveCLDiversity(c=2, l=2),
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


def expected(group: Group, least: int, asked: list[tuple[int, Any]]) -> Any:
    """By cell and column the share of the members' values in all worlds that remain."""
    members = [cell for cell, weight in enumerate(group.weights) for _ in range(weight)]
    rows = [row for row, n in group.rows for _ in range(n)]
    counted: list[list[Counter[int]]] = [[Counter() for _ in rows[0]] for _ in group.weights]
    some = False
    for order in permutations(rows):
        cut = False
        for positions in group.positions.values():
            for last in set(positions):
                sides: list[list[tuple[int, ...]]] = [[], []]
                for cell, row in zip(members, order, strict=True):
                    sides[positions[cell] > last].append(row)
                large = all(len(side) >= least for side in sides)
                some |= large
                cut |= large and all(
                    satisfied(model, [row[column] for row in side])
                    for column, model in asked
                    for side in sides
                )
        if not cut:
            for cell, row in zip(members, order, strict=True):
                for column, value in enumerate(row):
                    counted[cell][column][value] += 1
    if not some:
        return None
    return [[{v: n / by.total() for v, n in by.items()} for by in cell] for cell in counted]


def drawn(rng: random.Random, model: Any) -> Group:
    cells = rng.randint(1, 6)
    weights = [rng.choice([1, 1, 1, 2]) for _ in range(cells)]
    while sum(weights) > 6:
        weights.pop()
    cells = len(weights)
    positions = {
        attr: [rng.randint(1, 4) for _ in range(cells)] for attr in range(rng.randint(1, 2))
    }
    values = Counter((rng.randint(0, 2), rng.randint(0, 1)) for _ in range(sum(weights)))
    return Group(weights, positions, sorted(values.items()))


def close(found: Any, wanted: Any) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return all(
        a.keys() == b.keys() and all(abs(a[v] - b[v]) < 1e-9 for v in a)
        for one, other in zip(found, wanted, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_all_worlds_are_tried(model: Any) -> None:
    rng = random.Random(model.name)
    told = 0
    for _ in range(60):
        group = drawn(rng, model)
        asked = [(0, model)] + [(1, DistinctLDiversity(l=2))] * rng.randint(0, 1)
        conditions = [Condition(column, holds(one)) for column, one in asked]
        wanted = expected(group, 2, asked)
        if wanted is not None and not wanted[0][0]:
            continue  # nobody publishes such a group: it is cut in every world
        assert close(remaining(group, 2, conditions, np.random.default_rng(1)), wanted), group
        told += wanted is not None
    assert told > 10


def test_values_that_no_side_may_have_alone() -> None:
    """Ages 1 to 4 with a, a, b, c: the only cut has two on each side, so one side has both a."""
    group = Group([1, 1, 1, 1], {0: [1, 2, 3, 4]}, [((0,), 2), ((1,), 1), ((2,), 1)])
    found = remaining(
        group, 2, [Condition(0, holds(DistinctLDiversity(l=2)))], np.random.default_rng(1)
    )
    assert found is not None
    assert [cell[0] for cell in found] == [{0: 0.5, 1: 0.25, 2: 0.25}] * 4
    with_other = Group(
        [1, 1, 1, 1], {0: [1, 2, 3, 4], 1: [1, 2, 1, 2]}, [((0,), 2), ((1,), 1), ((2,), 1)]
    )
    # No two are on one side of both cuts, so there is no such group.
    assert close(expected(with_other, 2, [(0, DistinctLDiversity(l=2))]), None) is False


def test_worlds_that_are_drawn_are_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [((0,), 4), ((1,), 2), ((2,), 2)]
    group = Group([1] * 8, {0: list(range(8))}, rows)
    conditions = [Condition(0, holds(DistinctLDiversity(l=3)))]
    every = remaining(group, 3, conditions, np.random.default_rng(1))
    monkeypatch.setattr(worlds, "EXACT", 0)
    some = remaining(group, 3, conditions, np.random.default_rng(1))
    again = remaining(group, 3, conditions, np.random.default_rng(1))
    assert some == again
    assert every is not None
    assert some is not None
    shares = [one[0][0] for one in every]
    assert max(shares) - min(shares) > 0.05
    assert [one[0][0] for one in some] == pytest.approx(shares, abs=0.08)
    monkeypatch.setattr(worlds, "FEWEST", 100_000)
    assert remaining(group, 3, conditions, np.random.default_rng(1)) is None
    monkeypatch.setattr(worlds, "LARGEST", 7)
    monkeypatch.setattr(worlds, "EXACT", 10_000)
    assert remaining(group, 3, conditions, np.random.default_rng(1)) is None
