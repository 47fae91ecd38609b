"""Small counts: bins of few people are shown together with their neighbours."""

from __future__ import annotations

from collections.abc import Sequence


def merged(
    people: Sequence[int],
    smallest: float,
    empty: Sequence[bool] | None = None,
    known: Sequence[int] = (),
) -> list[tuple[int, int]]:
    """Ranges (first, last) of neighbouring bins that hold nobody or at least `smallest` people.

    Args:
        people: of every bin, in order.
        empty: whether a bin holds nobody, where people of several bins are counted in one of them.
        known: people up to some point, in a bin or between two, who are told beside the ranges: no
            range ends so near to it that the difference is somebody, and fewer than `smallest`.

    Returns:
        The ranges in order, which are all bins; none if there are fewer people in all.
    """
    if sum(people) < smallest:
        return []
    empty = [count == 0 for count in people] if empty is None else empty
    ranges: list[tuple[int, int]] = []
    first = held = upto = 0
    nobody = True
    for place, count in enumerate(people):
        held, upto = held + count, upto + count
        nobody = nobody and empty[place]
        apart = all(told(abs(upto - other), smallest) is not None for other in known)
        if nobody or (held >= smallest and apart):
            ranges.append((first, place))
            first, held, nobody = place + 1, 0, True
    if nobody:
        return ranges
    # The last ones are too few: they join those before, up to somebody.
    while held < smallest:
        first, last = ranges.pop()
        held += sum(people[first : last + 1])
    return [*ranges, (first, len(people) - 1)]


def told(people: int, smallest: float) -> int | None:
    """A number of people; None if they are some, and fewer than `smallest`."""
    return people if people == 0 or people >= smallest else None
