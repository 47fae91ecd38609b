"""Sums and zeros that the estimators are made of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pganon.risk.pitman import harmonic, log_gamma_ratio
from pganon.risk.roots import zeros


@pytest.mark.parametrize("start", [1e-9, 0.3, 1.0, 9.9, 10.0, 1e3, 1e12])
@pytest.mark.parametrize("terms", [0, 1, 2, 9, 10, 11, 1000])
def test_harmonic_sums(start: float, terms: int) -> None:
    found = harmonic(np.array([start]), terms)[0]
    exact = math.fsum(1 / (start + i) for i in range(terms))
    assert found == pytest.approx(exact, rel=4e-15, abs=0)


@pytest.mark.parametrize("x", [0.01, 0.5, 9.9, 10.1, 40.0, 3e8, 4e18])
@pytest.mark.parametrize("step", [0.25, 0.9995])
def test_ratios_of_gamma_functions(x: float, step: float) -> None:
    there = log_gamma_ratio(x, step)
    assert there + log_gamma_ratio(x + step, 1 - step) == pytest.approx(math.log(x), abs=2e-14)
    assert log_gamma_ratio(x + step, -step) == pytest.approx(-there, abs=2e-14)


def test_zeros_of_a_cubic() -> None:
    found = zeros(lambda x: (x - 0.1) * (x - 0.2) * (x - np.pi), np.linspace(-1, 4, 61))
    assert found == pytest.approx([0.1, 0.2, math.pi], rel=1e-14)
    assert zeros(lambda x: x * x + 1, np.linspace(-1, 1, 5)) == []
