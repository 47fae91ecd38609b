"""Queries of one to three predicates, the same on every machine, and how near estimates come."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row

from pganon.estimation.ask import ask
from pganon.estimation.refusals import EstimateRefused

Row = dict[str, Any]
WIDEST = 20
"""Of an interval of numbers."""
ROUNDED = 1e-6
"""What sums of floats may be beyond a bound."""


@dataclass(frozen=True)
class Source:
    """A table of which a release is asked.

    Attributes:
        number: the quasi-identifier that intervals restrict; others have one or two values.
        aggregates: of the queries, in turn.
    """

    table: str
    quasi: Sequence[str]
    sensitive: str
    number: str
    aggregates: Sequence[str]


ADULT = Source(
    "adult",
    ("age", "education", "marital_status", "race", "sex", "native_country"),
    "occupation",
    "age",
    ("count(*)", "sum(hours_per_week)", "avg(hours_per_week)", "avg(age)", "sum(age)"),
)


@dataclass(frozen=True)
class Asked:
    """A query, which is whole but for the table."""

    text: str
    aggregate: str
    predicates: int


def drawn(number: int, what: str) -> float:
    """From 0 to 1, the same everywhere."""
    return int(hashlib.md5(f"estimate:{number}:{what}".encode()).hexdigest()[:13], 16) / 16**13


def query(source: Source, number: int, records: Sequence[Mapping[str, Any]]) -> Asked:
    """Every other one has a predicate on the sensitive column; values are those of records."""
    names = sorted(source.quasi, key=lambda name: drawn(number, name))
    wanted = 1 + number % 3
    names = [source.sensitive, *names[: wanted - 1]] if number % 2 == 0 else names[:wanted]

    def value(name: str, which: int) -> Any:
        place = int(drawn(number, f"{name}:{which}") * len(records))
        while records[place % len(records)][name] is None:
            place += 1
        return records[place % len(records)][name]

    conditions: list[str] = []
    for name in names:
        first, width = value(name, 1), drawn(number, f"{name}:w")
        if name == source.number:
            last = first + int(WIDEST * width)
            conditions.append(f"{name} BETWEEN {first} AND {last}")
        else:
            listed = {first, value(name, 2)} if width >= 0.5 else {first}
            texts = ", ".join(f"'{item}'" for item in sorted(listed))
            conditions.append(f"{name} IN ({texts})")
    aggregate = source.aggregates[(number // 3) % len(source.aggregates)]
    text = f"SELECT {aggregate} AS v FROM {{}} WHERE {' AND '.join(conditions)}"
    return Asked(text, aggregate, wanted)


@dataclass(frozen=True)
class Found:
    """An answer beside what is true of the source.

    Attributes:
        true: None if no record matches.
        seconds, source_seconds: of the estimate, and of the same query on the source.
    """

    asked: Asked
    true: float | None
    row: Row
    seconds: float
    source_seconds: float

    @property
    def outside(self) -> bool:
        lower, upper = (float(self.row[f"v_{end}"] or 0) for end in ("lower", "upper"))
        return self.true is not None and not lower - ROUNDED <= self.true <= upper + ROUNDED

    @property
    def exact(self) -> bool:
        return self.row["v_lower"] == self.row["v_upper"]


def answers(
    conn: psycopg.Connection[Any],
    source: Source,
    release: str,
    number: int,
    spread: Literal["column", "uniform"] = "column",
) -> list[Found]:
    """So many queries, but for those that are refused."""
    columns = ", ".join([*source.quasi, source.sensitive])
    with conn.cursor(row_factory=dict_row) as cursor:
        text = f"SELECT {columns} FROM {source.table} ORDER BY ctid"
        records = cursor.execute(text.encode()).fetchall()
    found: list[Found] = []
    for i in range(number):
        asked = query(source, i, records)
        began = time.perf_counter()
        try:
            (row,) = ask(conn, release, asked.text.format(release), spread).as_dicts()
        except EstimateRefused:
            continue
        between = time.perf_counter()
        told = conn.execute(asked.text.format(source.table).encode()).fetchone()
        true = None if told is None or told[0] is None else float(told[0])
        found.append(Found(asked, true, row, between - began, time.perf_counter() - between))
    return found


def figures(found: Iterable[Found]) -> Row:
    """Relative error and width of open answers, and how often ranges hold; medians.

    Queries that nothing matches count as outside bounds alone.
    """
    found = list(found)
    some = [one for one in found if one.true]
    opened = [one for one in some if not one.exact]

    def shares(name: str) -> float | None:
        return _median([name_of[name] for name_of in map(_relative, opened)])

    return {
        "outside": sum(one.outside for one in found),
        "exact": len(some) - len(opened),
        "open": len(opened),
        "error": shares("error"),
        "width": shares("width"),
        "held": _share([_relative(one)["held"] for one in opened]),
        "likely_held": _share([_relative(one)["likely"] for one in opened]),
        "ms": 1000 * (_median([one.seconds for one in found]) or 0),
        "source_ms": 1000 * (_median([one.source_seconds for one in found]) or 0),
    }


def _relative(found: Found) -> dict[str, Any]:
    row, true = found.row, found.true or 0.0
    away = abs(row["v"] - true)
    return {
        "error": away / abs(true),
        "width": float(row["v_upper"] - row["v_lower"]) / abs(true),
        "held": None if row["v_error"] is None else away <= 2 * row["v_error"] + ROUNDED,
        "likely": row["v_low"] - ROUNDED <= true <= row["v_high"] + ROUNDED,
    }


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _share(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
