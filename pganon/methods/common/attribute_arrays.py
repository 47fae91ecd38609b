"""Attributes as searches take them: what a run is given of their values, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
from pganon.methods.common.block_search import Given, given_of_axes
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree, Values
from pganon.sqltools import named
from pganon.steps import State


def given_with_losses(axes: Sequence[Axis], state: State) -> exp.Select:
    """Where values of ordered attributes are, and the trees of the others with their losses."""
    tree = given_of_axes(axes, state)
    trees = [axis for axis in axes if isinstance(axis, TreeAxis)]
    return tree.select(*[named(axis.losses(state), f"losses{axis.index}") for axis in trees])


def attribute_arrays(axis: Axis, state: State, given: Given) -> Values:
    """The values of an attribute, from what :func:`given_with_losses` selects."""
    if isinstance(axis, OrderedAxis):
        return Ordered(np.array(given[axis.code] or (), dtype=float))
    if isinstance(axis, TreeAxis):
        size, levels = axis.size(state), axis.levels(state)
        paths = np.array(given[axis.code] or (), dtype=np.int64)
        losses = np.array(given[f"losses{axis.index}"] or (), dtype=float)
        return Tree(paths.reshape(size, levels), losses.reshape(size, levels + 1))
    assert isinstance(axis, NominalAxis)
    return Nominal(axis.domain(state))
