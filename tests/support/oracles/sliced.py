"""Slicing and SLAMSA in plain Python: what is published, and what every release must satisfy.

Nothing of pganon is imported. Predicates look at published relations alone and are written from
the definitions of anatomy (Xiao and Tao 2006), slicing (Li et al. 2012) and of anatomization with
slicing for several sensitive attributes (SpringerPlus 2016). Nothing is fast. NULL is a value.

A row is a dict by column. Columns that are no data: `group_id` (of groups that all relations share,
or of the relation's own), `st<j>_group_id` (of independent groups, in the last QIT), and `count`
(of equal rows; without it, every row is one record).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Value = Any
Row = dict[str, Value]
Relation = list[Row]
Group = Hashable
Offence = tuple[str, Group]
"""A relation or column, and the number of the group at fault."""

LINK = re.compile(r"st\d+_group_id")
ALIGNED, INDEPENDENT = "aligned", "independent"


@dataclass(frozen=True)
class Published:
    """Relations of a release.

    Attributes:
        qits: the QIT, or one relation per column of a sliced one; the last one has the links.
        sts: the sensitive tables.
        links: `aligned`, where all relations share their groups, or `independent`.
    """

    qits: list[Relation]
    sts: list[Relation]
    links: str = ALIGNED

    def link(self, row: Row, table: int) -> Group:
        """Group of the sensitive table with that index, of a row of the last QIT."""
        return row.get("group_id" if self.links == ALIGNED else f"st{table + 1}_group_id")

    @property
    def named(self) -> list[tuple[str, Relation]]:
        return [
            *[(f"qit{i}", qit) for i, qit in enumerate(self.qits, 1)],
            *[(f"st{j}", st) for j, st in enumerate(self.sts, 1)],
        ]


@dataclass(frozen=True)
class Rule:
    """Who satisfies `when`, a predicate over quasi-identifiers, never has the value."""

    when: Callable[[Row], bool]
    column: str
    value: Value


# -- rows ---------------------------------------------------------------------------------------


def count(row: Row) -> int:
    return row.get("count", 1)


def data(row: Row) -> Row:
    """What is neither a count nor a number of a group."""
    return {
        name: value
        for name, value in row.items()
        if name not in ("group_id", "count") and not LINK.fullmatch(name)
    }


def columns(relation: Relation) -> list[str]:
    """Columns of data, in the order of the first row."""
    return list(dict.fromkeys(name for row in relation for name in data(row)))


def sizes(relation: Relation) -> Counter[Group]:
    found: Counter[Group] = Counter()
    for row in relation:
        found[row.get("group_id")] += count(row)
    return found


def values(relation: Relation, names: Sequence[str]) -> dict[Group, Counter[tuple[Value, ...]]]:
    """Records by values of those columns, of every group."""
    found: dict[Group, Counter[tuple[Value, ...]]] = {}
    for row in relation:
        group = found.setdefault(row.get("group_id"), Counter())
        group[tuple(row[name] for name in names)] += count(row)
    return found


def linked(p: Published, table: int) -> Counter[Group]:
    """Records of the last QIT by group of a sensitive table."""
    found: Counter[Group] = Counter()
    for row in p.qits[-1]:
        found[p.link(row, table)] += count(row)
    return found


def members(p: Published) -> Iterator[tuple[Row, Row]]:
    """Rows of the last QIT, each with every vector of quasi-identifiers that it may belong to."""
    parts = [values(qit, columns(qit)) for qit in p.qits[:-1]]
    names = [columns(qit) for qit in p.qits[:-1]]
    for row in p.qits[-1]:
        held = [part.get(row.get("group_id"), Counter()) for part in parts]
        for drawn in itertools.product(*held):
            vector = data(row)
            for part, found in zip(names, drawn, strict=True):
                vector |= dict(zip(part, found, strict=True))
            yield row, vector


# -- predicates ---------------------------------------------------------------------------------


def v1(p: Published) -> list[Offence]:
    """Groups have as many records on both sides of every link; there are no empty rows."""
    every = [(name, row) for name, rows in p.named for row in rows]
    wrong: list[Offence] = [(name, row.get("group_id")) for name, row in every if count(row) < 1]
    for j, st in enumerate(p.sts):
        wrong += [(f"st{j + 1}", g) for g in _unequal(linked(p, j), sizes(st))]
    for i, qit in enumerate(p.qits[:-1], 1):
        wrong += [(f"qit{i}", g) for g in _unequal(sizes(qit), sizes(p.qits[-1]))]
    return wrong


def _unequal(one: Counter[Group], other: Counter[Group]) -> list[Group]:
    return [g for g in dict.fromkeys([*one, *other]) if one[g] != other[g]]


def v2(p: Published, l: int | Mapping[str, int], level: str = "attribute") -> list[Offence]:  # noqa: E741
    """Groups of a sensitive table that are not l-diverse.

    Args:
        l: for all sensitive columns, or by column; the others may be as they are.
        level: `attribute` (frequency l-diversity of every column), `tuple` (of the sub-vectors of
            every sensitive table), or `unique` (no value twice, in at least l records).
    """
    wrong: list[Offence] = []
    for j, st in enumerate(p.sts, 1):
        wanted = [c for c in columns(st) if isinstance(l, int) or c in l]
        least = {c: l if isinstance(l, int) else l[c] for c in wanted}
        tested = [(c, [c], m) for c, m in least.items()]
        if level == "tuple" and least:
            tested = [(f"st{j}", columns(st), max(least.values()))]
        for name, held, m in tested:
            wrong += [(name, g) for g, v in values(st, held).items() if _poor(v, m, level)]
    return wrong


def _poor(found: Counter[tuple[Value, ...]], l: int, level: str) -> bool:  # noqa: E741
    most, size = max(found.values()), found.total()
    return size < l or most > 1 if level == "unique" else l * most > size


def v3(p: Published, k: int, l: int = 1) -> list[Offence]:  # noqa: E741
    """Groups of fewer records than k, those of sensitive tables than l, too."""
    grouped = [(n, rows) for n, rows in p.named if any("group_id" in row for row in rows)]
    return [
        (name, group)
        for name, rows in grouped
        for group, size in sizes(rows).items()
        if size < (max(k, l) if name.startswith("st") else k)
    ]


def v4(p: Published) -> list[Offence]:
    """Aligned relations without the one number of a group, or with groups that others lack."""
    if p.links != ALIGNED:
        return []
    wrong: list[Offence] = [
        (name, None)
        for name, rows in p.named
        if any("group_id" not in row or any(map(LINK.fullmatch, row)) for row in rows)
    ]
    everywhere = [set(sizes(rows)) for _, rows in p.named]
    shared = set.intersection(*everywhere)
    return wrong + [
        (name, g)
        for (name, _), groups in zip(p.named, everywhere, strict=True)
        for g in groups - shared
    ]


def v5(p: Published, rules: Iterable[Rule]) -> list[Offence]:
    """Groups with the value of a rule and a record that may be of those who never have it.

    The record of a sliced QIT may be any combination of the parts that are in its group.
    """
    wrong: list[Offence] = []
    for rule in rules:
        j, st = holder(p, rule.column)
        having = [g for g, found in values(st, [rule.column]).items() if found[(rule.value,)]]
        excluded = {p.link(row, j) for row, vector in members(p) if rule.when(vector)}
        wrong += [(rule.column, g) for g in having if g in excluded]
    return wrong


def holder(p: Published, column: str) -> tuple[int, Relation]:
    """The sensitive table that has a column, and its index."""
    return next((j, st) for j, st in enumerate(p.sts) if column in columns(st))


def v6(p: Published, secret: Collection[str]) -> list[Offence]:
    """Columns that two relations have, and those that none may have."""
    seen = Counter(name for _, rows in p.named for name in columns(rows))
    there = {name for _, rows in p.named for row in rows for name in row}
    return [(name, None) for name in there if seen[name] > 1 or name in secret]


def v8(p: Published, declared: Collection[str]) -> list[Offence]:
    """What would exempt a group: columns that nothing declares, and groups without a number."""
    wrong: list[Offence] = [
        (name, None) for _, rows in p.named for name in columns(rows) if name not in declared
    ]
    for name, rows in p.named:
        numbers = [n for row in rows for n in row if n == "group_id" or LINK.fullmatch(n)]
        if any(row.get(number) is None for number in set(numbers) for row in rows):
            wrong.append((name, None))
    return wrong


# -- degrees ------------------------------------------------------------------------------------


def degrees(p: Published) -> dict[str, Fraction]:
    """The privacy degree of every sensitive column: of the group where a value is most frequent."""
    return {
        name: min(Fraction(v.total(), max(v.values())) for v in values(st, [name]).values())
        for st in p.sts
        for name in columns(st)
    }


def degree(p: Published) -> Fraction:
    return min(degrees(p).values())
