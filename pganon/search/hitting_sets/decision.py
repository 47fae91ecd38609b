"""Small hitting sets by branch and bound: the fewest elements that meet every set of a family.

Whether b elements are enough is NP-complete, so the work is bounded: past the bound
:class:`SearchTooLarge` is raised, never a wrong answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pganon.errors import EXIT_REFUSED, PganonError
from pganon.search.hitting_sets.masks import (
    absorbed,
    bits,
    decoded,
    degrees_of,
    encoded,
    most_frequent,
)

BRANCHES = 200_000
"""Branches of one search before it gives up; seconds."""

ELEMENTS = 16
"""A branch counts once more for so many elements of members: its time grows with them."""


class SearchTooLarge(PganonError):
    """The search for a small hitting set passed its bound on work."""

    exit_code = EXIT_REFUSED
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
    masks, elements = encoded(family)
    reduced = _reduce(masks, len(elements))
    assert reduced is not None, "all elements together hit every member"
    forced, members = reduced
    search = Search(branches)
    size = _lower_bound(members, degrees_of(members))
    # From below: every failed search proves a lower bound, the first success is the minimum.
    while (found := search.run(members, size)) is None:
        size += 1
    return decoded(forced | found, elements)


def hits_within(
    family: Iterable[Iterable[int]], size: int, *, branches: int = BRANCHES
) -> frozenset[int] | None:
    """A hitting set of at most `size` elements, or None if there is none.

    Raises:
        ValueError: a member is empty, so nothing hits it.
        SearchTooLarge: the search passed `branches`.
    """
    masks, elements = encoded(family)
    found = Search(branches).run(masks, size)
    return None if found is None else decoded(found, elements)


class Search:
    """Branch and bound over families of bit masks, with one bound on the work for all of them."""

    def __init__(self, branches: int = BRANCHES) -> None:
        self.allowed = branches
        self.done = 0

    def run(self, family: list[int], size: int) -> int | None:
        """A hitting set of at most `size` elements, as a mask; None if there is none.

        Raises:
            SearchTooLarge: all searches together passed the bound, or this one is too deep.
        """
        try:
            return self._within(family, size) if size >= 0 else None
        except RecursionError:
            raise SearchTooLarge(self.done) from None

    def _within(self, family: list[int], size: int) -> int | None:
        self.done += 1 + sum(member.bit_count() for member in family) // ELEMENTS
        if self.done > self.allowed:
            raise SearchTooLarge(self.allowed)
        reduced = _reduce(family, size)
        if reduced is None:
            return None
        forced, members = reduced
        left = size - forced.bit_count()
        degrees = degrees_of(members)
        if _lower_bound(members, degrees) > left:
            return None
        greedy = _greedy(members, degrees)
        if greedy.bit_count() <= left:
            return forced | greedy
        found = self._branch(members, degrees, left)
        return None if found is None else forced | found

    def _branch(self, members: list[int], degrees: Counter[int], size: int) -> int | None:
        """One of the elements of the smallest member is in the set; try each."""
        tried = 0
        for bit in sorted(bits(members[0]), key=lambda b: (-degrees[b], b)):
            rest = [member & ~tried for member in members if not member >> bit & 1]
            found = self._within(rest, size - 1)
            if found is not None:
                return found | 1 << bit
            tried |= 1 << bit
        return None


def _reduce(family: list[int], size: int) -> tuple[int, list[int]] | None:
    """Forced elements and what is left to hit after simplification; None if impossible."""
    forced = 0
    while True:
        members = absorbed(family)
        if members and members[0] == 0:
            return None
        singles = 0
        for member in members:
            if member.bit_count() == 1:
                singles |= member
        forced |= singles
        members = [member for member in members if not member & singles]
        if forced.bit_count() + bool(members) > size:
            return None
        dominated = _dominated(members)
        if not dominated:
            return forced, members
        family = [member & ~dominated for member in members]


def _dominated(members: list[int]) -> int:
    """Elements whose members all hold another element, which can always stand in for them."""
    common: dict[int, int] = {}
    for member in members:
        for bit in bits(member):
            common[bit] = common.get(bit, member) & member
    dominated = 0
    for bit, shared in common.items():
        # Of elements with the same members the lowest stays.
        others = (other for other in bits(shared) if other != bit)
        if any(other < bit or not common[other] >> bit & 1 for other in others):
            dominated |= 1 << bit
    return dominated


def _lower_bound(members: list[int], degrees: Counter[int]) -> int:
    """The best of three bounds, all valid: disjoint members, a fractional dual, degrees."""
    used = packing = 0
    for member in members:
        if not member & used:
            used |= member
            packing += 1
    weight = sum(1 / max(degrees[bit] for bit in bits(member)) for member in members)
    # The slack keeps rounding on the safe side: too low a bound only costs time.
    fractional = math.ceil(weight - 1e-6)
    covered = by_degree = 0
    for degree in sorted(degrees.values(), reverse=True):
        if covered >= len(members):
            break
        covered += degree
        by_degree += 1
    return max(packing, fractional, by_degree)


def _greedy(members: list[int], degrees: Counter[int]) -> int:
    """The most frequent element of what is left, again and again."""
    degrees = degrees.copy()
    chosen = 0
    while members:
        best = most_frequent(degrees)
        chosen |= 1 << best
        degrees.subtract(degrees_of([member for member in members if member >> best & 1]))
        members = [member for member in members if not member >> best & 1]
    return chosen
