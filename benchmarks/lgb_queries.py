"""Random sums as in the paper of local generalization and bucketization, asked of a release.

Everything comes from the published views, apart from the exact sums. A query restricts four
columns: numbers by an operator and a value, others by a set of values of random size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from scipy.sparse import csr_array

from benchmarks import support
from benchmarks.lgb_tables import Source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PREDICATES = 4
ENOUGH = 0.01
"""Share of the sum over all rows from which on a sum is not tiny."""

_OPERATORS: Sequence[Callable[[Any, Any], Any]] = (
    operator.gt,
    operator.lt,
    operator.eq,
    operator.ge,
    operator.le,
    operator.ne,
)


@dataclass(frozen=True)
class Column:
    """What a release shows of a column.

    Attributes:
        values: the domain, sorted; every whole number of a range.
        exact: of every row of the source, the place of its value.
        holder: of every published row, its group or bucket, as a row of `weights`.
        weights: share of each value in what a holder shows, of which most are 0.
    """

    values: Ints
    numeric: bool
    exact: Ints
    holder: Ints
    weights: csr_array


@dataclass(frozen=True)
class Release:
    """Rows of a release with what they show, and the buckets of the column that is added up.

    Attributes:
        bucket: of every published row.
        low, high: sums of the h least and greatest values of a bucket, in row h, column `bucket`.
        mean: of the values of every bucket.
        amounts: of the rows of the source.
    """

    columns: Sequence[Column]
    bucket: Ints
    low: Floats
    high: Floats
    mean: Floats
    amounts: Floats


def read(dsn: str, source: Source, view: str) -> Release:
    with psycopg.connect(dsn) as conn:
        reader = _Reader(conn, source, view)
        columns = [reader.column(name) for name in (*source.semi, *source.quasi)]
        assert source.added is not None
        bucket, low, high, mean = reader.buckets(source.added)
        amounts = np.array(reader.source(source.added), dtype=float)
    return Release(columns, bucket, low, high, mean, amounts)


class _Reader:
    def __init__(self, conn: psycopg.Connection[Any], source: Source, view: str) -> None:
        self.conn, self.table, self.view = conn, source.table, view
        self.numbers, self.semi = source.numbers, source.semi
        names = [*source.semi, *source.quasi]
        shown = [f"{name}_bucket" for name in (*source.semi, source.sensitive)]
        shown += [f"{name}_form" for name in source.semi]
        self.rows = self._fetch(["group_id", *names, *shown], view)

    def _fetch(self, names: Sequence[str], view: str) -> dict[str, list[Any]]:
        text = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, names)), sql.Identifier("published", view)
        )
        found = self.conn.execute(text).fetchall()
        return dict(zip(names, map(list, zip(*found, strict=True)), strict=True))

    def source(self, name: str) -> list[Any]:
        text = sql.SQL("SELECT {} FROM {} ORDER BY person").format(
            sql.Identifier(name), sql.Identifier(self.table)
        )
        return [row[0] for row in self.conn.execute(text)]

    def column(self, name: str) -> Column:
        numeric = name in self.numbers
        exact = np.array(self.source(name), dtype=np.int64)
        values = np.arange(exact.min(), exact.max() + 1) if numeric else np.unique(exact)
        holders: dict[tuple[str, int], Floats] = {}
        order: list[tuple[str, int]] = []
        forms = self.rows.get(f"{name}_form", ["g"] * len(self.rows["group_id"]))
        held = self._held(name, values) if name in self.semi else {}
        buckets = self.rows.get(f"{name}_bucket", self.rows["group_id"])
        for form, group, bucket, shown in zip(
            forms, self.rows["group_id"], buckets, self.rows[name], strict=True
        ):
            key = (form, group if form == "g" else bucket if form == "b" else 0)
            order.append(key)
            if key not in holders:
                holders[key] = held[bucket] if form == "b" else _weights(shown, values, form)
        place = {key: at for at, key in enumerate(holders)}
        return Column(
            values,
            numeric,
            np.searchsorted(values, exact),
            np.array([place[key] for key in order]),
            csr_array(np.array(list(holders.values()))),
        )

    def _held(self, name: str, values: Ints) -> dict[int, Floats]:
        found = self._fetch([f"{name}_bucket", name, "count"], f"{self.view}_values_{name}")
        held: dict[int, Floats] = {}
        for bucket, value, count in zip(*found.values(), strict=True):
            weights = held.setdefault(bucket, np.zeros(len(values)))
            weights[np.searchsorted(values, value)] += count
        return {bucket: weights / weights.sum() for bucket, weights in held.items()}

    def buckets(self, name: str) -> tuple[Ints, Floats, Floats, Floats]:
        found = self._fetch([f"{name}_bucket", name, "count"], f"{self.view}_values_{name}")
        held: dict[int, list[float]] = {}
        for bucket, value, count in zip(*found.values(), strict=True):
            held.setdefault(bucket, []).extend([float(value)] * count)
        most = max(map(len, held.values()))
        low, high = (np.zeros((most + 1, len(held))) for _ in range(2))
        place = {}
        for at, (bucket, each) in enumerate(held.items()):
            place[bucket] = at
            line = np.sort(each)
            low[1 : len(line) + 1, at] = np.cumsum(line)
            high[1 : len(line) + 1, at] = np.cumsum(line[::-1])
        rows = np.array([place[bucket] for bucket in self.rows[f"{name}_bucket"]])
        mean = np.array([np.mean(each) for each in held.values()])
        return rows, low, high, mean


def _weights(shown: Any, values: Ints, form: str) -> Floats:
    if form == "w":
        chosen = np.ones(len(values), dtype=bool)
    elif isinstance(shown, list):
        chosen = np.isin(values, shown)
    else:
        chosen = (values >= int(shown.lower)) & (values <= int(shown.upper))
    return chosen / chosen.sum()


# -- asking -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Bounds as the paper has them, certain ones, the expected and the true sum."""

    lower: float
    upper: float
    least: float
    most: float
    estimate: float
    actual: float


