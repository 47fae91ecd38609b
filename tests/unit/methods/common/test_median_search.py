"""Cuts at medians, all groups of a round at once, make the groups of the definition."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from pganon.methods.common.search import medians
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree
from pganon.methods.common.search.medians import (
    Attribute,
    Cells,
    Limits,
    median_rounds,
    rounded,
)

Loss = Callable[[Sequence[int]], float]
Cell = tuple[int, ...]

PLACES = [0.0, 0.1, 0.25, 0.5, 0.5, 0.9, 1.0]
"""Of codes from 1; two values have the same place."""
PATHS = [[1, 1], [2, 1], [3, 3], [4, 3], [5, 3]]
LOSSES = [[0.0, 0.25, 1.0]] * 2 + [[0.0, 0.5, 1.0]] * 3
ATTRIBUTES: list[Attribute] = [
    Attribute(8, 1.0, Ordered(np.array(PLACES))),
    Attribute(5, 0.5, Nominal(4)),
    Attribute(6, 1.0, Tree(np.array(PATHS), np.array(LOSSES))),
]


def line(codes: Sequence[int]) -> float:
    held = [PLACES[code - 1] for code in codes if code]
    if not held or len(set(codes)) == 1:
        return 0.0
    return 1.0 if 0 in codes else max(max(held) - min(held), 1e-300)


def names(codes: Sequence[int]) -> float:
    return 0.5 * len(set(codes)) / 4 if len(set(codes)) > 1 else 0.0


def tree(codes: Sequence[int]) -> float:
    held = [code for code in codes if code]
    if not held:
        return 0.0
    if 0 in codes:
        return 1.0
    for level in range(2):
        if len({PATHS[code - 1][level] for code in held}) == 1:
            return LOSSES[held[0] - 1][level]
    return 1.0


LOSS: list[Loss] = [line, names, tree]


def by_definition(records: list[tuple[int, Cell]], k: int) -> list[frozenset[int]]:
    """Groups of cells, by their numbers. Args: records: cell and codes of each."""

    def width(a: int) -> Decimal:
        exact = Decimal(f"{LOSS[a]([codes[a] for _, codes in records]):.15g}")
        return exact.quantize(Decimal("1e-9"), ROUND_HALF_UP)

    for a in sorted(range(3), key=lambda a: (-width(a), a)):
        held = [codes[a] for _, codes in records]
        if LOSS[a](held) <= 0:
            continue
        median = sorted(held)[(len(held) - 1) // 2]
        halves = [[r for r in records if (r[1][a] <= median) is left] for left in (True, False)]
        if min(map(len, halves)) >= k:
            return [group for half in halves for group in by_definition(half, k)]
    return [frozenset(number for number, _ in records)]


def drawn(seed: int) -> tuple[list[list[tuple[Cell, int]]], int]:
    """Groups to start from, as cells with their weights; and k."""
    rng = random.Random(seed)
    starts = []
    for _ in range(rng.randint(1, 3)):
        hidden = [rng.random() < 0.2 for _ in range(3)]
        cells: dict[Cell, int] = {}
        for _ in range(rng.randint(4, 80)):
            codes = (rng.randint(0, 7), rng.randint(0, 4), rng.randint(0, 5))
            shown = tuple(0 if h else c for c, h in zip(codes, hidden, strict=True))
            cells[shown] = cells.get(shown, 0) + rng.randint(1, 2)
        starts.append(list(cells.items()))
    return starts, rng.randint(1, 6)


@pytest.mark.parametrize("sparse", [0, 4])
@pytest.mark.parametrize("few", [0, 20])
def test_groups_are_those_of_the_definition(
    few: int, sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether values are counted at their place or sorted, one attribute is tried or several."""
    monkeypatch.setattr(medians, "_SPARSE", sparse)
    for seed in range(25):
        compare(*drawn(seed), few, f"seed {seed}")


def compare(starts: list[list[tuple[Cell, int]]], k: int, few: int, seed: str) -> None:
    """The groups of rounds with those of the definition."""
    flat = [cell for cells in starts for cell in cells]
    lengths = [len(cells) for cells in starts]
    cells = Cells(
        np.array([codes for codes, _ in flat], dtype=np.int32).T,
        np.array([weight for _, weight in flat]),
        np.cumsum([0, *lengths[:-1]]),
        np.zeros(len(starts), dtype=bool),
    )
    expected: list[frozenset[int]] = []
    for first, held in zip(cells.starts, starts, strict=True):
        records = [(int(first) + at, codes) for at, (codes, n) in enumerate(held) for _ in range(n)]
        expected += by_definition(records, k)
    rounds = list(median_rounds(cells, ATTRIBUTES, Limits(k, few, 2)))
    found = [frozenset(part.tolist()) for r in rounds for _, part in r.final]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected)), seed
    places = [[place for place, _ in r.final] for r in rounds]
    assert all(p == sorted(set(p)) for p in places), seed
    assert all(1 <= place <= 2 * r.active for r in rounds for place, _ in r.final), seed


def test_losses_are_rounded_as_the_server_rounds_them() -> None:
    """Halves go away from zero, and 15 digits count."""
    rng = random.Random(1)
    ties = [1 / 1024, 3 / 1024, 0.1234567885, 1e-300, 0.0, 123456.0000000005, 1e6 / 1024]
    ties += [0.5238320965, 0.0317558735]  # as floats, a billion times these lie below their halves
    ties += [63562.53945537049, 12863.423935288496]  # of more than 15 digits
    losses = [*ties, *[rng.random() for _ in range(200)]]
    expected = [
        Decimal(f"{x:.15g}").quantize(Decimal("1e-9"), ROUND_HALF_UP) * 10**9 for x in losses
    ]
    assert rounded(np.array(losses)).tolist() == [float(x) for x in expected]
