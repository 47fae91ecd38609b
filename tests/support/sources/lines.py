"""Attributes and units of the oracle as the search of `one_dimensional` sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from pganon.methods.classes.one_dimensional.search.attributes import Attribute, Bounded, Names
from pganon.methods.classes.one_dimensional.search.conditions import Condition, Conditions, Values
from pganon.methods.classes.one_dimensional.search.measures import Reference
from pganon.methods.classes.one_dimensional.search.windows import Problem, Units
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree
from pganon.privacy.base import Model
from tests.support.oracles import definitions as oracle
from tests.support.oracles.definitions import Record


def searched(attribute: oracle.Attribute) -> Attribute:
    """An attribute of the oracle."""
    weight, size = attribute.weight, len(attribute.domain)
    nulls = None in attribute.values and attribute.nulls != "own_class"
    if isinstance(attribute, oracle.Nominal):
        return Names(weight, size, nulls, Nominal(len(set(attribute.values))))
    if isinstance(attribute, oracle.Tree):
        levels = range(attribute.top())
        paths = [[first_leaf(attribute, v, level) for level in levels] for v in attribute.domain]
        losses = [
            [attribute.level_loss(v, level) for level in (*levels, attribute.top())]
            for v in attribute.domain
        ]
        leaves = Tree(
            np.array(paths, dtype=np.int64).reshape(size, len(levels)),
            np.array(losses, dtype=float).reshape(size, len(levels) + 1),
        )
        return Bounded(weight, size, nulls, leaves)
    assert isinstance(attribute, oracle.Ordered)
    places = np.array([attribute.position(v) for v in attribute.domain])
    return Bounded(weight, size, nulls, Ordered(places))


def first_leaf(attribute: oracle.Tree, value: Any, level: int) -> int:
    return min(attribute.codes[leaf] for leaf in attribute.below(value, level))


def counts(attribute: oracle.Attribute) -> np.ndarray:
    """Records by code."""
    often = Counter(attribute.values)
    return np.array([often[value] for value in (None, *attribute.domain)])


def problem(attributes: Sequence[oracle.Attribute], k: int, *, single: bool) -> Problem:
    return Problem(tuple(map(searched, attributes)), k, single)


def codes(attributes: Sequence[oracle.Attribute], records: Sequence[Record]) -> np.ndarray:
    return np.array([[a.codes[r.qi[i]] for r in records] for i, a in enumerate(attributes)])


def units(
    attributes: Sequence[oracle.Attribute],
    held: Sequence[Sequence[Record]],
    models: Sequence[Model] = (),
    whole: Sequence[Any] = (),
) -> Units:
    """Units in their order; `whole` has the sensitive values of all records."""
    conditions = None
    if models:
        domain = sorted(set(whole), key=lambda v: (v is not None, v or 0))
        values = Values(
            np.cumsum([0, *map(len, held)]),
            np.array([domain.index(r.sensitive[0]) for unit in held for r in unit]),
            np.ones(sum(map(len, held)), dtype=np.int64),
            len(domain),
        )
        often = Counter(whole)
        shares = np.array([often[v] / len(whole) for v in domain])
        # NULL is the last value of an order.
        places = sorted(range(len(domain)), key=lambda n: (domain[n] is None, n))
        reference = Reference(shares, np.array(places))
        conditions = Conditions(
            tuple(
                Condition(model, 0, (reference,) if model.needs_reference else ())
                for model in models
            ),
            (values,),
        )
    weights = np.array([len(unit) for unit in held])
    return Units(codes(attributes, [unit[0] for unit in held]), weights, conditions)
