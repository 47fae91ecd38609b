"""Small tables for the partition into buckets, for the search and for its oracle alike."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pganon.methods.buckets.search import Condition, Partition, partition
from pganon.methods.buckets.search.conditions import Codes
from pganon.methods.buckets.search.tree import Block, Bucket
from tests.support.oracles.buckets import Table
from tests.support.sources.registry import ROWS, SENSITIVE, TWELVE

REGISTRY_AGE, REGISTRY_ZIP, REGISTRY_SEX = (
    tuple(row[name] for row in ROWS) for name in ("age", "zip", "sex")
)
REGISTRY_SENSITIVE = [[row[name] for row in ROWS] for table in SENSITIVE for name in table]


def coded(values: Sequence[object]) -> list[int]:
    """Codes from 1 in order; None is 0."""
    known = sorted({value for value in values if value is not None})  # type: ignore[type-var]
    return [0 if value is None else known.index(value) + 1 for value in values]


def places(values: Sequence[float | None]) -> list[float]:
    """Place of every distinct value in [0, 1], in order."""
    known = sorted({value for value in values if value is not None})
    width = known[-1] - known[0] or 1
    return [(value - known[0]) / width for value in known]


def scaled(values: Sequence[float]) -> list[float]:
    return [places(values)[code - 1] for code in coded(values)]


def medicine() -> Table:
    age, income, disease, drug = zip(*TWELVE, strict=True)
    z = [list(point) for point in zip(scaled(age), scaled(income), strict=True)]
    return Table(z, [(3, coded(disease)), (3, coded(drug))], 3)


@dataclass(frozen=True)
class Searched:
    """The answer of the search, in the terms of the oracle."""

    buckets: set[frozenset[int]]
    objective: float
    baseline: float


def conditions(table: Table) -> list[Condition]:
    return [Condition(least, np.array(codes)) for least, codes in table.columns]


def search(table: Table, seed: int = 1, *, fly: bool = True, path: str = "") -> Searched:
    found = partition(
        np.array(table.z),
        conditions(table),
        table.s,
        swarm=fly,
        norm=table.p,
        seed=seed,
        path=path,
        repair_budget=table.budget,
    )
    return Searched(members(found), found.objective, found.baseline)


def members(found: Partition) -> set[frozenset[int]]:
    count = int(found.labels.max()) + 1
    return {frozenset(np.flatnonzero(found.labels == b).tolist()) for b in range(count)}


def whole(table: Table) -> Bucket:
    """The table as the root of a tree."""
    z = np.ascontiguousarray(np.array(table.z).T)
    codes = Codes.of(conditions(table), len(table.z))
    block = Block(z, codes, table.s, table.p, table.budget)
    return Bucket(block, np.arange(len(table.z)))


def from_one(buckets: set[frozenset[int]]) -> set[frozenset[int]]:
    """Rows counted from 1, as worked examples do."""
    return {frozenset(row + 1 for row in rows) for rows in buckets}


def sets(*buckets: Sequence[int]) -> set[frozenset[int]]:
    return {frozenset(rows) for rows in buckets}


def random_table(seed: int, *, rows: tuple[int, int] = (4, 24), norm: float = 2.0) -> Table:
    """An eligible table: some on a grid, with many equal distances; some near the limit."""
    draw = random.Random(seed)
    n, dimensions, grid = draw.randint(*rows), draw.randint(1, 3), draw.choice([0, 3, 10])

    def coordinate() -> float:
        return draw.randint(0, grid) / grid if grid else draw.random()

    z = [[coordinate() for _ in range(dimensions)] for _ in range(n)]
    columns = []
    for _ in range(draw.randint(0, 3)):
        codes = [int(draw.random() * draw.randint(2, 8)) for _ in range(n)]
        least = min(draw.randint(1, 3), n // max(Counter(codes).values()))
        columns.append((least, codes))
    smallest = max([draw.randint(1, 3), *(least for least, _ in columns)])
    return Table(z, columns, smallest, norm, draw.choice([50, 50, 3, 1]))
