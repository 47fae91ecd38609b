"""DAnonyIR again, from the listings of Wang, Du, Luo and Li (2019), with sets and fractions.

Nothing of pganon is imported. An element is a tuple of sets of values, one per attribute; None is
NULL. A table has rows (individual, values of the attributes, sensitive value); `order` lists the
individuals by their number. A model is ("ir", k, l), ("eir", l), ("share", alpha, beta) or ("eir
share", alpha, beta).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.oracles import model as models

Element = tuple[frozenset[Any], ...]
Model = tuple[Any, ...]


@dataclass(frozen=True)
class Num:
    low: int
    high: int

    def cost(self, values: frozenset[Any]) -> Fraction:
        known = values - {None}
        if known and known != values:
            return Fraction(1)
        if not known or self.high == self.low:
            return Fraction(0)
        return Fraction(max(known) - min(known), self.high - self.low)


@dataclass(frozen=True)
class Cat:
    values: tuple[Any, ...]

    def cost(self, values: frozenset[Any]) -> Fraction:
        if len(self.values) <= 1:
            return Fraction(0)
        return Fraction(len(values) - 1, len(self.values) - 1)


@dataclass(frozen=True)
class Hier:
    """Inner nodes below the root as sets of values; a level is a partition of the values."""

    values: tuple[Any, ...]
    levels: tuple[tuple[frozenset[Any], ...], ...]

    def cost(self, values: frozenset[Any]) -> Fraction:
        nodes = [frozenset([value]) for value in self.values]
        nodes += [node for level in self.levels for node in level]
        nodes.append(frozenset(self.values))
        least = min(len(node) for node in nodes if values <= node)
        return Fraction(least - 1, len(self.values) - 1) if len(self.values) > 1 else Fraction(0)


Attribute = Num | Cat | Hier


@dataclass(frozen=True)
class Table:
    attributes: tuple[Attribute, ...]
    rows: list[tuple[Any, tuple[Any, ...], Any]]
    order: list[Any]

    def rows_of(self, who: list[Any]) -> list[tuple[Any, tuple[Any, ...], Any]]:
        return [row for person in who for row in self.rows if row[0] == person]

    def element(self, who: list[Any]) -> Element:
        rows = self.rows_of(who)
        return tuple(frozenset(row[1][at] for row in rows) for at in range(len(self.attributes)))

    def cost(self, element: Element) -> Fraction:
        pairs = zip(self.attributes, element, strict=True)
        return sum((attribute.cost(values) for attribute, values in pairs), Fraction(0))

    def base(self, person: Any) -> Fraction:
        own = self.cost(self.element([person]))
        rows = self.rows_of([person])
        return sum((own - self.cost(single(row[1])) for row in rows), Fraction(0))

    def distance(self, one: list[Any], other: list[Any]) -> Fraction:
        """Equations 16 to 18, rounded."""
        return round(self.exact_distance(one, other), 9)

    def exact_distance(self, one: list[Any], other: list[Any]) -> Fraction:
        joined = self.cost(self.element(one + other))
        parts = [
            len(self.rows_of(who)) * (joined - self.cost(self.element(who))) for who in (one, other)
        ]
        return sum(parts, Fraction(0))

    def satisfied(self, model: Model, who: list[Any]) -> bool:
        pairs = [(row[0], row[2]) for row in self.rows_of(who)]
        people, values = len(set(who)), {value for _, value in pairs}
        if model[0] == "ir":
            return people >= model[1] and len(values) >= model[2]
        if model[0] == "eir":
            return models.smallest_hitting_set(models.value_sets(pairs)) >= model[1]
        if models.ir_alpha(pairs) > model[1]:
            return False
        if model[0] == "share":
            return models.alpha([value for _, value in pairs]) <= model[2]
        return models.eir_beta(pairs) <= model[2]

    def loss(self, classes: list[list[Any]], suppressed: list[Any]) -> Fraction:
        """Equation 14, from the records."""
        total = Fraction(len(self.attributes) * len(self.rows_of(suppressed)))
        for who in classes:
            cost = self.cost(self.element(who))
            total += sum((cost - self.cost(single(r[1])) for r in self.rows_of(who)), Fraction(0))
        return total


def single(values: tuple[Any, ...]) -> Element:
    return tuple(frozenset([value]) for value in values)


@dataclass
class Outcome:
    classes: list[list[Any]]
    suppressed: list[Any]
    choices: list[tuple[str, Any, Fraction | float]]


def danonyir(
    table: Table, model: Model, seeds: list[Any], residual: str = "restore", handle: str = "loss"
) -> Outcome:
    """Algorithm 1; the numbers of the lines are those of the paper."""
    left = list(table.order)  # line 1
    classes: dict[int, list[Any]] = {}
    sequence, choices = 0, []
    group: list[Any] = []
    absorbed: dict[int, list[Any]] = {}
    satisfied = True
    while left:  # line 2
        seed = next((s for s in seeds if s in left), left[0])  # lines 3 to 5
        left.remove(seed)
        group, absorbed = [seed], {}
        satisfied = table.satisfied(model, group)
        while not satisfied and left:  # line 6
            nearest = min(left, key=lambda x: table.distance([x], group))  # line 7
            distance = table.distance([nearest], group)
            other = min(classes, key=lambda q: (table.distance(classes[q], group), q), default=None)
            if other is None or distance <= table.distance(classes[other], group):  # line 9
                left.remove(nearest)
                group = [*group, nearest]
                choices.append(("individual", nearest, distance))
            else:  # lines 11 and 12
                choices.append(("class", other, table.distance(classes[other], group)))
                absorbed[other] = classes.pop(other)
                group = group + absorbed[other]
            satisfied = table.satisfied(model, group)  # line 14
        if satisfied:  # lines 16 to 18
            classes[sequence] = group
            sequence += 1
    suppressed: list[Any] = []
    if not satisfied:  # lines 20 to 25
        if residual == "restore":
            classes.update(absorbed)
        safe = {person for who in classes.values() for person in who}
        for person in [person for person in group if person not in safe]:
            if handle == "suppress":
                suppressed.append(person)
            else:
                choices.append(handle_residual(table, model, classes, person))
                if choices[-1][0] == "suppressed":
                    suppressed.append(person)
    return Outcome([classes[q] for q in sorted(classes)], suppressed, choices)


def handle_residual(
    table: Table, model: Model, classes: dict[int, list[Any]], person: Any
) -> tuple[str, Any, Fraction | float]:
    """Algorithm 7."""
    distances = {q: table.distance([person], who) for q, who in classes.items()}
    admissible = [q for q, who in classes.items() if table.satisfied(model, [*who, person])]
    best = min(admissible, key=lambda q: (distances[q], q), default=None)
    everything = len(table.rows_of([person])) * len(table.attributes)
    if best is not None and (
        table.exact_distance([person], classes[best]) + table.base(person) < everything
    ):
        classes[best] = [*classes[best], person]
        return ("residual", person, distances[best])
    return ("suppressed", person, min(distances.values(), default=math.inf))


def hopeless(table: Table, alpha: Fraction) -> set[Any]:
    """Individuals removed while somebody has more than alpha of the records that are left."""
    counts = Counter(row[0] for row in table.rows)
    gone: set[Any] = set()
    while True:
        left = sum(n for person, n in counts.items() if person not in gone)
        now = [p for p, n in counts.items() if p not in gone and n > alpha * left]
        if not now:
            return gone
        gone.add(now[0])
