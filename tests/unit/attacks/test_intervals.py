"""Intervals against figures of the papers, and against exact coverage."""

from __future__ import annotations

from math import comb

import pytest

from pganon.attacks.findings import Attempt, Counted, findings
from pganon.attacks.intervals import difference, rate

# Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
SINGLE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
]

# The same, "Interval estimation for the difference between independent proportions", table II,
# method 10.
BETWEEN = [
    ((56, 70), (48, 80), 0.0524, 0.3339),
    ((9, 10), (3, 10), 0.1705, 0.8090),
    ((10, 10), (0, 20), 0.6791, 1.0),
    ((10, 10), (0, 10), 0.6075, 1.0),
    ((5, 56), (0, 29), -0.0381, 0.1926),
    ((0, 10), (0, 20), -0.1611, 0.2775),
]


@pytest.mark.parametrize(("successes", "attempts", "low", "high"), SINGLE)
def test_single_shares(successes: int, attempts: int, low: float, high: float) -> None:
    found = rate(successes, attempts)
    assert found is not None
    assert found.share == successes / attempts
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    other = rate(attempts - successes, attempts)
    assert other is not None
    assert (other.low, other.high) == (pytest.approx(1 - found.high), pytest.approx(1 - found.low))


@pytest.mark.parametrize(("one", "other", "low", "high"), BETWEEN)
def test_differences(one: tuple[int, int], other: tuple[int, int], low: float, high: float) -> None:
    found = difference(rate(*one), rate(*other))
    assert found is not None
    assert found.value == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_no_attempt_has_no_share() -> None:
    assert rate(0, 0) is None
    assert difference(None, rate(1, 2)) is None
    assert difference(rate(1, 2), None) is None


def test_an_interval_holds_about_as_often_as_it_says() -> None:
    """Of all outcomes of 40 attempts, for shares that are not at an end."""
    held = []
    for share in (step / 100 for step in range(10, 91)):
        chance = 0.0
        for successes in range(41):
            found = rate(successes, 40)
            assert found is not None
            if found.low <= share <= found.high:
                chance += comb(40, successes) * share**successes * (1 - share) ** (40 - successes)
        held.append(chance)
    assert min(held) > 0.91
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.01)


def test_findings_compare_within_the_shadow_release() -> None:
    attempt = Attempt("inference", "quasi_identifiers", "disease")
    [found] = findings([(attempt, Counted(7, 10, 9, 9))], [(attempt, Counted(56, 70, 48, 80))])
    assert (found.attack, found.column) == ("inference", "disease")
    assert (found.release, found.members, found.control) == (
        rate(7, 10),
        rate(56, 70),
        rate(48, 80),
    )
    assert found.difference == difference(found.members, found.control)
