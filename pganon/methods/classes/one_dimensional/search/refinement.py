"""Classes made anew from those that lie together on other lines, where that loses less.

A round draws two orders of the digits. Along the path of the first, classes that lie together are
taken as a group; the group's units are partitioned along the path of the second, and its new
classes replace the old ones where they lose less. So requirements always hold, and the objective
never grows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.digits import Digit, along
from pganon.methods.classes.one_dimensional.search.leaving import Staying
from pganon.methods.classes.one_dimensional.search.partition import Pieces, best
from pganon.methods.classes.one_dimensional.search.windows import Problem, Units, windows

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_GROUP = 3
_GROUP_WITH_CONDITIONS = 4.5
_REACH = 4


@dataclass(frozen=True)
class Classes:
    """The classes of units.

    Attributes:
        labels: of every unit the number of its class, from 0; negative for one in none.
        objective: of every class.
    """

    labels: Ints
    objective: Ints


def classes_of(problem: Problem, units: Units, staying: Staying) -> Classes:
    """Pieces of a line as classes."""
    first = np.flatnonzero(staying.begins)
    bounds = np.append(np.flatnonzero(staying.begins | staying.left), len(units))
    last = bounds[np.searchsorted(bounds, first, side="right")] - 1
    before = np.concatenate([[0], np.cumsum(units.weights)])
    losses = [
        attribute.between(codes, first, last)
        for attribute, codes in zip(problem.attributes, units.codes, strict=True)
    ]
    objective = problem.objective(np.sum(losses, axis=0), before[last + 1] - before[first])
    labels = np.where(staying.left, -1, np.cumsum(staying.begins) - 1)
    return Classes(labels, objective)


@dataclass(frozen=True)
class Draws:
    """Numbers drawn for a block under the secret of a run. Attributes: seed: bytes of its own."""

    seed: bytes

    def uniform(self, *of: int) -> float:
        """In (0, 1), with 53 bits."""
        text = b"".join(number.to_bytes(8, "big") for number in of)
        drawn = int.from_bytes(hashlib.sha256(self.seed + text).digest()[:7], "big") >> 3
        return (drawn + 0.5) / 2**53

    def order(self, digits: Sequence[Digit], *of: int) -> tuple[Digit, ...]:
        """The digits by falling cost with Gumbel noise on its logarithm; those of an attribute
        keep their order."""
        noisy = [
            math.log(max(digit.cost, 1e-300)) - math.log(-math.log(self.uniform(*of, number)))
            for number, digit in enumerate(digits)
        ]
        places = sorted(range(len(digits)), key=lambda number: (-noisy[number], number))
        of_attribute: dict[int, list[Digit]] = {}
        for digit in sorted(digits, key=lambda digit: digit.level):
            of_attribute.setdefault(digit.attribute, []).append(digit)
        return tuple(of_attribute[digits[place].attribute].pop(0) for place in places)


def refined(
    problem: Problem,
    units: Units,
    classes: Classes,
    digits: Sequence[Digit],
    rounds: int,
    draws: Draws,
) -> Classes:
    """The classes after so many rounds. Those that lose nothing take no part.

    Args:
        draws: numbers of this block.
    """
    losing = np.zeros(len(classes.objective) + 1, dtype=bool)
    losing[:-1] = classes.objective > 0
    taking = np.flatnonzero(losing[classes.labels])
    if not len(taking):
        return classes
    part, others = units.reordered(taking), classes.labels.copy()
    each, labels = np.unique(classes.labels[taking], return_inverse=True)
    held = Classes(labels, classes.objective[each])
    for number in range(1, rounds + 1):
        held = _round(problem, part, held, digits, number, draws)
    others[taking] = len(classes.objective) + held.labels
    objective = np.concatenate([classes.objective, held.objective])
    some = others >= 0
    kept, others[some] = np.unique(others[some], return_inverse=True)
    return Classes(others, objective[kept])


def _round(
    problem: Problem,
    units: Units,
    classes: Classes,
    digits: Sequence[Digit],
    number: int,
    draws: Draws,
) -> Classes:
    several = units.conditions is not None
    size = math.ceil((_GROUP_WITH_CONDITIONS if several else _GROUP) * problem.k)
    offset = int(draws.uniform(number, 2) * size)
    codes = list(units.codes)
    rank = np.empty(len(units), dtype=np.int64)
    rank[along(draws.order(digits, number, 0), codes)] = np.arange(len(units))
    group = _groups(units, classes, rank, size, offset, least=number % 2 == 1)
    of_unit = group[classes.labels]
    order = along(draws.order(digits, number, 1), codes, of_unit)
    starts = np.flatnonzero(np.diff(of_unit[order], prepend=-1))
    table = windows(problem, units.reordered(order), starts, _REACH)
    made = best(table, starts)
    before = np.bincount(group, weights=classes.objective).astype(np.int64)
    better = made.totals < before
    return _replaced(classes, better[of_unit], order, made)


def _groups(
    units: Units, classes: Classes, rank: Ints, size: int, offset: int, *, least: bool
) -> Ints:
    """The group of every class: about `size` records of classes one after the other."""
    count = len(classes.objective)
    if least:
        place = np.full(count, len(units), dtype=np.int64)
        np.minimum.at(place, classes.labels, rank)
    else:
        place = np.full(count, -1, dtype=np.int64)
        np.maximum.at(place, classes.labels, rank)
    records = np.bincount(classes.labels, weights=units.weights, minlength=count).astype(np.int64)
    order = np.argsort(place)
    before = np.cumsum(records[order]) - records[order]
    group = np.empty(count, dtype=np.int64)
    number = (before + offset) // size
    group[order] = np.unique(number, return_inverse=True)[1]
    return group


def _replaced(classes: Classes, better: Bools, order: Ints, made: Pieces) -> Classes:
    """The new classes of units whose group is better, the old ones of the others.

    Args:
        order: units in which `made` are pieces.
    """
    piece = np.cumsum(made.begins) - 1
    labels = classes.labels.copy()
    taken = better[order]
    labels[order[taken]] = len(classes.objective) + piece[taken]
    kept, labels = np.unique(labels, return_inverse=True)
    return Classes(labels, np.concatenate([classes.objective, made.objective])[kept])
