"""Searches of beta-likeness against background knowledge, from their listings, in plain Python.

Nothing of pganon is imported. Records, values of the sensitive attribute and vectors are numbers
from 0; None is NULL. Everything is quadratic or worse.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise, permutations
from typing import Any

EPS = 1e-9

# -- sensitive values -------------------------------------------------------------------------


@dataclass(frozen=True)
class Beta:
    """beta-likeness against every one of the references, lists of shares."""

    beta: float
    references: Sequence[Sequence[float]]
    enhanced: bool = True

    def f(self, p: float) -> float:
        if p == 0:
            return 0.0
        return p * (1 + (min(self.beta, -math.log(p)) if self.enhanced else self.beta))

    @property
    def p(self) -> list[float]:
        return [min(shares) for shares in zip(*self.references, strict=True)]

    def load(self, counts: Sequence[int]) -> float:
        size = sum(counts)
        return max(
            round(c / (self.f(p) * size), 12)
            for reference in self.references
            for c, p in zip(counts, reference, strict=True)
            if c
        )

    def holds(self, counts: Sequence[int]) -> bool:
        return all(
            c <= self.f(p) * sum(counts) + EPS
            for reference in self.references
            for c, p in zip(counts, reference, strict=True)
        )


@dataclass(frozen=True)
class Close:
    """t-closeness against every one of the references."""

    t: float
    references: Sequence[Sequence[float]]
    ordered: bool = False

    @property
    def p(self) -> list[float]:
        return [min(shares) for shares in zip(*self.references, strict=True)]

    def distance(self, counts: Sequence[int]) -> float:
        found = []
        for reference in self.references:
            values = [v for v, p in enumerate(reference) if p > 0 or not self.ordered]
            gaps = [counts[v] / sum(counts) - reference[v] for v in values]
            if self.ordered:
                moved = [abs(sum(gaps[: i + 1])) for i in range(len(gaps) - 1)]
                found.append(sum(moved) / max(1, len(gaps) - 1))
            else:
                found.append(sum(map(abs, gaps)) / 2)
        return round(max(found), 12)

    def load(self, counts: Sequence[int]) -> float:
        return round(self.distance(counts) / self.t, 12)

    def holds(self, counts: Sequence[int]) -> bool:
        return self.distance(counts) <= self.t + EPS


Rule = Beta | Close


def trimmed(rule: Beta, counts: Sequence[int]) -> list[int]:
    """The largest feasible part: by trying all parts, which have a greatest one."""
    best = [0] * len(counts)
    for part in _parts(counts):
        if sum(part) == 0 or rule.holds(part):
            best = [max(pair) for pair in zip(best, part, strict=True)]
    assert sum(best) == 0 or rule.holds(best)
    return best


def _parts(counts: Sequence[int]) -> Iterator[list[int]]:
    if not counts:
        yield []
        return
    for rest in _parts(counts[1:]):
        for number in range(counts[0] + 1):
            yield [number, *rest]


def kept(
    histograms: Sequence[Sequence[int]], source: Sequence[int], k: int, rule: Any
) -> list[int]:
    """Clusters left when those too small or against a reference are dropped until none is.

    `rule` makes a rule of references.
    """
    p = [n / sum(source) for n in source]
    left = [c for c, h in enumerate(histograms) if sum(h) >= k and rule([p]).holds(h)]
    while left:
        published = [sum(histograms[c][v] for c in left) for v in range(len(source))]
        q = [n / sum(published) for n in published]
        staying = [c for c in left if rule([p, q]).holds(histograms[c])]
        if staying == left:
            break
        left = staying
    return left


def kept_in_part(
    histograms: Sequence[Sequence[int]], source: Sequence[int], k: int, beta: float
) -> tuple[list[list[int]], int]:
    """What is left of the clusters, and how often something was taken away."""
    p = [n / sum(source) for n in source]
    parts, references, changes = [list(h) for h in histograms], [p], 0
    while True:
        before = parts
        parts = [trimmed(Beta(beta, references), part) for part in before]
        parts = [part if sum(part) >= k else [0] * len(part) for part in parts]
        changes += parts != before
        published = [sum(column) for column in zip(*parts, strict=True)]
        if not sum(published) or (parts == before and len(references) == 2):
            return parts, changes
        references = [p, [n / sum(published) for n in published]]


def joined_pieces(
    rule: Rule, curves: Sequence[int], histograms: Sequence[Sequence[int]], k: int
) -> list[int]:
    """The number of the block of every piece: runs of a curve as short as they come."""

    def holds(block: Sequence[int]) -> bool:
        counts = [sum(histograms[piece][v] for piece in block) for v in range(len(rule.p))]
        return sum(counts) >= k and rule.holds(counts)

    blocks: list[list[int]] = []
    for curve in sorted(set(curves)):
        own: list[list[int]] = [[]]
        for piece in (piece for piece, c in enumerate(curves) if c == curve):
            if own[-1] and holds(own[-1]):
                own.append([])
            own[-1].append(piece)
        while len(own) > 1 and not holds(own[-1]):
            last = own.pop()
            own[-1] += last
        blocks += own
    return [next(n for n, block in enumerate(blocks) if p in block) for p in range(len(curves))]


# -- plans ------------------------------------------------------------------------------------


def beta_partition(rule: Beta, counts: Sequence[int]) -> list[list[int]] | None:
    """Every way to cut the sorted values into runs; the fewest, then the longest last ones."""
    size = sum(counts)
    values = sorted((v for v, c in enumerate(counts) if c), key=lambda v: (rule.p[v], v))
    found = []
    for number in range(len(values)):
        for cuts in combinations(range(1, len(values)), number):
            edges = [0, *cuts, len(values)]
            runs = [values[a:b] for a, b in pairwise(edges)]
            if all(sum(counts[v] for v in r) <= rule.f(rule.p[r[0]]) * size + EPS for r in runs):
                found.append((len(runs), [-len(run) for run in reversed(runs)], runs))
    return min(found)[2] if found else None


def beta_split(f: Sequence[float], sizes: Sequence[int], k: int) -> list[list[int]]:
    left = [a // 2 for a in sizes]
    right = [a - b for a, b in zip(sizes, left, strict=True)]
    for child in (left, right):
        within = all(c <= f_i * sum(child) + EPS for c, f_i in zip(child, f, strict=True))
        if sum(child) < k or not within:
            return [list(sizes)]
    return beta_split(f, left, k) + beta_split(f, right, k)


def nearest(
    curve: Sequence[int], buckets: Sequence[int], leaves: Sequence[Sequence[int]], draw: Any
) -> list[list[int]]:
    left = set(range(len(curve)))
    found = []
    for leaf in leaves:
        first = next(i for i, a in enumerate(leaf) if a)
        own = sorted((r for r in left if buckets[r] == first), key=lambda r: (curve[r], r))
        x = own[draw(len(own))]
        made: list[int] = []
        for bucket, number in enumerate(leaf):
            rows = [r for r in left if buckets[r] == bucket]
            near = made or [x]
            rows.sort(key=lambda r: (min(abs(curve[r] - curve[m]) for m in near), curve[r], r))
            made = made + rows[:number]
        left -= set(made)
        found.append(sorted(made))
    return found


# -- priors -----------------------------------------------------------------------------------


@cache
def divergence(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Jensen-Shannon divergence as the mean of two Kullback-Leibler divergences."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        middle = (x + y) / 2
        total += sum(z * math.log2(z / middle) for z in (x, y) if z > 0) / 2
    return round(max(total, 0.0), 12)


def clusters(vectors: Sequence[tuple[float, ...]], j: float) -> list[int]:
    """The number of every vector's cluster, in the order of their first vectors."""
    found = sorted(within(linkage(vectors), j), key=min)
    return [next(n for n, c in enumerate(found) if v in c) for v in range(len(vectors))]


