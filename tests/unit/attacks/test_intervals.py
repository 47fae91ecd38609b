"""Intervals against figures of the papers, and against exact coverage."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import pytest

from pganon.attacks.curve import Guesses
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
    shadow = [(attempt, Counted(56, 70, 48, 80))]
    [found] = findings([(attempt, Counted(7, 10, 9, 9))], shadow, {}, ())
    assert (found.attack, found.column) == ("inference", "disease")
    assert (found.release, found.members, found.control) == (
        rate(7, 10),
        rate(56, 70),
        rate(48, 80),
    )
    assert found.difference == difference(found.members, found.control)
    assert (found.choice, found.certain, found.posteriors) == (None, None, ())


def test_the_surest_guesses_are_compared_with_all_who_know_strangers() -> None:
    """Of the same number of people. Who knows others of a group is compared with the same ones."""
    names = ("quasi_identifiers", "others_known", "correlations")
    sure = (Guesses("=a", 1.0, 500, 450),)

    def found(right: int, column: str = "disease") -> list[tuple[Attempt, Counted]]:
        return [
            (Attempt("inference", name, column), Counted(9, 9, n, 500, (Guesses("=a", 1, 500, n),)))
            for name, n in zip(names, (right, 400, right + 10), strict=True)
        ]

    whole = [(attempt, Counted(450, 500, 0, 0, sure)) for attempt, _ in found(0)]
    # Another column is easier to guess, and is another one.
    made = findings([*whole, *whole], [*found(100), *found(480, "pay")], {}, ())[:3]
    assert {one.choice and one.choice.baseline for one in made} == {"naive_bayes"}
    assert made[0].value_choice is not None
    model = {"disease": [Guesses("=a", 0.5, 500, 200)]}
    made = findings(whole, found(100), model, ())
    assert [one.choice and one.choice.baseline for one in made] == ["model"] * 3
    assert made[1].certain == rate(450, 500)
    # Whom nothing published is about has no guess.
    less = [(attempt, replace(counted, control_attempts=499)) for attempt, counted in found(100)]
    assert [one.choice for one in findings(whole, less, {}, ())] == [None] * 3


def test_what_membership_tells_of_lists() -> None:
    attempt = Attempt("membership", "list")
    shadow = [(attempt, Counted(80, 100, 20, 100))]
    [found] = findings([(attempt, Counted(100, 100, 0, 0))], shadow, {}, (0.5, 0.1, 1, 0))
    assert [one.prior for one in found.posteriors] == [0.5, 0.1, 1, 0]
    chances = [one.chance for one in found.posteriors]
    assert chances == pytest.approx([0.8, 0.08 / 0.26, 1, 0])
    [found] = findings(
        [(attempt, Counted(1, 1, 0, 0))], [(attempt, Counted(0, 9, 0, 9))], {}, (0.3,)
    )
    assert found.posteriors[0].chance == 0.3
