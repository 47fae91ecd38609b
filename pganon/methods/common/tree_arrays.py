"""Hierarchies as searches take them: ancestors of all leaves and what they lose, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.methods.common.block_search import Given, given_of_axes
from pganon.sqltools import named
from pganon.steps import State


def given_with_losses(axes: Sequence[Axis], state: State) -> exp.Select:
    """Where values of ordered attributes are, and the trees of the others with their losses."""
    tree = given_of_axes(axes, state)
    trees = [axis for axis in axes if isinstance(axis, TreeAxis)]
    return tree.select(*[named(axis.losses(state), f"losses{axis.index}") for axis in trees])


def tree_arrays(axis: TreeAxis, state: State, given: Given) -> tuple[np.ndarray, np.ndarray]:
    """Leaves x levels: the ancestors; and leaves x (levels + 1): the losses, of the leaf first.

    Row 0 is NULL, which has nothing above it but the root.
    """
    levels, size = axis.levels(state), axis.size(state)
    paths = np.zeros((size + 1, levels), dtype=np.int64)
    costs = np.zeros((size + 1, levels + 1))
    costs[0, levels] = 1.0
    if size:
        paths[1:] = np.array(given[axis.code]).reshape(size, levels)
        costs[1:] = np.array(given[f"losses{axis.index}"], dtype=float).reshape(size, levels + 1)
    if axis.has_null(state):
        costs[:, levels] = 1.0
    return paths, costs
