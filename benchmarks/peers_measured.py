"""What a release in PostgreSQL guarantees and loses, whichever tool made it, from its labels alone.

A label is what a release shows of a value: the value, a range, a list of values, or a name from a
hierarchy. Nothing that a tool says about its own release is used.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

Row = dict[str, Any]
Hierarchies = Mapping[str, Sequence[Sequence[str]]]
"""By column: rows of a value and the labels above it."""

_RANGE = re.compile(r"([\[(]?)\s*(-?\d+)\s*[-,~]\s*(-?\d+)\s*([\])]?)")


@dataclass(frozen=True)
class Column:
    """A quasi-identifier of the source.

    Attributes:
        values: all whole numbers between the lowest and the highest, or what occurs.
        labels: which values a name from a hierarchy covers.
    """

    values: Sequence[str]
    numeric: bool
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Iterable[str], hierarchy: Sequence[Sequence[str]] = ()) -> Column:
        values = sorted(set(found))
        numeric = all(re.fullmatch(r"-?\d+", value) for value in values)
        if numeric:
            numbers = [int(value) for value in values]
            values = [str(number) for number in range(min(numbers), max(numbers) + 1)]
        below: dict[str, set[str]] = defaultdict(set)
        for value, *labels in hierarchy:
            for label in labels:
                below[label].add(value)
        covered = {label: frozenset(below[label].intersection(values)) for label in below}
        return cls(values, numeric, {**covered, "*": frozenset(values)})

    def covered(self, label: str) -> frozenset[str]:
        """Values of the source that a label stands for.

        Raises:
            ValueError: it cannot be read, or stands for none.
        """
        if label in self.values:
            return frozenset({label})
        found = self.labels.get(label) or self._of_range(label) or self._of_list(label)
        if not found:
            raise ValueError(f"the label {label} is none of a value, a range, a list and a name")
        return found

    def _of_range(self, label: str) -> frozenset[str]:
        match = _RANGE.fullmatch(label) if self.numeric else None
        if match is None:
            return frozenset()
        opened, low, high, closed = match.groups()
        numbers = range(int(low) + (opened == "("), int(high) + (closed != ")"))
        return frozenset(map(str, numbers)).intersection(self.values)

    def _of_list(self, label: str) -> frozenset[str]:
        values = {part.strip(' "') for part in label.strip("{}[]").split(",")}
        return frozenset(values) if values.issubset(self.values) else frozenset()


@dataclass(frozen=True)
class Source:
    """Distinct combinations of quasi-identifiers, as positions in their columns, and how many
    records have each."""

    columns: Sequence[Column]
    codes: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[tuple[Sequence[str], int]], hierarchies: Sequence[Any]) -> Source:
        by_column = list(zip(*(values for values, _ in rows), strict=True))
        columns = [Column.of(*each) for each in zip(by_column, hierarchies, strict=True)]
        positions = [{v: i for i, v in enumerate(column.values)} for column in columns]
        codes = [[p[v] for p, v in zip(positions, values, strict=True)] for values, _ in rows]
        return cls(columns, np.array(codes), np.array([count for _, count in rows]))


@dataclass(frozen=True)
class Released:
    """Records of a release by what their labels cover: two spellings of a set are one class.

    Attributes:
        covers: by column: which positions each different label covers.
        codes: of every class, the label in each column.
        counts: records of every class.
        diversity: different sensitive values of every class.
    """

    covers: Sequence[np.ndarray]
    codes: np.ndarray
    counts: np.ndarray
    diversity: np.ndarray

    @classmethod
    def of(
        cls, columns: Sequence[Column], rows: Iterable[tuple[Sequence[str], str, int]]
    ) -> Released:
        """Of rows of labels, a sensitive value and a number of records."""
        spelled: list[dict[str, int]] = [{} for _ in columns]
        known: list[dict[frozenset[str], int]] = [{} for _ in columns]
        classes: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
        for labels, sensitive, count in rows:
            for label, column, spelling, sets in zip(labels, columns, spelled, known, strict=True):
                if label not in spelling:
                    spelling[label] = sets.setdefault(column.covered(label), len(sets))
            key = tuple(s[label] for s, label in zip(spelled, labels, strict=True))
            classes[key][sensitive] += count
        covers = [
            np.array([[value in each for value in column.values] for each in sets])
            for column, sets in zip(columns, known, strict=True)
        ]
        return cls(
            covers,
            np.array(list(classes)),
            np.array([sum(values.values()) for values in classes.values()]),
            np.array([len(values) for values in classes.values()]),
        )


def measured(source: Source, released: Released, k: int, l: int | None, queries: int) -> Row:  # noqa: E741
    """Figures of a release, and whether it has what was asked."""
    smallest, diversity = int(released.counts.min()), int(released.diversity.min())
    return {
        "classes": len(released.counts),
        "suppressed": int(source.counts.sum() - released.counts.sum()),
        "gcp": gcp(source, released),
        "error": query_error(source, released, queries),
        "smallest": smallest,
        "diversity": diversity,
        "holds": smallest >= k and diversity >= (l or 1),
    }


def gcp(source: Source, released: Released) -> float:
    """The mean over all records of (values covered - 1) / (values of the column - 1).

    Of a range of whole numbers that is its width over that of the column. Suppressed records: 1.
    """
    lost = np.zeros(len(released.counts))
    for column, covers, codes in zip(
        source.columns, released.covers, released.codes.T, strict=True
    ):
        lost += ((covers.sum(axis=1) - 1) / max(1, len(column.values) - 1))[codes]
    records = source.counts.sum()
    suppressed = records - released.counts.sum()
    return float((released.counts @ lost / len(source.columns) + suppressed) / records)


def query_error(source: Source, released: Released, queries: int) -> float:
    """The median relative error of random counts, as `pganon run --metrics --workload` draws them:
    two quasi-identifiers, selectivity 0.05; neighbours where values are numbers."""
    rng = random.Random(1)
    errors = []
    for _ in range(queries):
        chosen = rng.sample(range(len(source.columns)), min(2, len(source.columns)))
        matching = np.ones(len(source.counts), bool)
        share = np.ones(len(released.counts))
        for place in chosen:
            selected = asked(rng, source.columns[place], 0.05 ** (1 / len(chosen)))
            matching &= selected[source.codes[:, place]]
            covers = released.covers[place]
            share *= ((covers & selected).sum(axis=1) / covers.sum(axis=1))[
                released.codes[:, place]
            ]
        if exact := source.counts[matching].sum():
            errors.append(abs(released.counts @ share - exact) / exact)
    return float(np.median(errors)) if errors else math.nan


def asked(rng: random.Random, column: Column, share: float) -> np.ndarray:
    """Which values a predicate selects: a share of them, rounded, at least one."""
    size = len(column.values)
    number = max(1, round(share * size))
    selected = np.zeros(size, bool)
    if column.numeric:
        start = rng.randrange(size - number + 1)
        selected[start : start + number] = True
    else:
        selected[rng.sample(range(size), number)] = True
    return selected


# -- in the database ----------------------------------------------------------------------------


def read_source(
    dsn: str, table: sql.Composable, columns: Sequence[str], hierarchies: Hierarchies
) -> Source:
    rows = _counted(dsn, table, columns)
    own = [hierarchies.get(name, ()) for name in columns]
    return Source.of([(row[:-1], row[-1]) for row in rows], own)


def read_released(
    dsn: str, table: sql.Composable, columns: Sequence[str], sensitive: str, source: Source
) -> Released:
    rows = _counted(dsn, table, [*columns, sensitive])
    return Released.of(source.columns, [(row[:-2], row[-2], row[-1]) for row in rows])


def _counted(dsn: str, table: sql.Composable, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    shown = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(n)) for n in columns)
    grouped = sql.SQL(", ").join(map(sql.Literal, range(1, len(columns) + 1)))
    query = sql.SQL("SELECT {}, count(*) FROM {} GROUP BY {}").format(shown, table, grouped)
    with psycopg.connect(dsn) as conn:
        return conn.execute(query).fetchall()
