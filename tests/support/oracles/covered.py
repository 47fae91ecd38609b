"""People whom classes cover, and their chances to be in a table: loops over people.

Nothing of pganon is imported. A class shows of every column a condition on values, and whether it
has NULL; None is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Person = Sequence[Any]
Shown = Sequence[tuple[Callable[[Any], bool], bool]]
"""By column whether a value is in what a class shows, and whether the class shows NULL."""


def covers(shown: Shown, person: Person) -> bool:
    for (among, null), value in zip(shown, person, strict=True):
        if not (null if value is None else among(value)):
            return False
    return True


def number(shown: Shown, people: Sequence[Person]) -> int:
    """F_E."""
    return sum(covers(shown, person) for person in people)


def presences(classes: Sequence[tuple[Shown, int]], people: Sequence[Person]) -> list[Fraction]:
    """Of everybody the chance to be in the table, where classes have so many records."""
    counted = [(shown, size, number(shown, people)) for shown, size in classes]
    return [
        min(
            Fraction(1),
            sum(
                (Fraction(size, among) for shown, size, among in counted if covers(shown, person)),
                Fraction(0),
            ),
        )
        for person in people
    ]


def risks(classes: Sequence[tuple[Shown, int]], people: Sequence[Person]) -> list[Fraction]:
    """Of every record the chance to pick its person among those whom its class covers."""
    return [
        Fraction(1, max(number(shown, people), 1)) for shown, size in classes for _ in range(size)
    ]


def missing(records: Sequence[Person], people: Sequence[Person]) -> int:
    """Records beyond the people who have the same values."""
    left = [tuple(person) for person in people]
    more = 0
    for record in map(tuple, records):
        if record in left:
            left.remove(record)
        else:
            more += 1
    return more
