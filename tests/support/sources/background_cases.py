"""Tables of the worked examples, and tables of the oracle as arrays for the searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pganon.methods.background.search.limits import Closeness, Likeness, Limits
from pganon.methods.background.search.points import Attribute, Hierarchy, Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Block, Classes, Groups, Squares, k_primacy
from pganon.methods.common.search.elements import Hierarchical
from tests.support.oracles import background_search as oracle
from tests.support.oracles.background_search import Cat, Num, Table, Tree

D14 = Table(
    (Num(21, 58), Cat(("F", "M"))),
    [
        (21, "F"), (27, "M"), (31, "F"), (32, "F"), (33, "M"), (37, "M"), (38, "F"),
        (39, "M"), (43, "F"), (46, "M"), (52, "M"), (53, "F"), (56, "M"), (58, "M"),
    ],
    ["abc".index(value) for value in "aaabbabbcaccab"],
)  # fmt: skip
D14_CURVE = np.array([0, 89, 16, 16, 102, 105, 21, 106, 235, 153, 166, 241, 169, 170])
"""Hilbert indexes with 4 bits per attribute."""

NULLS = Table(
    (Num(20, 40), Cat(("F", "M"))),
    [(20, "F"), (22, None), (25, "F"), (None, "M"), (40, "M"), (None, "M")],
    [0, 1, 0, 1, 0, 1],
)


def attributes_of(table: Table) -> list[Attribute]:
    columns = zip(*table.rows, strict=True)
    return [_attribute(a, column) for a, column in zip(table.attributes, columns, strict=True)]


def _attribute(attribute: oracle.Attribute, column: Sequence[Any]) -> Attribute:
    if isinstance(attribute, Num):
        span = attribute.high - attribute.low or 1
        places = [np.nan if v is None else (v - attribute.low) / span for v in column]
        return Ordered(np.array(places))
    codes = np.array([0 if v is None else attribute.values.index(v) + 1 for v in column])
    if isinstance(attribute, Cat):
        return Nominal(codes, len(attribute.values))
    return Hierarchy(codes, _hierarchical(attribute))


def _hierarchical(tree: Tree) -> Hierarchical:
    heights: list[Sequence[frozenset[Any]]] = [[frozenset([v]) for v in tree.values], *tree.levels]
    size = len(tree.values)
    paths = np.zeros((size + 1, len(heights)), dtype=np.int64)
    costs = np.zeros((size + 1, len(heights) + 1))
    for code, value in enumerate(tree.values, start=1):
        for height, nodes in enumerate(heights):
            at, node = next((at, n) for at, n in enumerate(nodes, start=1) if value in n)
            paths[code, height] = at
            costs[code, height] = len(node) / size if len(node) > 1 else 0
    costs[:, -1] = 1
    return Hierarchical(paths, costs)


def points_of(table: Table) -> Points:
    return Points(attributes_of(table))


def limits_of(rule: oracle.Rule) -> Limits:
    references = [np.array(shares) for shares in rule.references]
    if isinstance(rule, oracle.Close):
        return Closeness(rule.t, rule.ordered).limits(*references)
    return Likeness(rule.beta, "enhanced" if rule.enhanced else "basic").limits(*references)


def searched(search: oracle.Search) -> Classes:
    return k_primacy(
        points_of(search.table),
        np.array(search.table.sensitive),
        search.k,
        limits_of(search.rule),
        post=search.post,  # pyright: ignore
        cost=search.cost,  # pyright: ignore
        pick=search.pick,  # pyright: ignore
        residual=search.residual,  # pyright: ignore
    )


def groups_of(table: Table, rule: oracle.Rule, members: Iterable[Sequence[int]]) -> Groups:
    block = Block(points_of(table), np.array(table.sensitive), limits_of(rule))
    return Groups(block, [np.array(rows) for rows in members])


def losses(table: Table, rule: oracle.Rule, classes: Iterable[Sequence[int]]) -> list[float]:
    """Loss per record of every class."""
    groups = groups_of(table, rule, classes)
    return (groups.losses() / groups.records).tolist()


def joined_error(table: Table, rule: oracle.Rule, *parts: np.ndarray) -> float:
    """Sum of squared errors of two groups together."""
    return float(Squares(groups_of(table, rule, parts)).joined(0)[1])
