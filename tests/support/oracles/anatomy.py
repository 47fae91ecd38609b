"""Anatomy in plain Python, straight from the definitions of the paper.

Nothing of pganon is imported. A table is the column of its sensitive values, by record number; NULL
is one more value. A group is a list of record numbers in the order in which they joined. Everything
is exact and nothing is fast.

The published relations are a QIT, pairs of a group's number and the quasi-identifiers of a record,
and an ST, triples of a group's number, a sensitive value and how many records of the group have it.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Value = Any
Values = Mapping[int, Value]
Group = list[int]
Qit = Sequence[tuple[Hashable, Any]]
St = Sequence[tuple[Hashable, Value, int]]


class NotEligible(ValueError):
    """A value is too frequent; says how many records have it, and how many may."""

    def __init__(self, frequent: int, records: int, allowed: int) -> None:
        super().__init__(f"{frequent} of {records}, allows at most {allowed}")


def canonical(value: Value) -> tuple[bool, Value]:
    """NULL comes last."""
    return (True, 0) if value is None else (False, value)


def column(*values: Value) -> dict[int, Value]:
    """A table by record number, from 1."""
    return dict(enumerate(values, start=1))


# -- eligibility ------------------------------------------------------------------------------


def eligible(values: Collection[Value], l: int) -> bool:  # noqa: E741 (the field's own letter)
    return all(l * n <= len(values) for n in Counter(values).values())


def largest_l(values: Collection[Value]) -> int:
    return max(m for m in range(1, len(values) + 1) if eligible(values, m))


def require(values: Values, l: int) -> None:  # noqa: E741
    if not eligible(values.values(), l):
        frequent = max(Counter(values.values()).values())
        raise NotEligible(frequent, len(values), len(values) // l)


def cap(values: Collection[Value], l: int) -> int:  # noqa: E741
    """The largest number of records per value that leaves an eligible table (A14)."""
    counts = Counter(values).values()
    return max(c for c in range(len(values) + 1) if sum(min(n, c) for n in counts) >= l * c)


def fewest_suppressed(values: Sequence[Value], l: int) -> int:  # noqa: E741
    """By trying all numbers of records to keep of every value; an empty table is eligible."""
    counts = Counter(values).values()
    kept = itertools.product(*[range(n + 1) for n in counts])
    return len(values) - max(sum(k) for k in kept if all(l * n <= sum(k) for n in k))


# -- algorithms -------------------------------------------------------------------------------


def anatomize(values: Values, l: int) -> list[Group]:  # noqa: E741
    """Anatomize of Xiao and Tao (A1); records of a value come in the order of their numbers."""
    require(values, l)
    lists: dict[Value, list[int]] = defaultdict(list)
    for record in sorted(values):
        lists[values[record]].append(record)
    groups: list[Group] = []
    while sum(map(bool, lists.values())) >= l:
        longest = sorted(lists, key=lambda v: (-len(lists[v]), canonical(v)))[:l]
        groups.append([lists[value].pop(0) for value in longest])
    for value in sorted(lists, key=canonical):
        for record in lists[value]:
            candidates = [g for g in groups if value not in [values[r] for r in g]]
            min(candidates, key=len).append(record)
    return groups


def stripes(values: Values, l: int) -> list[Group]:  # noqa: E741
    """Stripe anatomy (A2), with the same order of records and values."""
    require(values, l)
    counts = Counter(values.values())
    order = sorted(values, key=lambda r: (-counts[values[r]], canonical(values[r]), r))
    number = len(values) // l
    return [order[first::number] for first in range(number)]


def blocks(
    pieces: Sequence[Sequence[Value]],
    l: int,  # noqa: E741
    division: str = "eligible",
) -> list[list[int]]:
    """Numbers of the pieces of every block.

    Pieces are the leaves of a binary tree; from the root down, a node is divided where all of its
    halves are eligible, or (`public`) must be wherever its values lie.
    """

    def divisible(halves: list[list[Value]]) -> bool:
        if division == "eligible":
            return all(eligible(half, l) for half in halves)
        most = max(Counter(value for half in halves for value in half).values())
        return most * l <= min(len(half) for half in halves)

    def below(level: int, node: int) -> list[int]:
        return [p for p in range(node << level, (node + 1) << level) if p < len(pieces)]

    def divided(level: int, node: int) -> Iterator[list[int]]:
        held = below(level, node)
        halves = [n for n in (2 * node, 2 * node + 1) if level and below(level - 1, n)]
        if halves and divisible([joined(pieces, below(level - 1, n)) for n in halves]):
            for half in halves:
                yield from divided(level - 1, half)
        else:
            yield held

    return list(divided((len(pieces) - 1).bit_length(), 0))


def divisions(pieces: Sequence[Sequence[Value]], l: int) -> Iterator[list[list[int]]]:  # noqa: E741
    """Every way to cut the same tree into eligible nodes."""

    def ways(held: range) -> Iterator[list[list[int]]]:
        present = [piece for piece in held if piece < len(pieces)]
        if not present:
            yield []
            return
        if eligible(joined(pieces, present), l):
            yield [present]
        if len(held) > 1:
            middle = len(held) // 2
            for left in ways(held[:middle]):
                for right in ways(held[middle:]):
                    yield left + right

    yield from ways(range(1 << (len(pieces) - 1).bit_length()))


def joined(pieces: Sequence[Sequence[Value]], numbers: Iterable[int]) -> list[Value]:
    return [value for number in numbers for value in pieces[number]]


# -- groups -----------------------------------------------------------------------------------


def of(group: Group, values: Values) -> list[Value]:
    return [values[record] for record in group]


def diverse(group: Collection[Value], l: int) -> bool:  # noqa: E741
    """Frequency l-diversity of the values of a group."""
    return eligible(group, l)


def unique(group: Collection[Value], l: int) -> bool:  # noqa: E741
    """At least l records, all values different."""
    return len(group) >= l and len(set(group)) == len(group)


def degree(groups: Iterable[Collection[Value]]) -> Fraction:
    """The privacy degree of a partition, from the values of its groups."""
    return min(Fraction(len(g), max(Counter(g).values())) for g in groups)


def reconstruction_error(groups: Iterable[Collection[Value]]) -> Fraction:
    """Squared distance of every record from its distribution, summed up (RCE)."""
    found = Fraction(0)
    for group in groups:
        share = {v: Fraction(n, len(group)) for v, n in Counter(group).items()}
        for value in group:
            found += sum((share[u] - (u == value)) ** 2 for u in share)
    return found


# -- published relations ----------------------------------------------------------------------


def publish(groups: Sequence[Group], values: Values, rows: Mapping[int, Any]) -> tuple[Qit, St]:
    """QIT and ST of groups, numbered in the order given."""
    qit = [(number, rows[r]) for number, group in enumerate(groups, 1) for r in group]
    st = [
        (number, value, n)
        for number, group in enumerate(groups, 1)
        for value, n in Counter(of(group, values)).items()
    ]
    return qit, st


def slots(st: St) -> dict[Hashable, Counter[Value]]:
    """Records per value of every group."""
    found: dict[Hashable, Counter[Value]] = defaultdict(Counter)
    for number, value, n in st:
        found[number][value] += n
    return dict(found)


def violations(qit: Qit, st: St, l: int, *, level: str = "attribute") -> list[str]:  # noqa: E741
    """Everything that breaks V1, V2 or V3."""
    sizes = Counter(number for number, _ in qit)
    held = slots(st)
    wrong = [f"V1: {g}" for g in sizes.keys() ^ held.keys()]
    wrong += [f"V1: {g}" for g in held if g in sizes and sizes[g] != held[g].total()]
    wrong += [f"V1: {number} has {n} of a value" for number, _, n in st if n < 1]
    for number, counts in held.items():
        group = list(counts.elements())
        if not (unique(group, l) if level == "unique" else diverse(group, l)):
            wrong.append(f"V2: {number}")
    wrong += [f"V3: {g}" for g in sizes if sizes[g] < l]
    wrong += [f"V3: {g}" for g in held if held[g].total() < l]
    return wrong


def estimate(
    qit: Qit, st: St, record: Callable[[Any], bool], value: Callable[[Value], bool]
) -> tuple[Fraction, Fraction]:
    """Expected number of records that match both, and its variance (M2)."""
    expected = variance = Fraction(0)
    for number, counts in slots(st).items():
        n = counts.total()
        a = sum(count for v, count in counts.items() if value(v))
        b = sum(g == number and record(row) for g, row in qit)
        expected += Fraction(a * b, n)
        if n > 1:
            variance += Fraction(a * (n - a) * b * (n - b), n * n * (n - 1))
    return expected, variance


def posteriors(
    qit: Qit, st: St, possible: Callable[[Sequence[Value]], bool] = lambda world: True
) -> list[dict[Value, Fraction]]:
    """Inference about every row of the QIT by a reader who knows all quasi-identifiers.

    A world gives the values of every group to its rows in some order; all that are possible are as
    likely as each other. Worlds are enumerated for the release as a whole.
    """
    held = slots(st)
    rows = {g: [i for i, (number, _) in enumerate(qit) if number == g] for g in held}
    orders = [itertools.permutations(list(held[g].elements())) for g in rows]
    seen: list[Counter[Value]] = [Counter() for _ in qit]
    worlds = 0
    places = list(itertools.chain(*rows.values()))
    for drawn in itertools.product(*orders):
        found = dict(zip(places, itertools.chain(*drawn), strict=True))
        world = [found[place] for place in range(len(qit))]
        if possible(world):
            worlds += 1
            for counts, value in zip(seen, world, strict=True):
                counts[value] += 1
    return [{v: Fraction(n, worlds) for v, n in counts.items()} for counts in seen]
