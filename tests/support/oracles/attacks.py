"""Attacks on published rows, from their definitions in docs/reference/measures.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import exp, log
from numbers import Rational
from typing import Any

HIDDEN = object()
"""The value of somebody who hides it."""


@dataclass(frozen=True)
class Cell:
    """A published value, whether it may be missing, and how it is shown where some hide it."""

    shown: Any
    missing: bool
    label: bool = False
    how: str = "g"

    def admits(self, value: Any) -> bool:
        if self.how != "g" or value is HIDDEN:
            return self.how == "w" or (self.how == "b" and value is HIDDEN)
        if value is None:
            return self.missing
        if self.shown is None:
            return False
        if isinstance(self.shown, list):
            return value in self.shown
        if self.label:
            above = self.shown.rstrip("*")
            # A character more is a star more, except for the top.
            long = self.shown == "*" or len(value) == len(self.shown)
            return long and value.startswith(above)
        if isinstance(self.shown, str | int):
            return value == self.shown
        return value in self.shown


@dataclass(frozen=True)
class Box:
    group: int | None
    cells: tuple[Cell, ...]
    n: Rational

    def admits(self, values: Sequence[Any], columns: Sequence[int] | None = None) -> bool:
        places = range(len(values)) if columns is None else columns
        return all(self.cells[i].admits(values[i]) for i in places)


@dataclass(frozen=True)
class Target:
    t: int
    held: bool
    values: tuple[Any, ...]
    sensitive: str


Histogram = Mapping[int, Counter[str]]


def counted(targets: Sequence[Target], hit: Mapping[int, bool]) -> tuple[int, int, int, int]:
    found = []
    for held in (False, True):
        of = [target.t for target in targets if target.held is held]
        found += [sum(hit[t] for t in of), len(of)]
    return tuple(found)


def prior(hist: Histogram) -> Counter[str]:
    return sum(hist.values(), Counter())


Guess = tuple[str, float]
"""A value, and its share of the scores."""


def best(scores: Mapping[str, Any], hist: Histogram) -> Guess:
    frequency = prior(hist)
    value = min(scores or frequency, key=lambda v: (-scores.get(v, 0), -frequency[v], v.encode()))
    of = scores or frequency
    return value, float(of[value] / sum(of.values()))


def candidates(boxes: Sequence[Box], target: Target) -> dict[int, Rational]:
    found: dict[int, Rational] = defaultdict(Fraction)
    for box in boxes:
        if box.group is not None and box.admits(target.values):
            found[box.group] += box.n
    return found


def by_groups(boxes: Sequence[Box], hist: Histogram, target: Target) -> Guess:
    scores: dict[str, Fraction] = defaultdict(Fraction)
    for group, w in candidates(boxes, target).items():
        for value, n in hist[group].items():
            scores[value] += w * Fraction(n, hist[group].total())
    return best(scores, hist)


def others_known(
    boxes: Sequence[Box], hist: Histogram, target: Target, number: int, key: bytes
) -> Guess:
    def draw(text: str) -> bytes:
        return sha256(key + text.encode()).digest()

    groups = list(candidates(boxes, target))
    if not groups:
        return best({}, hist)

    def inside(group: int) -> bool:
        return not target.held and target.sensitive in hist[group]

    group = min(groups, key=lambda g: (not inside(g), draw(f"group:{target.t}:{g}")))
    records = [(v, i) for v, n in hist[group].items() for i in range(1, n + 1)]
    own = (target.sensitive, 1) if inside(group) else None
    records.sort(key=lambda r: (r == own, draw(f"other:{target.t}:{r[1]}{r[0]}")))
    left = records[min(number, len(records) - 1) :]
    return best(Counter(v for v, _ in left), hist)


def correlations(boxes: Sequence[Box], hist: Histogram, target: Target) -> Guess:
    scores: dict[str, float] = {value: log(n) for value, n in prior(hist).items()}
    frequency = prior(hist)
    for i in range(len(target.values)):
        records: dict[int, Rational] = defaultdict(Fraction)
        for box in boxes:
            if box.group is not None and box.admits(target.values, [i]):
                records[box.group] += box.n
        for value, n in frequency.items():
            admitted = sum(w * hist[g][value] / hist[g].total() for g, w in records.items())
            scores[value] += log((admitted + 1) / (n + 2))
    most = max(scores.values())
    return best({value: round(exp(score - most), 12) for value, score in scores.items()}, hist)


def listed(boxes: Sequence[Box], target: Target) -> bool:
    return any(box.admits(target.values) for box in boxes)


def has_record(
    boxes: Sequence[Box],
    hists: Sequence[Histogram],
    values: Sequence[str | None],
    target: Target,
) -> bool:
    """Whether a group that may be his has all of his values; None is one that he does not hide."""
    groups = {box.group for box in boxes if box.admits(target.values)}
    return any(
        all(
            v is None or (g is not None and hist[g][v] > 0)
            for hist, v in zip(hists, values, strict=True)
        )
        for g in groups
    )


def linked(boxes: Sequence[Box], targets: Sequence[Target], target: Target) -> bool:
    width = len(target.values)
    one, other = range(0, width, 2), range(1, width, 2)
    found = {
        u.t
        for box in boxes
        if box.admits(target.values, one)
        for u in targets
        if u.held is target.held and box.admits(u.values, other)
    }
    return found == {target.t}


# -- orders in which groups are cut by the values of one column, as positions of these -------------


def in_order(values: Sequence[Any], n: Counter[Any]) -> list[int]:
    """NULL is the lowest."""
    order = sorted(set(values), key=lambda v: (v is not None, v or 0))
    return [order.index(v) for v in values]


def by_frequency(values: Sequence[Any], n: Counter[Any]) -> list[int]:
    order = sorted(n, key=lambda v: (-n[v], v is not None, v or ""))
    return [order.index(v) for v in values]


def below_the_ancestor(values: Sequence[str], n: Counter[Any]) -> list[int]:
    """Values that begin alike are below one; it is the shortest beginning but one."""
    levels = [[v[:length] for v in values] for length in (len(values[0]), 2, 1, 0)]
    common = next(n for n, level in enumerate(levels) if len(set(level)) == 1)
    length = (len(values[0]), 2, 1, 0)[max(common - 1, 0)]
    counted: Counter[str] = Counter()
    for value, number in n.items():
        counted[value[:length]] += number
    return by_frequency([v[:length] for v in values], counted)
