"""Metrics of classes that show means and modes, in plain Python from docs/reference/measures.md."""

from __future__ import annotations

import itertools
from typing import Any

from tests.support.oracles.definitions import Ordered, Ordinal
from tests.support.oracles.metric import Class, Release


class Centres(Release):
    """Numbers and dates show a mean, others a mode."""

    def means(self, i: int) -> bool:
        attribute = self.attributes[i]
        return isinstance(attribute, Ordered) and not isinstance(attribute, Ordinal)

    def covers(self, i: int, value: Any, shown: tuple[Any, bool]) -> bool:
        return value in self.covered(i, shown)

    def covered(self, i: int, shown: tuple[Any, bool]) -> list[Any]:
        published, null = shown
        found = [None] if null else []
        return found if published is None else [*found, self._nearest(i, published)]

    def _nearest(self, i: int, published: Any) -> Any:
        attribute = self.attributes[i]
        if not self.means(i):
            return published
        assert isinstance(attribute, Ordered)
        return min(
            attribute.domain,
            key=lambda v: (abs(attribute.place(v) - attribute.place(published)), v),
        )

    def emd(self, i: int) -> float | None:
        both = self.compared(i)
        if not self.means(i) or both is None:
            return super().emd(i)
        earth = {self.at(i, value): float(share) for value, share in both[0].items()}
        shown = [(r, c.shown[i]) for r, c in self.released if c.shown[i][0] is not None]
        total = sum(1 / (1 + null) for _, (_, null) in shown)
        for _, (published, null) in shown:
            at = self.at(i, published)
            earth[at] = earth.get(at, 0.0) - 1 / (1 + null) / total
        moved = work = 0.0
        for at, following in itertools.pairwise(sorted(earth)):
            moved += earth[at]
            work += abs(moved) * (following - at)
        return work

    def knows(self, i: int, c: Class, *, box: bool) -> bool:
        return super().knows(i, c, box=box) if not box else c.shown[i][0] is not None

    def _outside(self, i: int, value: Any, published: Any) -> float:
        return abs(self.at(i, value) - self.at(i, published))

    def share(self, i: int, values: list[Any], shown: tuple[Any, bool]) -> float:
        published, null = shown
        if published is None or not self.means(i):
            return super().share(i, values, shown)
        return (min(values) <= published <= max(values)) / (1 + null)
