"""Small hitting sets by branch and bound, and whether a growing family needs l elements to be hit.

Whether b elements are enough is NP-complete, so the work is bounded: past the bound
:class:`SearchTooLarge` is raised, never a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pganon.methods.common.search.masks import absorbed, bits

BRANCHES = 20_000
"""Branches of a search before the family counts as not satisfied; some two seconds. The server
verifies what comes out, and may look at more."""

GROWTH = 5
"""A family that could not be decided is searched again when it has a fifth more members."""


class SearchTooLarge(Exception):
    """The search for a small hitting set passed its bound on work."""


class BranchAndBound:
    """Branch and bound over a family of bit masks, with a bound on the work of every run.

    Elements have a mask of the members that have them, so that a member costs a bit, however many
    there are.
    """

    def __init__(self, branches: int) -> None:
        self.allowed = branches
        self.done = 0

    def run(self, family: list[int], size: int) -> int | None:
        """A hitting set of at most `size` elements, as a mask; None if there is none.

        Raises:
            SearchTooLarge: the search passed the bound, or is too deep.
        """
        self.done = 0
        reduced = _reduce(family, size) if size >= 0 else None
        if reduced is None:
            return None
        forced, members = reduced
        holders: dict[int, int] = {}
        for place, member in enumerate(members):
            for bit in bits(member):
                holders[bit] = holders.get(bit, 0) | 1 << place
        try:
            hitting = self._within(holders, (1 << len(members)) - 1, size - forced.bit_count())
        except RecursionError:
            raise SearchTooLarge from None
        return None if hitting is None else forced | hitting

    def _within(self, holders: Mapping[int, int], missed: int, size: int) -> int | None:
        """Elements that hit the members that are still missed."""
        self.done += 1
        if self.done > self.allowed:
            raise SearchTooLarge
        if not missed:
            return 0
        degrees = {bit: hit.bit_count() for bit, mask in holders.items() if (hit := mask & missed)}
        order = sorted(degrees, key=lambda bit: (-degrees[bit], bit))
        if _out_of_reach(holders, missed, size, order, degrees):
            return None
        greedy = _greedy(holders, missed, size)
        if greedy is not None:
            return greedy
        # Members are in the order of their size; the first has fewest branches.
        first = missed & -missed
        remaining = {bit: holders[bit] for bit in order}
        for bit in order:
            if holders[bit] & first:
                # An element that was tried is in no hitting set of this size.
                del remaining[bit]
                hitting = self._within(remaining, missed & ~holders[bit], size - 1)
                if hitting is not None:
                    return hitting | 1 << bit
        return None


def _reduce(family: list[int], size: int) -> tuple[int, list[int]] | None:
    """Forced elements and the members still to hit after simplification; None if impossible."""
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


def _out_of_reach(
    holders: Mapping[int, int],
    missed: int,
    size: int,
    order: Sequence[int],
    degrees: Mapping[int, int],
) -> bool:
    """Whether a bound shows that so many elements cannot hit all members.

    The most frequent elements must be in as many members as there are. And weights of members, 1 /
    (frequency of their most frequent element), add up to no more than the size of any hitting
    set, since those of the members of one element add up to at most 1.
    """
    if sum(degrees[bit] for bit in order[: max(size, 0)]) < missed.bit_count():
        return True
    weight, rest = 0.0, missed
    for bit in order:
        weight += (holders[bit] & rest).bit_count() / degrees[bit]
        rest &= ~holders[bit]
        if not rest:
            break
    # The slack keeps rounding on the safe side: too low a bound only costs time.
    return bool(rest) or math.ceil(weight - 1e-6) > size


def _greedy(holders: Mapping[int, int], missed: int, size: int) -> int | None:
    """The most frequent element of the remaining members, repeatedly, if so many are enough."""
    chosen = 0
    for _ in range(size):
        best = min(holders, key=lambda bit: (-(holders[bit] & missed).bit_count(), bit))
        chosen |= 1 << best
        missed &= ~holders[best]
        if not missed:
            return chosen
    return None


class LazyWitness:
    """A growing family of sets, and a hitting set of fewer than l elements while there is one.

    While the witness meets what is added, nothing is searched. Where a search would take too long
    the family is not satisfied yet, which is the safe side; with more members it may be.

    Attributes:
        satisfied: whether every hitting set is known to have at least l elements. Once true, it
            stays.
    """

    def __init__(self, l: int) -> None:  # noqa: E741 (the letter of the definition)
        if l < 1:
            raise ValueError(f"l must be at least 1, not {l}")
        self.l = l
        self.satisfied = False
        self._family: set[int] = set()
        self._witness = 0
        self._search = BranchAndBound(BRANCHES)
        self._again: int | None = None  # members to search again with; None: there is a witness

    def add(self, member: int) -> bool:
        """Add a member, a bit mask; whether the family is satisfied now.

        Raises:
            ValueError: the member is empty, so nothing hits it.
        """
        if not member:
            raise ValueError("a family with an empty member has no hitting set")
        self._family.add(member)
        if self._again is not None and len(self._family) < self._again:
            return False
        if self.satisfied or (self._again is None and member & self._witness):
            return self.satisfied
        if self._again is None and self._witness.bit_count() < self.l - 1:
            self._witness |= member & -member
            return False
        self._renew()
        return self.satisfied

    def merge(self, other: LazyWitness) -> bool:
        """Add all members of another family, which stays as it is."""
        if other.satisfied and other.l >= self.l:
            self._family |= other._family
            self.satisfied = True
        for member in other._family:
            self.add(member)
        return self.satisfied

    def _renew(self) -> None:
        family = absorbed(self._family)
        self._family = set(family)
        self._again = None
        try:
            hitting = self._search.run(family, self.l - 1)
        except SearchTooLarge:
            self._again = len(family) + len(family) // GROWTH + 1
            return
        if hitting is None:
            self.satisfied = True
        else:
            self._witness = hitting
