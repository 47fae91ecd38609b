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
        if nobody or (held >= smallest and _apart(upto, known, smallest)):
            ranges.append((first, place))
            first, held, nobody = place + 1, 0, True
    if nobody:
        return ranges
    # The last ones are too few: they join those before, up to somebody.
    while held < smallest:
        first, last = ranges.pop()
        held += sum(people[first : last + 1])
    return [*ranges, (first, len(people) - 1)]


def nested(people: Sequence[int], whole: int, smallest: float) -> list[int | None]:
    """Numbers of people of whom some are among others, and all among the whole, who are told, too.

    None of those who are somebody, and fewer than `smallest`, or with whom another one that is told
    before, or the whole, would say how many so few are.
    """
    known, found = [0, whole], list[int | None]()
    for number in people:
        found.append(number if _apart(number, known, smallest) else None)
        known.append(number if found[-1] is not None else 0)
    return found


def stepped(number: float, step: float) -> float:
    """The nearest number of steps."""
    return round(number / step) * step


def _apart(number: int, known: Sequence[int], smallest: float) -> bool:
    return all(number == other or abs(number - other) >= smallest for other in known)
