"""Work counted in calls, which a busy machine does not change; seconds belong in benchmarks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def calls(act: Callable[[], T]) -> tuple[T, int]:
    """What `act` gives, and the calls of functions that it took.

    A call into C counts once, however long the array that it works on.
    """
    counted = 0
    before = sys.getprofile()

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = act()
    finally:
        sys.setprofile(before)
    return result, counted
