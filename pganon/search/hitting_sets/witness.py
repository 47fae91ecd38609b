"""Whether a growing family needs l elements to be hit, with few searches."""

from __future__ import annotations

from pganon.search.hitting_sets.decision import Search
from pganon.search.hitting_sets.masks import absorbed


class LazyWitness:
    """A growing family of sets, and a hitting set of fewer than l elements while there is one.

    While the witness meets what is added, nothing is searched.

    Attributes:
        satisfied: whether every hitting set has at least l elements. Once true, it stays.
    """

    def __init__(self, l: int) -> None:  # noqa: E741 (the letter of the definition)
        if l < 1:
            raise ValueError(f"l must be at least 1, not {l}")
        self.l = l
        self.satisfied = False
        self._family: set[int] = set()
        self._witness = 0
        self._search = Search()

    def add(self, member: int) -> bool:
        """Add a member, a bit mask; whether the family is satisfied now.

        Raises:
            ValueError: the member is empty, so nothing hits it.
            SearchTooLarge: all searches together were too large; the family is not satisfied.
        """
        if not member:
            raise ValueError("a family with an empty member has no hitting set")
        self._family.add(member)
        if self.satisfied or member & self._witness:
            return self.satisfied
        if self._witness.bit_count() < self.l - 1:
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
        found = self._search.run(family, self.l - 1)
        if found is None:
            self.satisfied = True
        else:
            self._witness = found
