"""QS k-anonymity in plain Python, straight from the definitions of the paper.

Nothing of pganon is imported. An attribute holds the whole column of the input by record number, a
QS set is a sequence of attributes, a cluster is a list of record numbers in the order in which they
joined. Everything is exact (fractions) and nothing is fast: every loss is computed from scratch.

Losses are compared after rounding to ``1e-9``, because a database compares them as floats: what is
a tie here has to be a tie there. Ties go to the smallest record number, and to the cluster that was
built first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

Count = Literal["supported", "product"]
Value = Any
Cluster = list[int]
Combinations = Mapping[str, Collection[tuple[Value, ...]]]


class Infeasible(ValueError):
    """The whole input does not reach the condition, so no release exists."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-sensitive column of the whole input.

    ``tree`` maps each leaf to its ancestors from the parent up to the root; all paths have the same
    length. Without one the tree is flat: all leaves are children of the root.
    """

    name: str
    kind: Literal["numeric", "tree"]
    values: Mapping[int, Value]
    tree: Mapping[Value, tuple[Hashable, ...]] | None = None

    @cached_property
    def span(self) -> Fraction:
        """Distance between the ends of a numeric column."""
        known = [Fraction(value) for value in self.values.values() if value is not None]
        return max(known) - min(known) if known else Fraction(0)

    def of(self, records: Iterable[int]) -> set[Value]:
        """Distinct values of some records; NULL is a value of its own."""
        return {self.values[record] for record in records}


QsSet = Sequence[Attribute]
QsSets = Mapping[str, QsSet]


# -- loss -------------------------------------------------------------------------------------


def ncp(attribute: Attribute, values: Iterable[Value]) -> Fraction:
    """Normalized certainty penalty of publishing these values together."""
    distinct = set(values)
    if len(distinct) < 2:
        return Fraction(0)
    if None in distinct:
        return Fraction(1)
    if attribute.kind == "numeric":
        numbers = [Fraction(value) for value in distinct]
        return (max(numbers) - min(numbers)) / attribute.span
    return common_height(attribute, distinct)


def common_height(attribute: Attribute, leaves: Collection[Value]) -> Fraction:
    """Height of the lowest common ancestor of different leaves, as a share of the tree's height."""
    if attribute.tree is None:
        return Fraction(1)
    paths = [attribute.tree[leaf] for leaf in leaves]
    (height,) = {len(path) for path in attribute.tree.values()}
    for level in range(height):
        if len({path[level] for path in paths}) == 1:
            return Fraction(level + 1, height)
    raise AssertionError("the paths of a tree end in one root")


def attributes(sets: QsSets) -> list[Attribute]:
    return [attribute for qs_set in sets.values() for attribute in qs_set]


def ncp_cluster(records: Iterable[int], sets: QsSets) -> Fraction:
    """Sum over the attributes of all sets."""
    cluster = list(records)
    return sum((ncp(a, a.of(cluster)) for a in attributes(sets)), Fraction(0))


def distance(r: int, s: int, sets: QsSets) -> Fraction:
    """Sum over the attributes of what separates two records, term by term."""
    return sum((distance_in(a, a.values[r], a.values[s]) for a in attributes(sets)), Fraction(0))


def distance_in(attribute: Attribute, a: Value, b: Value) -> Fraction:
    if a == b:
        return Fraction(0)
    if a is None or b is None:
        return Fraction(1)
    if attribute.kind == "numeric":
        return abs(Fraction(a) - Fraction(b)) / attribute.span
    return common_height(attribute, (a, b))


def increase(cluster: Cluster, record: int, sets: QsSets) -> Fraction:
    """What a further record adds to a cluster's share of the total loss."""
    joined = [*cluster, record]
    return len(joined) * ncp_cluster(joined, sets) - len(cluster) * ncp_cluster(cluster, sets)


def ncp_total(clusters: Iterable[Cluster], sets: QsSets) -> Fraction:
    """Sum over the records of the loss of their clusters, not normalized."""
    return sum((len(c) * ncp_cluster(c, sets) for c in clusters), Fraction(0))


def gcp(clusters: Iterable[Cluster], sets: QsSets) -> Fraction:
    """Loss as a share of the largest possible one; a record of the input in no cluster counts it
    in full."""
    clusters = list(clusters)
    columns = attributes(sets)
    total = len(columns[0].values)
    suppressed = total - sum(map(len, clusters))
    return (ncp_total(clusters, sets) + suppressed * len(columns)) / (len(columns) * total)


