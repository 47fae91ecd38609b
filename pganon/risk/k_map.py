"""The class size of a sample from which a population of at least k is concluded.

El Emam and Dankar, *Protecting privacy using k-anonymity*, JAMIA 2008. The records of a class that
has k people of the population are Poisson with the mean k times the sampling fraction.
"""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache
def sample_k(k: int, fraction: float, significance: float, *, truncated: bool) -> int:
    """Fewest records that a class of k people has with a probability of at most `significance`.

    At most k: so many records are so many people.

    Args:
        k: people of the population, 2 to 100,000.
        fraction: of the population that is in the sample, at least 1e-9, below 1.
        significance: at least 1e-6, below 1, which is far above the rounding of the sums.
        truncated: given that the class has a record.
    """
    mean = k * fraction
    among = -math.expm1(-mean) if truncated else 1.0
    fewer = 0.0
    for size in range(1, k):
        fewer += math.exp((size - 1) * math.log(mean) - mean - math.lgamma(size))
        if 1 - fewer <= significance * among:
            return size
    return k
