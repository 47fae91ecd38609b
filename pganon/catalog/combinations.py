"""How well sets of columns tell rows apart, and which columns determine others; counts alone.

Distinction is the share of rows that are left once every combination of values is there once,
separation the share of pairs of rows that differ (Motwani and Xu: Efficient algorithms for masking
and finding quasi-identifiers, 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import psycopg
from sqlglot import exp

from pganon.catalog.hash_sample import HashedRows
from pganon.server_errors import translate
from pganon.sqltools import col, fragment, materialized, query, render

MOST_COLUMNS = 30
"""Columns of a statement, and of a ranking."""

LEAST_PAIRS = 50
"""Pairs of rows with the same value from which it is concluded what the value determines."""

LEAST_GAIN = 0.001
"""Distinction that a column of the ranking adds at least."""

NEARLY_CONSTANT = 0.95
"""Share of equal pairs from which a column is the same nearly everywhere."""

Columns = frozenset[str]


@dataclass(frozen=True)
class Combinations:
    """Counts of the combinations of values that some columns have.

    Attributes:
        rows: rows looked at.
        distinct: different combinations.
        equal_pairs: pairs of rows with the same combination.
    """

    rows: int
    distinct: int
    equal_pairs: int

    @property
    def pairs(self) -> int:
        return self.rows * (self.rows - 1) // 2

    @property
    def distinction(self) -> float:
        return self.distinct / self.rows if self.rows else 0.0

    @property
    def separation(self) -> float:
        return 1 - self.equal_pairs / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class Ranked:
    """A column with what it tells apart by itself, and together with all ranked before it.

    Attributes:
        with_those_before: None from where on no column adds LEAST_GAIN.
    """

    name: str
    by_itself: Combinations
    with_those_before: Combinations | None


@dataclass(frozen=True)
class Dependency:
    """Which values of two columns go together.

    Attributes:
        decided: how far `one` determines `other`, from 0, not at all, to 1: the share of pairs of
            rows with equal `one` that have equal `other`, above what is expected by chance.
        decides: the same the other way round.
    """

    one: str
    other: str
    decided: float
    decides: float


def combinations(rows: HashedRows, sets: Iterable[Columns]) -> dict[Columns, Combinations]:
    """Counts for sets of columns, from one scan.

    Raises:
        DatabaseError: they could not be computed.
    """
    wanted = list({*sets})
    names = sorted(frozenset[str]().union(*wanted))
    if not names:
        return {}
    try:
        position = rows.position
        hashes = [
            fragment(
                "hash_record_extended(:row, 0)",
                row=exp.func("row", *[col(position[n], "h") for n in sorted(s)]),
            )
            for s in wanted
        ]
        groups = query(
            "select u.at, u.hash, count(*) as n"
            " from h cross join lateral unnest(:hashes) with ordinality as u (hash, at)"
            " group by u.at, u.hash",
            hashes=exp.Array(expressions=hashes),
        )
        statement = render(
            materialized(
                query(
                    "select g.at, count(*) as combinations, sum(n)::bigint as size,"
                    " sum(n * (n - 1) / 2)::bigint as equal_pairs"
                    " from g group by g.at",
                    {"g": groups},
                ),
                h=rows.select(names),
            )
        )
        found = rows.conn.execute(statement.encode()).fetchall()
    except psycopg.Error as error:
        raise translate(error, reads=[str(rows.relation.name)]) from None
    counts = {wanted[at - 1]: Combinations(size, n, pairs) for at, n, size, pairs in found}
    return {columns: counts.get(columns, Combinations(0, 0, 0)) for columns in wanted}


def ranking(rows: HashedRows, names: Sequence[str]) -> list[Ranked]:
    """Columns by what they add to the distinction of those before them, then to the separation.

    A round per column over a sample: the next is the one with which most rows are told apart,
    until no column adds LEAST_GAIN. Of more than MOST_COLUMNS columns those are compared that tell
    most apart by themselves.
    """
    alone: dict[str, Combinations] = {}
    for some in _batches(names, MOST_COLUMNS):
        counts = combinations(rows, [frozenset({name}) for name in some])
        alone |= {name: counts[frozenset({name})] for name in some}
    by_itself = sorted(names, key=lambda name: _told_apart(alone[name]), reverse=True)
    ranked: list[Ranked] = []
    chosen: Columns = frozenset()
    before = 0.0
    while remaining := [name for name in by_itself[:MOST_COLUMNS] if name not in chosen]:
        counts = combinations(rows, [chosen | {name} for name in remaining])
        best = max(remaining, key=lambda name: _told_apart(counts[chosen | {name}]))
        now = counts[chosen | {best}]
        if now.distinction - before < LEAST_GAIN:
            break
        chosen, before = chosen | {best}, now.distinction
        ranked.append(Ranked(best, alone[best], now))
    return ranked + [Ranked(name, alone[name], None) for name in by_itself if name not in chosen]


def dependencies(rows: HashedRows, one: str, others: Sequence[str]) -> Iterator[Dependency]:
    """How a column and each of the others determine each other.

    Without those that are nearly constant, or of whose values nearly every row has its own.
    """
    for some in _batches(others, MOST_COLUMNS - 1):
        pairs = [{one}, *[{other} for other in some], *[{one, other} for other in some]]
        counts = combinations(rows, map(frozenset, pairs))
        first = counts[frozenset({one})]
        for other in some:
            second, both = counts[frozenset({other})], counts[frozenset({one, other})]
            yield Dependency(
                one,
                other,
                _determined(first, second, both),
                _determined(second, first, both),
            )


def _determined(by: Combinations, of: Combinations, both: Combinations) -> float:
    if by.equal_pairs < LEAST_PAIRS or of.equal_pairs > NEARLY_CONSTANT * of.pairs:
        return 0.0
    expected = of.equal_pairs / of.pairs
    return (both.equal_pairs / by.equal_pairs - expected) / (1 - expected)


def _batches(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))


def _told_apart(counts: Combinations) -> tuple[int, int]:
    return counts.distinct, -counts.equal_pairs
