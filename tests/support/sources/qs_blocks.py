"""Tables of the oracle as the clustering functions of the server read them.

A block is made of the records of a `Case` of `qs_cases.py`: equal records, which are consecutive,
are one cell, and places follow the numbers of the records. Cells have other numbers than places,
so that mistaking one for the other shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from psycopg import sql

from tests.support.harness.driver import Connection
from tests.support.oracles.qs import Attribute, Cluster, Combinations, Value, attributes
from tests.support.sources.qs_cases import Case

Cells = list[tuple[int, int]]
"""(place, records) in the order of joining."""

TABLES = ("points", "formed", "open", "support1", "support2", "support3")


def cell(place: int) -> int:
    return 7000 - place


@dataclass(frozen=True)
class Block:
    """A block of the relation `points`.

    Attributes:
        number: of the block in the relation.
    """

    case: Case
    number: int = 1

    @cached_property
    def columns(self) -> list[Attribute]:
        return attributes(self.case.sets)

    @cached_property
    def places(self) -> list[list[int]]:
        """Records by place, which is 1 more than the index."""
        return [list(group) for _, group in groupby(self.case.records, key=self.case.row)]

    @cached_property
    def place(self) -> dict[int, int]:
        return {r: place for place, found in enumerate(self.places, 1) for r in found}

    @property
    def sets(self) -> list[int]:
        """Number of the set of every attribute."""
        return [s for s, qs_set in enumerate(self.case.sets.values(), 1) for _ in qs_set]

    @property
    def heights(self) -> list[int]:
        return [height(attribute) for attribute in self.columns]

    @property
    def start(self) -> int:
        return self.place[self.case.start]

    @cached_property
    def ids(self) -> list[dict[Value, int]]:
        """Numbers of the values of every attribute; NULL has the first of each."""
        found: list[dict[Value, int]] = []
        last = 0
        for attribute in self.columns:
            known = sorted({v for v in attribute.values.values() if v is not None})
            found.append({v: last + i for i, v in enumerate([None, *known], 1)})
            last += len(found[-1])
        return found

    def cells(self, records: Iterable[int]) -> Cells:
        """Records by place, in the order in which the first of each comes."""
        return list(Counter(self.place[record] for record in records).items())

    def rows(self) -> list[list[Any]]:
        """Of `points`."""
        codes = [node_numbers(attribute) for attribute in self.columns]
        found: list[list[Any]] = []
        for place, held in enumerate(self.places, 1):
            values = self.case.row(held[0])
            ids = [numbers[v] for numbers, v in zip(self.ids, values, strict=True)]
            xs: list[float | None] = []
            for attribute, value, known in zip(self.columns, values, codes, strict=True):
                xs += coordinates(attribute, value, known)
            found.append([self.number, place, cell(place), len(held), ids, *xs])
        return found

    def supports(self) -> list[set[tuple[int, ...]]]:
        """Combinations of every set that exist, values by number.

        A value that no record has has a number beyond all others.
        """
        found: list[set[tuple[int, ...]]] = []
        numbers = iter(self.ids)
        for name, qs_set in self.case.sets.items():
            own = [next(numbers) for _ in qs_set]
            known: Combinations = self.case.condition.known
            found.append(
                {
                    tuple(ids.get(v, 9999) for ids, v in zip(own, combination, strict=True))
                    for combination in known[name]
                }
            )
        return found


def height(attribute: Attribute) -> int:
    """As the functions have it: 0 for a line."""
    if attribute.kind == "numeric":
        return 0
    return len(next(iter(attribute.tree.values()))) if attribute.tree else 1


def node_numbers(attribute: Attribute) -> list[dict[Any, int]]:
    """Per level from the leaves up to the children of the root, numbers of the nodes."""
    if attribute.kind == "numeric":
        return []
    if attribute.tree is None:
        leaves = sorted({v for v in attribute.values.values() if v is not None})
        return [{leaf: i for i, leaf in enumerate(leaves, 1)}]
    paths = [(leaf, *above) for leaf, above in attribute.tree.items()]
    levels = [dict.fromkeys(nodes) for nodes in zip(*paths, strict=True)]
    return [{node: i for i, node in enumerate(level, 1)} for level in levels[:-1]]


def coordinates(
    attribute: Attribute, value: Value, numbers: Sequence[dict[Any, int]]
) -> list[float | None]:
    """Columns x of a value."""
    if attribute.kind == "numeric":
        if value is None:
            return [None, 1.0]
        lowest = min(v for v in attribute.values.values() if v is not None)
        return [float((value - lowest) / (attribute.span or 1)), 0.0]
    if value is None:
        return [0.0] * len(numbers)
    path = [value, *(attribute.tree[value] if attribute.tree else ())]
    return [float(known[node]) for known, node in zip(numbers, path, strict=False)]


class Functions:
    """The functions of the server over blocks of equal shape, in temporary tables."""

    def __init__(self, conn: Connection, *blocks: Block) -> None:
        self.conn = conn
        self.block = blocks[0]
        self.axes = sum(height or 2 for height in self.block.heights)
        xs = sql.SQL(", ").join(sql.SQL(f"x{i} float8") for i in range(1, self.axes + 1))
        conn.execute(
            sql.SQL("DROP TABLE IF EXISTS {}").format(sql.SQL(", ").join(map(_table, TABLES)))
        )
        conn.execute(
            sql.SQL(
                "CREATE TEMP TABLE points"
                " (block integer, place integer, cell integer, w bigint, ids integer[], {})"
            ).format(xs)
        )
        self._fill("points", [row for block in blocks for row in block.rows()])
        for s, combinations in enumerate(self.block.supports(), 1):
            width = self.block.sets.count(s)
            vs = sql.SQL(", ").join(sql.SQL(f"v{i} integer") for i in range(1, width + 1))
            conn.execute(sql.SQL("CREATE TEMP TABLE {} ({})").format(_name(f"support{s}"), vs))
            self._fill(f"support{s}", sorted(combinations))

    def _fill(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(_table(table))) as copy:
            for row in rows:
                copy.write_row(row)

    def clusters(self, block: Block, *, nearest: bool) -> tuple[list[Cells], Cells]:
        """pganon.qs_clusters: clusters in the order of building, and what is left over."""
        condition = block.case.condition
        supports = None
        if condition.count == "supported":
            supports = [f"pg_temp.support{s}" for s in range(1, len(condition.sets) + 1)]
        rows = self.conn.execute(
            "SELECT * FROM pganon.qs_clusters('pg_temp.points', %s, %s::int[], %s::int[], %s, %s,"
            " %s::text[]::regclass[], %s, %s)",
            [
                block.number,
                block.sets,
                block.heights,
                condition.k,
                condition.min_values,
                supports,
                nearest,
                block.start,
            ],
        ).fetchall()
        found: dict[int, Cells] = {}
        for number, which, n in rows:
            found.setdefault(number, []).append((7000 - which, n))
        left = found.pop(0, [])
        assert list(found) == list(range(1, len(found) + 1))
        return list(found.values()), left

    def absorb(self, formed: Sequence[tuple[Block, Sequence[Cluster], Iterable[int]]]) -> Any:
        """pganon.qs_absorb: (block, cluster, place, records) of those left over, in order."""
        rows = [
            [block.number, number, cell(place), n]
            for block, clusters, left in formed
            for number, cluster in enumerate([left, *clusters])
            for place, n in block.cells(cluster)
        ]
        self.conn.execute(
            "CREATE TEMP TABLE formed (block integer, cluster integer, cell integer, n bigint)"
        )
        self._fill("formed", rows)
        bounds = sql.SQL(", ").join(
            sql.SQL(f"min(p.x{i}) AS lo{i}, max(p.x{i}) AS hi{i}") for i in range(1, self.axes + 1)
        )
        self.conn.execute(
            sql.SQL(
                "CREATE TEMP TABLE open AS SELECT f.block, f.cluster, sum(f.n)::bigint AS n, {}"
                " FROM pg_temp.formed AS f JOIN pg_temp.points AS p USING (block, cell)"
                " WHERE f.cluster > 0 GROUP BY f.block, f.cluster"
            ).format(bounds)
        )
        found = self.conn.execute(
            "SELECT * FROM pganon.qs_absorb"
            " ('pg_temp.open', 'pg_temp.formed', 'pg_temp.points', %s::int[])",
            [self.block.heights],
        ).fetchall()
        self.conn.execute("DROP TABLE pg_temp.formed, pg_temp.open")
        return [(block, cluster, 7000 - which, n) for block, cluster, which, n in found]


def _name(name: str) -> sql.Identifier:
    return sql.Identifier(name)


def _table(name: str) -> sql.Identifier:
    return sql.Identifier("pg_temp", name)
