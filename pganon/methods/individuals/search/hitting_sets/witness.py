"""Whether a growing family needs l elements to be hit, with few searches."""

from __future__ import annotations

from pganon.methods.common.search.masks import absorbed
from pganon.methods.individuals.search.hitting_sets.decision import BranchAndBound, SearchTooLarge

BRANCHES = 20_000
"""Branches of a search before the family counts as not satisfied; some two seconds. The server
verifies what comes out, and may look at more."""

GROWTH = 5
"""A family that could not be decided is searched again when it has a fifth more members."""


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
