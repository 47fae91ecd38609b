"""What a release of local generalization and bucketization shows, and what follows from it.

Relations as Python data: rows of groups and buckets, and a table of values with counts for every
attribute that has buckets. Predicates V1 to V8 name what violates them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from tests.support.oracles import lgb
from tests.support.oracles.lgb import Attribute, Key, Rank, Table, Value
from tests.support.oracles.lgb_buckets import (
    Bucket,
    close_buckets,
    distance,
    diverse_buckets,
)
from tests.support.oracles.lgb_groups import Greedy, Group, Rows, ancestor, mdp

Element = Any
"""What is shown of an attribute: (low, high, nulls), a node, or the set of the values."""


@dataclass(frozen=True)
class Row:
    """One published row; None where the form has nothing to show."""

    group: int
    form: str
    shown: tuple[Element, ...]
    buckets: tuple[int | None, ...]


@dataclass(frozen=True)
class Release:
    """Published relations; `values` has (bucket, value, count) by the number of an attribute."""

    attributes: tuple[Attribute, ...]
    rows: tuple[Row, ...]
    values: Mapping[int, tuple[tuple[int, Value, int], ...]]

    def counts(self, a: int) -> dict[int, Counter[Value]]:
        """Values of the buckets of an attribute."""
        return self._counts.get(a, {})

    @cached_property
    def _counts(self) -> dict[int, dict[int, Counter[Value]]]:
        found: dict[int, dict[int, Counter[Value]]] = {}
        for a, held in self.values.items():
            for bucket, value, n in held:
                found.setdefault(a, {}).setdefault(bucket, Counter())[value] += n
        return found

    def sizes(self, a: int) -> Counter[int]:
        """Rows by the bucket that they name."""
        return Counter(b for row in self.rows if (b := row.buckets[a]) is not None)

    def group_sizes(self) -> Counter[int]:
        return Counter(row.group for row in self.rows)


def element(attribute: Attribute, values: Iterable[Value]) -> Element:
    held = set(values)
    if attribute.kind == "tree":
        return ancestor(attribute, held)
    if attribute.kind == "nominal":
        return frozenset(held)
    known = held - {None}
    nulls = "n" if known == held else "s" if known else "a"
    return (min(known, default=None), max(known, default=None), nulls)


def publish(
    table: Table, groups: Mapping[Group, str], buckets: Mapping[int, Sequence[Bucket]]
) -> dict[Key, Row]:
    """Rows by key, for who may know it; groups and buckets are numbered in the order given."""
    number = {
        (a, k): n for a, held in buckets.items() for n, one in enumerate(held, 1) for k in one
    }
    found = {}
    for n, (keys, form) in enumerate(groups.items(), 1):
        shown = tuple(
            element(attribute, [table.values[k][a] for k in keys]) if form[a] == "g" else None
            for a, attribute in enumerate(table.attributes)
        )
        for key in keys:
            own = [number[a, key] if letter == "b" else None for a, letter in enumerate(form)]
            found[key] = Row(n, form, shown, tuple(own))
    return found


def released(
    table: Table, groups: Mapping[Group, str], buckets: Mapping[int, Sequence[Bucket]]
) -> Release:
    rows = publish(table, groups, buckets)
    values = {
        a: tuple(
            (n, value, count)
            for n, one in enumerate(held, 1)
            for value, count in Counter(table.values[key][a] for key in one).items()
        )
        for a, held in buckets.items()
    }
    return Release(table.attributes, tuple(rows[key] for key in sorted(rows)), values)


# -- the whole ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Diversity:
    l: int  # noqa: E741 (the field's own letter)
    assign: Any = "m_invariance"
    split: bool = True


@dataclass(frozen=True)
class Closeness:
    t: Fraction
    min_size: int


Grouping = Callable[[Rows, Iterable[Key], int], list[Group]]


def greedy(assign: Any = "grow", small: Any = "stop", rank: Rank = lgb.by_key) -> Grouping:
    def groups(rows: Rows, keys: Iterable[Key], k: int) -> list[Group]:
        return Greedy(rows, k, assign, small, rank).groups(keys)

    return groups


@dataclass(frozen=True)
class Outcome:
    """Groups with their forms, buckets by attribute, and the rows left out."""

    groups: Mapping[Group, str]
    buckets: Mapping[int, Sequence[Bucket]]
    dropped: Sequence[Key] = ()
    extents: Sequence[lgb.Extent] = field(default=())

    def release(self, table: Table) -> Release:
        return released(table, self.groups, self.buckets)


def driver(
    table: Table,
    k: int,
    principles: Mapping[str, Diversity | Closeness],
    grouping: Grouping = mdp,
    *,
    small_subsets: lgb.SmallSubsets = "suppress",
    limit: Fraction = Fraction(1),
    rank: Rank = lgb.by_key,
) -> Outcome:
    """Algorithm 1: subsets by flags, then buckets, then groups."""
    classes, dropped = lgb.small_subsets(lgb.partition(table), k, small_subsets, limit)
    buckets = {}
    for a, attribute in enumerate(table.attributes):
        held = [key for form, keys in classes.items() if form[a] == "b" for key in keys]
        if held:
            cells = {key: table.values[key][a] for key in held}
            buckets[a] = _buckets(cells, attribute, principles[attribute.name], rank)
    extents = lgb.extents(table, classes)
    groups = {}
    for form, keys in sorted(classes.items()):
        found = grouping(Rows(table, extents, form), keys, k)
        groups |= dict.fromkeys(found, form)
    return Outcome(groups, buckets, dropped, extents)


def _buckets(
    cells: Mapping[Key, Value], attribute: Attribute, principle: Diversity | Closeness, rank: Rank
) -> list[Bucket]:
    if isinstance(principle, Closeness):
        return close_buckets(cells, attribute, principle.t, principle.min_size, rank)
    one = principle
    return diverse_buckets(cells, attribute, one.l, rank, one.assign, split=one.split)


# -- verifier predicates --------------------------------------------------------------------------


def v1(r: Release) -> list[int]:
    """Groups that show their rows differently."""
    seen = {(row.group, row.form, row.shown) for row in r.rows}
    return sorted(group for group, n in Counter(group for group, *_ in seen).items() if n > 1)


def v2(r: Release, k: int) -> list[int]:
    return sorted(group for group, n in r.group_sizes().items() if n < k)


def v3(r: Release) -> list[tuple[int, str]]:
    """(place of a row, attribute) where form and columns do not agree."""
    found = []
    for at, row in enumerate(r.rows):
        for a, attribute in enumerate(r.attributes):
            letter, shown, bucket = row.form[a], row.shown[a], row.buckets[a]
            wrong = letter not in "gbw" or (bucket is not None) != (letter == "b")
            # A tree shows NULL where all are NULL.
            if letter != "g" and shown is not None:
                wrong = True
            if letter == "g" and shown is None and attribute.kind != "tree":
                wrong = True
            if wrong:
                found.append((at, attribute.name))
    return found


def v4(r: Release) -> list[tuple[str, int]]:
    """(attribute, bucket) that has other rows than values."""
    found = []
    for a, attribute in enumerate(r.attributes):
        rows, held = r.sizes(a), {b: c.total() for b, c in r.counts(a).items()}
        found += [
            (attribute.name, bucket)
            for bucket in sorted(rows.keys() | held.keys())
            if rows[bucket] != held.get(bucket, 0)
        ]
    return found


def v5(r: Release, a: int, l: int) -> list[int]:  # noqa: E741
    """Buckets with fewer than l values, or one that occurs twice or has two rows."""
    twice = [key for key, n in Counter((b, v) for b, v, _ in r.values.get(a, ())).items() if n > 1]
    few = [b for b, held in r.counts(a).items() if len(held) < l or max(held.values()) > 1]
    return sorted({*few, *[bucket for bucket, _ in twice]})


def v6(r: Release, a: int, t: Fraction) -> list[int]:
    """Buckets farther than t from all sensitive values."""
    every = [v for held in r.counts(a).values() for v in held.elements()]
    return sorted(
        bucket
        for bucket, held in r.counts(a).items()
        if distance(held.elements(), every, r.attributes[a]) > t
    )


def v7(r: Release, a: int) -> dict[tuple[int, Value], Fraction]:
    """Probability of a value for the rows of a group, beyond those that hide nothing."""
    found: dict[tuple[int, Value], Fraction] = defaultdict(Fraction)
    sizes, counts = r.group_sizes(), r.counts(a)
    for row in r.rows:
        if (bucket := row.buckets[a]) is None:
            continue
        for value, n in counts[bucket].items():
            share = Fraction(n, counts[bucket].total())
            found[row.group, value] += share / sizes[row.group]
    return dict(found)


def v8(r: Release, a: int, least: Any) -> list[int]:
    """Buckets of numbers with a range below `least`."""
    return sorted(b for b, held in r.counts(a).items() if max(held) - min(held) < least)


# -- what the adversary learns --------------------------------------------------------------------


def covers(attribute: Attribute, shown: Element, value: Value) -> bool:
    """Whether a generalized value contains a value."""
    if attribute.kind == "nominal":
        return value in shown
    if attribute.kind == "tree":
        if value is None:
            return shown is None or shown not in attribute.parents
        return shown is not None and shown in attribute.path(value)
    low, high, nulls = shown
    if value is None:
        return nulls != "n"
    return nulls != "a" and low <= value <= high


def matching(r: Release, form: str, values: Sequence[Value]) -> list[Row]:
    """Rows of the class that may be the person with these quasi-identifiers."""
    return [
        row
        for row in r.rows
        if row.form == form
        and all(
            covers(r.attributes[a], row.shown[a], values[a])
            for a, letter in enumerate(form)
            if letter == "g"
        )
    ]


def posterior(r: Release, a: int, rows: Sequence[Row]) -> dict[Value, Fraction]:
    """p(t, s), from matching rows: by the share of each bucket and what it counts."""
    found: dict[Value, Fraction] = defaultdict(Fraction)
    for row in rows:
        held = r.counts(a)[row.buckets[a]]  # pyright: ignore[reportArgumentType]
        for value, n in held.items():
            found[value] += Fraction(n, held.total() * len(rows))
    return dict(found)


def bound(r: Release, a: int, rows: Sequence[Row]) -> Fraction:
    """Lemma 2: the most that the share of each bucket allows."""
    held = [r.counts(a)[row.buckets[a]] for row in rows]  # pyright: ignore[reportArgumentType]
    return sum((Fraction(max(c.values()), c.total()) for c in held), Fraction(0)) / len(rows)
