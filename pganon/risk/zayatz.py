"""Zayatz (1991): uniques of the sample, times the share of them that the population has too."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from pganon.risk.estimate import Estimate, estimated
from pganon.risk.sample import Sample

NAME = "zayatz"
_BLOCK = 1 << 20


def zayatz(sample: Sample) -> Estimate:
    """n_1^2 / sum of n_j P1(j).

    P1(j) is the probability that a class of j people has one of them in the sample. The classes of
    the population are assumed to have the sizes of those of the sample.
    """
    alone = sample.classes_of(1)
    if not alone:
        return Estimate(NAME, 0.0)
    weighted = sum(
        float(classes) * size * sample.fraction * math.exp(absent)
        for size, classes, absent in zip(
            sample.sizes.tolist(), sample.classes.tolist(), _absent(sample), strict=True
        )
    )
    return estimated(NAME, alone * (alone / weighted), sample)


def _absent(sample: Sample) -> list[float]:
    """Per size j: the logarithm of prod_{i=0}^{j-2} (N - n - i) / (N - 1 - i), 0 as -inf."""
    outside = sample.population - sample.records
    total, found = 0.0, []
    for before, size in pairwise([1, *sample.sizes.tolist()]):
        if size - 1 > outside:
            total = -math.inf
        for start in range(int(before), int(size), _BLOCK):
            if total == -math.inf:
                break
            i = np.arange(start - 1, min(start + _BLOCK, int(size)) - 1, dtype=np.float64)
            gone = (sample.records - 1) / (sample.population - 1 - i)
            total += float(np.log1p(-gone).sum())
        found.append(total)
    return found
