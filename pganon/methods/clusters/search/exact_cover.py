"""The posterior of a reader who knows which combinations exist, for one record of a cluster.

A cluster shows the values of its records column by column, and how many records it has. A *world*
gives every record a combination that exists, so that together they have all values that are shown:
an exact cover by so many combinations. All worlds are equally likely to a reader without further
knowledge. The posterior of a combination is the share of worlds in which a given record has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MOST_STATES = 1_000
"""Most partial worlds before a cluster counts as too large."""


class TooLarge(Exception):
    """There are more than MOST_STATES partial worlds."""


def worst_posterior(
    counts: Sequence[int], combinations: Sequence[Sequence[int]], size: int
) -> Fraction | None:
    """The highest posterior of any combination for a record of the cluster.

    Args:
        counts: values that the cluster shows, by column.
        combinations: those of the shown values that exist, each once, a value per column. A value
            may not be in two columns.
        size: records of the cluster.

    Returns:
        in (0, 1]; None if there are too many worlds to count, or none, since a value that is
        shown is in no combination that exists.
    """
    bits = {value: 1 << bit for bit, value in enumerate({v for c in combinations for v in c})}
    columns = [sum({bits[v] for v in column}) for column in zip(*combinations, strict=True)]
    if [column.bit_count() for column in columns] != list(counts):
        return None
    masks = [sum(bits[value] for value in combination) for combination in combinations]
    worlds = _Worlds(masks, columns)
    everything = sum(columns)
    try:
        whole = worlds.count(everything, size)
        most = max(worlds.count(everything & ~mask, size - 1) for mask in masks)
    except TooLarge:
        return None
    return Fraction(most, whole) if whole else None


class _Worlds:
    def __init__(self, masks: Sequence[int], columns: Sequence[int]) -> None:
        self.masks = masks
        self.columns = columns
        self.counts: dict[tuple[int, int], int] = {}
        self.budget = MOST_STATES

    def count(self, missing: int, records: int) -> int:
        """Number of ways to give so many records combinations that cover all missing values."""
        if missing == 0:
            return len(self.masks) ** records
        # A record has one value of every column, and no more.
        if any((missing & column).bit_count() > records for column in self.columns):
            return 0
        key = (missing, records)
        if key not in self.counts:
            self.budget -= len(self.masks)
            if self.budget < 0:
                raise TooLarge
            self.counts[key] = sum(self.count(missing & ~m, records - 1) for m in self.masks)
        return self.counts[key]
