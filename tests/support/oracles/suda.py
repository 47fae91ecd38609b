"""Minimal sets of columns that single a record out, by trying all of them, and their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

Row = Sequence[Any]
Set = tuple[int, ...]


def _alone(rows: Sequence[Row], row: Row, columns: Set) -> bool:
    return sum(all(other[i] == row[i] for i in columns) for other in rows) == 1


def minimal(rows: Sequence[Row], row: Row, largest: int) -> list[Set]:
    """Sets that are unique for the record, and with no column less."""
    sets = [
        columns
        for size in range(1, largest + 1)
        for columns in combinations(range(len(row)), size)
        if _alone(rows, row, columns)
    ]
    return [one for one in sets if not any(set(other) < set(one) for other in sets)]


def score(sets: Sequence[Set], columns: int, largest: int) -> int:
    """The sum over the sets of (A - s)(A - s - 1)...(A - M)."""
    last = min(largest, columns - 1)
    return sum(math.prod(columns - i for i in range(len(one), last + 1)) for one in sets)


def dis(rows: Sequence[Row], fraction: float) -> float:
    """U f / (U f + P (1 - f)) of U records alone with all columns, and P in pairs."""
    sizes = [sum(tuple(other) == tuple(row) for other in rows) for row in rows]
    alone, pairs = sizes.count(1), sizes.count(2)
    if not alone:
        return 0
    return alone * fraction / (alone * fraction + pairs * (1 - fraction))


def dis_suda(scores: Sequence[int], alone: int, probability: float, columns: int) -> list[float]:
    """DIS of every record with a score, divided by the scores."""
    power = 1 + (8 - columns) / 20
    total = sum(one**-power for one in scores)
    return [1 / (1 + alone * (1 / probability - 1) / (one**power * total)) for one in scores]
