"""Estimators of population uniques by their definitions: sums term by term, exact fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

Frequencies = Mapping[int, int]


def zayatz(frequencies: Frequencies, population: int) -> Fraction:
    """Uniques of the sample that the population has too, projected to the population.

    A class of j people has exactly one of them in the sample with the hypergeometric probability.
    """
    records = sum(size * n for size, n in frequencies.items())
    alone = {
        size: Fraction(
            size * math.comb(population - size, records - 1), math.comb(population, records)
        )
        for size in frequencies
    }
    drawn = sum(n * alone[size] for size, n in frequencies.items())
    of_one = frequencies[1] * alone[1] / drawn
    return frequencies[1] * of_one / Fraction(records, population)


def pitman_likelihood(frequencies: Frequencies, theta: float, alpha: float) -> float:
    """Logarithm of Pitman's sampling formula, without what no parameter is in."""
    classes = sum(frequencies.values())
    records = sum(size * n for size, n in frequencies.items())
    total = sum(math.log(theta + i * alpha) for i in range(1, classes))
    total -= sum(math.log(theta + i) for i in range(1, records))
    return total + sum(
        n * sum(math.log(i - alpha) for i in range(1, size)) for size, n in frequencies.items()
    )


def pitman_mean(theta: float, alpha: float, population: int) -> float:
    """Expected classes of one person, person by person.

    The next of i people is new with probability (theta + alpha u) / (theta + i). Each of the
    classes of one is joined with probability (1 - alpha) / (theta + i).
    """
    classes = alone = 0.0
    for i in range(population):
        new = 1.0 if i == 0 else (theta + alpha * classes) / (theta + i)
        alone += new - (alone * (1 - alpha) / (theta + i) if i else 0)
        classes += new
    return alone


def snb_expected(
    a: float, b: float, classes: float, records: int, population: int
) -> tuple[float, float]:
    """Expected classes of one and of two records."""
    f = records / population
    d = (1 - f) * (1 - b)
    w = 1 - d
    one = classes * f * (b / w) ** a * (1 + a * d / w)
    two = classes * f * f * a * b**a * (1 - b) / 2 * (2 - (1 - a) * d) / w ** (a + 2)
    return one, two


def classes_of_population(frequencies: Frequencies, population: int) -> float:
    """K of the sliced negative binomial estimator."""
    records = sum(size * n for size, n in frequencies.items())
    f = records / population
    a = sum(n * j * f * f * (1 - f * f) ** (j - 1) for j, n in frequencies.items())
    b = sum(n * (1 - f) ** j * ((1 + f) ** j - 1) for j, n in frequencies.items())
    c = sum(n * (1 - f) ** j for j, n in frequencies.items())
    d = sum(n * j * f * (1 - f) ** (j - 1) for j, n in frequencies.items())
    return sum(frequencies.values()) + frequencies[1] * a / b * (c / d) ** 2
