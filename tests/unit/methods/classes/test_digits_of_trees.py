"""Digits of attributes under a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pganon.methods.classes.one_dimensional.search.attributes import Bounded
from pganon.methods.classes.one_dimensional.search.digits import digits
from pganon.methods.common.search.attributes import Tree


def _costs(paths: Sequence[Sequence[int]], losses: Sequence[Sequence[float]]) -> list[float]:
    tree = Bounded(1.0, len(paths), False, Tree(np.array(paths), np.array(losses)))
    counts = np.array([0] + [1] * len(paths))
    return [round(digit.cost, 9) for digit in digits([tree], [counts], apart=True)]


def test_a_level_with_one_node_bounds_no_cost_below_it() -> None:
    """Four codes in two areas, all of one state: its label loses as much as the root."""
    paths = [[1, 1, 1], [2, 1, 1], [3, 3, 1], [4, 3, 1]]
    losses = [[0, 1 / 3, 1, 1]] * 4
    assert _costs(paths, losses) == [round(2 / 3, 9), round(1 / 3, 9)]


def test_costs_never_rise_towards_the_leaves() -> None:
    """One code apart at the top gains little; it shares the cost of the level below."""
    paths = [[1, 1, 1], [2, 1, 1], [3, 3, 1], [4, 3, 1], [5, 5, 5]]
    losses = [[0, 0.1, 0.7, 1]] * 4 + [[0, 0, 0, 1]]
    top, middle, low = 2.2 / 5, 2.4 / 5, 0.4 / 5
    assert middle > top
    assert _costs(paths, losses) == [round((top + middle) / 2, 9)] * 2 + [round(low, 9)]
