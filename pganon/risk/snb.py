"""Sliced negative binomial (Chen and Keller-McNulty 1998): uniques of a superpopulation.

a and b are of the negative binomial distribution, K is the number of classes of the population, f
the sampling fraction, d = (1 - f)(1 - b) and w = 1 - d = b + f (1 - b). Expected classes of one and
two records are

    n_1 = K f (b / w)^a (1 + a d / w)
    n_2 = K f^2 a b^a (1 - b) / 2 (2 - (1 - a) d) / w^(a + 2)

and U = K b^a. The quotient of both is, for fixed b, a quadratic in a with one positive root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.risk.estimate import Estimate, Reason, estimated, only
from pganon.risk.roots import zeros
from pganon.risk.sample import Sample

NAME = "snb"
Floats = NDArray[np.float64]

_LOGITS = np.linspace(np.log(1e-12), -np.log(1e-12), 4001)


@dataclass(frozen=True)
class Parameters:
    """Of the negative binomial distribution; `classes` are those of the population."""

    a: float
    b: float
    classes: float


def snb(sample: Sample) -> Estimate:
    """K b^a where both equations hold."""
    if not sample.classes_of(1):
        return Estimate(NAME, 0.0)
    found = parameters(sample)
    if isinstance(found, Reason):
        return Estimate(NAME, None, found)
    return estimated(NAME, found.classes * found.b**found.a, sample)


def parameters(sample: Sample) -> Parameters | Reason:
    """The parameters of the one solution, or why there is none."""
    if sample.number_of_classes == sample.records:
        return Reason.ALL_UNIQUE
    if not sample.classes_of(2):
        return Reason.NO_PAIRS
    equation = _Equation(sample, classes(sample))
    logit = only(zeros(equation.excess, _LOGITS))
    if isinstance(logit, Reason):
        return logit
    solution = np.array([logit])
    b, _ = _complements(solution)
    return Parameters(float(equation.a(solution)[0]), float(b[0]), equation.classes)


def classes(sample: Sample) -> float:
    """K, by a jackknife of Haas and Stokes (1998)."""
    j, f = sample.sizes, sample.fraction
    kept, squared = np.log1p(-f), np.log1p(-f * f)

    def total(terms: Floats) -> float:
        return float(terms @ sample.classes)

    a = total(j * f * f * np.exp((j - 1) * squared))
    b = total(-np.exp(j * squared) * np.expm1(-j * np.log1p(f)))
    c = total(np.exp(j * kept))
    d = total(j * f * np.exp((j - 1) * kept))
    return sample.number_of_classes + sample.classes_of(1) * a / b * (c / d) ** 2


def _complements(logit: Floats) -> tuple[Floats, Floats]:
    """b and 1 - b, each to full precision."""
    return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(logit))


@dataclass(frozen=True)
class _Equation:
    sample: Sample
    classes: float

    def a(self, logit: Floats) -> Floats:
        """The positive root of the quadratic."""
        b, rest = _complements(logit)
        f = self.sample.fraction
        d, w = (1 - f) * rest, b + f * rest
        ones = f * rest * self.sample.classes_of(1)
        twos = 2 * w * self.sample.classes_of(2)
        square, linear, constant = ones * d, ones * (2 - d) - twos * d, twos * w
        sum_of_both = np.abs(linear) + np.sqrt(linear * linear + 4 * square * constant)
        return np.where(linear > 0, 2 * constant / sum_of_both, sum_of_both / (2 * square))

    def excess(self, logit: Floats) -> Floats:
        """Logarithm of n_1 as it is expected, minus that of n_1 as it is."""
        b, rest = _complements(logit)
        f, a = self.sample.fraction, self.a(logit)
        d, w = (1 - f) * rest, b + f * rest
        expected = np.log(self.classes * f) + a * np.log(b / w) + np.log1p(a * d / w)
        return expected - np.log(self.sample.classes_of(1))
