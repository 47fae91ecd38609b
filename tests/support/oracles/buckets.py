"""Median tree and firefly tuple partition again, with loops and dicts: nothing is shared.

A table is `z` (a list of encoded rows), `columns` (a list of (l, list of codes)) and `s`, the
smallest bucket. Rows are numbers in the order of their rank; a bucket is a list of rows.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

Rows = list[int]
Split = tuple[Rows, Rows]


@dataclass(frozen=True)
class Table:
    z: list[list[float]]
    columns: list[tuple[int, list[int]]]
    s: int
    p: float = 2.0
    budget: int = 50

    def distance(self, a: list[float], b: list[float]) -> float:
        return math.fsum(abs(x - y) ** self.p for x, y in zip(a, b, strict=True)) ** (1 / self.p)

    def mean(self, rows: Rows) -> list[float]:
        return [math.fsum(self.z[r][d] for r in rows) / len(rows) for d in range(len(self.z[0]))]

    def dispersion(self, rows: Rows) -> float:
        centre = self.mean(rows)
        return math.fsum(self.distance(self.z[r], centre) for r in rows)

    def satisfied(self, rows: Rows) -> bool:
        return len(rows) >= self.s and all(
            least * max(Counter(codes[r] for r in rows).values()) <= len(rows)
            for least, codes in self.columns
        )

    def cost(self, split: Split) -> float:
        return self.dispersion(split[0]) + self.dispersion(split[1])


def middle(table: Table, n: int) -> int:
    return table.s * ((n // table.s) // 2)


def feasible_cut(table: Table, order: Rows) -> Split | None:
    n, s = len(order), table.s
    h0 = middle(table, n)
    for h in sorted(range(s, n - s + 1), key=lambda h: (abs(h - h0), h)):
        if table.satisfied(order[:h]) and table.satisfied(order[h:]):
            return order[:h], order[h:]
    return None


def phi(table: Table, halves: list[set[int]]) -> int:
    return sum(
        max(0, least * max(Counter(codes[r] for r in half).values()) - len(half))
        for half in halves
        for least, codes in table.columns
    )


def violations(table: Table, halves: list[set[int]]) -> list[tuple[int, int, int, int]]:
    found = []
    for side, half in enumerate(halves):
        for attribute, (least, codes) in enumerate(table.columns):
            for value, count in Counter(codes[r] for r in half).items():
                if least * count > len(half):
                    found.append((len(half) - least * count, side, attribute, value))
    return sorted(found)


def repair(table: Table, x: Rows, y: Rows, log: list | None = None) -> Split | None:
    place = {row: number for number, row in enumerate(x + y)}
    halves = [set(x), set(y)]
    left = table.budget
    while phi(table, halves) > 0:
        for i, j, side in _exchanges(table, halves, place):
            if left == 0:
                return None
            left -= 1
            before = phi(table, halves)
            _exchange(halves, i, j, side)
            if phi(table, halves) < before:
                if log is not None:
                    log.append((i, j, phi(table, halves)))
                break
            _exchange(halves, j, i, side)
        else:
            return None
    return sorted(halves[0], key=place.__getitem__), sorted(halves[1], key=place.__getitem__)


def _exchanges(
    table: Table, halves: list[set[int]], place: dict[int, int]
) -> Iterator[tuple[int, int, int]]:
    for _, side, attribute, value in violations(table, halves):
        codes = table.columns[attribute][1]
        pairs = [
            (i, j)
            for i in halves[side]
            if codes[i] == value
            for j in halves[1 - side]
            if codes[j] != value
        ]
        pairs.sort(key=lambda p: (abs(place[p[0]] - place[p[1]]), place[p[0]], place[p[1]]))
        yield from ((i, j, side) for i, j in pairs)


def _exchange(halves: list[set[int]], i: int, j: int, side: int) -> None:
    halves[side].remove(i)
    halves[1 - side].remove(j)
    halves[side].add(j)
    halves[1 - side].add(i)


def cut(table: Table, order: Rows) -> Split | None:
    h0 = middle(table, len(order))
    return feasible_cut(table, order) or repair(table, order[:h0], order[h0:])


def base_split(table: Table, rows: Rows) -> Split | None:
    if len(rows) < 2 * table.s:
        return None
    spread = {}
    for axis in range(len(table.z[0])):
        values = [table.z[r][axis] for r in rows]
        spread[axis] = round(max(values) - min(values), 12)
    axes = sorted(spread, key=lambda axis: (-spread[axis], axis))
    orders = [sorted(rows, key=lambda r, a=axis: (table.z[r][a], r)) for axis in axes]
    for order in orders:
        found = feasible_cut(table, order)
        if found:
            return found
    h0 = middle(table, len(rows))
    found = repair(table, orders[0][:h0], orders[0][h0:])
    for order in stripes(table, rows):
        found = found or cut(table, order)
    return found


def stripes(table: Table, rows: Rows) -> Iterator[Rows]:
    """Rows by group, after each column dealt its values out; that with the least room first."""
    counts = [Counter(codes[r] for r in rows) for _, codes in table.columns]
    room = [-least * max(counts[j].values()) for j, (least, _) in enumerate(table.columns)]
    for j in sorted(range(len(room)), key=lambda j: (room[j], j)):
        least, codes = table.columns[j]
        if least > 1:
            dealt = sorted(rows, key=lambda r: (-counts[j][codes[r]], codes[r], r))
            groups = len(rows) // least
            yield [row for group in range(groups) for row in dealt[group::groups]]


def scores(table: Table, rows: Rows, x: list[float]) -> dict[int, float]:
    dimensions = len(x) // 2
    first, second = x[:dimensions], x[dimensions:]
    return {
        r: round(table.distance(table.z[r], first) - table.distance(table.z[r], second), 12)
        for r in rows
    }


def decode(table: Table, rows: Rows, x: list[float]) -> Split | None:
    score = scores(table, rows, x)
    return cut(table, sorted(rows, key=lambda r: (score[r], r)))


def move(
    x: list[float], to: list[float], noise: list[float], swarm: dict[str, float], p: float
) -> list[float]:
    """`noise` already holds alpha * (u - 1/2)."""
    r = sum(abs(a - b) ** p for a, b in zip(x, to, strict=True)) ** (1 / p) / len(x) ** (1 / p)
    beta = swarm["attraction"] * math.exp(-swarm["absorption"] * r * r)
    moved = [a + beta * (b - a) + e for a, b, e in zip(x, to, noise, strict=True)]
    return [min(1.0, max(0.0, value)) for value in moved]


DEFAULTS = {
    "fireflies": 12,
    "generations": 20,
    "patience": 5,
    "attraction": 1.0,
    "absorption": 1.0,
    "step": 0.25,
    "cooling": 0.95,
}


def mfa_split(
    table: Table, rows: Rows, path: str, seed: int, swarm: dict[str, float]
) -> Split | None:
    if len(rows) < 2 * table.s:
        return None
    digest = hashlib.sha256(f"{seed}|{path}".encode()).digest()
    u = random.Random(int.from_bytes(digest[:8], "big")).random
    best = base_split(table, rows)
    best_cost = table.cost(best) if best else math.inf
    flies, light = [], []
    for _ in range(int(swarm["fireflies"])):
        centres = [table.z[rows[int(u() * len(rows))]] for _ in range(2)]
        flies.append(centres[0] + centres[1])
    if best:
        flies[0] = table.mean(best[0]) + table.mean(best[1])

    def evaluate(x: list[float]) -> tuple[float, bool]:
        nonlocal best, best_cost
        split = decode(table, rows, x)
        if split is None:
            return 0.0, False
        cost = table.cost(split)
        better = cost < best_cost - 1e-9
        if better:
            best, best_cost = split, cost
        return 1 / (1 + cost), better

    light = [evaluate(x)[0] for x in flies]
    alpha, stale = swarm["step"], 0
    for _ in range(int(swarm["generations"])):
        improved = False
        for i in range(len(flies)):
            for j in range(len(flies)):
                if light[j] > light[i] + 1e-12:
                    noise = [alpha * (u() - 0.5) for _ in flies[i]]
                    flies[i] = move(flies[i], flies[j], noise, swarm, table.p)
                    light[i], better = evaluate(flies[i])
                    improved = improved or better
        alpha *= swarm["cooling"]
        stale = 0 if improved else stale + 1
        if stale >= swarm["patience"]:
            break
    return best


def partition(
    table: Table, seed: int, swarm: dict[str, float] | None = None, path: str = ""
) -> tuple[set[frozenset[int]], float, float]:
    """Buckets, J and J of BASE; `swarm` None is BASE alone."""
    base = _tree(table, path, lambda rows, _: base_split(table, rows))
    baseline = _total(table, base)
    if swarm is None:
        return _sets(base), baseline, baseline
    mfa = _tree(table, path, lambda rows, at: mfa_split(table, rows, at, seed, swarm))
    if _total(table, mfa) >= baseline - 1e-9:
        return _sets(base), baseline, baseline
    return _sets(mfa), _total(table, mfa), baseline


def public_parts(table: Table) -> list[Rows]:
    """Where the median tree of the points alone divides: while every value fits into a half."""
    free = Table(table.z, [], table.s, table.p, table.budget)

    def split(rows: Rows) -> Split | None:
        fits = all(
            least * max(Counter(codes[r] for r in rows).values()) <= middle(table, len(rows))
            for least, codes in table.columns
        )
        return base_split(free, rows) if fits else None

    return _tree(free, "", lambda rows, _: split(rows))


def _tree(table: Table, path: str, split) -> list[Rows]:
    queue, done = [(list(range(len(table.z))), path)], []
    while queue:
        rows, at = queue.pop(0)
        found = split(rows, at)
        if found:
            queue += [(found[0], at + "0"), (found[1], at + "1")]
        else:
            done.append(rows)
    return done


def _total(table: Table, buckets: list[Rows]) -> float:
    return math.fsum(table.dispersion(rows) for rows in buckets)


def _sets(buckets: list[Rows]) -> set[frozenset[int]]:
    return {frozenset(rows) for rows in buckets}


def every_partition(table: Table) -> Iterator[list[Rows]]:
    """All partitions into satisfying buckets; for a handful of rows."""
    yield from _partitions(table, list(range(len(table.z))))


def _partitions(table: Table, rows: Rows) -> Iterator[list[Rows]]:
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for size in range(table.s - 1, len(others) + 1):
        for mates in combinations(others, size):
            bucket = [first, *mates]
            if table.satisfied(bucket):
                rest = [row for row in others if row not in mates]
                yield from ([bucket, *found] for found in _partitions(table, rest))
