"""Models without a database: bounds, thresholds with equality, what they need."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.privacy.base import TOLERANCE, Model
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
)
from pganon.privacy.likeness import TCloseness


@pytest.mark.parametrize(
    ("model", "enough", "missed"),
    [
        (KAnonymity.of(5), 5, 4),
        (DistinctLDiversity.of(3), 3, 2),
        (EntropyLDiversity.of(3), 3.0, 2.999999),
        (EntropyLDiversity.of(2.5), 2.5, 2.4999999),
        (TCloseness.of(0.2), 0.2, 0.2000001),
        (TCloseness.of(0.375, "ordered"), 0.375, 0.3750001),
        (TCloseness.of(0.375, "hierarchical"), 0.375, 0.3750001),
    ],
)
def test_equality_satisfies_and_a_real_difference_does_not(
    model: Model, enough: float, missed: float
) -> None:
    assert model.satisfied_by(enough)
    assert not model.satisfied_by(missed)


@pytest.mark.parametrize(
    ("model", "size"),
    [
        (KAnonymity.of(5), 5),
        (DistinctLDiversity.of(3), 3),
        (EntropyLDiversity.of(3.0), 3),
        (EntropyLDiversity.of(2.5), 3),
        (TCloseness.of(0.1), 1),
    ],
)
def test_fewest_records_of_a_group(model: Model, size: int) -> None:
    assert model.minimum_size == size


@given(st.integers(2, 500), st.integers(1, 400))
def test_tolerance_covers_the_rounding_of_an_entropy(m: int, times: int) -> None:
    """m values, `times` records each, have entropy exactly ln m; floats come near enough."""
    n = m * times
    measured = math.exp(math.log(n) - sum([times * math.log(times)] * m) / n)
    assert EntropyLDiversity.of(m).satisfied_by(measured)


@given(st.integers(3, 100_000))
def test_tolerance_is_below_the_smallest_real_difference(n: int) -> None:
    """One record of n off an even distribution of two values is a real difference."""
    half = n // 2
    counts = (half, half) if n % 2 else (half - 1, half + 1)
    total = sum(counts)
    uneven = (counts[0] - 1, counts[1] + 1)
    if min(uneven) > 0:
        entropy = -sum(c / total * math.log(c / total) for c in uneven)
        assert not EntropyLDiversity.of(2).satisfied_by(math.exp(entropy))
    assert TOLERANCE < 1 / 100_000**2


def test_t_is_named_with_its_distance() -> None:
    assert TCloseness.of(0.2, "ordered").label == "t_closeness t = 0.2 (ordered distance)"
