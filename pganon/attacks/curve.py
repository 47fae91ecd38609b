"""Attackers who choose whom they attack: how precise they are, and of how many people.

A release loses as much anonymity as they do better than somebody who has not seen their targets in
it, on the scale of the anonymity loss coefficient (of the package of that name, by Paul Francis).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log10
from statistics import NormalDist
from typing import NamedTuple

from pganon.attacks.intervals import Difference, Rate, Z, difference, rate

LEAST_RECALL = 0.0001
NARROW = 0.1
"""Precision counts if its interval is narrower."""

FEWEST = 400
"""Targets: of fewer no interval would be narrow if half of the guesses are right."""

OBVIOUS = 0.9
"""What a baseline reaches if anybody guesses most."""

MOST_VALUES = 20
"""Values that an attacker tries one by one."""


class Guesses(NamedTuple):
    """Guesses of one value with the same confidence, and how many of them are right."""

    value: str
    confidence: float
    n: int
    right: int


@dataclass(frozen=True)
class Choice:
    """Attackers who guess where they are surest.

    Attributes:
        value: key of the one that they guess; None if they guess whatever is likely.
        baseline: what never saw the targets, and does best: `groups`, `naive_bayes` or `model`.
        loss: the anonymity loss coefficient. 0: what is predicted of strangers, too; 1: the source.
        attack: the guesses that are surest, where precision and recall together are highest.
        base: as many of the baseline that are surest; None if it has none.
        difference: of the two.
    """

    value: str | None
    baseline: str
    loss: Difference
    attack: Rate
    base: Rate | None
    difference: Difference | None


def coefficient(precision: float, recall: float) -> float:
    """Of precision and recall together (PRC)."""
    if recall <= LEAST_RECALL:
        return recall
    return precision * (1 - (log10(recall) / log10(LEAST_RECALL)) ** 3)


def loss(attack: float, base: float) -> float:
    """The anonymity loss coefficient (ALC)."""
    return (attack - base) / (1 - base)


def curve(guesses: Iterable[Guesses], z: float = Z) -> list[Rate]:
    """A point for each confidence: all guesses that are at least as sure."""
    found: list[Rate] = []
    n = right = 0
    ordered = sorted(guesses, key=lambda one: -one.confidence)
    for _, same in groupby(ordered, key=lambda one: one.confidence):
        for one in same:
            n, right = n + one.n, right + one.right
        point = rate(right, n, z)
        assert point is not None
        found.append(point)
    return found


def _three(point: Rate | None, targets: int) -> tuple[float, float, float]:
    """The coefficient of precision and recall, with both ends."""
    if point is None:
        return 0.0, 0.0, 0.0
    recall = point.attempts / targets
    # The middle of Wilson's interval: it is lower than the share where guesses are few.
    ends = ((point.low + point.high) / 2, point.low, point.high)
    value, low, high = (coefficient(precision, recall) for precision in ends)
    return value, low, high


def _best(points: Sequence[Rate], targets: int) -> Rate | None:
    """The highest one of those that are narrow."""
    narrow = [point for point in points if point.high - point.low < NARROW]
    return max(narrow, key=lambda point: _three(point, targets)[0], default=None)


def chosen(
    attack: Iterable[Guesses],
    baselines: Mapping[str, Iterable[Guesses]],
    targets: int,
    value: str | None = None,
    z: float = Z,
) -> Choice | None:
    """None of too few guesses, and where anybody guesses most."""
    best = _best(curve(attack, z), targets)
    if best is None or targets < FEWEST:
        return None
    bases: list[tuple[tuple[float, float, float], str, list[Rate]]] = []
    for name, guesses in baselines.items():
        points = curve(guesses, z)
        narrowest = min(points, key=lambda point: point.high - point.low, default=None)
        bases.append((_three(_best(points, targets) or narrowest, targets), name, points))
    base, name, points = max(bases, key=lambda one: one[0][0])
    if base[0] >= OBVIOUS:
        return None
    own = _three(best, targets)
    pairs = ((own[0], base[0]), (own[1], base[2]), (own[2], base[1]))
    known = _surest(points, best.attempts, z)
    return Choice(
        value, name, Difference(*[loss(*pair) for pair in pairs]), best, known,
        difference(best, known),
    )  # fmt: skip


def _surest(points: Sequence[Rate], number: int, z: float) -> Rate | None:
    """So many guesses; of the last ones, which are alike, as many are right as on average."""
    before = (0, 0)
    for point in points:
        if point.attempts >= number:
            share = (number - before[0]) / (point.attempts - before[0])
            return rate(round(before[1] + share * (point.successes - before[1])), number, z)
        before = (point.attempts, point.successes)
    return points[-1] if points else None


def worst_value(
    attack: Sequence[Guesses], baselines: Mapping[str, Sequence[Guesses]], targets: int
) -> Choice | None:
    """The same of who guesses one value alone: that of which the loss is surest.

    Of m values that were tried, intervals hold for all of them together.
    """
    often: Counter[str] = Counter()
    for one in attack:
        often[one.value] += one.n
    values = sorted(often, key=lambda value: (-often[value], value))[:MOST_VALUES]
    z = NormalDist().inv_cdf(1 - 0.025 / len(values)) if values else Z
    found = (
        chosen(
            [one for one in attack if one.value == value],
            {
                name: [one for one in guesses if one.value == value]
                for name, guesses in baselines.items()
            },
            targets,
            value,
            z,
        )
        for value in values
    )
    return max(filter(None, found), key=lambda one: one.loss.low, default=None)


def certain(attack: Iterable[Guesses]) -> Rate | None:
    """Guesses without any doubt."""
    return next((point for point in curve(one for one in attack if one.confidence >= 1)), None)