def within(states: Iterable[tuple[float, list[set[int]]]], j: float) -> list[set[int]]:
    """The clusters that no merge up to J changes any more."""
    return next(found for height, found in states if height > j + EPS)


def linkage(vectors: Sequence[tuple[float, ...]]) -> Iterator[tuple[float, list[set[int]]]]:
    """Complete linkage on ranks of pairs, every merge by looking at all pairs of clusters.

    Every state, with the divergence of the merge that comes next.
    """
    pairs = sorted(
        (divergence(vectors[a], vectors[b]), a, b) for a, b in combinations(range(len(vectors)), 2)
    )
    rank = {(a, b): number for number, (_, a, b) in enumerate(pairs)}
    found = [{v} for v in range(len(vectors))]

    def apart(x: set[int], y: set[int]) -> int:
        return max(rank[min(a, b), max(a, b)] for a in x for b in y)

    while len(found) > 1:
        least, x, y = min(
            (apart(found[x], found[y]), x, y) for x, y in combinations(range(len(found)), 2)
        )
        yield pairs[least][0], [set(cluster) for cluster in found]
        found[x] |= found.pop(y)
    yield math.inf, found


def js_reduce(
    vectors: Sequence[tuple[float, ...]], sensitive: Sequence[int], k: int, rule: Rule, j: float
) -> tuple[list[list[int]], list[int]]:
    """Records in the order of the curve, with a vector each."""
    left = list(range(len(vectors)))
    classes: list[list[int]] = []
    suppressed = []
    while left:
        group = left[:1]
        for x in left[1:]:
            if all(divergence(vectors[x], vectors[y]) <= j + EPS for y in group):
                group.append(x)
                counts = [sum(sensitive[r] == v for r in group) for v in range(len(rule.p))]
                if len(group) >= k and rule.holds(counts):
                    classes.append(group)
                    left = [r for r in left if r not in group]
                    break
        else:
            suppressed.append(left.pop(0))
    return classes, suppressed


