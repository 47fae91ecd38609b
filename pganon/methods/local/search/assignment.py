"""From the histogram of hidden values to buckets in which all values differ.

A histogram lists (code, records) in the order of the values. A plan assigns the cells of every
value, in a random order, to buckets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Histogram = Sequence[tuple[int, int]]
Assign = Callable[[Histogram, int], "Plan"]


@dataclass(frozen=True)
class Dealt:
    """Cells of one value: rank r from `first` on, below `last`, goes to the bucket
    `base + (r - first + shift) % modulo`."""

    code: int
    first: int
    last: int
    base: int
    shift: int
    modulo: int


@dataclass(frozen=True)
class Plan:
    """The buckets of all cells; buckets are numbered from 0."""

    dealt: Sequence[Dealt]
    buckets: int

    def moved(self, by: int) -> list[Dealt]:
        """The assignment with bucket numbers raised by `by`."""
        return [Dealt(d.code, d.first, d.last, d.base + by, d.shift, d.modulo) for d in self.dealt]

    def values(self) -> list[Counter[int]]:
        """Cells per value of every bucket."""
        counts: list[Counter[int]] = [Counter() for _ in range(self.buckets)]
        for d in self.dealt:
            for rank in range(d.last - d.first):
                counts[d.base + (rank + d.shift) % d.modulo][d.code] += 1
        return counts


def eligible(histogram: Histogram, l: int) -> bool:  # noqa: E741 (the literature's name)
    """Whether buckets of l or more different values exist: l times the largest count fits."""
    return l * max((n for _, n in histogram), default=0) <= sum(n for _, n in histogram)


def leaves(
    histogram: Histogram,
    l: int,  # noqa: E741
    accepts: Callable[[Histogram], bool] = lambda half: True,
) -> list[Histogram]:
    """The histogram cut at lower medians as long as both sides are eligible (Algorithm 2).

    Args:
        histogram: eligible, or empty.
        accepts: an additional condition on both sides.
    """
    uncut: list[Histogram] = []
    open_ = [histogram] if histogram else []
    while open_:
        here = open_.pop()
        low, high = _halves(here)
        # An empty half is eligible, too: without a test for it a leaf would be cut for ever.
        if high and all(eligible(half, l) and accepts(half) for half in (low, high)):
            open_ += [high, low]
        else:
            uncut.append(here)
    return uncut


def _halves(histogram: Histogram) -> tuple[Histogram, Histogram]:
    total = sum(n for _, n in histogram)
    reached = 0
    for place, (_, n) in enumerate(histogram, start=1):
        reached += n
        if 2 * reached >= total:
            return histogram[:place], histogram[place:]
    return histogram, ()


def divided(histogram: Histogram, l: int) -> Plan:  # noqa: E741
    """The assignment phase of m-invariance (Xiao and Tao 2007) with m = l.

    Buckets have l to 2 l - 1 cells, all different. The histogram must be eligible.
    """
    place = {code: at for at, (code, _) in enumerate(histogram)}
    remaining = dict(histogram)
    used: Counter[int] = Counter()
    dealt: list[Dealt] = []
    buckets = 0
    while remaining:
        ordered = sorted(remaining.items(), key=lambda v: (-v[1], place[v[0]]))
        alpha, signature = _segment(ordered, l)
        for code in signature:
            dealt.append(Dealt(code, used[code], used[code] + alpha, buckets, 0, alpha))
            used[code] += alpha
            remaining[code] -= alpha
            if not remaining[code]:
                del remaining[code]
        buckets += alpha
    return Plan(dealt, buckets)


def _segment(counts: Sequence[tuple[int, int]], m: int) -> tuple[int, list[int]]:
    """Number and values of the next buckets; `counts` by falling frequency."""
    rest = sum(n for _, n in counts)
    most = counts[0][1]
    for beta in range(m, len(counts) + 1):
        following = counts[beta][1] if beta < len(counts) else 0
        alpha = min(counts[beta - 1][1], (rest - m * following) // beta)
        if beta > m:
            alpha = min(alpha, (rest - m * most) // (beta - m))
        if alpha >= 1:
            return alpha, [code for code, _ in counts[:beta]]
    raise AssertionError("an eligible histogram has a next bucket")


def dealt_out(histogram: Histogram, buckets: int) -> Plan:
    """Cells in the order of their values, one after the other to each of so many buckets.

    A value with at most as many records as there are buckets is in no bucket twice.
    """
    dealt: list[Dealt] = []
    start = 0
    for code, n in histogram:
        dealt.append(Dealt(code, 0, n, 0, start % buckets, buckets))
        start += n
    return Plan(dealt, buckets)


def evenly(histogram: Histogram, l: int) -> Plan:  # noqa: E741
    """Cells dealt out to as many buckets as l cells each allow."""
    return dealt_out(histogram, sum(n for _, n in histogram) // l)


def together(plans: Iterable[Plan]) -> Plan:
    """The plans of several leaves as one plan, with consecutive buckets."""
    dealt: list[Dealt] = []
    buckets = 0
    for plan in plans:
        dealt += plan.moved(buckets)
        buckets += plan.buckets
    return Plan(dealt, buckets)


def diverse_buckets(
    histogram: Histogram,
    l: int,  # noqa: E741
    *,
    split: bool = True,
    assign: Assign = divided,
    positions: Mapping[int, float] | None = None,
    least_range: float = 0.0,
) -> Plan | None:
    """Buckets of l or more different values: leaves, and an assignment of each.

    Args:
        histogram: eligible, or empty.
        split: whether to cut the histogram into leaves.
        positions: positions of the values, by code; NULL has none.
        least_range: least range of the values of every bucket.

    Returns:
        None where even a single leaf has a bucket with a smaller range.
    """

    def wide(part: Histogram) -> bool:
        return positions is None or _narrowest(assign(part, l), positions) >= least_range

    if not histogram:
        return Plan((), 0)
    if not wide(histogram):
        return None
    parts = leaves(histogram, l, wide) if split else [histogram]
    return together(assign(leaf, l) for leaf in parts)


def _narrowest(plan: Plan, positions: Mapping[int, float]) -> float:
    return min(
        max(places) - min(places) if places else 0.0
        for places in ([positions[c] for c in b if c in positions] for b in plan.values())
    )
