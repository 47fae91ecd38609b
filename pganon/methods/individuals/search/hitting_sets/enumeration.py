"""All minimal hitting sets of a family. There may be exponentially many: for small families."""

from __future__ import annotations

from collections.abc import Iterable

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError
from pganon.methods.common.search.masks import (
    absorbed,
    bits,
    decoded,
    degrees_of,
    encoded,
    most_frequent,
)

SETS = 100_000
"""Sets at hand before the enumeration gives up."""


class EnumerationTooLarge(PganonError):
    """There are too many minimal hitting sets to list them."""

    code = ErrorCode.ENUMERATION_TOO_LARGE

    def __init__(self) -> None:
        super().__init__(
            f"hitting-set enumeration too large (> {SETS}); use the bounded decision",
            hint="ask whether a number of elements is enough (hits_within)",
        )


def minimal_hitting_sets(family: Iterable[Iterable[int]]) -> set[frozenset[int]]:
    """Every hitting set of which no proper subset is one; the empty set for an empty family.

    BHS of Wang, Du, Luo and Li (2019, Algorithm 3). Elements common to all members are sets of
    one, but not the only ones, as the paper has it.

    Raises:
        ValueError: a member is empty, so nothing hits it.
        EnumerationTooLarge: more than `SETS` sets on the way.
    """
    masks, elements = encoded(family)
    return {decoded(chosen, elements) for chosen in _minimal(masks)}


def extended_hitting_sets(
    sets: Iterable[frozenset[int]], member: Iterable[int]
) -> set[frozenset[int]]:
    """The minimal hitting sets of a family after a member was added.

    Algorithm 5 of the same paper: every set with every element of the member, without those that
    contain another. Start from the empty set alone, the one of an empty family.

    Args:
        sets: all minimal hitting sets before.
        member: the new one, not empty.

    Raises:
        EnumerationTooLarge: more than `SETS` sets on the way.
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
        _bounded(len(result))
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
    element = 1 << most_frequent(degrees_of(members))
    having = [member for member in members if member & element]
    with_it = _minimal([member for member in members if not member & element])
    # The element is needless if the others hit all members that have it.
    with_it = [chosen | element for chosen in with_it if not all(m & chosen for m in having)]
    without = _minimal([member & ~element for member in members])
    _bounded(len(with_it) + len(without))
    return with_it + without


def _bounded(number: int) -> None:
    if number > SETS:
        raise EnumerationTooLarge
