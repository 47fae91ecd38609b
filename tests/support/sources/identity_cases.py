"""Tables of the oracle of DAnonyIR as arrays and codes of the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pganon.methods.individuals import search
from tests.support.oracles import identity_search as oracle
from tests.support.oracles.identity_search import Cat, Hier, Num, Table


def arrays(table: Table) -> tuple[search.Individuals, list[search.Domain]]:
    """Individuals are numbered as in `order`."""
    elements = [table.element([person]) for person in table.order]
    domains, parts = [], []
    for at, attribute in enumerate(table.attributes):
        domain, make = _domain(attribute)
        domains.append(domain)
        parts.append(make([element[at] for element in elements]))
    people = [_person(table, person) for person in table.order]
    base = np.array([float(table.base(person)) for person in table.order])
    return search.Individuals(parts, people, base), domains


def codes(table: Table) -> dict[Any, int]:
    values = {row[2] for row in table.rows}
    return {value: code for code, value in enumerate(sorted(values, key=str), 1)}


def _person(table: Table, person: Any) -> search.Person:
    code = codes(table)
    return search.Person(Counter(code[row[2]] for row in table.rows_of([person])))


Make = Callable[[Sequence[frozenset[Any]]], np.ndarray]


def _domain(attribute: oracle.Attribute) -> tuple[search.Domain, Make]:
    if isinstance(attribute, Num):
        number = search.Numeric(attribute.low, attribute.high, nulls=True)
        return number, lambda sets: _ranges(number, sets)
    known = [value for value in attribute.values if value is not None]
    code = {None: 0} | {value: at for at, value in enumerate(known, 1)}
    if isinstance(attribute, Cat):
        domain = search.Categorical(len(attribute.values), len(known) + 1)
    else:
        domain = _tree(attribute, known)
    return domain, lambda sets: domain.parts([[code[value] for value in one] for one in sets])


def _ranges(number: search.Numeric, sets: Sequence[frozenset[Any]]) -> np.ndarray:
    known = [sorted(one - {None}) or [float("nan")] for one in sets]
    null = [None in one for one in sets]
    return number.parts([one[0] for one in known], [one[-1] for one in known], null)


def _tree(attribute: Hier, known: Sequence[Any]) -> search.Hierarchical:
    """NULL is a leaf below the root, with nodes of its own."""
    levels = [[frozenset([value]) for value in known], *attribute.levels]
    paths = [[-1] * len(levels)]
    for value in known:
        paths.append([next(n for n, node in enumerate(level) if value in node) for level in levels])
    return tree_of(np.array(paths), nulls=None in attribute.values)


def tree_of(paths: np.ndarray, *, nulls: bool) -> search.Hierarchical:
    """With the share of the domain's values below every node as its cost, (leaves - 1) / (|X| - 1).

    Args:
        nulls: whether code 0 counts as a value of the domain.
    """
    first = 0 if nulls else 1
    leaves = np.full((len(paths), paths.shape[1] + 1), len(paths) - first)
    for level, nodes in enumerate(paths.T):
        _, number = np.unique(nodes, return_inverse=True)
        leaves[:, level] = np.bincount(number[first:], minlength=len(paths))[number]
    costs = np.maximum(leaves - 1, 0) / max(1, len(paths) - first - 1)
    return search.Hierarchical(paths, costs)


def model_of(model: oracle.Model) -> search.IRKL | search.EIRL | search.IRAlphaBeta:
    kind, *parameters = model
    if kind == "ir":
        return search.IRKL(*parameters)
    if kind == "eir":
        return search.EIRL(*parameters)
    alpha, beta = map(Fraction, parameters)
    if kind == "eir share":
        return search.eir_alpha_beta(alpha, beta)
    return search.IRAlphaBeta(alpha, beta)


def find(
    table: Table, model: oracle.Model, seeds: Sequence[Any], **options: Any
) -> tuple[oracle.Outcome, float]:
    """What the search finds, with the individuals' own names, and its loss."""
    individuals, domains = arrays(table)
    place = {person: at for at, person in enumerate(table.order)}
    found = search.danonyir(
        individuals,
        model_of(model),
        domains,
        seed_order=[place[person] for person in seeds],
        **options,
    )
    name = table.order
    choices = [
        (c.what, c.number if c.what == "class" else name[c.number], c.distance)
        for c in found.choices
    ]
    classes = [[name[member] for member in members] for members in found.classes]
    return oracle.Outcome(classes, [name[at] for at in found.suppressed], choices), found.loss
