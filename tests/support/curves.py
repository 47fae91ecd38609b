"""Places of points on curves, from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

Point = Sequence[int]


def place_in_gray_codes(point: Point, bits: int) -> int:
    """Its bits level by level, the highest first, read as a Gray code."""
    code = 0
    for bit in reversed(range(bits)):
        for coordinate in point:
            code = code << 1 | (coordinate >> bit & 1)
    place = 0
    while code:
        place ^= code
        code >>= 1
    return place
