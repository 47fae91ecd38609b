"""Hitting sets of families of sets: the smallest ones, and all minimal ones of small families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count

from pganon.methods.common.search.masks import absorbed, bits, mask_of
from pganon.methods.individuals.search.hitting_sets import BranchAndBound

BRANCHES = 100_000


def hits_within(
    family: Iterable[Iterable[int]], size: int, *, branches: int = BRANCHES
) -> frozenset[int] | None:
    """A hitting set of at most `size` elements, or None if there is none."""
    masks, elements = _encoded(family)
    hitting = BranchAndBound(branches).run(masks, size)
    return None if hitting is None else _decoded(hitting, elements)


def minimum_hitting_set(
    family: Iterable[Iterable[int]], *, branches: int = BRANCHES
) -> frozenset[int]:
    """A smallest set that meets every member; empty for an empty family."""
    members = [frozenset(member) for member in family]
    found = (hits_within(members, size, branches=branches) for size in count())
    return next(hitting for hitting in found if hitting is not None)


def minimal_hitting_sets(family: Iterable[Iterable[int]]) -> set[frozenset[int]]:
    """Every hitting set of which no proper subset is one; the empty set for an empty family.

    BHS of Wang, Du, Luo and Li (2019, Algorithm 3). Elements common to all members are sets of
    one, but not the only ones, as the paper has it.

    Raises:
        ValueError: a member is empty, so nothing hits it.
    """
    masks, elements = _encoded(family)
    return {_decoded(chosen, elements) for chosen in _minimal(masks)}


def extended_hitting_sets(
    sets: Iterable[frozenset[int]], member: Iterable[int]
) -> set[frozenset[int]]:
    """The minimal hitting sets of a family after a member was added.

    Algorithm 5 of the same paper: every set with every element of the member, without those that
    contain another. Start from the empty set alone, the one of an empty family.

    Args:
        sets: all minimal hitting sets before.
        member: the new one, not empty.
    """
    new = frozenset(member)
    before = set(sets)
    kept = {chosen for chosen in before if chosen & new}
    result = set(kept)
    for element in new:
        # One of the sets that hit already makes the element needless where it lies within.
        rivals = [chosen for chosen in kept if chosen & new == {element}]
        longer = (chosen | {element} for chosen in before - kept)
        result.update(chosen for chosen in longer if not any(rival <= chosen for rival in rivals))
    return result


def _minimal(family: list[int]) -> list[int]:
    members = absorbed(family)
    if not members:
        return [0]
    common = members[0]
    for member in members:
        common &= member
    if common:
        rest = [member & ~common for member in members]
        # A member without other elements is hit by the common ones alone.
        return [1 << bit for bit in bits(common)] + (_minimal(rest) if all(rest) else [])
    if members[0].bit_count() == 1:
        return [members[0] | chosen for chosen in _minimal(members[1:])]
    return _divided(members)


def _divided(members: list[int]) -> list[int]:
    """Sets with the most frequent element, and sets without."""
    element = 1 << _most_frequent(_degrees(members))
    having = [member for member in members if member & element]
    with_it = _minimal([member for member in members if not member & element])
    # The element is needless if the others hit all members that have it.
    with_it = [chosen | element for chosen in with_it if not all(m & chosen for m in having)]
    without = _minimal([member & ~element for member in members])
    return with_it + without


def _encoded(family: Iterable[Iterable[int]]) -> tuple[list[int], list[int]]:
    """Masks of the members, and the element of every bit, ascending.

    Raises:
        ValueError: a member is empty, so nothing hits it.
    """
    members = [frozenset(member) for member in family]
    if frozenset() in members:
        raise ValueError("a family with an empty member has no hitting set")
    elements = sorted(frozenset().union(*members))
    bit_of = {element: bit for bit, element in enumerate(elements)}
    return [mask_of(bit_of[element] for element in member) for member in members], elements


def _decoded(mask: int, elements: list[int]) -> frozenset[int]:
    return frozenset(elements[bit] for bit in bits(mask))


def _degrees(members: Iterable[int]) -> Counter[int]:
    """The number of members of every bit."""
    return Counter(bit for member in members for bit in bits(member))


def _most_frequent(degrees: Counter[int]) -> int:
    """The bit of most members, the lowest of several."""
    return min(degrees, key=lambda bit: (-degrees[bit], bit))
