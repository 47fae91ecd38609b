"""Privacy models, losses and Mondrian in plain Python, straight from their definitions.

Nothing of pganon is imported: a mistake that both sides share would pass every test. Groups are
lists of :class:`Record`; None among values is NULL, one value like the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from psycopg.types.range import Range

Values = Iterable[Any]

# -- privacy ----------------------------------------------------------------------------------


def distinct_l(values: Values) -> int:
    return len(set(values))


def entropy_at_least(values: Values, l: Fraction | int) -> bool:  # noqa: E741
    """exp(entropy) >= l without rounding: l^n * prod c^c <= n^n."""
    counts = list(Counter(values).values())
    n = sum(counts)
    return Fraction(l) ** n * math.prod(c**c for c in counts) <= n**n


def entropy_l(values: Values) -> float:
    counts = list(Counter(values).values())
    n = sum(counts)
    return math.exp(-sum(c / n * math.log(c / n) for c in counts))


def shares(values: Values) -> dict[Any, Fraction]:
    counts = Counter(values)
    return {value: Fraction(n, counts.total()) for value, n in counts.items()}


def t_equal(values: Values, reference: Values) -> Fraction:
    p, q = shares(values), shares(reference)
    return sum((abs(p.get(v, Fraction(0)) - q.get(v, Fraction(0))) for v in p | q), Fraction()) / 2


def t_ordered(values: Values, reference: Values, domain: Sequence[Any] | None = None) -> Fraction:
    """Earth mover's distance by moving the leftmost earth to the leftmost hole, which is optimal
    on a line; neighbours are 1 / (m - 1) apart. NULL is the last value."""
    reference = list(reference)
    domain = domain or sorted(set(reference), key=lambda v: (v is None, v if v is not None else 0))
    p, q = shares(values), shares(reference)
    earth = [[i, p.get(v, Fraction(0))] for i, v in enumerate(domain)]
    holes = [[i, q.get(v, Fraction(0))] for i, v in enumerate(domain)]
    cost = Fraction(0)
    i = j = 0
    while i < len(earth) and j < len(holes):
        moved = min(earth[i][1], holes[j][1])
        cost += moved * abs(earth[i][0] - holes[j][0])
        earth[i][1] -= moved
        holes[j][1] -= moved
        if not earth[i][1]:
            i += 1
        elif not holes[j][1]:
            j += 1
    return cost / max(len(domain) - 1, 1)


# -- quasi-identifiers ------------------------------------------------------------------------


@dataclass
class Attribute:
    """A quasi-identifier with all its source values.

    Attributes:
        values: of all source records, NULLs included.
        weight: weight of its loss.
        nulls: the policy's word.
        released: of the records that were not suppressed.
    """

    values: list[Any]
    weight: float = 1.0
    nulls: str = "as_value"
    by_frequency: bool = field(default=False, init=False)
    released: set[Any] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.released = set(self.values)

    @cached_property
    def domain(self) -> list[Any]:
        """Distinct values that are not NULL, in code order."""
        return sorted({v for v in self.values if v is not None}, key=self.sort_key)

    @cached_property
    def codes(self) -> dict[Any, int]:
        return {None: 0} | {value: i for i, value in enumerate(self.domain, start=1)}

    def sort_key(self, value: Any) -> Any:
        return value

    def loss(self, values: Values) -> float:
        """NCP of a group in [0, 1]."""
        group = set(values)
        if None in group:
            return 0.0 if len(group) == 1 else 1.0
        return self.plain_loss(group)

    def plain_loss(self, group: set[Any]) -> float:
        raise NotImplementedError

    def key(self, value: Any, group: set[Any]) -> int:
        """The unit that a cut of the group separates, as a number in cutting order."""
        return self.codes[value]

    def shown(self, group: set[Any]) -> Any:
        """The published value of a group without NULLs."""
        raise NotImplementedError

    def published(self, values: Values) -> tuple[Any, bool]:
        group = set(values)
        rest = group - {None}
        return (self.shown(rest) if rest else None), None in group


@dataclass
class Ordered(Attribute):
    """Numbers and dates: the smallest closed (dates: half-open) range.

    Attributes:
        declared: the lowest and the highest value that the policy says there could be.
    """

    place: Callable[[Any], Fraction] = Fraction
    show: Callable[[Any, Any], Any] = lambda lo, hi: Range(lo, hi, "[]")
    declared: tuple[Any, Any] | None = None

    @property
    def span(self) -> tuple[Any, Any]:
        return self.declared or (self.domain[0], self.domain[-1])

    def position(self, value: Any) -> float:
        lo, hi = map(self.place, self.span)
        return float((self.place(value) - lo) / (hi - lo)) if hi > lo else 0.0

    def plain_loss(self, group: set[Any]) -> float:
        return self.position(max(group, key=self.sort_key)) - self.position(
            min(group, key=self.sort_key)
        )

    def shown(self, group: set[Any]) -> Any:
        return self.show(min(group), max(group))


@dataclass
class Ordinal(Ordered):
    """Texts in an order of their own: all released values from the lowest to the highest of the
    group."""

    order: Sequence[Any] = ()

    def sort_key(self, value: Any) -> Any:
        return self.order.index(value) if self.order else value

    def rank(self, value: Any) -> int:
        return self.order.index(value) if self.order else self.domain.index(value)

    def position(self, value: Any) -> float:
        # Values of the source only: those that the policy merely names have no records.
        lo, hi = self.rank(self.domain[0]), self.rank(self.domain[-1])
        return float(Fraction(self.rank(value) - lo, hi - lo)) if hi > lo else 0.0

    def shown(self, group: set[Any]) -> Any:
        codes = [self.codes[value] for value in group]
        between = [v for v in self.domain if min(codes) <= self.codes[v] <= max(codes)]
        return [v for v in between if v in self.released]


@dataclass
class Nominal(Attribute):
    """Values without structure: the set of those that occur."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.by_frequency = True

    def loss(self, values: Values) -> float:
        return (len(set(values)) - 1) / max(len(set(self.values)) - 1, 1)

    def shown(self, group: set[Any]) -> Any:
        return sorted(group, key=self.sort_key)


