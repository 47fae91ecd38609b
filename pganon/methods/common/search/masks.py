"""Sets of small numbers as bit masks, and families of them."""

from __future__ import annotations

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
