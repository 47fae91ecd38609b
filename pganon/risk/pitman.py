"""Pitman's sampling formula (Hoshino 2001): parameters of maximum likelihood, and its mean.

Sums and products of long progressions are taken without the cancellation of gamma functions. The
series are those of Abramowitz and Stegun (1964), 6.1.41 and 6.3.18, as differences. They are used
from :data:`ENOUGH` on, where what they leave out is below the rounding of float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.risk.estimate import Estimate, Reason, estimated, only
from pganon.risk.roots import falling_zeros, zeros
from pganon.risk.sample import Sample

ENOUGH = 10
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def harmonic(start: Floats, terms: Floats | float) -> Floats:
    """Sums of 1 / (start + i) for i from 0 to terms - 1.

    Args:
        start: above 0.
        terms: whole numbers from 0; broadcast with `start`.
    """
    start, terms = np.broadcast_arrays(start, terms)
    total = np.zeros(start.shape)
    for i in range(ENOUGH):
        total += np.where(i < terms, 1 / (start + i), 0.0)
    first = start + ENOUGH
    last = np.maximum(start + terms, first)
    total += np.log1p((last - first) / first) + _below_log(first) - _below_log(last)
    return total


def _below_log(x: Floats) -> Floats:
    """log(x) - digamma(x)."""
    inverse = 1 / x
    square = inverse * inverse
    series = np.zeros(x.shape)
    for coefficient in reversed(_DIGAMMA):
        series = (series + coefficient) * square
    return inverse / 2 + series


def log_gamma_ratio(x: float, step: float) -> float:
    """log(Gamma(x + step) / Gamma(x)); x and x + step are above 0."""
    if min(x, x + step) < ENOUGH:
        return math.lgamma(x + step) - math.lgamma(x)
    moved = x + step
    total = step * math.log(x) + (moved - 0.5) * math.log1p(step / x) - step
    for power, coefficient in enumerate(_LOG_GAMMA):
        total += coefficient * (moved ** (-2 * power - 1) - x ** (-2 * power - 1))
    return total


NAME = "pitman"
Floats = NDArray[np.float64]

_ALPHAS = np.linspace(0.0005, 0.9995, 400)
_SMALL = 1e-3


@dataclass(frozen=True)
class Parameters:
    """alpha in [0, 1) and theta > -alpha, with `shifted` = theta + alpha, which may be tiny."""

    alpha: float
    shifted: float

    @property
    def theta(self) -> float:
        return self.shifted - self.alpha


def pitman(sample: Sample) -> Estimate:
    """The expected number of classes of one person in a population of N people."""
    if not sample.classes_of(1):
        return Estimate(NAME, 0.0)
    found = parameters(sample)
    if isinstance(found, Reason):
        return Estimate(NAME, None, found)
    return estimated(NAME, mean_uniques(found, sample.population), sample)


def mean_uniques(found: Parameters, population: int) -> float:
    """N Gamma(theta + 1) / Gamma(theta + alpha) * Gamma(theta + N + alpha - 1) / Gamma(theta + N).

    Exact, unlike its limit for large N, Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.
    """
    rest = 1 - found.alpha
    logarithm = log_gamma_ratio(found.shifted, rest)
    logarithm += log_gamma_ratio(found.theta + population, -rest)
    return population * math.exp(logarithm)


def parameters(sample: Sample) -> Parameters | Reason:
    """Where both derivatives of the likelihood are 0; alpha = 0 where it falls everywhere."""
    if sample.number_of_classes == sample.records:
        return Reason.ALL_UNIQUE
    score = Score(sample)
    roots = zeros(score.along_alpha, _ALPHAS)
    if not roots and score.along_alpha(_ALPHAS[:1])[0] < 0:
        roots = [0.0]
    alpha = only(roots)
    if isinstance(alpha, Reason):
        return alpha
    return Parameters(alpha, float(score.shifted(np.array([alpha]))[0]))


@dataclass(frozen=True)
class Score:
    """Derivatives of the log-likelihood; arrays have a value per alpha."""

    sample: Sample

    def shifted(self, alpha: Floats) -> Floats:
        """theta + alpha where the derivative along theta is 0, for given alpha."""

        def derivative(logarithm: Floats) -> Floats:
            shifted = np.exp(logarithm)
            records = harmonic(shifted - alpha + 1, self.sample.records - 1)
            return self._classes(alpha, shifted) - records

        # At e^-40 the first term alone is more than the other sum. With a theta above n^2, u - 1
        # terms add up to less than n - 1.
        highest = 2 * math.log(self.sample.records) + 5
        low, high = np.full(alpha.shape, -40.0), np.full(alpha.shape, highest)
        return np.exp(falling_zeros(derivative, low, high))

    def _classes(self, alpha: Floats, shifted: Floats) -> Floats:
        """sum_{i=1}^{u-1} 1 / (theta + i alpha)."""
        terms = self.sample.number_of_classes - 1
        if not alpha.any():
            return terms / shifted
        return harmonic(shifted / alpha, terms) / alpha

    def along_alpha(self, alpha: Floats) -> Floats:
        """sum_{i=1}^{u-1} i / (theta + i alpha) - sum_j n_j sum_{i=1}^{j-1} 1 / (i - alpha)."""
        shifted = self.shifted(alpha)
        inner = harmonic(1 - alpha[:, None], self.sample.sizes - 1)
        return self.weighted(alpha, shifted) - inner @ self.sample.classes

    def weighted(self, alpha: Floats, shifted: Floats) -> Floats:
        """sum_{i=1}^{u-1} i / (theta + i alpha)."""
        terms = self.sample.number_of_classes - 1.0
        theta = shifted - alpha
        exact = (terms - theta * self._classes(alpha, shifted)) / alpha
        # The difference cancels where alpha is small beside theta: there as a series in e.
        with np.errstate(divide="ignore", invalid="ignore"):
            e = alpha / theta
            series = sum(
                power * (-e) ** (number - 1) for number, power in enumerate(_powers(terms), 1)
            )
            return np.where((theta > 0) & (e * terms < _SMALL), series / theta, exact)


def _powers(m: float) -> tuple[float, ...]:
    """Sums of i, i^2, ..., i^5 for i from 1 to m."""
    pair = m * (m + 1)
    return (
        pair / 2,
        pair * (2 * m + 1) / 6,
        pair * pair / 4,
        pair * (2 * m + 1) * (3 * m * m + 3 * m - 1) / 30,
        pair * pair * (2 * m * m + 2 * m - 1) / 12,
    )
