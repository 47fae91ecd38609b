"""Groups by cuts at lower medians (LGB_MDP of Li, He and Sun) in plain Python.

Nothing of pganon is imported, and nothing is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.oracles.definitions import Attribute, Group, Nominal, Record

WIDTH_DECIMALS = 9
"""Widths that differ less are ties, which the order of the attributes decides."""


def share(attribute: Attribute, values: Iterable[Any]) -> float:
    """NCP as local generalization defines it: a set of several values costs its share of all."""
    held = set(values)
    if isinstance(attribute, Nominal):
        return len(held) / len(set(attribute.values)) if len(held) > 1 else 0.0
    return attribute.loss(held)


@dataclass(frozen=True)
class Medians:
    """Attributes:
    shown: indexes of the attributes that the records show.
    k: fewest records of a group.
    loss: width of a group on an attribute.
    """

    attributes: Sequence[Attribute]
    shown: Sequence[int]
    k: int
    loss: Callable[[Attribute, Iterable[Any]], float] = share

    def groups(self, group: Group) -> list[Group]:
        """The widest attribute whose lower median leaves k records on both sides is cut there."""
        for i in sorted(self.shown, key=lambda i: (-self._width(group, i), i)):
            halves = self._halves(group, i)
            if all(len(half) >= self.k for half in halves):
                return [final for half in halves for final in self.groups(half)]
        return [group]

    def _width(self, group: Group, i: int) -> float:
        return round(self.loss(self.attributes[i], [r.qi[i] for r in group]), WIDTH_DECIMALS)

    def _halves(self, group: Group, i: int) -> tuple[Group, Group]:
        places = sorted(self._place(record, i) for record in group)
        median = places[(len(group) - 1) // 2]
        left = [r for r in group if self._place(r, i) <= median]
        return left, [r for r in group if self._place(r, i) > median]

    def _place(self, record: Record, i: int) -> int:
        """Where the value is in code order; NULL is first."""
        return self.attributes[i].codes[record.qi[i]]
