"""Local buckets: leaves of values, signatures as in m-invariance, deals, and t-closeness.

Histograms are pairs of a value and how many cells have it, in the order of the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from tests.support.oracles.lgb import Attribute, Key, Rank, Refused, Value, by_key, histogram

Histogram = Sequence[tuple[Value, int]]
Segment = tuple[int, tuple[Value, ...]]
"""So many buckets with one cell of each of these values."""
Bucket = frozenset[Key]
Assign = Literal["m_invariance", "deal"]


def total(counts: Histogram) -> int:
    return sum(n for _, n in counts)


def eligible(counts: Histogram, l: int) -> bool:  # noqa: E741 (the field's own letter)
    return l * max((n for _, n in counts), default=0) <= total(counts)


def largest_l(counts: Histogram) -> int:
    return total(counts) // max(n for _, n in counts)


def lower_median(counts: Histogram) -> int:
    """How many values are not above the lower weighted median."""
    below = 0
    for at, (_, n) in enumerate(counts, 1):
        below += n
        if 2 * below >= total(counts):
            return at
    raise ValueError("nothing to divide")


def leaves(
    counts: Histogram,
    l: int,  # noqa: E741
    accepted: Callable[[Histogram], bool] = lambda leaf: True,
    *,
    split: bool = True,
) -> list[Histogram]:
    """Algorithm 2: halves at the median while both are eligible (and accepted)."""
    if not counts:
        return []
    if not eligible(counts, l) or not accepted(counts):
        raise Refused(f"{total(counts)} sensitive values, largest l is {largest_l(counts)}")

    def divided(part: Histogram) -> list[Histogram]:
        middle = lower_median(part)
        halves = part[:middle], part[middle:]
        if split and all(h and eligible(h, l) and accepted(h) for h in halves):
            return [*divided(halves[0]), *divided(halves[1])]
        return [part]

    return divided(counts)


def segments(leaf: Histogram, m: int) -> list[Segment]:
    """Signatures of m-invariance's assignment phase; alpha is found by trying."""
    left, order = dict(leaf), [value for value, _ in leaf]
    found: list[Segment] = []
    while rest := sum(left.values()):
        held = sorted((v for v in order if left[v]), key=lambda v: (-left[v], order.index(v)))
        alpha, signature = _next(held, [left[v] for v in held], rest, m)
        found.append((alpha, signature))
        for value in signature:
            left[value] -= alpha
    return found


def _next(values: Sequence[Value], n: Sequence[int], rest: int, m: int) -> Segment:
    for beta in range(m, len(values) + 1):
        following = n[beta] if beta < len(values) else 0
        for alpha in range(n[beta - 1], 0, -1):
            left = Fraction(rest - alpha * beta, m)
            if n[0] - alpha <= left and following <= left:
                return alpha, tuple(values[:beta])
    raise AssertionError("an eligible leaf has a signature")


def signature_range(signature: Iterable[Any]) -> Any:
    return max(signature) - min(signature)