def rounded(loss: Fraction) -> int:
    return round(loss * 10**9)


# -- condition --------------------------------------------------------------------------------


def product(records: Iterable[int], qs_set: QsSet) -> int:
    """Size of the Cartesian product of the distinct values."""
    cluster = list(records)
    return math.prod(len(a.of(cluster)) for a in qs_set)


def existing(qs_set: QsSet) -> set[tuple[Value, ...]]:
    """Combinations of a set's values that occur in the whole input."""
    return {tuple(a.values[record] for a in qs_set) for record in qs_set[0].values}


def supported(
    records: Iterable[int],
    qs_set: QsSet,
    combinations: Collection[tuple[Value, ...]] | None = None,
) -> int:
    """How many combinations of the product occur among those that are known to exist."""
    cluster = list(records)
    return supported_of(
        [a.of(cluster) for a in qs_set], existing(qs_set) if combinations is None else combinations
    )


def supported_of(
    values: Sequence[Collection[Value]], combinations: Iterable[tuple[Value, ...]]
) -> int:
    return sum(
        all(value in column for value, column in zip(combination, values, strict=True))
        for combination in set(combinations)
    )


def constants(clusters: Iterable[Cluster], sets: QsSets) -> int:
    """Pairs of a cluster and an attribute that has a single value in it."""
    return sum(len(a.of(cluster)) == 1 for cluster in clusters for a in attributes(sets))


@dataclass(frozen=True)
class Condition:
    """What every cluster has to satisfy.

    ``combinations`` are those known to exist in the sets that it names; in the others they are
    those of the whole input.
    """

    sets: QsSets
    k: int
    count: Count = "supported"
    min_values: int = 1
    combinations: Combinations | None = None

    @cached_property
    def known(self) -> Combinations:
        whole = {name: existing(qs_set) for name, qs_set in self.sets.items()}
        return {**whole, **(self.combinations or {})}

    def counted(self, records: Iterable[int], name: str) -> int:
        """The number that k is compared with."""
        if self.count == "product":
            return product(records, self.sets[name])
        return supported(records, self.sets[name], self.known[name])

    @property
    def size(self) -> int:
        """Fewest records of a cluster."""
        return self.k if self.count == "supported" else 1

    def holds(self, records: Collection[int]) -> bool:
        return (
            len(records) >= self.size
            and all(self.counted(records, name) >= self.k for name in self.sets)
            and all(len(a.of(records)) >= self.min_values for a in attributes(self.sets))
        )


def reachable(
    records: Collection[int],
    sets: QsSets,
    count: Count = "supported",
    combinations: Combinations | None = None,
) -> dict[str, int]:
    """The largest k of each set: that of one cluster of all records."""
    condition = Condition(sets, 1, count, 1, combinations)
    return {name: condition.counted(records, name) for name in sets}


def require(condition: Condition, records: Collection[int]) -> None:
    for name in condition.sets:
        found = condition.counted(records, name)
        if found < condition.k:
            raise Infeasible(f"{name} has only {found} value combinations, not {condition.k}")
    for attribute in attributes(condition.sets):
        found = len(attribute.of(records))
        if found < condition.min_values:
            raise Infeasible(
                f"{attribute.name} has only {found} values, not {condition.min_values}"
            )
    if len(records) < condition.size:
        raise Infeasible(f"there are only {len(records)} records, not {condition.size}")


# -- algorithms -------------------------------------------------------------------------------


def greedy(
    records: Collection[int],
    sets: QsSets,
    k: int,
    count: Count = "supported",
    min_values: int = 1,
    *,
    start: int,
    residual_order: Sequence[int] | None = None,
    combinations: Combinations | None = None,
) -> list[Cluster]:
    """Greedy QS k-anonymity. ``residual_order`` is an order of all records, in which those left
    over join; by default that of their numbers."""
    condition = Condition(sets, k, count, min_values, combinations)
    clusters, left = build_greedy(records, condition, start)
    order = residual_order or sorted(records)
    return absorb(clusters, [record for record in order if record in left], sets)


