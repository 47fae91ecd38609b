"""Elements from which the nearest to a growing class is taken, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pganon.methods.common.search.elements import Domain

UNITS = 1e9
"""Distances are whole numbers of this part of one, so that no rounding error decides a tie."""

Element = tuple[Any, ...]


class GrowingClass:
    """An element with its number of records: a class while it grows.

    Attributes:
        element: one part per attribute.
        cost: of the element.
    """

    def __init__(self, domains: Sequence[Domain], element: Element, records: int) -> None:
        self.domains = domains
        self.element = element
        self.records = records
        self.cost = self._cost()

    def join(self, element: Element, records: int) -> list[int]:
        """Take in another element; the attributes that changed."""
        pairs = zip(self.domains, self.element, element, strict=True)
        joined = tuple(domain.join(present, other) for domain, present, other in pairs)
        changed = [at for at, part in enumerate(joined) if part != self.element[at]]
        self.element = joined
        self.records += records
        if changed:
            self.cost = self._cost()
        return changed

    def _cost(self) -> float:
        return sum(d.cost(part) for d, part in zip(self.domains, self.element, strict=True))


class Pool:
    """Elements in the order in which ties are broken.

    The distance of two clusters is what joining them adds to the loss (Wang, Du, Luo and Li
    2019, equations 16 to 18): records of both times the cost of the join, less the loss of each.

    Args:
        parts: one array per attribute, a column per element.
        records: of every element.
    """

    def __init__(
        self, domains: Sequence[Domain], parts: Sequence[np.ndarray], records: np.ndarray
    ) -> None:
        self.domains = domains
        self.parts = list(parts)
        self.labels = np.arange(len(records))
        self.records = np.asarray(records, dtype=float)
        self.losses = self.records * sum(
            (d.costs(part) for d, part in zip(domains, parts, strict=True)), np.zeros(len(records))
        )
        # An element that was taken out is infinitely far.
        self._near = self.losses.copy()
        self._shared = np.zeros((len(domains), len(records)))
        self.size = self.count = len(records)

    def element(self, place: int) -> Element:
        pairs = zip(self.domains, self.parts, strict=True)
        return tuple(domain.part(parts, place) for domain, parts in pairs)

    def place(self, label: int) -> int:
        return int(np.searchsorted(self.labels[: self.size], label))

    def remaining(self) -> list[int]:
        """Labels of the elements that were not taken out."""
        return self.labels[: self.size][np.isfinite(self._near[: self.size])].tolist()

    def take(self, place: int) -> None:
        self._near[place] = -np.inf
        self.count -= 1

    def restore(self, place: int) -> None:
        """Undo :meth:`take`."""
        self._near[place] = self.losses[place]
        self.count += 1

    def append(self, label: int, cluster: GrowingClass) -> None:
        """Add an element with a label higher than all others."""
        if self.size == len(self.labels):
            self._resize(np.arange(self.size), 2 * self.size + 8)
        self.labels[self.size] = label
        self.size += 1
        self.count += 1
        self.put(self.size - 1, cluster)

    def put(self, place: int, cluster: GrowingClass) -> None:
        """Replace an element."""
        for domain, parts, part in zip(self.domains, self.parts, cluster.element, strict=True):
            parts[:, place] = domain.column(part)
        self.records[place] = cluster.records
        self.losses[place] = self._near[place] = cluster.records * cluster.cost

    def compact(self) -> None:
        """Forget elements that were taken out, if they are the most."""
        if 2 * self.count < self.size:
            kept = np.flatnonzero(np.isfinite(self._near[: self.size]))
            self._resize(kept, len(kept))

    def _resize(self, kept: np.ndarray, capacity: int) -> None:
        def moved(array: np.ndarray) -> np.ndarray:
            new = np.zeros((*array.shape[:-1], capacity), dtype=array.dtype)
            new[..., : len(kept)] = array[..., kept]
            return new

        self.parts = [moved(parts) for parts in self.parts]
        self.labels, self.records = moved(self.labels), moved(self.records)
        self.losses, self._near = moved(self.losses), moved(self._near)
        self._shared = moved(self._shared)
        self.size = len(kept)

    def aim(self, cluster: GrowingClass, changed: Sequence[int] | None = None) -> None:
        """Prepare distances to the cluster; only some of its attributes may have changed."""
        for at in range(len(self.domains)) if changed is None else changed:
            parts = self.parts[at][:, : self.size]
            costs = self.domains[at].joined_costs(parts, cluster.element[at])
            self._shared[at, : self.size] = costs

    def distances(self, cluster: GrowingClass) -> np.ndarray:
        """Distance of every element to the cluster aimed at, in units; taken out, infinite."""
        costs = np.add.reduce(self._shared[:, : self.size], axis=0)
        costs *= self.records[: self.size] + cluster.records
        costs -= self._near[: self.size]
        costs -= cluster.records * cluster.cost
        costs *= UNITS
        return np.rint(costs, out=costs)

    def nearest(self, cluster: GrowingClass) -> tuple[int, float]:
        """Place and distance of the nearest element; at an infinite distance if none is left."""
        if not self.count:
            return -1, np.inf
        distances = self.distances(cluster)
        place = int(distances.argmin())
        return place, float(distances[place])
