"""Sets of small numbers as bit masks, and families of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator


def mask_of(elements: Iterable[int]) -> int:
    """The bit of every element, a number from 0."""
    mask = 0
    for element in elements:
        mask |= 1 << element
    return mask


def bits(mask: int) -> Iterator[int]:
    """Numbers of the bits of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def encoded(family: Iterable[Iterable[int]]) -> tuple[list[int], list[int]]:
    """Masks of the members, and the element of every bit, ascending.

    Raises:
        ValueError: a member is empty, so nothing hits it.
    """
    members = [frozenset(member) for member in family]
    if frozenset() in members:
        raise ValueError("a family with an empty member has no hitting set")
    elements = sorted(frozenset().union(*members))
    place = {element: bit for bit, element in enumerate(elements)}
    return [mask_of(place[element] for element in member) for member in members], elements


def decoded(mask: int, elements: list[int]) -> frozenset[int]:
    return frozenset(elements[bit] for bit in bits(mask))


def absorbed(family: Iterable[int]) -> list[int]:
    """Members that contain no other member, smallest first. The hitting sets stay the same."""
    kept: list[int] = []
    # A subset of a member is filed under one of the member's bits.
    filed: dict[int, list[int]] = {}
    for member in sorted(set(family), key=lambda m: (m.bit_count(), m)):
        if member == 0:
            return [0]
        if not _holds_filed(member, filed):
            kept.append(member)
            filed.setdefault(member & -member, []).append(member)
    return kept


def _holds_filed(member: int, filed: dict[int, list[int]]) -> bool:
    remaining = member
    while remaining:
        low = remaining & -remaining
        for other in filed.get(low, ()):
            if other & member == other:
                return True
        remaining ^= low
    return False


def degrees_of(members: Iterable[int]) -> Counter[int]:
    """The number of members of every bit."""
    return Counter(bit for member in members for bit in bits(member))


def most_frequent(degrees: Counter[int]) -> int:
    """The bit of most members, the lowest of several."""
    return min(degrees, key=lambda bit: (-degrees[bit], bit))
