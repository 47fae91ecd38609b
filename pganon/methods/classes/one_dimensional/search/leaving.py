"""Units left out of a partition, within a limit, where what stays loses less by it.

    best(0, 0) = 0
    best(i, j) = min( min over L of best(i - L, j) + f(units i-L+1..i),
                      best(i - 1, j - w_i) + P w_i )

j records being left out, each for the price P. A piece wins ties, then the smallest L; of the
results with at most the limit left out the least wins, then the smallest j. With many units, or a
high limit, j is dropped, and P raised until the limit is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.partition import Strips, best
from pganon.methods.classes.one_dimensional.search.windows import (
    FORBIDDEN,
    SCALE,
    Problem,
    Units,
    Windows,
    windows,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_EXACT = 1 << 17
"""Units times records that may be left out up to which the best of all choices is found."""


@dataclass(frozen=True)
class Staying:
    """What stays of a line.

    Attributes:
        begins: of every unit, whether it is the first of a piece.
        left: whether it is left out.
    """

    begins: Bools
    left: Bools


def leaving_out(
    problem: Problem, units: Units, strips: Strips, limit: int, price: float
) -> Staying:
    """The pieces of a line, of which at most `limit` records are left out.

    Args:
        strips: those that have partitions when all stay.
        price: of a record, as a loss from 0 to 1.
    """
    least = round(price * SCALE)
    if limit == 0:
        return Staying(strips.begins, np.zeros(len(units), dtype=bool))
    table = windows(problem, units, strips.starts, strips.reach)
    if len(strips.starts) == 1 and len(units) * (limit + 1) <= _EXACT:
        return _exactly(table, units.weights, limit, least)
    return _priced(table, units.weights, strips, limit, least)


def _exactly(table: Windows, weights: Ints, limit: int, price: int) -> Staying:
    count = len(weights)
    value = np.full((limit + 1, count + 1), FORBIDDEN)
    value[0, 0] = 0
    chosen = np.zeros((limit + 1, count), dtype=np.int64)
    for unit, weight in enumerate(weights.tolist()):
        lengths, objective = _at(table, unit)
        sums = objective + value[:, unit + 1 - lengths]
        best = sums.argmin(axis=1) if len(lengths) else np.zeros(limit + 1, dtype=np.int64)
        least = sums[np.arange(limit + 1), best] if len(lengths) else value[:, count]
        skipped = np.full(limit + 1, FORBIDDEN)
        skipped[weight:] = value[: max(limit + 1 - weight, 0), unit] + price * weight
        stays = least <= skipped
        value[:, unit + 1] = np.minimum(np.minimum(least, skipped), FORBIDDEN)
        chosen[stays, unit] = lengths[best[stays]] if len(lengths) else 0
    left_out = int(value[:, count].argmin())
    begins, left = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    at = count
    while at > 0:
        length = int(chosen[left_out, at - 1])
        if length:
            at -= length
            begins[at] = True
        else:
            at -= 1
            left[at] = True
            left_out -= int(weights[at])
    return Staying(begins, left)


def _at(table: Windows, unit: int) -> tuple[Ints, Ints]:
    """Lengths and objectives of the windows that end at a unit."""
    lengths = table.lengths if table.lengths.ndim == 1 else table.lengths[unit]
    fits = lengths <= unit + 1
    lengths, objective = lengths[fits], table.objective[unit][fits]
    if table.whole is None:
        return lengths, objective
    return np.append(lengths, unit + 1), np.append(objective, table.whole[unit])


def _priced(table: Windows, weights: Ints, strips: Strips, limit: int, price: int) -> Staying:
    """At the least price from `price` on at which no more than the limit is left out.

    The higher the price the fewer are left out, so it is found by bisection.
    """

    def at(tried: int) -> Staying:
        made = best(table, strips.starts, tried * weights)
        return Staying(made.begins, made.left)

    def keeps(staying: Staying) -> bool:
        return int(weights[staying.left].sum()) <= limit

    found = at(price)
    if keeps(found):
        return found
    low, high = price, max(2 * price, SCALE)
    while not keeps(found := at(high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        tried = at(middle)
        if keeps(tried):
            high, found = middle, tried
        else:
            low = middle
    return found
