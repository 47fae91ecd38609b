"""Attributes written as digits, which put records in a line.

A digit costs what a class typically loses that crosses a border of it, times the weight of its
attribute. Digits of low cost change fastest along the line, so that classes, which are pieces of
the line, have the digits of high cost in common. Digits of numbers have base 3, because it did best
on Adult (base 2 and 4 lose up to 2 % more), as did the cost of a dominant value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.search.attributes import Attribute, Bounded, Names
from pganon.methods.common.search.attributes import Ordered, Tree

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_BASE = 3
_MOST_DIGITS = 20
_SLACK = 1e-9
_DOMINANT_COST = 0.15
_WORD = 1 << 62


@dataclass(frozen=True)
class Digit:
    """A digit of one attribute.

    Attributes:
        attribute: by its number.
        level: of the digits of an attribute, from 0.
        cost: what crossing it loses.
        values: by code, from 0; all are below `size`.
    """

    attribute: int
    level: int
    cost: float
    values: Ints

    @property
    def size(self) -> int:
        return int(self.values.max()) + 1


def digits(
    attributes: Sequence[Attribute], counts: Sequence[Ints], *, apart: bool
) -> tuple[Digit, ...]:
    """The digits of all attributes that differ anywhere, most significant first.

    Args:
        counts: per attribute, records by code, from 0.
        apart: whether a value that at least half of the records share has a digit of its own.
    """
    made = [
        Digit(number, level, cost * attribute.weight, values)
        for number, (attribute, n) in enumerate(zip(attributes, counts, strict=True))
        for level, (cost, values) in enumerate(_digits_of(attribute, n, apart=apart))
        if values.max() > 0
    ]
    return tuple(sorted(made, key=_place))


def _place(digit: Digit) -> tuple[float, int, int]:
    # Equal costs may differ by rounding.
    return -round(digit.cost / _SLACK), digit.attribute, digit.level


Costed = Iterator[tuple[float, Ints]]


def _digits_of(attribute: Attribute, counts: Ints, *, apart: bool) -> Costed:
    """(cost, values by code) of the digits of an attribute."""
    if isinstance(attribute, Names):
        yield from _of_names(attribute, counts, apart=apart)
        return
    if attribute.nulls and counts[0] > 0:
        yield 1.0, (np.arange(len(counts)) == 0).astype(np.int64)
    if attribute.size == 0:
        return
    assert isinstance(attribute, Bounded)
    held = attribute.values
    made = _of_line(held.places) if isinstance(held, Ordered) else _of_tree(held, counts)
    for cost, values in made:
        yield cost, np.concatenate([[0], values])


def _of_line(places: Floats) -> Costed:
    if len(places) < 2:
        return
    least = float(np.diff(places).min())
    number = 0
    while number < _MOST_DIGITS and float(_BASE) ** -(number + 1) > least * (1 + _SLACK):
        number += 1
    bins = np.minimum(np.floor(_BASE**number * places + _SLACK), _BASE**number - 1).astype(np.int64)
    bins = np.maximum(bins, 0)
    for level in range(1, number + 1):
        yield float(_BASE) ** -level, bins // _BASE ** (number - level) % _BASE
    first = np.searchsorted(bins, bins)
    yield least, np.arange(len(places)) - first


def _of_names(names: Names, counts: Ints, *, apart: bool) -> Costed:
    rank = _by_frequency(counts)
    cost = 1 / max(names.values.domain - 1, 1)
    values = int((counts > 0).sum())
    if not (apart and values > 2 and 2 * counts.max() >= counts.sum()):
        yield cost, rank
        return
    yield _DOMINANT_COST, np.minimum(rank, 1)
    yield cost, np.maximum(rank - 1, 0)


def _by_frequency(counts: Ints) -> Ints:
    """The place of every value by falling frequency; those of equal frequency by code."""
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.where(counts > 0, rank, 0)


def _of_tree(tree: Tree, counts: Ints) -> Costed:
    """A digit per level below the root that separates anything: the place among siblings."""
    n = counts[1:]
    levels = tree.paths.shape[1]
    made: list[tuple[float, Ints]] = []
    for level in reversed(range(levels)):
        nodes = tree.paths[:, level]
        parents = tree.paths[:, level + 1] if level + 1 < levels else np.ones_like(nodes)
        places = _among_siblings(nodes, parents, n)
        gain = float(((tree.losses[:, level + 1] - tree.losses[:, level]) * n).sum() / n.sum())
        if places.max() > 0:
            made.append((gain, places))
    costs = _falling([gain for gain, _ in made])
    yield from zip(costs, [places for _, places in made], strict=True)


def _falling(costs: Sequence[float]) -> list[float]:
    """The nearest costs that never rise (pool adjacent violators, Ayer et al. 1955).

    A parent is told before its children; where it separates few records its own cost is low, and
    is not to hold that of its children down.
    """
    pools: list[list[float]] = []
    for cost in costs:
        pool = [cost]
        while pools and np.mean(pools[-1]) < np.mean(pool):
            pool = pools.pop() + pool
        pools.append(pool)
    return [float(np.mean(pool)) for pool in pools for _ in pool]


def _among_siblings(nodes: Ints, parents: Ints, counts: Ints) -> Ints:
    """By leaf, the rank of its node under its parent by falling frequency, ties by code."""
    each, number = np.unique(nodes, return_inverse=True)
    weight = np.bincount(number, weights=counts)
    above = np.zeros(len(each), dtype=np.int64)
    above[number] = parents
    order = np.lexsort((each, -weight, above))
    place = np.empty(len(each), dtype=np.int64)
    first = np.searchsorted(above[order], above[order])
    place[order] = np.arange(len(each)) - first
    return place[number]


def words(sizes: Sequence[int]) -> list[list[int]]:
    """Places of digits, in order, whose numbers fit into one word together; one word at least."""
    made: list[list[int]] = []
    bound = _WORD
    for place, size in enumerate(sizes):
        bound *= size
        if bound > _WORD:
            made.append([])
            bound = size
        made[-1].append(place)
    return made or [[]]


def summands(order: Sequence[Digit], attributes: Sequence[Attribute]) -> list[list[Ints]]:
    """By attribute and word, what a value adds to the number of a record, by code from 0.

    The number of a record, word by word, is that of its digits in the given order.
    """
    each = words([digit.size for digit in order])
    added = [[np.zeros(a.size + 1, dtype=np.int64) for _ in each] for a in attributes]
    for word, places in enumerate(each):
        unit = 1
        for place in reversed(places):
            digit = order[place]
            added[digit.attribute][word] += unit * digit.values
            unit *= digit.size
    return added


def path(order: Sequence[Digit], codes: Sequence[Ints]) -> list[Ints]:
    """The number of every unit along a path on which neighbours differ in few digits, by words.

    A digit is counted backwards where the number before it is odd (boustrophedon).

    Args:
        codes: attributes x units.
    """
    count = len(codes[0])
    made: list[Ints] = []
    odd = np.zeros(count, dtype=np.int64)
    for places in words([digit.size for digit in order]):
        number = np.zeros(count, dtype=np.int64)
        for place in places:
            digit = order[place]
            value = digit.values[codes[digit.attribute]]
            value = np.where(odd == 1, digit.size - 1 - value, value)
            number = number * digit.size + value
            odd = (digit.size * odd + value) & 1
        made.append(number)
    return made


def along(order: Sequence[Digit], codes: Sequence[Ints], *before: Ints) -> Ints:
    """Units in the order of `before`, then of the path; equal ones stay as they are."""
    return np.lexsort((*reversed(path(order, codes)), *reversed(before)))
