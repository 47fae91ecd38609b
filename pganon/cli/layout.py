"""Widths of the columns of a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

_BETWEEN = 3
"""Characters between two columns."""


def widths(
    columns: Sequence[Sequence[str]], available: int, whole: Sequence[str]
) -> list[int] | None:
    """Characters for every column, such that no word is broken; None if the table is too wide.

    Args:
        columns: cells of every column, the header first.
        available: characters of a line.
        whole: headers of columns whose values are not broken into lines while others can be.
    """
    limit = available - _BETWEEN * len(columns) - 1
    chosen = [max(map(cell_len, cells)) for cells in columns]
    least = [
        width if cells[0] in whole else _longest_word(cells)
        for width, cells in zip(chosen, columns, strict=True)
    ]
    if sum(least) > limit:
        return None
    while sum(chosen) > limit:
        # Lines are broken where they are longest.
        _, widest = max((w, i) for i, w in enumerate(chosen) if w > least[i])
        chosen[widest] -= 1
    return chosen


def _longest_word(cells: Sequence[str]) -> int:
    return max((cell_len(word) for cell in cells for word in cell.split()), default=1)
