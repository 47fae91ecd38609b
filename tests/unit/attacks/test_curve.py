"""Curves of who chooses whom to attack: golden figures, and all points by brute force."""

from __future__ import annotations

import random
from math import log10, sqrt

import pytest

from pganon.attacks.curve import (
    FEWEST,
    Choice,
    Guesses,
    certain,
    chosen,
    coefficient,
    curve,
    loss,
    worst_value,
)
from pganon.attacks.intervals import Difference

FIGURES = [
    (1, 0.1, 0.984375),
    (1, 0.01, 0.875),
    (1, 0.001, 0.578125),
    (0.8, 0.02, 0.738699),
    (1, 0.0001, 0.0001),
    (0.2, 0.00005, 0.00005),
]


@pytest.mark.parametrize(("precision", "recall", "expected"), FIGURES)
def test_precision_and_recall_together(precision: float, recall: float, expected: float) -> None:
    assert coefficient(precision, recall) == pytest.approx(expected, abs=5e-7)


def test_loss() -> None:
    assert loss(0.9, 0.5) == pytest.approx(0.8)
    assert loss(0.3, 0.5) == pytest.approx(-0.4)


def all_alike(right: int, n: int = 1000) -> list[Guesses]:
    return [Guesses("=a", 0.5, n, right)]


def sure(n: int, right: int, of: int = 1000) -> list[Guesses]:
    """So many certain guesses, which are right."""
    return [Guesses("=a", 1, n, n), Guesses("=a", 0.3, of - n, right)]


PLANTED = [
    (all_alike(1000), 300, (0.997264, 0.994296, 1)),
    (all_alike(300), 300, (0, -0.084542, 0.077952)),
    (sure(50, 95), 100, (0.923363, 0.882591, 0.962479)),
    (sure(34, 97), 100, (0.034371, None, None)),
]


@pytest.mark.parametrize(("attack", "base", "expected"), PLANTED)
def test_planted(
    attack: list[Guesses], base: int, expected: tuple[float, float | None, float | None]
) -> None:
    found = chosen(attack, {"groups": all_alike(base)}, 1000)
    assert found is not None
    got = found.loss
    for figure, wanted in zip((got.value, got.low, got.high), expected, strict=True):
        assert wanted is None or figure == pytest.approx(wanted, abs=5e-7)