def posterior(priors: Sequence[Sequence[float]], counts: Sequence[int]) -> list[list[float]] | None:
    """Over all orders in which the values can stand beside the members."""
    values = [v for v, c in enumerate(counts) for _ in range(c)]
    sums = [[0.0] * len(counts) for _ in priors]
    total = 0.0
    for world in set(permutations(values)):
        weight = math.prod(prior[v] for prior, v in zip(priors, world, strict=True))
        total += weight
        for member, v in enumerate(world):
            sums[member][v] += weight
    return [[w / total for w in row] for row in sums] if total else None


# -- classes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Num:
    low: float
    high: float

    def squared(self, a: float | None, b: float | None) -> float:
        if a is None or b is None:
            return float(a is not b)
        return ((a - b) / (self.high - self.low)) ** 2 if self.high > self.low else 0.0

    def loss(self, values: Iterable[Any]) -> float:
        found = set(values)
        known = [v for v in found if v is not None]
        if None in found and known:
            return 1.0
        if not known or self.high == self.low:
            return 0.0
        return (max(known) - min(known)) / (self.high - self.low)


@dataclass(frozen=True)
class Cat:
    """`values` in their order."""

    values: tuple[Any, ...]

    def apart(self, a: Any, b: Any) -> float:
        return float(a != b)

    def loss(self, values: Iterable[Any]) -> float:
        found = set(values)
        if len(found) == 1:
            return 0.0
        return 1.0 if None in found else len(found) / len(self.values)


@dataclass(frozen=True)
class Tree:
    """`levels` above the values, below the root: partitions of the values, the finest first."""

    values: tuple[Any, ...]
    levels: tuple[tuple[frozenset[Any], ...], ...]

    def _heights(self) -> list[list[frozenset[Any]]]:
        leaves = [frozenset([v]) for v in self.values]
        return [leaves, *map(list, self.levels), [frozenset(self.values)]]

    def apart(self, a: Any, b: Any) -> float:
        if a is None or b is None:
            return float(a is not b)
        heights = self._heights()
        height = next(h for h, nodes in enumerate(heights) if any({a, b} <= n for n in nodes))
        return height / (len(heights) - 1)

    def loss(self, values: Iterable[Any]) -> float:
        found = set(values)
        if len(found) == 1:
            return 0.0
        if None in found:
            return 1.0
        nodes = [node for nodes in self._heights() for node in nodes if found <= node]
        return min(map(len, nodes)) / len(self.values)


Attribute = Num | Cat | Tree


@dataclass(frozen=True)
class Table:
    """Rows of quasi-identifiers, and a sensitive value each; the row number breaks ties."""

    attributes: tuple[Attribute, ...]
    rows: Sequence[tuple[Any, ...]]
    sensitive: Sequence[int]

    def counts(self, rows: Iterable[int], values: int) -> list[int]:
        found = Counter(self.sensitive[r] for r in rows)
        return [found[v] for v in range(values)]

    @cached_property
    def shares(self) -> list[float]:
        return [n / len(self.rows) for n in self.histogram]

    @cached_property
    def histogram(self) -> list[int]:
        return self.counts(range(len(self.rows)), max(self.sensitive) + 1)

    def distance(self, a: Sequence[Any], b: Sequence[Any]) -> float:
        squares = other = 0.0
        for attribute, x, y in zip(self.attributes, a, b, strict=True):
            if isinstance(attribute, Num):
                squares += attribute.squared(x, y)
            else:
                other += attribute.apart(x, y)
        return round(math.sqrt(squares) + other, 12)

    def centroid(self, rows: Iterable[int]) -> list[Any]:
        found = []
        for attribute, values in zip(
            self.attributes, zip(*[self.rows[r] for r in rows], strict=True), strict=True
        ):
            if isinstance(attribute, Num):
                known = [v for v in values if v is not None]
                found.append(sum(known) / len(known) if known else None)
            else:
                order = [None, *attribute.values]
                found.append(max(order, key=lambda v: (values.count(v), -order.index(v))))
        return found

    def ncp(self, rows: Iterable[int]) -> float:
        columns = zip(*[self.rows[r] for r in rows], strict=True)
        return sum(a.loss(column) for a, column in zip(self.attributes, columns, strict=True))

    def sse(self, rows: Sequence[int]) -> float:
        center = self.centroid(rows)
        return sum(
            a.squared(self.rows[r][i], center[i])
            if isinstance(a, Num)
            else float(self.rows[r][i] != center[i])
            for r in rows
            for i, a in enumerate(self.attributes)
        )


