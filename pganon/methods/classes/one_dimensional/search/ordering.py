"""The order of the digits, where classes are compared with the distribution of all.

A line whose first digits follow the sensitive value has pieces that differ from all. From the order
by cost the digits of one attribute are moved behind all others, the best is kept, and so on while
the objective falls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pganon.methods.classes.one_dimensional.search.digits import Digit, along
from pganon.methods.classes.one_dimensional.search.partition import best
from pganon.methods.classes.one_dimensional.search.windows import (
    Problem,
    Units,
    windows_of_lengths,
)

_GROWTH = 1.12


def moved_behind(digits: Sequence[Digit], attributes: Sequence[int]) -> tuple[Digit, ...]:
    """The digits with those of each of the attributes in turn behind all others."""
    order = list(digits)
    for attribute in attributes:
        order.sort(key=lambda digit: digit.attribute == attribute)
    return tuple(order)


def searched(problem: Problem, units: Units, digits: Sequence[Digit]) -> list[int]:
    """The attributes to move behind all others, one after the other.

    Args:
        units: a sample of the records.
    """
    moved: list[int] = []
    attributes = sorted({digit.attribute for digit in digits})
    least = _objective(problem, units, digits)
    while len(attributes) > 1:
        tries = [
            (_objective(problem, units, moved_behind(digits, [*moved, a])), a)
            for a in attributes
            if moved[-1:] != [a]
        ]
        objective, attribute = min(tries)
        if objective >= least:
            break
        least = objective
        moved.append(attribute)
    return moved


def _objective(problem: Problem, units: Units, digits: Sequence[Digit]) -> int:
    """Of the best pieces among those that are cut every k records."""
    line = units.reordered(along(digits, list(units.codes))).grouped(problem.k)
    lengths = [1]
    while lengths[-1] < len(line) // 2:
        lengths.append(max(int(_GROWTH * lengths[-1]), lengths[-1] + 1))
    lengths = [length for length in lengths if length < len(line)] + [len(line)]
    table = windows_of_lengths(problem, line, lengths)
    return int(best(table, np.zeros(1, dtype=np.int64)).totals[0])
