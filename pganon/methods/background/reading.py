"""What searches are given of the records of a block, and of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis
from pganon.methods.background.search.limits import Limits, limits_against
from pganon.methods.background.search.points import Attribute, Hierarchy, Nominal, Ordered, Points
from pganon.methods.background.shape import Shape, model_against, source_columns, source_counts
from pganon.methods.common.block_search import Given
from pganon.methods.common.search.tree import Hierarchical
from pganon.methods.common.tree_arrays import given_with_losses, tree_arrays
from pganon.sqltools import named, query, scalar
from pganon.steps import State


def given_of_points(shape: Shape, state: State) -> exp.Select:
    """SELECT one row: what values are like, and `source` and `released` records by value."""
    tree = given_with_losses(shape.axes, state)
    released = query(
        "select array_agg(coalesce(k.n, 0) order by v.value) from"
        " (select generate_series(1, cardinality(c.source)) as value from c) as v left join"
        " (select x.value, sum(x.n)::bigint as n from kept as x group by x.value) as k"
        " on k.value = v.value",
        {"c": source_counts(shape, state), "kept": state.work("kept")},
    )
    found = [
        named(scalar(source_counts(shape, state, [name])), name) for name in source_columns(shape)
    ]
    return tree.select(*found, named(scalar(released), "released"))


def limits_of(shape: Shape, given: Given) -> Limits:
    """Against the source and what is released."""
    return limits_against(
        model_against(shape, given), np.array(given["source"]), np.array(given["released"])
    )


def points_of(shape: Shape, state: State, given: Given, columns: Sequence[Sequence[int]]) -> Points:
    """Args: columns: by quasi-identifier, the codes of all records."""
    pairs = zip(shape.axes, columns, strict=True)
    return Points([_attribute(axis, state, given, np.array(codes)) for axis, codes in pairs])


def _attribute(axis: Axis, state: State, given: Given, codes: np.ndarray) -> Attribute:
    if isinstance(axis, OrderedAxis):
        return Ordered(np.array([np.nan, *(given[axis.code] or ())])[codes])
    if isinstance(axis, TreeAxis):
        paths, costs = tree_arrays(axis, state, given)
        return Hierarchy(codes, Hierarchical(paths, nulls=axis.has_null(state), costs=costs))
    declared = axis.attribute.values
    return Nominal(codes, axis.size(state) if declared is None else len(declared))