def test_narrow_takes_35_certain_guesses_and_381_of_which_half_are_right() -> None:
    def narrow(right: int, n: int) -> bool:
        (point,) = curve(all_alike(right, n))
        return point.high - point.low < 0.1

    assert [narrow(34, 34), narrow(35, 35)] == [False, True]
    assert [narrow(n // 2, n) for n in (379, 381)] == [False, True]
    assert FEWEST > 381


def brute(
    attack: list[tuple[float, bool]], base: list[tuple[float, bool]], z: float = 1.959963984540054
) -> tuple[float, float, float]:
    """From the definition: every confidence as a threshold, over single guesses."""

    def points(guesses: list[tuple[float, bool]]) -> list[tuple[float, list[float]]]:
        found = []
        for least in {confidence for confidence, _ in guesses}:
            right = [r for confidence, r in guesses if confidence >= least]
            n, s = len(right), sum(right)
            p = s / n
            middle = (p + z * z / (2 * n)) / (1 + z * z / n)
            half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            recall = n / len(guesses)
            factor = 1 - (log10(recall) / -4) ** 3
            low = 0.0 if s == 0 else middle - half
            high = 1.0 if s == n else middle + half
            found.append((2 * half, [factor * x for x in (middle, low, high)]))
        return found

    ours = max((v for width, v in points(attack) if width < 0.1), key=lambda v: v[0])
    theirs = max((v for width, v in points(base) if width < 0.1), key=lambda v: v[0])
    return (
        (ours[0] - theirs[0]) / (1 - theirs[0]),
        (ours[1] - theirs[2]) / (1 - theirs[2]),
        (ours[2] - theirs[1]) / (1 - theirs[1]),
    )


def gathered(single: list[tuple[float, bool]]) -> list[Guesses]:
    found: dict[float, list[bool]] = {}
    for confidence, right in single:
        found.setdefault(confidence, []).append(right)
    return [Guesses("=a", c, len(r), sum(r)) for c, r in found.items()]


@pytest.mark.parametrize("seed", range(20))
def test_every_point_of_both_curves(seed: int) -> None:
    rng = random.Random(seed)
    ties = rng.choice([2, 10, 1000])

    def drawn(skill: float) -> list[tuple[float, bool]]:
        found = []
        for _ in range(500):
            confidence = rng.randrange(1, ties + 1) / ties
            found.append((confidence, rng.random() < skill * confidence))
        return found

    attack, base = drawn(rng.random()), drawn(rng.random() / 2)
    found = chosen(gathered(attack), {"groups": gathered(base)}, 500)
    assert found is not None
    got = (found.loss.value, found.loss.low, found.loss.high)
    assert got == pytest.approx(brute(attack, base))
    rng.shuffle(attack)
    shuffled = chosen(gathered(attack)[::-1], {"groups": gathered(base)[::-1]}, 500)
    assert shuffled == found


def test_the_best_baseline_counts_and_one_without_a_narrow_point_is_not_nothing() -> None:
    bases = {"groups": all_alike(100), "naive_bayes": all_alike(400), "model": all_alike(200)}
    found = chosen(all_alike(600), bases, 1000)
    assert found is not None
    assert found.baseline == "naive_bayes"
    # Of 60 guesses the interval is wide, and they say something all the same.
    wide = chosen(all_alike(600), {"groups": all_alike(30, 60)}, 1000)
    assert wide is not None
    assert wide.loss.value < (found.loss.value + 0.6)
    assert wide.loss.value < loss(0.6, 0)
    nothing = chosen(all_alike(600), {"groups": []}, 1000)
    assert nothing is not None
    assert (nothing.base, nothing.difference) == (None, None)
    assert nothing.loss.value == pytest.approx(0.5996, abs=1e-3)


def test_none_of_few_targets_and_where_anybody_guesses_most() -> None:
    assert chosen(all_alike(399, 399), {"groups": all_alike(10, 399)}, 399) is None
    assert chosen(all_alike(400, 400), {"groups": all_alike(10, 400)}, 400) is not None
    assert chosen(all_alike(1000), {"groups": all_alike(899)}, 1000) is not None
    assert chosen(all_alike(1000), {"groups": all_alike(905)}, 1000) is None
    assert chosen([], {"groups": all_alike(10)}, 1000) is None


def test_as_many_guesses_of_the_baseline() -> None:
    base = [Guesses("=a", 0.9, 30, 20), Guesses("=b", 0.5, 70, 7), Guesses("=c", 0.1, 900, 90)]
    found = chosen(sure(50, 95), {"groups": base}, 1000)
    assert found is not None
    assert found.base is not None
    # All of the 30, and 20 of the 70 that are alike.
    assert (found.base.successes, found.base.attempts) == (22, 50)
    assert found.attack.share == 1
    assert found.difference is not None
    assert found.difference.value == pytest.approx(1 - 0.44)


def test_of_two_values_one_is_guessed_alone() -> None:
    """Nine of ten have one value: who guesses it is right, and nothing is lost."""
    attack = [Guesses("=rare", 1, 80, 80), Guesses("=usual", 0.9, 920, 900)]
    base = [Guesses("=rare", 0.6, 80, 40), Guesses("=usual", 0.95, 920, 900)]
    assert chosen(attack, {"groups": base}, 1000) is None
    found = worst_value(attack, {"groups": base}, 1000)
    assert found is not None
    assert (found.value, found.attack.attempts) == ("=rare", 80)
    assert found.base is not None
    assert found.base.successes == 40
    alone = chosen(attack[:1], {"groups": base[:1]}, 1000)
    assert alone is not None
    # Of two values, the intervals are wider.
    assert found.loss.low < alone.loss.low < alone.loss.high < found.loss.high
    assert worst_value([], {"groups": base}, 1000) is None


def test_twenty_values_are_tried() -> None:
    """Those that are guessed most often."""

    usual = [Guesses(f"={n:02}", 0.5, 2000 - n, 900) for n in range(20)]
    attack = [*usual, Guesses("=20", 1, 200, 200)]
    base = [*usual, Guesses("=20", 1, 200, 10)]
    found = worst_value(attack, {"groups": base}, 60000)
    assert found is not None
    assert found.value != "=20"
    found = worst_value(attack[1:], {"groups": base}, 60000)
    assert found is not None
    assert found.value == "=20"


def test_certain() -> None:
    found = certain(sure(50, 95))
    assert found is not None
    assert (found.successes, found.attempts) == (50, 50)
    assert certain(all_alike(10)) is None


def test_nothing_is_lost_by_guesses_that_know_nothing() -> None:
    """Of independent guesses the interval always has 0."""
    rng = random.Random(7)
    losses = []
    for _ in range(60):
        both = [
            gathered([(rng.random(), rng.random() < 0.3) for _ in range(400)]) for _ in range(2)
        ]
        found = chosen(both[0], {"groups": both[1]}, 400)
        assert isinstance(found, Choice)
        assert isinstance(found.loss, Difference)
        assert found.loss.low < 0 < found.loss.high
        losses.append(found.loss.value)
    assert abs(sum(losses) / len(losses)) < 0.03
