"""Full-domain recoding by brute force: every combination of levels, straight from the definitions.

Nothing of pganon is imported. Labels are texts; None is NULL. Losses are whole numbers of 1e-9, as
the page of the method defines them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

UNIT = 1_000_000_000

Node = tuple[int, ...]
Label = tuple[int, Any]
"""The level of a label, and its text; (-1, None) is NULL by itself."""

NULL: Label = (-1, None)


@dataclass(frozen=True)
class Column:
    """A quasi-identifier.

    Attributes:
        paths: by value its labels from itself to the root.
        ranged: whether labels are ranges, whose loss is in `widths` by level.
        levels: the lowest and the highest that are allowed; None for all.
    """

    paths: Mapping[Any, Sequence[Any]]
    nulls: str = "as_value"
    weight: float = 1
    ranged: bool = False
    widths: Sequence[float] = ()
    levels: tuple[int, int] | None = None

    @property
    def top(self) -> int:
        return len(next(iter(self.paths.values()))) - 1

    @property
    def allowed(self) -> range:
        low, high = self.levels or (0, self.top)
        return range(low, high + 1)

    def label(self, value: Any, level: int) -> Label:
        if value is None:
            joins = self.nulls == "as_value" and level == self.top
            return (level, next(iter(self.paths.values()))[-1]) if joins else NULL
        return level, self.paths[value][level]


@dataclass(frozen=True)
class Table:
    """Records as tuples of values, with the sensitive value last; `satisfied` judges a class.

    Args:
        satisfied: given its sensitive values, and the distributions that it is compared with.
    """

    columns: Sequence[Column]
    records: Sequence[tuple[Any, ...]]
    satisfied: Callable[[Sequence[Any], Sequence[Sequence[Any]]], bool]
    objective: str = "gcp"
    compared: bool = False

    @property
    def kept(self) -> list[int]:
        """Numbers of the records that the rules for NULL keep."""
        return [
            number
            for number, record in enumerate(self.records)
            if not any(
                column.nulls == "suppress" and value is None
                for column, value in zip(self.columns, record, strict=False)
            )
        ]

    def classes(self, node: Node) -> list[list[int]]:
        found: dict[tuple[Label, ...], list[int]] = defaultdict(list)
        for number in self.kept:
            found[self.labels(number, node)].append(number)
        return list(found.values())

    def labels(self, number: int, node: Node) -> tuple[Label, ...]:
        return tuple(
            column.label(value, level)
            for column, value, level in zip(self.columns, self.records[number], node, strict=False)
        )

    def failing(self, node: Node) -> set[int]:
        """Records of classes that fail, also once the others are what is released."""
        sensitive = {number: self.records[number][-1] for number in range(len(self.records))}
        source = list(sensitive.values())
        failed = self._failing(node, set(), sensitive, [source])
        while self.compared:
            left = [sensitive[n] for n in self.kept if n not in failed]
            now = self._failing(node, failed, sensitive, [source, left]) if left else failed
            if now == failed:
                break
            failed = now
        return failed

    def _failing(
        self,
        node: Node,
        before: set[int],
        sensitive: Mapping[int, Any],
        distributions: Sequence[Sequence[Any]],
    ) -> set[int]:
        return before | {
            number
            for group in self.classes(node)
            if not before.issuperset(group)
            and not self.satisfied([sensitive[n] for n in group], distributions)
            for number in group
        }

    # -- losses -----------------------------------------------------------------------------------

    def gaps(self, node: Node) -> dict[int, int]:
        """By record what its suppression loses beyond its labels."""
        total: Counter[int] = Counter()
        for place, level in enumerate(node):
            for number in self.kept:
                total[number] += self.gap(place, level, number)
        return dict(total)

    def _weight(self, place: int) -> int:
        return round(UNIT * self.columns[place].weight / sum(c.weight for c in self.columns))

    def gap(self, place: int, level: int, number: int) -> int:
        """The same by one column."""
        column, weight = self.columns[place], self._weight(place)
        value = self.records[number][place]
        every = [record[place] for record in self.records]
        has_null = None in every
        joined = column.nulls == "as_value" and has_null and level == column.top
        label = column.label(value, level)
        if self.objective == "entropy":
            same = sum(column.label(self.records[n][place], level) == label for n in self.kept)
            return round(weight * (math.log(len(self.kept) / same) / math.log(2)))
        if self.objective == "precision":
            if label == NULL:
                return weight
            share = Decimal(weight * (column.top - level)) / max(column.top, 1)
            return int(share.quantize(Decimal(1), ROUND_HALF_UP))
        if joined:
            return 0
        return round(weight * (1 - self._ncp(column, label, every, has_null)))

    def _ncp(self, column: Column, label: Label, every: Sequence[Any], has_null: bool) -> float:
        level, shown = label
        if label == NULL or level == 0:
            return 0.0
        if column.ranged:
            return column.widths[level] / column.widths[-1]
        values = {value for value in every if value is not None}
        below = sum(column.paths[value][level] == shown for value in values)
        if not column.widths and column.top == 1 and shown == "*":  # without a hierarchy
            return (len(values) + has_null - 1) / max(len(values) + has_null - 1, 1)
        return 0.0 if below == 1 else below / len(values)

    def loss(self, node: Node) -> int:
        whole = 0
        for place, level in enumerate(node):
            column = self.columns[place]
            for number in self.kept:
                cost = max(self.gap(place, one, number) for one in range(column.top + 1))
                whole += cost - self.gap(place, level, number)
        return whole

    # -- the optimum ------------------------------------------------------------------------------

    def optimum(self, limit: int) -> tuple[int, int, Node] | None:
        """Cost, sum of the levels and levels of the best node; None if there is none."""
        found: list[tuple[int, int, Node]] = []
        for node in itertools.product(*[column.allowed for column in self.columns]):
            failed = self.failing(node)
            if len(failed) <= min(limit, len(self.kept) - 1):
                gaps = self.gaps(node)
                cost = self.loss(node) + sum(gaps[number] for number in failed)
                found.append((cost, sum(node), node))
        return min(found, default=None)
