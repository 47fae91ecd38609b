"""A swarm of fireflies looks for the most compact halves of a bucket.

A firefly is a pair of centres; rows are ordered by how much nearer they are to the first one,
and the ordering is cut. Fireflies move towards brighter ones, brightness being compactness
(X.-S. Yang, Firefly algorithms for multimodal optimization, 2009).
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable

import numpy as np

from pganon.methods.buckets.search.conditions import Codes
from pganon.methods.buckets.search.tree import DECIMALS, Bucket, Split, base_split, distances

WORK = 250_000
"""Distances times coordinates up to which all halves of a bucket are enumerated. In a tree most
buckets are small, so this saves most of the work of a swarm without changing its result."""


def lowest_cost(bucket: Bucket) -> float:
    """Cost of the cheapest satisfying halves of a divisible bucket; inf if there are none.

    For buckets that are too large for it, 0, which is also a lower bound.
    """
    dimensions, rows = bucket.z.shape
    if rows > 20 or (rows * dimensions) << (rows - 1) > WORK:
        return 0.0
    numbers = np.arange(1, 1 << rows, 2)
    first = (numbers[:, None] >> np.arange(rows) & 1).astype(bool)
    first = first[_satisfied(bucket, first) & _satisfied(bucket, ~first)]
    if not len(first):
        return math.inf
    return float(np.min(_dispersions(bucket, first) + _dispersions(bucket, ~first)))


def _satisfied(bucket: Bucket, chosen: np.ndarray) -> np.ndarray:
    sizes = chosen.sum(axis=1)
    codes = bucket.codes
    counts = chosen.astype(np.float64) @ _presence(codes)
    frequent = codes.least[codes.owner] * counts <= sizes[:, None]
    return frequent.all(axis=1) & (sizes >= bucket.block.smallest)


def _presence(codes: Codes) -> np.ndarray:
    """rows x numbers, 1 where the row has the value."""
    present = np.zeros((codes.values.shape[1], len(codes.owner)))
    present[np.arange(len(present)), codes.values] = 1
    return present


def _dispersions(bucket: Bucket, chosen: np.ndarray) -> np.ndarray:
    sizes = chosen.sum(axis=1, keepdims=True)
    means = chosen @ bucket.z.T / sizes
    each = distances(bucket.z - means[:, :, None], bucket.block.p)
    return np.where(chosen, each, 0).sum(axis=1)


IMPROVEMENT = 1e-9
"""Costs closer than this are equal."""
BRIGHTER = 1e-12
"""Fireflies whose light differs by less do not attract each other."""
ROUNDING = 1e-10
"""More than rounding adds to a cost, less than an improvement."""
REMEMBERED = 64
"""Rows of the largest bucket whose orderings are cached; they seldom repeat in larger ones."""

FIREFLIES = 12
GENERATIONS = 20
PATIENCE = 5
"""Generations without improvement before the search stops."""
ATTRACTION = 1.0
"""beta_0, attractiveness at distance 0."""
ABSORPTION = 1.0
"""gamma, how fast attractiveness falls with the distance (in [0, 1])."""
STEP = 0.25
"""alpha of the first generation, the width of the random step."""
COOLING = 0.95
"""Factor of alpha from generation to generation."""


def mfa_split(bucket: Bucket, path: str, seed: int) -> Split | None:
    """The best halves the swarm or the median tree finds; None if neither finds any.

    The random numbers depend only on `seed` and `path`.
    """
    if not bucket.divisible:
        return None
    bound = lowest_cost(bucket)
    if bound == math.inf:
        return None
    digest = hashlib.sha256(f"{seed}|{path}".encode()).digest()
    draw = random.Random(int.from_bytes(digest[:8], "big")).random  # noqa: S311
    flight = Flight(bucket, draw, base_split(bucket))
    flight.search(bound)
    return flight.best


class Flight:
    """One search of a swarm in one bucket.

    Attributes:
        best: the best halves so far.
        cost: their cost, inf without any.
    """

    def __init__(self, bucket: Bucket, draw: Callable[[], float], base: Split | None) -> None:
        self.bucket = bucket
        self.draw = draw
        self.best = base
        self.cost = math.inf if base is None else bucket.cost(base)
        self.positions = self._start(base)
        self._intensities: dict[bytes, float] = {}

    def search(self, bound: float) -> None:
        """Fly until nothing can be better than `bound`, or patience or generations end."""
        bound += ROUNDING
        if self.cost <= bound:
            return
        light = [self.intensity(position) for position in self.positions]
        step, patience = STEP, PATIENCE
        for _ in range(GENERATIONS):
            before = self.cost
            self._generation(light, step, bound)
            step *= COOLING
            patience = PATIENCE if self.cost < before else patience - 1
            if not patience or self.cost <= bound:
                return

    def _start(self, base: Split | None) -> list[np.ndarray]:
        """Pairs of centres, 2 x D x 1, at random rows; the first at the halves of the tree."""
        bucket, n = self.bucket, len(self.bucket.rows)
        drawn = [int(self.draw() * n) for _ in range(2 * FIREFLIES)]
        centres = bucket.block.z[:, bucket.members[drawn]].T.reshape(len(drawn) // 2, 2, -1, 1)
        positions = list(centres.copy())
        if base is not None:
            z = bucket.z[:, base.order]
            halves = z[:, : base.length], z[:, base.length :]
            positions[0] = np.stack([half.mean(axis=1, keepdims=True) for half in halves])
        return positions

    def _generation(self, light: list[float], step: float, bound: float) -> None:
        """Every firefly moves towards every brighter one; its intensity is updated at once."""
        for i in range(len(light)):
            for j in range(len(light)):
                if light[j] > light[i] + BRIGHTER:
                    draw, context = self.draw, self.positions[0].shape
                    drawn = np.array([draw() for _ in range(2 * context[1])])
                    drawn -= 0.5
                    drawn *= step
                    noise = drawn.reshape(context)
                    moved = move(
                        self.positions[i],
                        self.positions[j],
                        noise,
                        self.bucket.block.p,
                    )
                    self.positions[i] = moved
                    light[i] = self.intensity(moved)
                    if self.cost <= bound:
                        return

    def intensity(self, position: np.ndarray) -> float:
        """1 / (1 + cost) of the halves of a position; 0 if it has none. Keeps the best."""
        order = ordering(self.bucket, position)
        if len(order) > REMEMBERED:
            return self._shine(order)
        key = order.tobytes()
        light = self._intensities.get(key)
        if light is None:
            light = self._intensities[key] = self._shine(order)
        return light

    def _shine(self, order: np.ndarray) -> float:
        split = self.bucket.cut(order)
        if split is None:
            return 0.0
        cost = self.bucket.cost(split)
        if cost < self.cost - IMPROVEMENT:
            self.best, self.cost = split, cost
        return 1 / (1 + cost)


def ordering(bucket: Bucket, position: np.ndarray) -> np.ndarray:
    """Rows by how much nearer they are to the first centre than to the second, then by rank."""
    return np.argsort(scores(bucket, position), kind="stable")


def scores(bucket: Bucket, position: np.ndarray) -> np.ndarray:
    """Distances of the rows to the first centre less those to the second, as rounded integers."""
    to_first, to_second = distances(bucket.z - position, bucket.block.p)
    return np.rint((to_first - to_second) * 10**DECIMALS)


def move(position: np.ndarray, to: np.ndarray, noise: np.ndarray, p: float) -> np.ndarray:
    """A step towards a brighter firefly plus noise, within the unit cube.

    The distance of two fireflies, of order p, is scaled to [0, 1].
    """
    change = to - position
    flat = np.abs(change).ravel()
    distance = (float(np.add.reduce(flat**p)) / flat.size) ** (1 / p)
    change *= ATTRACTION * math.exp(-ABSORPTION * distance * distance)
    change += noise
    change += position
    return np.minimum(np.maximum(change, 0.0, out=change), 1.0, out=change)
