"""The class size of a sample from which a population of k is concluded."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from pganon.loading import policy_from
from pganon.risk.k_map import sample_k
from tests.support.oracles.published import chance_of
from tests.support.sources.builders import policy


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize(
    ("fraction", "k", "least"), [(0.1, 5, 3), (0.1, 10, 4), (0.1, 50, 10), (0.01, 10, 2)]
)
def test_known_sizes(fraction: float, k: int, least: int, truncated: bool) -> None:
    """ARX has the same, but for Poisson one more."""
    assert sample_k(k, fraction, 0.05, truncated=truncated) == least


def test_it_is_the_first_size_that_is_unlikely_enough() -> None:
    cases = product((2, 3, 17, 60), (1e-9, 0.004, 0.3, 0.99), (1e-6, 0.01, 0.5), (False, True))
    for k, fraction, significance, truncated in cases:
        wanted = {"k": k, "sampling_fraction": fraction}
        wanted["estimator"] = "zero_truncated" if truncated else "poisson"
        sizes = range(1, k + 1)
        unlikely = [n for n in sizes if n == k or chance_of(n, wanted) <= significance]
        found = sample_k(k, fraction, significance, truncated=truncated)
        assert found == unlikely[0], (k, fraction, significance, truncated)


def test_large_numbers() -> None:
    """Near the normal distribution, of which 5 % are above 1.645 deviations."""
    mean = 100_000 * Fraction(1, 4)
    found = sample_k(100_000, 0.25, 0.05, truncated=True)
    assert found == pytest.approx(float(mean) + 1.645 * float(mean) ** 0.5, rel=1e-3)


def test_the_requirement_is_k_anonymity() -> None:
    declared = {"model": "k_map", "k": 10, "sampling_fraction": 0.1, "significance": 0.05}
    read = policy_from(policy({"x": "q", "s": "i"}, [declared], method={"name": "mondrian"}))
    (model,) = read.method.measures(read.privacy[0])
    assert model.label == "k_anonymity k = 4"
