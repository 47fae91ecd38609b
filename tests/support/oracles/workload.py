"""Answers to queries from published rows alone, by the definition, row by row.

Nothing of pganon is imported. A row of a release counts as much as its quasi-identifiers are
expected to match: what is published of each covers values of which all are equally likely. Its
sensitive values are exact.
"""

from __future__ import annotations

import datetime as dt
import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from psycopg.types.range import Range

Row = Mapping[str, Any]
Query = Mapping[str, Collection[Any]]
"""Values asked for by column; of numbers and dates all between the first and the last."""
Labels = Mapping[str, Collection[Any]]
"""Values of the source below each label of a hierarchy."""


def matches(row: Row, query: Query) -> bool:
    return all(row[column] in values for column, values in query.items())


def estimate(
    rows: Sequence[Row],
    query: Query,
    sensitive: Collection[str],
    labels: Mapping[str, Labels],
    added: str | None = None,
) -> Fraction:
    """How many records of the source are expected to match, or the sum of their column `added`."""
    return sum(
        (
            _row(row, query, sensitive, labels) * (1 if added is None else row[added] or 0)
            for row in rows
        ),
        Fraction(0),
    )


def _row(
    row: Row, query: Query, sensitive: Collection[str], labels: Mapping[str, Labels]
) -> Fraction:
    found = Fraction(1)
    for column, values in query.items():
        if column in sensitive:
            found *= row[column] in values
        else:
            null = bool(row.get(f"{column}_null", False))
            found *= share(row[column], values, labels.get(column), null=null)
    return found


def share(
    published: Any, values: Collection[Any], labels: Labels | None, *, null: bool
) -> Fraction:
    """Share of the published value that a predicate selects; NULL is a point that none selects."""
    if published is None or not values:
        return Fraction(0)
    if isinstance(published, Range):
        return _of_range(published, values, null=null)
    covered = set(labels[published] if labels else published) - {None}
    null = null or (not labels and None in published)
    return Fraction(len(covered & set(values)), len(covered) + null)


def _of_range(published: Range[Any], values: Collection[Any], *, null: bool) -> Fraction:
    low, high = _number(published.lower), _number(published.upper)
    first, last = _number(min(values)), _number(max(values))
    if isinstance(next(iter(values)), Decimal):
        if low == high:
            return Fraction(int(first <= low <= last), 1 + null)
        return max(Fraction(0), min(high, last) - max(low, first)) / (high - low)
    whole = [
        n
        for n in range(math.ceil(low), math.floor(high) + 1)
        if n < high or published.bounds[1] == "]"
    ]
    return Fraction(len([n for n in whole if first <= n <= last]), len(whole) + null)


def _number(value: Any) -> Fraction:
    return Fraction(value.toordinal() if isinstance(value, dt.date) else value)


def bounds(
    rows: Sequence[Row], query: Query, sensitive: Collection[str], labels: Mapping[str, Labels]
) -> tuple[int, int]:
    """The fewest and the most released records that match, of all that classes may hold."""
    classes: dict[Any, list[Row]] = {}
    for row in rows:
        classes.setdefault(row["class_id"], []).append(row)
    lowest = highest = 0
    for own in classes.values():
        fewest = most = len(own)
        for column, values in query.items():
            if column in sensitive:
                least = greatest = sum(row[column] in values for row in own)
            else:
                least, greatest = _in_class(own, column, values, labels.get(column))
            fewest, most = max(0, fewest + least - len(own)), min(most, greatest)
        lowest, highest = lowest + fewest, highest + most
    return lowest, highest


def _in_class(
    own: Sequence[Row], column: str, values: Collection[Any], labels: Labels | None
) -> tuple[int, int]:
    """Every end of a range and every element of a set is had by a record, and so is NULL."""
    published, null = own[0][column], bool(own[0].get(f"{column}_null", False))
    if published is None or not values:
        return 0, 0
    if isinstance(published, Range):
        first, last = _number(min(values)), _number(max(values))
        low, high = _number(published.lower), _number(published.upper)
        if published.bounds[1] == ")":
            high -= 1
        ends = {low, high}
        every, some = first <= low and high <= last, first <= high and low <= last
        held = sum(first <= end <= last for end in ends)
    else:
        covered = set(labels[published] if labels else published) - {None}
        null = null or (not labels and None in published)
        ends = set() if labels else covered
        every, some = covered <= set(values), bool(covered & set(values))
        held = len(ends & set(values))
    least = len(own) if every and not null else held
    return least, len(own) - (len(ends) + null - held) if some else 0


class Errors(NamedTuple):
    """In the order of what a release says of its workload."""

    median: float | None
    mean: float | None
    empty: int
    quarter: float | None
    three_quarters: float | None
    most: float | None


def errors(pairs: Sequence[tuple[int, Fraction]]) -> Errors:
    """Relative errors of (exact, estimate); of an exact answer of 0 there is none."""
    found = sorted(abs(guess - exact) / exact for exact, guess in pairs if exact)
    empty = len(pairs) - len(found)
    if not found:
        return Errors(None, None, empty, None, None, None)
    parts = [float(_below(found, Fraction(part, 100))) for part in (25, 75, 95)]
    return Errors(
        float(_below(found, Fraction(1, 2))), float(statistics.mean(found)), empty, *parts
    )


def _below(values: Sequence[Fraction], part: Fraction) -> Fraction:
    """The value that this part of the values is below, on the line between its neighbours."""
    place = part * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])
