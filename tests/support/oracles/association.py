"""Association of attributes in plain Python, straight from the definitions. None is NULL.

Exact up to the last square root, and not fast. Nothing of pganon is imported.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import sqrt
from typing import Any

Column = Sequence[Any]
Pairs = dict[tuple[int, int], float]


def phi2(xs: Column, ys: Column) -> Fraction:
    """Chi squared by the number of records; NULL is a category."""
    n = len(xs)
    rows, columns = Counter(xs), Counter(ys)
    both = Counter(zip(xs, ys, strict=True))
    return sum(
        (Fraction(f * f, rows[x] * columns[y]) for (x, y), f in both.items()), Fraction(-1)
    ) * (n > 0)


def msc(xs: Column, ys: Column) -> Fraction:
    least = min(len(set(xs)), len(set(ys)))
    return phi2(xs, ys) / (least - 1) if least > 1 else Fraction(0)


def corrected_v(xs: Column, ys: Column) -> float:
    n, r, c = len(xs), len(set(xs)), len(set(ys))
    if n < 2 or min(r, c) < 2:
        return 0.0
    corrected = max(Fraction(0), phi2(xs, ys) - Fraction((r - 1) * (c - 1), n - 1))
    least = min(size - Fraction((size - 1) ** 2, n - 1) for size in (r, c)) - 1
    return 0.0 if least <= Fraction(1, 10**9) else min(1.0, sqrt(corrected / least))


def quarters(xs: Column, most: int = 32) -> list[Any]:
    """Quarters of the non-NULL records where there are more than `most` values.

    All records of a value are in the quarter of their middle one.
    """
    known = sorted(x for x in xs if x is not None)
    if len(set(known)) <= most:
        return list(xs)
    size, more = divmod(len(known), 4)
    numbers = [quarter for quarter in range(4) for _ in range(size + (quarter < more))]
    places: dict[Any, list[int]] = {}
    for place, x in enumerate(known):
        places.setdefault(x, []).append(place)
    found = {x: numbers[at[(len(at) - 1) // 2]] for x, at in places.items()}
    return [None if x is None else found[x] for x in xs]


def number_of(value: Any) -> Fraction:
    """Of a date its day."""
    return Fraction(value.toordinal() if isinstance(value, dt.date) else value)


def pearson(xs: Column, ys: Column) -> float:
    """|r| over records with both numbers."""
    pairs = [
        (number_of(x), number_of(y))
        for x, y in zip(xs, ys, strict=True)
        if x is not None and y is not None
    ]
    if not pairs:
        return 0.0
    mean_x, mean_y = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    sxx = sum((x - mean_x) ** 2 for x, _ in pairs)
    syy = sum((y - mean_y) ** 2 for _, y in pairs)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return sqrt(sxy**2 / (sxx * syy)) if sxx and syy else 0.0


def correlation_ratio(categories: Column, numbers: Column) -> float:
    """Records without a number do not count; a NULL category does."""
    groups: dict[Any, list[Fraction]] = {}
    for category, number in zip(categories, numbers, strict=True):
        if number is not None:
            groups.setdefault(category, []).append(number_of(number))
    every = [number for group in groups.values() for number in group]
    if not every:
        return 0.0
    mean = sum(every) / len(every)
    total = sum((number - mean) ** 2 for number in every)
    between = sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups.values())
    return sqrt(between / total) if total else 0.0


def association(columns: Sequence[Column], numeric: Sequence[bool], mode: str) -> Pairs:
    """Of all pairs of columns, by their places."""
    found: Pairs = {}
    for i, j in combinations(range(len(columns)), 2):
        if mode == "pearson":
            found[i, j] = _by_scale(columns, numeric, i, j)
            continue
        xs, ys = (quarters(columns[k]) if numeric[k] else columns[k] for k in (i, j))
        found[i, j] = float(msc(xs, ys)) if mode == "msc" else corrected_v(xs, ys)
    return found


def _by_scale(columns: Sequence[Column], numeric: Sequence[bool], i: int, j: int) -> float:
    if numeric[i] and numeric[j]:
        return pearson(columns[i], columns[j])
    if numeric[i] or numeric[j]:
        nominal, number = (j, i) if numeric[i] else (i, j)
        return correlation_ratio(columns[nominal], columns[number])
    return corrected_v(columns[i], columns[j])


def dependencies(columns: Sequence[Column]) -> set[tuple[int, int]]:
    """(i, j) where column i determines column j, which is not constant."""
    return {
        (i, j)
        for i, j in permutations(range(len(columns)), 2)
        if len(set(columns[j])) > 1
        and len(set(zip(columns[i], columns[j], strict=True))) == len(set(columns[i]))
    }
