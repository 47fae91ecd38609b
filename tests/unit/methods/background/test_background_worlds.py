"""What the ways to make classes against background knowledge tell, over all worlds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.oracles.background_search import Beta, Num, Search, Table
from tests.support.oracles.background_worlds import (
    BetaPrimacy,
    Division,
    Select,
    Trimmed,
    above,
    certain_of_missing,
    deviation,
    learnt,
    primacy,
)

TWO, THREE = ((5, 3), 0.6, 3), ((3, 3, 2), 1.0, 2)
DIVIDED = ((2, 2, 2, 2), 3.0, 2)
"""Eight records; here `public` divides."""


def rule(counts: tuple[int, ...], beta: float) -> Beta:
    return Beta(beta, [[n / sum(counts) for n in counts]])


@pytest.mark.parametrize(
    ("case", "division"), [(TWO, "none"), (TWO, "public"), (THREE, "public"), (DIVIDED, "public")]
)
@pytest.mark.slow
def test_7_5_random_classes_tell_their_histograms_and_no_more(
    case: tuple[tuple[int, ...], float, int], division: Division
) -> None:
    counts, beta, k = case
    found = learnt(BetaPrimacy(rule(counts, beta), k, "random", division), counts)
    assert all(
        release.posteriors[row] == release.shares(row)
        for release in found
        for row in release.posteriors
    )
    assert above(found, rule(counts, beta)) == (0, 0)
    if case is DIVIDED:
        # Never a class across the middle: blocks are halves.
        halves = {frozenset(row // 4 for row in rows) for r in found for rows, _ in r.seen}
        assert halves == {frozenset({0}), frozenset({1})}


@pytest.mark.parametrize(
    ("case", "most"),
    [(TWO, Fraction(4, 15)), (THREE, Fraction(1, 6))],
    ids=["7.5 a5 b3", "7.5 a3 b3 c2"],
)
def test_eligible_blocks_tell_more(
    case: tuple[tuple[int, ...], float, int], most: Fraction
) -> None:
    counts, beta, k = case
    found = learnt(BetaPrimacy(rule(counts, beta), k, "random", "eligible"), counts)
    assert 0 < deviation(found) == most <= Fraction(1, 3)


@pytest.mark.parametrize(
    ("case", "select", "expected"),
    [
        pytest.param(TWO, "sweep", (0.089, 0.089), id="7.5 a5 b3 sweep 9 %, all certain"),
        pytest.param(TWO, "nearest", (0.244, 0.150), id="7.5 a5 b3 nearest, 15 % certain"),
        pytest.param(THREE, "sweep", (0.038, 0.032), id="7.5 a3 b3 c2 sweep 3.6 %"),
        pytest.param(THREE, "nearest", (0.167, 0.087), id="7.5 a3 b3 c2 nearest"),
    ],
)
def test_the_curve_ties_records_to_values(
    case: tuple[tuple[int, ...], float, int], select: Select, expected: tuple[float, float]
) -> None:
    """A limit that the documentation states. Shares of records above the limit, and certain."""
    counts, beta, k = case
    found = learnt(BetaPrimacy(rule(counts, beta), k, select), counts)
    assert above(found, rule(counts, beta)) == pytest.approx(expected, abs=0.0005)


AGES = [(0.0,), (1.01,), (2.03,), (3.07,), (4.15,), (5.31,), (6.63,)]
"""Far enough from each other, and no two distances are equal."""


@pytest.mark.parametrize(
    ("counts", "beta", "k", "post", "expected"),
    [
        ((4, 3), 0.5, 2, "agg", (0.200, 0.127)),
        ((4, 3), 0.5, 2, "inc", (0.200, 0.127)),
        ((3, 2, 2), 0.6, 3, "agg", (0.061, 0.012)),
        ((3, 2, 2), 0.5, 3, "inc", (0.094, 0.012)),
        ((4, 3), 0.6, 3, "agg", (0.106, 0.106)),
    ],
)
def test_7_5_k_primacy_can_be_replayed(
    counts: tuple[int, ...], beta: float, k: int, post: str, expected: tuple[float, float]
) -> None:
    """A limit that the documentation states: 6 to 21 % above, up to 14 % certain."""
    limits = rule(counts, beta)
    algorithm = primacy(lambda world: Search(Table((Num(0, 6.63),), AGES, world), k, limits, post))
    found = above(learnt(algorithm, counts), limits)
    assert found == pytest.approx(expected, abs=0.0005)
    assert 0.06 <= found[0] <= 0.21
    assert found[1] <= 0.14


@pytest.mark.parametrize(
    ("counts", "beta", "expected"),
    [
        pytest.param((4, 4), 0.4, 0.8, id="7.6 a4 b4 trim 80 %"),
        pytest.param((3, 3, 2), 0.6, 0.1475, id="7.6 a3 b3 c2 trim 15 %"),
    ],
)
def test_who_is_trimmed_is_exposed(counts: tuple[int, ...], beta: float, expected: float) -> None:
    """A limit that the documentation states. Two clusters of four."""
    found = learnt(Trimmed(rule(counts, beta), 2, [range(4), range(4, 8)]), counts)
    assert certain_of_missing(found) == pytest.approx(expected, abs=0.0001)
