"""Priors from their definitions: one sum over all records for every combination that occurs.

A prior is a distribution of the sensitive value, a mapping; a combination is a tuple of values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.oracles.definitions import Attribute, Ordered, Tree

Combination = tuple[Any, ...]
Prior = Mapping[Any, float]


def distance(attribute: Attribute, x: Any, y: Any) -> float:
    """Between 0 and 1; NULL is at 1 from every value."""
    if x == y:
        return 0.0
    if x is None or y is None:
        return 1.0
    if isinstance(attribute, Ordered):
        return abs(attribute.position(x) - attribute.position(y))
    if isinstance(attribute, Tree):
        return attribute.level({x, y}) / attribute.top()
    return 1.0


def kernel(
    records: Sequence[tuple[Combination, Any]],
    attributes: Sequence[Attribute],
    bandwidths: Sequence[float],
) -> dict[Combination, Prior]:
    """Nadaraya-Watson with a product of Epanechnikov kernels."""

    def weight(q: Combination, c: Combination) -> float:
        product = 1.0
        for attribute, width, x, y in zip(attributes, bandwidths, q, c, strict=True):
            share = distance(attribute, x, y) / width
            product *= 1 - share**2 if share < 1 else 0
        return product

    values = {value for _, value in records}
    found: dict[Combination, Prior] = {}
    for q in {q for q, _ in records}:
        seen = [(weight(q, c), value) for c, value in records]
        whole = math.fsum(w for w, _ in seen)
        found[q] = {v: math.fsum(w for w, value in seen if value == v) / whole for v in values}
    return found


def coarse(
    records: Sequence[tuple[Combination, Any]],
    attributes: Sequence[Attribute],
    parts: Sequence[int],
    whole: Prior,
    added: float,
) -> dict[Combination, Prior]:
    """Shares in the cells of a coarse grid; `parts` are intervals, or the level of a tree."""

    def part(attribute: Attribute, number: int, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(attribute, Ordered):
            return min(math.floor(attribute.position(value) * number + 1e-9), number - 1)
        if isinstance(attribute, Tree):
            return attribute.ancestor(value, min(number, attribute.top()))
        return value

    def cell(q: Combination) -> tuple[Any, ...]:
        return tuple(part(*item) for item in zip(attributes, parts, q, strict=True))

    counts: dict[tuple[Any, ...], Counter[Any]] = {}
    for q, value in records:
        counts.setdefault(cell(q), Counter())[value] += 1
    return {
        q: {
            v: (counts[cell(q)][v] + added * share) / (counts[cell(q)].total() + added)
            for v, share in whole.items()
        }
        for q in {q for q, _ in records}
    }


def smoothed(prior: Prior, whole: Prior, share: float) -> Prior:
    """With a share of the distribution of the whole."""
    values = {**prior, **whole}  # some may have suppressed records alone
    return {v: (1 - share) * prior.get(v, 0) + share * whole.get(v, 0) for v in values}
