"""Full-domain recoding in several rounds by brute force, from the page of the method alone."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.oracles.levels import NULL, Node, Table


@dataclass(frozen=True)
class Recoded:
    """What is released.

    Attributes:
        taken: the levels of every round, with the records that they leave.
        cost: loss of all records, in units of 1e-9 of one.
        classes: the records of every class.
    """

    taken: list[tuple[Node, frozenset[int]]]
    cost: int
    classes: set[frozenset[int]]


def recoded(table: Table, rounds: int, allowed: int) -> Recoded | None:
    """The release of so many rounds that leaves out at most `allowed` records; None without one."""
    rest = frozenset(table.kept)
    taken: list[tuple[Node, frozenset[int]]] = []
    groups: list[tuple[Node, list[int]]] = []
    for number in range(rounds):
        node = _best(table, rest, allowed, last=number == rounds - 1)
        if node is None:
            break
        left = _failing(table, node, rest)
        groups += [(node, g) for g in _classes(table, node, rest) if not left.intersection(g)]
        taken.append((node, left))
        rest = left
        if not rest:
            break
    if not taken:
        return None
    cost = sum(_loss(table, node, number) for node, group in groups for number in group)
    cost += sum(_whole(table, number) for number in rest)
    return Recoded(taken, cost, _distinct(table, groups))


def _best(table: Table, rest: frozenset[int], allowed: int, *, last: bool) -> Node | None:
    """Of the levels that release something, those that lose least."""
    found: list[tuple[int, int, Node]] = []
    top = tuple(column.allowed[-1] for column in table.columns)
    for node in itertools.product(*[column.allowed for column in table.columns]):
        left = _failing(table, node, rest)
        fits = len(left) <= allowed or (not last and not _failing(table, top, left))
        if len(left) < len(rest) and fits:
            cost = sum(_loss(table, node, number) for number in rest - left)
            cost += sum(_whole(table, number) for number in left)
            found.append((cost, sum(node), node))
    return min(found)[2] if found else None


def _classes(table: Table, node: Node, among: frozenset[int]) -> list[list[int]]:
    found: dict[Any, list[int]] = defaultdict(list)
    for number in sorted(among):
        found[table.labels(number, node)].append(number)
    return list(found.values())


def _failing(table: Table, node: Node, among: frozenset[int]) -> frozenset[int]:
    return frozenset(
        number
        for group in _classes(table, node, among)
        if not table.satisfied([table.records[n][-1] for n in group], [])
        for number in group
    )


def _whole(table: Table, number: int) -> int:
    """What a suppressed record loses."""
    return sum(
        max(table.gap(place, level, number) for level in range(column.top + 1))
        for place, column in enumerate(table.columns)
    )


def _loss(table: Table, node: Node, number: int) -> int:
    return _whole(table, number) - sum(
        table.gap(place, level, number) for place, level in enumerate(node)
    )


def _distinct(table: Table, groups: Sequence[tuple[Node, list[int]]]) -> set[frozenset[int]]:
    """The classes, of which no two show the same values."""
    released = [number for _, group in groups for number in group]
    shown = {
        tuple(_shown(table, place, level, group, released) for place, level in enumerate(node))
        for node, group in groups
    }
    assert len(shown) == len(groups)
    return {frozenset(group) for _, group in groups}


def _shown(
    table: Table, place: int, level: int, group: Sequence[int], released: Sequence[int]
) -> tuple[frozenset[Any], bool]:
    """The released values below the label of a class, and whether it has NULL."""
    column = table.columns[place]
    own = {table.records[number][place] for number in group}
    labels = {column.label(value, level) for value in own if value is not None} - {NULL}
    values = {table.records[number][place] for number in released} - {None}
    return frozenset(v for v in values if column.label(v, level) in labels), None in own
