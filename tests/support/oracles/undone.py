"""Cuts undone until all classes together satisfy a model, by their definition: on lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple


class Group(NamedTuple):
    """Records `start` to `start + n - 1` in the order of the cuts, as one class."""

    start: int
    n: int
    loss: float

    def holds(self, other: Group) -> bool:
        return self.start <= other.start and other.start + other.n <= self.start + self.n


Part = Callable[[int], int]
"""What a class of so many records adds to a share, in records."""


def undone(
    cut: Sequence[Group], classes: Sequence[Group], part: Part, bound: Fraction
) -> list[list[Group]]:
    """The classes before every round, and in the end.

    Args:
        cut: the groups that were cut.
        bound: of the share.
    """
    rounds = [sorted(classes)]
    while True:
        now = rounds[-1]
        excess = sum(part(c.n) for c in now) - floor(bound * sum(c.n for c in now))
        chosen = _chosen(cut, now, part, excess)
        if not chosen:
            return rounds
        kept = [c for c in now if not any(group.holds(c) for group in chosen)]
        rounds.append(sorted([*kept, *chosen]))


def _chosen(cut: Sequence[Group], now: Sequence[Group], part: Part, excess: int) -> list[Group]:
    offers: list[tuple[float, int, int, Group]] = []
    for group in cut:
        inside = [c for c in now if group.holds(c)]
        gained = sum(part(c.n) for c in inside) - part(group.n)
        if inside and gained > 0:
            growth = group.loss - sum(c.loss for c in inside)
            offers.append((round(growth / gained, 9), group.start, gained, group))
    inner = [
        offer
        for offer in offers
        if not any(offer[3] != other[3] and offer[3].holds(other[3]) for other in offers)
    ]
    found: list[Group] = []
    for _, _, gained, group in sorted(inner)[: ceil(len(inner) / 4)]:
        if excess <= 0:
            break
        found.append(group)
        excess -= gained
    return found
