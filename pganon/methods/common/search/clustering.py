"""Clusters of attributes from their pairwise association: which attributes share a column.

`pam` is the k-medoid method of classical slicing (Li et al. 2012): greedy BUILD, then SWAP. `aca`
is the attribute clustering of slicing with anatomization (SpringerPlus 2016), whose shortcut may
leave an attribute with a medoid that is not its nearest; `aca_then_pam` mends that.

A distance matrix is symmetric, m x m, with a diagonal of 0. Attributes are numbers from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Matrix = Sequence[Sequence[float]]
How = Literal["aca+pam", "aca", "pam"]

UNIT = 1e-9
"""Distances are compared in whole multiples of it: equal sums are ties whatever the rounding."""

ROUNDS = 100
"""Most rounds of `aca`."""


@dataclass(frozen=True)
class Clustering:
    """Attributes around medoids.

    Attributes:
        medoids: an attribute per cluster.
        labels: per attribute, the number of its cluster.
        cost: sum of the distances of attributes to the medoids of their clusters.
    """

    medoids: tuple[int, ...]
    labels: tuple[int, ...]
    cost: float

    @property
    def clusters(self) -> tuple[tuple[int, ...], ...]:
        """Attributes of each cluster, sorted; clusters in the order of their lowest attribute."""
        members: dict[int, list[int]] = {}
        for attribute, label in enumerate(self.labels):
            members.setdefault(label, []).append(attribute)
        return tuple(tuple(cluster) for cluster in members.values())


def pam(distances: Matrix, clusters: int) -> Clustering:
    """Partitioning around medoids: a local optimum under exchanges of one medoid."""
    return _swapped(distances, _build(_units(distances), clusters))


def aca(distances: Matrix, clusters: int, start: Sequence[int] | None = None) -> Clustering:
    """Attribute clustering in rounds; `start` are the first medoids, by default those of BUILD.

    An attribute looks at other medoids only if its own one moved away from it.
    """
    units = _units(distances)
    rounds = _Rounds(units, _build(units, clusters) if start is None else list(start))
    for _ in range(ROUNDS):
        if not rounds.next():
            break
    return _clustering(distances, rounds.medoids, rounds.labels)


def aca_then_pam(distances: Matrix, clusters: int) -> Clustering:
    """SWAP from the medoids of `aca`, and every attribute with its nearest medoid."""
    return _swapped(distances, aca(distances, clusters).medoids)


def mean_silhouette(distances: Matrix, labels: Sequence[int]) -> float:
    """Mean silhouette width (Rousseeuw 1987), in [-1, 1]; an attribute alone counts 0."""
    members: dict[int, list[int]] = {}
    for attribute, label in enumerate(labels):
        members.setdefault(label, []).append(attribute)
    widths = [_silhouette(distances, a, labels[a], members) for a in range(len(labels))]
    return sum(widths) / len(widths) if widths else 0.0


def clustered(
    association: Matrix, clusters: int | Literal["auto"], how: How = "aca+pam"
) -> tuple[tuple[int, ...], ...]:
    """Clusters of attributes by an association matrix with values in [0, 1].

    `auto` takes the number from 2 to m - 1 with the highest mean silhouette, the lower one on a
    tie, and 1 for up to 2 attributes. Clusters are sorted, in the order of their lowest attribute.
    """
    size = len(association)
    distances = [
        [0.0 if i == j else 1.0 - association[i][j] for j in range(size)] for i in range(size)
    ]
    method = {"aca+pam": aca_then_pam, "aca": aca, "pam": pam}[how]
    if clusters != "auto":
        return method(distances, clusters).clusters
    if size <= 2:
        return method(distances, 1).clusters if size else ()
    clusterings = [method(distances, number) for number in range(2, size)]
    widths = [round(mean_silhouette(distances, item.labels) / UNIT) for item in clusterings]
    return clusterings[widths.index(max(widths))].clusters


def sensitive_column(association_to_sensitive: Sequence[float], alpha: int) -> tuple[int, ...]:
    """The alpha - 1 quasi-identifiers most associated with the sensitive attribute, sorted.

    They share its column in classical slicing; the lowest come first on a tie.
    """
    by_association = sorted(
        range(len(association_to_sensitive)),
        key=lambda a: (-round(association_to_sensitive[a] / UNIT), a),
    )
    return tuple(sorted(by_association[: alpha - 1]))


class _Rounds:
    """State of `aca`: medoid per cluster; label and last distance per attribute."""

    def __init__(self, units: list[list[int]], medoids: list[int]) -> None:
        self.units = units
        self.medoids = medoids
        self.labels = _nearest(units, medoids)
        self.seen = [row[medoids[label]] for row, label in zip(units, self.labels, strict=True)]

    def next(self) -> bool:
        """Move medoids, then attributes; whether anything changed."""
        before = list(self.medoids), list(self.labels)
        self.medoids = [self._medoid(label) for label in range(len(self.medoids))]
        for attribute in range(len(self.labels)):
            if attribute not in self.medoids:
                self._move(attribute)
        return (self.medoids, self.labels) != before

    def _medoid(self, label: int) -> int:
        members = [a for a, assigned in enumerate(self.labels) if assigned == label]
        current = self.medoids[label]
        return min(members, key=lambda a: (sum(self.units[a][b] for b in members), a != current, a))

    def _move(self, attribute: int) -> None:
        to, current = self.units[attribute], self.labels[attribute]
        if to[self.medoids[current]] > self.seen[attribute]:
            current = min(
                range(len(self.medoids)),
                key=lambda label: (to[self.medoids[label]], label != current, label),
            )
        self.labels[attribute] = current
        self.seen[attribute] = to[self.medoids[current]]


def _units(distances: Matrix) -> list[list[int]]:
    return [[round(distance / UNIT) for distance in row] for row in distances]


def _build(units: list[list[int]], clusters: int) -> list[int]:
    """Medoids added one by one, each the one that lowers the cost most."""
    chosen: list[int] = []
    nearest: list[int] | None = None
    for _ in range(clusters):
        remaining = [a for a in range(len(units)) if a not in chosen]
        best = min(remaining, key=lambda a: (sum(_closer(units[a], nearest)), a))
        nearest = _closer(units[best], nearest)
        chosen.append(best)
    return sorted(chosen)


def _closer(to: list[int], nearest: list[int] | None) -> list[int]:
    return to if nearest is None else [min(pair) for pair in zip(to, nearest, strict=True)]


def _swapped(distances: Matrix, medoids: Iterable[int]) -> Clustering:
    """Best exchanges of a medoid with another attribute, until none lowers the cost."""
    units = _units(distances)
    chosen = sorted(medoids)
    cost = sum(min(row[medoid] for medoid in chosen) for row in units)
    while exchanges := list(_exchanges(units, chosen)):
        lowest, other = min(exchanges)
        if lowest >= cost:
            break
        cost, chosen = lowest, other
    return _clustering(distances, chosen, _nearest(units, chosen))


def _exchanges(units: list[list[int]], medoids: list[int]) -> Iterable[tuple[int, list[int]]]:
    """Cost and sorted medoids of every exchange."""
    for out in medoids:
        kept = [medoid for medoid in medoids if medoid != out]
        nearest = [min(row[medoid] for medoid in kept) for row in units] if kept else None
        for new in range(len(units)):
            if new not in medoids:
                yield sum(_closer(units[new], nearest)), sorted([*kept, new])


def _nearest(units: list[list[int]], medoids: Sequence[int]) -> list[int]:
    """Number of the nearest medoid per attribute; a medoid stays with itself."""
    return [
        medoids.index(a)
        if a in medoids
        else min(range(len(medoids)), key=lambda label: (row[medoids[label]], label))
        for a, row in enumerate(units)
    ]


def _clustering(distances: Matrix, medoids: Sequence[int], labels: Sequence[int]) -> Clustering:
    cost = sum(distances[a][medoids[label]] for a, label in enumerate(labels))
    return Clustering(tuple(medoids), tuple(labels), cost)


def _silhouette(
    distances: Matrix, attribute: int, current: int, members: dict[int, list[int]]
) -> float:
    if len(members[current]) == 1 or len(members) == 1:
        return 0.0
    to = distances[attribute]
    inside = sum(to[a] for a in members[current]) / (len(members[current]) - 1)
    outside = min(
        sum(to[a] for a in others) / len(others)
        for label, others in members.items()
        if label != current
    )
    return (outside - inside) / max(outside, inside) if max(outside, inside) else 0.0
