"""Models that compare groups with a distribution, written from their definitions.

The distance over a hierarchy is that over :data:`TREE`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.support.oracles.definitions import t_equal, t_ordered

Value = Any

TREE = {"*": {"some": ["0", "1", "2"], "others": ["3", "4", "5"]}}


def beta(values: Sequence[Value], reference: Sequence[Value], *, enhanced: bool) -> float:
    found = 0.0
    for value, n in Counter(values).items():
        p, q = reference.count(value) / len(reference), n / len(values)
        if not p:
            return math.inf
        if q > p and enhanced and (q - p) / p > -math.log(p) + 1e-12:
            return math.inf
        found = max(found, (q - p) / p)
    return found


def delta(values: Sequence[Value], reference: Sequence[Value]) -> float:
    if set(values) != set(reference):
        return math.inf
    shares = (
        (values.count(v) / len(values), reference.count(v) / len(reference)) for v in set(reference)
    )
    return max(abs(math.log(q / p)) for q, p in shares)


def hierarchical(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """Section 5.2 of Li et al.: excess that children of a node have is moved over the node.

    NULL, and what nobody of the tree is, are children of the root with nodes of their own.
    """

    def excess(members: Sequence[Value]) -> float:
        shares = ((values.count(v), reference.count(v)) for v in members)
        return sum(n / len(values) - m / len(reference) for n, m in shares)

    inner = list(TREE["*"].values())
    known = {v for leaves in inner for v in leaves}
    below = [[excess([v]) for v in leaves] for leaves in inner]
    top = [sum(leaves) for leaves in below]
    top += [excess([v]) for v in {*values, *reference} - known]
    cost = sum(min(_positive(leaves), _positive([-e for e in leaves])) for leaves in below) / 2
    return cost + min(_positive(top), _positive([-e for e in top]))


def _positive(excesses: Sequence[float]) -> float:
    return sum(e for e in excesses if e > 0)


def measure(
    model: dict[str, Any],
    values: Sequence[Value],
    reference: Sequence[Value],
    newcomers: Sequence[Value],
) -> float:
    """Args: newcomers: all who were tested together, whose values have places in the order."""
    match model["model"], model.get("distance", "equal"):
        case "beta_likeness", _:
            return beta(values, reference, enhanced=model["variant"] == "enhanced")
        case "delta_disclosure", _:
            return delta(values, reference)
        case _, "equal":
            return float(t_equal(values, reference))
        case _, "ordered":
            places = sorted({*reference, *newcomers}, key=lambda v: (v is None, v or 0))
            return float(t_ordered(values, reference, places))
        case _:
            return hierarchical(values, reference)


def satisfied(model: dict[str, Any], measured: float) -> bool:
    (limit,) = (float(model[name]) for name in ("t", "beta", "delta") if name in model)
    strict = model["model"] == "delta_disclosure"
    return measured < limit - 1e-12 if strict else measured <= limit + 1e-12
