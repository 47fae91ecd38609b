"""Releases over time: monthly batches of Adult, added as increments.

Rows in file order, i = 0, 1, ..., are there from month 1 + floor(12 i / 30162) on. Losses are
shares of the span of all rows, whatever a run had, so that months can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import adult, support
from benchmarks.classes import METHODS, policy

K = 10
DIVERSITY: dict[str, dict[str, Any]] = {
    "distinct": {"model": "distinct_l_diversity", "column": "occupation", "l": 3},
    "frequency": {"model": "alpha_k_anonymity", "column": "occupation", "alpha": 0.33334, "k": K},
}
Series = tuple[int, str, str, str]
"""First month, regions, ranges, and diversity."""
SERIES: tuple[Series, ...] = (
    *(
        (first, regions, "tight", diversity)
        for diversity in DIVERSITY
        for first in (1, 6)
        for regions in ("none", "leaves")
    ),
    *((first, "leaves", "region", "distinct") for first in (1, 6)),
)
EXPECTED: dict[Series, tuple[int, float, float, float]] = {
    (1, "none", "tight", "distinct"): (2104, 0.0600, 0, 0),
    (1, "leaves", "tight", "distinct"): (2104, 0.0569, 0.6, 0.09),
    (6, "none", "tight", "distinct"): (1873, 0.0431, 0, 0),
    (6, "leaves", "tight", "distinct"): (1794, 0.0248, 10.8, 0.5),
    (1, "none", "tight", "frequency"): (1405, 0.1386, 0, 0),
    (1, "leaves", "tight", "frequency"): (1239, 0.1070, 0.4, 29.2),
    (6, "none", "tight", "frequency"): (1190, 0.1240, 0, 0),
    (6, "leaves", "tight", "frequency"): (1056, 0.1038, 5.8, 18.1),
}
"""Groups, GCP, percent waiting and percent out at month 12, as computed without pganon."""
EXPECTATIONS = ("expected groups", "expected gcp", "expected waiting", "expected out")


def load(dsn: str, data: Path, months: int) -> int:
    """Table `adult_all` with the month of every row."""
    numbered = (f"{number},{line}" for number, line in enumerate(adult.lines(data)))
    rows = adult.load(dsn, "adult_all", numbered, ("id", *adult.COLUMNS))
    support.execute(
        dsn,
        f"ALTER TABLE adult_all ADD COLUMN month integer; UPDATE adult_all SET month ="
        f" 1 + {months} * id / {rows}",
    )
    return rows


def create(dsn: str, name: str) -> None:
    """(Re)create an empty table like it; pganon knows of no earlier version about its people."""
    support.forget(dsn)
    support.execute(
        dsn,
        f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (LIKE adult_all, PRIMARY KEY (id))",
    )


def add(dsn: str, name: str, first: int, last: int) -> None:
    """Who came from one month to another."""
    support.execute(
        dsn,
        f"INSERT INTO {name} SELECT * FROM adult_all WHERE month BETWEEN {first} AND {last}",
    )


def measure(
    dsn: str, data: Path, months: int, series: Iterable[Series]
) -> Iterator[dict[str, Any]]:
    """A row per month of every series."""
    rows = load(dsn, data, months)
    for one in series:
        first, regions, ranges, diversity = one
        name = f"adult_{first}_{regions}_{ranges}_{diversity}"
        create(dsn, name)
        for month in range(first, months + 1):
            add(dsn, name, 1 if month == first else month, month)
            measured = support.run_policy(dsn, _policy(dsn, name, regions, ranges, diversity))
            yield {
                "first": first,
                "regions": regions,
                "ranges": ranges,
                "diversity": diversity,
                "month": month,
                "last": month == months,
                **_figures(dsn, name, measured.result, rows),
                "seconds": measured.seconds,
                **dict(zip(EXPECTATIONS, EXPECTED.get(one, ()), strict=False)),
            }


def _policy(dsn: str, name: str, regions: str, ranges: str, diversity: str) -> dict[str, Any]:
    release = policy(
        name, name, adult.QUASI, K, sensitive="occupation", method=METHODS["mondrian, width"]
    )
    if ranges == "region":
        for column in adult.QUASI:
            release["columns"][column] |= {"nulls": "reject"}
            if column != "age":
                release["columns"][column] |= {"domain": {"values": _values(dsn, column)}}
    release["privacy"] = [{"model": "k_anonymity", "k": K}, DIVERSITY[diversity]]
    return {
        **release,
        "refresh": "increments",
        "regions": regions,
        "ranges": ranges,
        "increment_size": K,
        "suppression_limit": 0.6,
    }


def _values(dsn: str, column: str) -> list[str]:
    with psycopg.connect(dsn) as conn:
        rows = conn.execute(f"SELECT DISTINCT {column} FROM adult_all ORDER BY 1".encode())
        return [value for (value,) in rows.fetchall()]


def _figures(dsn: str, name: str, result: dict[str, Any], rows: int) -> dict[str, Any]:
    sets = [column for column in adult.QUASI if column != "age"]
    losses = [
        "(coalesce(upper(v.age), s.last) - coalesce(lower(v.age), s.first)) / (s.last - s.first)",
        *[
            f"(cardinality(v.{column}) - 1)::numeric"
            f" / (SELECT count(DISTINCT {column}) - 1 FROM adult_all)"
            for column in sets
        ],
    ]
    with psycopg.connect(dsn) as conn:
        row = conn.execute(
            f"SELECT (SELECT count(DISTINCT class_id) FROM published.{name}),"
            f" (SELECT min(n) FROM (SELECT count(*) AS n FROM published.{name} GROUP BY class_id)"
            f" AS g), avg(({' + '.join(losses)}) / {len(losses)}), count(*)"
            f" FROM published.{name} AS v CROSS JOIN (SELECT min(age) AS first, max(age) AS last"
            " FROM adult_all) AS s".encode()
        ).fetchone()
    assert row is not None
    people = result["records"]
    added = result["added"]
    return {
        "people": people,
        "groups": row[0],
        "smallest": row[1],
        "gcp": float(row[2]),
        "released": row[3],
        "waiting": 100 * added["waiting"] / people,
        "out": 100 * result["suppressed"] / people,
        "all": rows,
    }