def ask(release: Release, chosen: Sequence[tuple[Column, Bools]]) -> Answer:
    """Args: chosen: columns with the values of each that are asked for."""
    matching = np.ones(len(release.bucket))
    true = np.ones(len(release.amounts), dtype=bool)
    for column, wanted in chosen:
        matching *= (column.weights @ wanted)[column.holder]
        true &= wanted[column.exact]
    buckets = release.low.shape[1]
    expected = np.round(np.bincount(release.bucket, matching, buckets), 9)
    sure = np.bincount(release.bucket, matching > 1 - 1e-12, buckets).astype(int)
    possible = np.bincount(release.bucket, matching > 0, buckets).astype(int)
    around = (np.floor(expected).astype(int), np.ceil(expected).astype(int))
    at = np.arange(buckets)
    places = np.arange(len(release.low))[:, None]
    within = (places >= sure) & (places <= possible)
    return Answer(
        lower=float(np.minimum(*[release.low[h, at] for h in around]).sum()),
        upper=float(np.maximum(*[release.high[h, at] for h in around]).sum()),
        least=float(np.where(within, release.low, np.inf).min(axis=0).sum()),
        most=float(np.where(within, release.high, -np.inf).max(axis=0).sum()),
        estimate=float((expected * release.mean).sum()),
        actual=float(release.amounts[true].sum()),
    )


def drawn(rng: np.random.Generator, release: Release) -> list[tuple[Column, Bools]]:
    """Four columns and what is asked of them."""
    places = rng.choice(len(release.columns), min(PREDICATES, len(release.columns)), replace=False)
    return [(column, _wanted(rng, column)) for column in (release.columns[p] for p in places)]


def _wanted(rng: np.random.Generator, column: Column) -> Bools:
    if column.numeric:
        compare = _OPERATORS[rng.integers(len(_OPERATORS))]
        return compare(column.values, column.values[rng.integers(len(column.values))])
    many = rng.integers(1, len(column.values) + 1)
    return np.isin(
        np.arange(len(column.values)), rng.choice(len(column.values), many, replace=False)
    )


def asked(release: Release, queries: int, seeds: int) -> list[dict[str, float]]:
    """By seed, figures of so many queries with a true sum that is not 0, where others are drawn
    again; releases of a source are asked the same."""
    return [_errors(release, queries, seed) for seed in range(seeds)]


def errors(found: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Medians with all of them and their range: a few queries with tiny sums decide the mean of one
    seed."""
    medians = {name: float(np.median([one[name] for one in found])) for name in found[0]}
    worst = {name: max(one[name] for one in found) for name in ("outside", "beyond")}
    return {**medians, **worst, **support.spread(found, ("r_error", "r_error_median"))}


def _errors(release: Release, queries: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    answers: list[Answer] = []
    while len(answers) < queries:
        found = ask(release, drawn(rng, release))
        if found.actual:
            answers.append(found)
    width = np.array([(a.upper - a.lower) / a.actual for a in answers])
    certain = np.array([(a.most - a.least) / a.actual for a in answers])
    off = np.array([abs(a.estimate - a.actual) / abs(a.actual) for a in answers])
    enough = np.array([a.actual >= ENOUGH * release.amounts.sum() for a in answers])
    slack = 1e-6
    outside = [not a.lower - slack <= a.actual <= a.upper + slack for a in answers]
    beyond = [not a.least - slack <= a.actual <= a.most + slack for a in answers]
    return {
        "r_error": float(width.mean()),
        "r_error_median": float(np.median(width)),
        "r_error_enough": float(width[enough].mean()) if enough.any() else float("nan"),
        "certain_median": float(np.median(certain)),
        "estimate_median": float(np.median(off)),
        "outside": float(np.mean(outside)),
        "beyond": float(np.mean(beyond)),
    }
