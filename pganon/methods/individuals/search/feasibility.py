"""Who has to be left out before any search (Wang, Du, Luo and Li 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from pganon.methods.individuals.search.classes import Counted


def hopeless(people: Sequence[Counted], alpha: Fraction) -> list[int]:
    """Places of individuals with more than alpha of all records, and again of those that remain.

    No class can hold them, so they are suppressed. Ascending.
    """
    by_records = sorted(range(len(people)), key=lambda at: -people[at].records)
    remaining = sum(person.records for person in people)
    removed: list[int] = []
    for at in by_records:
        # The others have fewer, so they are not hopeless unless this one is.
        if people[at].records <= alpha * remaining:
            break
        remaining -= people[at].records
        removed.append(at)
    return sorted(removed)


def forced_suppressions(holders: int, individuals: int, beta: Fraction) -> int:
    """Fewest individuals to suppress so that no value has more than beta of those left (EIR).

    A lower bound of what any method suppresses, from the individuals that hold the most frequent
    value.
    """
    if beta == 1:
        return 0
    return max(0, math.ceil((holders - beta * individuals) / (1 - beta)))