def wide(l: int, least: Any, assign: Assign = "m_invariance") -> Callable[[Histogram], bool]:  # noqa: E741
    """Accepts leaves of numbers of which every bucket has at least this range."""

    def accepted(leaf: Histogram) -> bool:
        if assign == "deal":
            planned = dealt_values(leaf, total(leaf) // l)
        else:
            planned = [list(signature) for _, signature in segments(leaf, l)]
        return min(map(signature_range, planned)) >= least

    return accepted


def dealt_values(leaf: Histogram, buckets: int) -> list[list[Value]]:
    """What every bucket holds after a deal, which does not depend on who has a value."""
    line = [value for value, n in leaf for _ in range(n)]
    return [line[first::buckets] for first in range(buckets)]


# -- cells ----------------------------------------------------------------------------------------


def diverse_buckets(
    cells: Mapping[Key, Value],
    attribute: Attribute,
    l: int,  # noqa: E741
    rank: Rank = by_key,
    assign: Assign = "m_invariance",
    *,
    split: bool = True,
    accepted: Callable[[Histogram], bool] = lambda leaf: True,
) -> list[Bucket]:
    """Buckets of at least l different values each, in the order of (leaf, segment, number)."""
    found: list[Bucket] = []
    for leaf in leaves(histogram(cells.values(), attribute), l, accepted, split=split):
        queues = {value: _queue(cells, attribute, value, rank) for value, _ in leaf}
        if assign == "deal":
            found += _dealt([k for v, _ in leaf for k in queues[v]], total(leaf) // l)
            continue
        for alpha, signature in segments(leaf, l):
            found += [frozenset(queues[v].pop(0) for v in signature) for _ in range(alpha)]
    return found


def _queue(cells: Mapping[Key, Value], attribute: Attribute, value: Value, rank: Rank) -> list[Key]:
    held = [key for key, own in cells.items() if own == value]
    return sorted(held, key=lambda key: rank(attribute.name, key))


def _dealt(line: Sequence[Key], buckets: int) -> list[Bucket]:
    return [frozenset(line[first::buckets]) for first in range(buckets)]


def close_buckets(
    cells: Mapping[Key, Value],
    attribute: Attribute,
    t: Fraction,
    min_size: int,
    rank: Rank = by_key,
) -> list[Bucket]:
    """As many buckets as there can be whose values are within t of all sensitive ones."""
    if not cells:
        return []
    if len(set(cells.values())) < 2:
        raise Refused("t-closeness needs at least 2 distinct sensitive values")
    if len(cells) < min_size:
        raise Refused(f"{len(cells)} sensitive values, min_size is {min_size}")
    counts = histogram(cells.values(), attribute)
    line = [k for v, _ in counts for k in _queue(cells, attribute, v, rank)]
    for size in range(min_size, len(cells) + 1):
        number = len(cells) // size
        planned = dealt_values(counts, number)
        if all(distance(held, cells.values(), attribute) <= t for held in planned):
            return _dealt(line, number)
    raise AssertionError("one bucket is as all cells")


def distance(held: Iterable[Value], every: Iterable[Value], attribute: Attribute) -> Fraction:
    """Earth mover's distance: total variation, or ordered over the distinct numbers."""
    p, q = Counter(held), Counter(every)
    values = sorted(q, key=attribute.null_last)
    gaps = [Fraction(p[v], p.total()) - Fraction(q[v], q.total()) for v in values]
    if attribute.kind != "numeric":
        return sum(map(abs, gaps), Fraction(0)) / 2
    if len(values) == 1:
        return Fraction(0)
    moved = [abs(sum(gaps[: at + 1], Fraction(0))) for at in range(len(values) - 1)]
    return sum(moved, Fraction(0)) / (len(values) - 1)


def anatomy(cells: Mapping[Key, Value], attribute: Attribute, l: int) -> list[Bucket]:  # noqa: E741
    """The baseline: one cell of each of the l longest queues, then the residue."""
    values = [value for value, _ in histogram(cells.values(), attribute)]
    queues = {value: _queue(cells, attribute, value, by_key) for value in values}
    found: list[set[Key]] = []
    while len(longest := [v for v in values if queues[v]]) >= l:
        longest.sort(key=lambda v: -len(queues[v]))
        found.append({queues[v].pop(0) for v in longest[:l]})
    for value in values:
        for key in queues[value]:
            next(b for b in found if value not in {cells[k] for k in b}).add(key)
    return [frozenset(bucket) for bucket in found]


# -- several columns with one number --------------------------------------------------------------


def aligned_buckets(
    rows: Mapping[Key, Sequence[Value]],
    attributes: Sequence[Attribute],
    least: Sequence[int],
    rank: Rank,
) -> list[Bucket]:
    """Buckets of one stratum, in which every column is eligible for its l.

    Records are dealt by the column with the most frequent value; piles stand in the order of the
    secret, and each takes in the next until it is eligible, the last joining the one before.
    """
    columns = [{key: row[at] for key, row in rows.items()} for at in range(len(attributes))]
    most = [max(Counter(cells.values()).values()) for cells in columns]
    by = most.index(max(most))
    counts = histogram(columns[by].values(), attributes[by])
    line = [k for v, _ in counts for k in _queue(columns[by], attributes[by], v, rank)]
    piles = _dealt(line, max(1, len(line) // least[by]))
    order = sorted(range(len(piles)), key=lambda at: rank("piles", at))
    return merged_piles([piles[at] for at in order], rows, attributes, least)


def merged_piles(
    piles: Sequence[Bucket],
    rows: Mapping[Key, Sequence[Value]],
    attributes: Sequence[Attribute],
    least: Sequence[int],
) -> list[Bucket]:
    """Piles in their order, each united with the next until it is eligible."""

    def holds(keys: Bucket) -> bool:
        return all(
            eligible(histogram([rows[key][at] for key in keys], attribute), least[at])
            for at, attribute in enumerate(attributes)
        )

    found: list[Bucket] = []
    open_: Bucket = frozenset()
    for pile in piles:
        open_ |= pile
        if holds(open_):
            found.append(open_)
            open_ = frozenset()
    while open_ and not holds(open_):
        if not found:
            raise Refused("a stratum is not eligible")
        open_ |= found.pop()
    return [*found, open_] if open_ else found
