"""Minimum hitting sets: the fewest elements that meet every set of a family. Exact.

Branch and bound on bit masks. Deciding whether b elements are enough is NP-complete, so the
number of branches is bounded: past it :class:`SearchTooLarge` is raised, never a wrong answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pganon.errors import PganonError

BRANCHES = 200_000
"""Branches of one search before it gives up; a few seconds."""


class SearchTooLarge(PganonError):
    """The search for a minimum hitting set passed its bound on work."""

    code = "search_too_large"

    def __init__(self, branches: int) -> None:
        super().__init__(
            f"the exact search for a minimum hitting set was stopped after {branches} branches",
            hint="use smaller groups, or a model without EIR l-diversity",
        )


def minimum_hitting_set(
    family: Iterable[Iterable[int]], *, branches: int = BRANCHES
) -> frozenset[int]:
    """A smallest set that meets every member; empty for an empty family.

    Raises:
        ValueError: a member is empty, so nothing hits it.
        SearchTooLarge: the search passed `branches`.
    """
    masks, elements = _encoded(family)
    # From below: every failed search proves a lower bound, the first success is the minimum.
    for size in range(len(elements) + 1):
        found = _Search(branches).within(masks, size)
        if found is not None:
            return _decoded(found, elements)
    raise ValueError("a family with an empty member has no hitting set")


def hits_within(
    family: Iterable[Iterable[int]], size: int, *, branches: int = BRANCHES
) -> frozenset[int] | None:
    """A hitting set of at most `size` elements, or None if there is none."""
    masks, elements = _encoded(family)
    found = _Search(branches).within(masks, size) if size >= 0 else None
    return None if found is None else _decoded(found, elements)


def _encoded(family: Iterable[Iterable[int]]) -> tuple[list[int], list[int]]:
    members = [frozenset(member) for member in family]
    if frozenset() in members:
        raise ValueError("a family with an empty member has no hitting set")
    elements = sorted(frozenset().union(*members))
    place = {element: bit for bit, element in enumerate(elements)}
    return [sum(1 << place[element] for element in member) for member in members], elements


def _decoded(mask: int, elements: list[int]) -> frozenset[int]:
    return frozenset(elements[bit] for bit in _bits(mask))


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Search:
    def __init__(self, branches: int) -> None:
        self.allowed = branches
        self.done = 0

    def within(self, family: list[int], size: int, banned: int = 0) -> int | None:
        """A hitting set of at most `size` elements without banned ones, as a mask."""
        self.done += 1
        if self.done > self.allowed:
            raise SearchTooLarge(self.allowed)
        reduced = _reduce([member & ~banned for member in family], size)
        if reduced is None:
            return None
        forced, members = reduced
        if not members:
            return forced
        left = size - forced.bit_count()
        degrees = _degrees(members)
        if _lower_bound(members, degrees) > left:
            return None
        greedy = _greedy(members)
        if greedy.bit_count() <= left:
            return forced | greedy
        tried = 0
        first = members[0]
        for bit in sorted(_bits(first), key=lambda b: (-degrees[b], b)):
            rest = [member for member in members if not member >> bit & 1]
            found = self.within(rest, left - 1, tried)
            if found is not None:
                return forced | 1 << bit | found
            tried |= 1 << bit
        return None


def _reduce(family: list[int], size: int) -> tuple[int, list[int]] | None:
    """Forced elements and what is left to hit after simplification; None if impossible."""
    forced = 0
    while True:
        members = _absorbed(family)
        if members and members[0] == 0:
            return None
        singles = 0
        for member in members:
            if member.bit_count() == 1:
                singles |= member
        if singles:
            forced |= singles
            family = [member for member in members if not member & singles]
            continue
        if forced.bit_count() > size:
            return None
        if not members:
            return forced, []
        if forced.bit_count() == size:
            return None
        dominated = _dominated(members)
        if not dominated:
            return forced, members
        family = [member & ~dominated for member in members]


def _absorbed(family: list[int]) -> list[int]:
    """Members that contain no other member, smallest first."""
    kept: list[int] = []
    for member in sorted(set(family), key=lambda m: (m.bit_count(), m)):
        if not any(other & member == other for other in kept):
            kept.append(member)
    return kept


def _dominated(members: list[int]) -> int:
    """One element whose members all hold another element, which can always stand in for it."""
    where: dict[int, int] = {}
    for number, member in enumerate(members):
        for bit in _bits(member):
            where[bit] = where.get(bit, 0) | 1 << number
    ordered = sorted(where, key=lambda bit: (-where[bit].bit_count(), bit))
    for at, bit in enumerate(ordered):
        if any(where[bit] & where[other] == where[bit] for other in ordered[:at]):
            return 1 << bit
    return 0


def _degrees(members: list[int]) -> Counter[int]:
    return Counter(bit for member in members for bit in _bits(member))


def _lower_bound(members: list[int], degrees: Counter[int]) -> int:
    """The best of three bounds, all valid: disjoint members, a fractional dual, degrees."""
    used = packing = 0
    for member in members:
        if not member & used:
            used |= member
            packing += 1
    weight = sum(1 / max(degrees[bit] for bit in _bits(member)) for member in members)
    # The slack keeps rounding on the safe side: too low a bound only costs time.
    fractional = math.ceil(weight - 1e-6)
    covered = by_degree = 0
    for degree in sorted(degrees.values(), reverse=True):
        if covered >= len(members):
            break
        covered += degree
        by_degree += 1
    return max(packing, fractional, by_degree)


def _greedy(members: list[int]) -> int:
    chosen = 0
    while members:
        degrees = _degrees(members)
        best = 1 << min(degrees, key=lambda bit: (-degrees[bit], bit))
        chosen |= best
        members = [member for member in members if not member & best]
    return chosen