@dataclass(frozen=True)
class Search:
    """k-anonymity-primacy (Algorithms 2 to 4)."""

    table: Table
    k: int
    rule: Rule
    post: str
    cost: str = "ncp"
    pick: str = "aware"
    residual: str = "absorb"

    def load(self, rows: Iterable[int]) -> float:
        return self.rule.load(self.table.counts(rows, len(self.rule.p)))

    def holds(self, rows: Iterable[int]) -> bool:
        return self.rule.holds(self.table.counts(rows, len(self.rule.p)))

    def run(self) -> tuple[list[list[int]], list[int]]:
        classes: list[list[int]] = []
        free: list[list[int]] = []
        left = list(range(len(self.table.rows)))
        while left:
            center = self.table.centroid(left)
            seed = max(left, key=lambda r: (self.table.distance(self.table.rows[r], center), -r))
            group = self.generate(seed, left)
            left = [r for r in left if r not in group]
            (classes if self.holds(group) else free).append(group)
        residual: list[int] = []
        if free:
            made, residual = self.agg(free) if self.post == "agg" else self.inc(free)
            classes += made
        if residual and self.residual == "absorb":
            classes, residual = self.absorb(classes, residual)
        return [sorted(group) for group in classes], sorted(residual)

    def apart(self, a: int, b: int) -> float:
        return self.table.distance(self.table.rows[a], self.table.rows[b])

    def generate(self, seed: int, left: list[int]) -> list[int]:
        if len(left) < 2 * self.k:
            return left
        s, p = self.table.sensitive, self.rule.p
        order = sorted(left, key=lambda r: (r != seed, self.apart(r, seed), r))
        group, rest = order[: self.k], order[self.k :]
        for y in rest:
            if self.load(group) <= 1 + EPS:
                break
            options = []
            for v in {s[r] for r in group if r != seed} - {s[y]}:
                out = max(
                    (r for r in group if r != seed and s[r] == v),
                    key=lambda r: (self.apart(r, seed), r),
                )
                swapped = [r for r in group if r != out] + [y]
                options.append((self.load(swapped), p[v], v, swapped))
            if options:
                best = min(options)
                if best[0] < self.load(group) - EPS:
                    group = best[3]
        return group

    def agg(self, free: list[list[int]]) -> tuple[list[list[int]], list[int]]:
        free, made = list(free), []
        while len(free) >= 2:
            worst = min(free, key=lambda c: (-self.load(c), min(c)))
            free.remove(worst)
            near = min(free, key=lambda c: (round(self.price(worst + c), 12), min(c)))
            free.remove(near)
            both = worst + near
            (made if self.holds(both) else free).append(both)
        return made, free[0] if free else []

    def price(self, rows: list[int]) -> float:
        if self.cost == "sse":
            return self.table.sse(rows)
        return len(rows) * self.table.ncp(rows)

    def inc(self, free: list[list[int]]) -> tuple[list[list[int]], list[int]]:
        group = min(free, key=lambda c: (-self.load(c), min(c)))
        others = sorted(r for c in free if c is not group for r in c)
        made = []
        while True:
            while not self.holds(group) and others:
                candidates = others
                if self.pick == "aware":
                    now = self.load(group)
                    lower = [r for r in others if self.load([*group, r]) < now - EPS]
                    candidates = lower or others
                center = self.table.centroid(group)
                row = min(
                    candidates,
                    key=lambda r: (self.table.distance(self.table.rows[r], center), r),
                )
                group = [*group, row]
                others = [r for r in others if r != row]
            if not self.holds(group):
                return made, group
            made.append(group)
            if len(others) < self.k:
                return made, others
            center = self.table.centroid(group)
            seed = max(others, key=lambda r: (self.table.distance(self.table.rows[r], center), -r))
            order = sorted(others, key=lambda r: (r != seed, self.apart(r, seed), r))
            group = order[: self.k]
            others = [r for r in others if r not in group]

    def absorb(
        self, classes: list[list[int]], residual: list[int]
    ) -> tuple[list[list[int]], list[int]]:
        left, rest = list(classes), list(residual)
        while left:
            allowed = [c for c in left if self.holds(rest + c)]
            best = min(allowed or left, key=lambda c: (round(self.growth(rest, c), 12), min(c)))
            rest = rest + best
            left.remove(best)
            if allowed:
                return [*left, rest], []
        return ([rest], []) if self.holds(rest) else (classes, residual)

    def growth(self, rest: list[int], group: list[int]) -> float:
        both = rest + group
        return len(both) * self.table.ncp(both) - len(group) * self.table.ncp(group)
