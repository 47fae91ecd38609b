"""Which candidates another one is better than, so that nobody need weigh them.

One *dominates* another if none of its figures is worse by more than 2 %, and one of them is better
by more than that (Pareto dominance with a tolerance). Differences of a few per cent are chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

TOLERANCE = 0.02


@dataclass(frozen=True)
class Measured:
    """Figures of a candidate that are compared; of each a lower one is better.

    Attributes:
        risk: how much is disclosed. Only candidates of whom the same is measured are compared.
        loss: what analysts lose, of which one at least must be measured of both.
        beside: of both, too, but no reason to compare them.
        admissible: whether its risk is within the limit. What is not beats nothing that is.
    """

    risk: Mapping[Hashable, float]
    loss: Mapping[Hashable, float]
    beside: Mapping[Hashable, float]
    admissible: bool = True


def dominates(one: Measured, other: Measured) -> bool:
    """Whether there is no reason to prefer the other, as far as they can be compared."""
    shared = one.loss.keys() & other.loss.keys()
    if one.risk.keys() != other.risk.keys() or not shared:
        return False
    if other.admissible and not one.admissible:
        return False
    pairs = [(one.risk[key], other.risk[key]) for key in one.risk]
    pairs += [(one.loss[key], other.loss[key]) for key in shared]
    pairs += [(one.beside[k], other.beside[k]) for k in one.beside.keys() & other.beside.keys()]
    factor = 1 + TOLERANCE
    return all(a <= b * factor for a, b in pairs) and any(a * factor < b for a, b in pairs)


def beaten(candidates: Sequence[Measured]) -> dict[int, int]:
    """By the number of every candidate that is dominated, the first that dominates it.

    Small differences may add up to a circle, in which each dominates the next. None of these is
    beaten by another of them.
    """
    numbers = range(len(candidates))
    over = {(a, b) for a in numbers for b in numbers if dominates(candidates[a], candidates[b])}
    reached = set(over)
    for middle in numbers:
        ends = [b for b in numbers if (middle, b) in reached]
        reached |= {(a, b) for a in numbers if (a, middle) in reached for b in ends}
    return {b: a for a, b in sorted(over, reverse=True) if (b, a) not in reached}
