"""Which dictionaries are joined as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pganon.encode.lookups import joined
from pganon.steps import State


@dataclass(frozen=True)
class Sized:
    """An attribute with so many values beside NULL."""

    values: int

    def size(self, state: State) -> int:
        return self.values


@pytest.mark.parametrize(
    ("values", "together"),
    [
        ([], []),
        ([5_000_000], [[5_000_000]]),
        ([9, 9, 9], [[9, 9, 9]]),
        ([9, 9, 10], [[9, 9], [10]]),
        ([9, 5000, 9, 9], [[9], [5000], [9, 9]]),
        ([74, 10, 5, 16, 7, 2, 42], [[74, 10], [5, 16, 7], [2, 42]]),
        ([1] * 12, [[1] * 9, [1] * 3]),
    ],
)
def test_neighbours_up_to_a_thousand_combinations(
    values: list[int], together: list[list[int]]
) -> None:
    axes: Any = [Sized(n) for n in values]
    packs: Any = [lookup.axes for lookup in joined(axes, State(1))]
    assert [[axis.values for axis in pack] for pack in packs] == together