def build_greedy(
    records: Collection[int], condition: Condition, start: int
) -> tuple[list[Cluster], set[int]]:
    """Clusters before the residual records join, and those records."""
    require(condition, records)
    sets, free, clusters, last = condition.sets, set(records), [], start
    while condition.holds(free):
        last = farthest(free, last, sets)
        cluster = [last]
        free.remove(last)
        while not condition.holds(cluster):
            last = nearest(free, cluster, sets)
            cluster.append(last)
            free.remove(last)
        clusters.append(cluster)
    return clusters, free


def farthest(free: Collection[int], record: int, sets: QsSets) -> int:
    return min(free, key=lambda s: (-rounded(distance(record, s, sets)), s))


def nearest(free: Collection[int], cluster: Cluster, sets: QsSets) -> int:
    return min(free, key=lambda s: (rounded(ncp_cluster([*cluster, s], sets)), s))


def efficient(
    records: Collection[int],
    sets: QsSets,
    k: int,
    count: Count = "supported",
    min_values: int = 1,
    *,
    order: Sequence[int],
    combinations: Combinations | None = None,
) -> list[Cluster]:
    """Efficient QS k-anonymity over records in the given order."""
    condition = Condition(sets, k, count, min_values, combinations)
    clusters, left = build_efficient(records, condition, order)
    return absorb(clusters, left, sets)


def build_efficient(
    records: Collection[int], condition: Condition, order: Sequence[int]
) -> tuple[list[Cluster], list[int]]:
    """Clusters before the residual records join, and those records in their order."""
    assert sorted(order) == sorted(records)
    require(condition, records)
    free, clusters = list(order), []
    while condition.holds(free):
        cluster = []
        while not condition.holds(cluster):
            cluster.append(free.pop(0))
        clusters.append(cluster)
    return clusters, free


def absorb(clusters: Sequence[Cluster], left: Iterable[int], sets: QsSets) -> list[Cluster]:
    """Each record in turn joins the cluster whose loss it increases least."""
    grown = [list(cluster) for cluster in clusters]
    for record in left:
        min(grown, key=lambda c: rounded(increase(c, record, sets))).append(record)
    return grown


# -- verification -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """A row of the released relation; ``values`` are the arrays by name of attribute."""

    cluster_no: int
    values: Mapping[str, Sequence[Value]]
    size: int


def publish(clusters: Sequence[Cluster], sets: QsSets) -> list[Published]:
    """Rows of clusters, numbered in the order given."""
    return [
        Published(
            number,
            {a.name: sorted(a.of(cluster), key=null_last) for a in attributes(sets)},
            len(cluster),
        )
        for number, cluster in enumerate(clusters, 1)
    ]


def null_last(value: Value) -> tuple[bool, Value]:
    return (True, 0) if value is None else (False, value)


def verify(
    published: Sequence[Published],
    sets: Mapping[str, Sequence[str]],
    total: int,
    k: int,
    min_values: int = 1,
    combinations: Combinations | None = None,
) -> list[str]:
    """Everything that is wrong with a release of ``total`` records; sets are given as names.

    With ``combinations``, for every set, the supported ones are counted, otherwise the product.
    """
    numbers = Counter(row.cluster_no for row in published)
    wrong = [f"cluster {number} occurs {n} times" for number, n in numbers.items() if n > 1]
    sizes = sum(row.size for row in published)
    if sizes != total:
        wrong.append(f"the sizes sum to {sizes}, not {total}")
    for row in published:
        wrong += [f"cluster {row.cluster_no}: {text}" for text in wrong_arrays(row, min_values)]
        if combinations is not None and row.size < k:
            wrong.append(f"cluster {row.cluster_no}: only {row.size} records, not {k}")
        for name, columns in sets.items():
            arrays = [row.values[column] for column in columns]
            if combinations is None:
                found = math.prod(len(set(array)) for array in arrays)
            else:
                found = supported_of(arrays, combinations[name])
            if found < k:
                wrong.append(f"cluster {row.cluster_no}: {name} has {found} combinations, not {k}")
    return wrong


def wrong_arrays(row: Published, min_values: int) -> Iterator[str]:
    for name, array in row.values.items():
        if not array:
            yield f"{name} is empty"
        if len(set(array)) < len(array):
            yield f"{name} repeats a value"
        if list(array) != sorted(array, key=null_last):
            yield f"{name} is not sorted"
        if len(set(array)) < min_values:
            yield f"{name} has fewer than {min_values} values"
