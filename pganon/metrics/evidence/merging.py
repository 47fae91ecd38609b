"""Small counts: bins of few people are shown together with their neighbours."""

from __future__ import annotations

from collections.abc import Sequence


def merged(people: Sequence[int], smallest: int) -> list[tuple[int, int]]:
    """Ranges (first, last) of neighbouring bins that hold nobody or at least `smallest` people.

    Args:
        people: of every bin, in order.

    Returns:
        The ranges in order, which are all bins; none if there are fewer people in all.
    """
    if sum(people) < smallest:
        return []
    ranges: list[tuple[int, int]] = []
    first = held = 0
    for place, count in enumerate(people):
        held += count
        if held == 0 or held >= smallest:
            ranges.append((first, place))
            first, held = place + 1, 0
    if held == 0:
        return ranges
    # The last ones are too few: they join those before, up to somebody.
    while held < smallest:
        first, last = ranges.pop()
        held += sum(people[first : last + 1])
    return [*ranges, (first, len(people) - 1)]


def told(people: int, smallest: int) -> int | None:
    """A number of people; None if they are some, and fewer than `smallest`."""
    return people if people == 0 or people >= smallest else None
