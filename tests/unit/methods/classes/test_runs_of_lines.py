"""Runs of the records of cells that have the same label."""

from __future__ import annotations

import numpy as np
import pytest

from pganon.methods.classes.one_dimensional.tasks import runs


@pytest.mark.parametrize(
    ("labels", "sizes", "expected"),
    [
        ([4], [1], [(4, 0, 0, 1)]),
        ([4, 4, 4], [2, 1], [(4, 0, 0, 2), (4, 1, 0, 1)]),
        ([4, 4, 7, 4, 7], [4, 1], [(4, 0, 0, 2), (7, 0, 2, 1), (4, 0, 3, 1), (7, 1, 0, 1)]),
        ([-1, 2, 2], [1, 2], [(-1, 0, 0, 1), (2, 1, 0, 2)]),
    ],
)
def test_runs(labels: list[int], sizes: list[int], expected: list[tuple[int, ...]]) -> None:
    found = runs(np.array(labels), np.array(sizes))
    assert list(zip(*[column.tolist() for column in found], strict=True)) == expected