@dataclass
class Tree(Attribute):
    """Leaves of a tree of labels; `paths` has leaf, ancestor, ..., root for every value."""

    paths: dict[Any, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.by_frequency = True

    def sort_key(self, value: Any) -> Any:
        return [label.encode() for label in reversed(self.paths[value])]

    def ancestor(self, value: Any, level: int) -> Any:
        return self.paths[value][level]

    def top(self) -> int:
        return len(next(iter(self.paths.values()))) - 1

    def level(self, group: set[Any]) -> int:
        return next(
            level
            for level in range(self.top() + 1)
            if len({self.ancestor(value, level) for value in group}) == 1
        )

    def below(self, value: Any, level: int) -> list[Any]:
        same = self.ancestor(value, level)
        return [v for v in self.domain if self.ancestor(v, level) == same]

    def plain_loss(self, group: set[Any]) -> float:
        if len(group) == 1:
            return 0.0
        return len(self.below(next(iter(group)), self.level(group))) / len(self.domain)

    def child_loss(self, value: Any, group: set[Any]) -> float:
        """Loss of the child of the group's common ancestor that holds the value."""
        if value is None:
            return 0.0
        return self.level_loss(value, max(self.level(group - {None}) - 1, 0))

    def level_loss(self, value: Any, level: int) -> float:
        below = self.below(value, level)
        return 0.0 if len(below) == 1 else len(below) / len(self.domain)

    def key(self, value: Any, group: set[Any]) -> int:
        if value is None:
            return 0
        below = max(self.level(group - {None}) - 1, 0)
        return min(self.codes[v] for v in self.below(value, below))

    def shown(self, group: set[Any]) -> Any:
        return self.ancestor(next(iter(group)), self.level(group))


@dataclass
class Intervals(Tree):
    """A tree of half-open intervals; leaves are numbers and shown as closed ranges."""

    widths: Sequence[int] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.by_frequency = False

    def sort_key(self, value: Any) -> Any:
        return value

    def top(self) -> int:
        return len(self.widths) + 1

    def ancestor(self, value: Any, level: int) -> Any:
        if level == 0:
            return Range(value, value, "[]")
        if level <= len(self.widths):
            width = self.widths[level - 1]
            lower = value // width * width
            return Range(lower, lower + width, "[)")
        return self.over(self.domain)

    def over(self, values: Values) -> Any:
        """The range over the widest intervals that the values are in."""
        wide = [self.ancestor(v, len(self.widths)) for v in values]
        return Range(min(r.lower for r in wide), max(r.upper for r in wide), "[)")

    def shown(self, group: set[Any]) -> Any:
        """At the top the range of what was released, whatever was suppressed."""
        if self.level(group) == self.top():
            return self.over(v for v in self.released if v is not None)
        return super().shown(group)

    def level_loss(self, value: Any, level: int) -> float:
        if level == 0:
            return 0.0
        shown, top = self.ancestor(value, level), self.ancestor(value, self.top())
        return (shown.upper - shown.lower) / (top.upper - top.lower)

    def plain_loss(self, group: set[Any]) -> float:
        if len(group) == 1:
            return 0.0
        return self.level_loss(next(iter(group)), self.level(group))


# -- Mondrian ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """One source record; `tie` orders records with the same value in the relaxed variant."""

    id: int
    qi: tuple[Any, ...]
    sensitive: tuple[Any, ...] = ()
    tie: int = 0


Group = list[Record]
Condition = Callable[[Group], bool]


@dataclass(frozen=True)
class Mondrian:
    """The brute-force partitioning; see the rules in the docs of the method.

    Attributes:
        satisfied: whether a group keeps every requirement.
        smallest: fewest records of a group.
        candidates: of how many attributes that can be cut, widest first, the one with the least
            loss is taken if that is what to choose by.
    """

    attributes: Sequence[Attribute]
    satisfied: Condition
    smallest: int
    choose: str = "width"
    relaxed: bool = False
    candidates: int = 3

    def partition(self, group: Group) -> list[Group]:
        cut = self._cut(group)
        if cut is None:
            return [group]
        return self.partition(cut[0]) + self.partition(cut[1])

    def _values(self, group: Group, i: int) -> list[Any]:
        return [record.qi[i] for record in group]

    def _cut(self, group: Group) -> tuple[Group, Group] | None:
        losses = {
            i: attribute.loss(self._values(group, i)) for i, attribute in enumerate(self.attributes)
        }
        widest = sorted(
            (i for i in losses if losses[i] > 0),
            key=lambda i: (-losses[i] * self.attributes[i].weight, i),
        )
        cuts = {i: self._nearest(group, i) for i in widest}
        allowed = [i for i in widest if cuts[i]]
        if not allowed:
            return None
        if self.choose == "width":
            return cuts[allowed[0]]
        tried = allowed[: self.candidates]
        return cuts[min(tried, key=lambda i: (round(self._left_over(cuts[i], i, group), 9), i))]

    def _left_over(self, sides: Any, cut: int, group: Group) -> float:
        """Loss of both sides; a tree that is cut counts as if its children were all apart."""
        attribute = self.attributes[cut]
        if not isinstance(attribute, Tree):
            return sum(len(side) * self.weighted_loss(side) for side in sides)
        present = set(self._values(group, cut))
        apart = sum(attribute.child_loss(record.qi[cut], present) for record in group)
        rest = sum(len(side) * self.weighted_loss(side, without=cut) for side in sides)
        return apart * attribute.weight + rest

    def weighted_loss(self, group: Group, without: int | None = None) -> float:
        return sum(
            attribute.loss(self._values(group, i)) * attribute.weight
            for i, attribute in enumerate(self.attributes)
            if i != without
        )

    def _nearest(self, group: Group, i: int) -> tuple[Group, Group] | None:
        """The allowable cut of an attribute nearest to balance, the first of equals."""
        attribute = self.attributes[i]
        present = set(self._values(group, i))
        key = {record: attribute.key(record.qi[i], present) for record in group}
        often = Counter(key.values())

        def place(record: Record) -> tuple[int, ...]:
            by = -often[key[record]] if attribute.by_frequency else key[record]
            return (by, key[record], record.tie if self.relaxed else 0)

        ordered = sorted(group, key=place)
        ends = [
            at
            for at in range(1, len(ordered))
            if key[ordered[at - 1]] != key[ordered[at]]
            or (self.relaxed and at == len(ordered) // 2)
        ]
        for at in sorted(ends, key=lambda at: (abs(2 * at - len(ordered)), at)):
            left, right = ordered[:at], ordered[at:]
            if all(len(s) >= self.smallest and self.satisfied(s) for s in (left, right)):
                return left, right
        return None


# -- measures ---------------------------------------------------------------------------------


def utility(
    attributes: Sequence[Attribute], groups: Sequence[Group], records: int, smallest: int
) -> dict[str, float]:
    """GCP, NCP per attribute, discernibility and average class size from their definitions."""
    released = sum(map(len, groups))
    suppressed = records - released
    weights = sum(a.weight for a in attributes)

    def ncp(i: int, group: Group) -> float:
        return attributes[i].loss(record.qi[i] for record in group)

    certainty = sum(
        len(group) * sum(a.weight * ncp(i, group) for i, a in enumerate(attributes)) / weights
        for group in groups
    )
    return {
        "gcp": (certainty + suppressed) / records,
        "discernibility": sum(len(group) ** 2 for group in groups) + suppressed * records,
        "average_class": released / len(groups) / smallest,
        **{
            f"ncp{i}": sum(len(g) * ncp(i, g) for g in groups) / released
            for i in range(len(attributes))
        },
    }
