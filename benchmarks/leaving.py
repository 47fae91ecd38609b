"""Releases over time: Adult in monthly batches as bucketized data, while 5 % leave every month.

Groups made anew are refused beside those of before, and so published with `allow`. With
`refresh: invariant` people keep their value set, and counterfeits stand in for who left: after the
twelfth month nobody comes any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import increments, support
from benchmarks.increments import MONTHS
from benchmarks.mondrian import ADULT_QI, policy

NAME = "adult_leaving"
ALONE = 3
"""Months after the last newcomers."""

_MODES = {
    "new groups": ({"republication": "allow"}, MONTHS),
    "value sets": ({"refresh": "invariant", "on_infeasible": "suppress"}, MONTHS + ALONE),
}


def measure(dsn: str, data: Path) -> Iterator[dict[str, Any]]:
    """A row per month and way to refresh."""
    increments.load(dsn, data)
    for mode, (keys, months) in _MODES.items():
        support.forget(dsn)
        support.execute(
            dsn,
            f"DROP TABLE IF EXISTS {NAME}; CREATE TABLE {NAME} (LIKE adult_all, PRIMARY KEY (id))",
        )
        release = policy(NAME, NAME, ADULT_QI, 3, sensitive="occupation")
        release["method"] = {"name": "anatomy"}
        release["privacy"] = [{"model": "anatomy_l_diversity", "column": "occupation", "l": 3}]
        for month in range(1, months + 1):
            # Of everybody who is there; newcomers stay for a month at least.
            support.execute(
                dsn, f"DELETE FROM {NAME} WHERE hashint8extended(id, {month}) & 1023 < 51"
            )
            support.execute(
                dsn, f"INSERT INTO {NAME} SELECT * FROM adult_all WHERE month = {month}"
            )
            result = support.run_policy(dsn, {**release, "suppression_limit": 1.0, **keys}).result
            released = result["released"]
            false = _counterfeits(dsn) if mode == "value sets" else 0
            yield {
                "refresh": mode,
                "month": month,
                "people": result["records"],
                "released": released,
                "counterfeits": 100 * false / released,
            }


def _counterfeits(dsn: str) -> int:
    with psycopg.connect(dsn) as conn:
        row = conn.execute(
            f"SELECT coalesce(sum(count), 0) FROM published.{NAME}_counterfeits".encode()
        ).fetchone()
    assert row is not None
    return int(row[0])


EXPECTED: dict[tuple[str, int], float] = {
    ("new groups", 2): 0.0,
    ("new groups", 12): 0.0,
    ("value sets", 12): 0.0,
    ("value sets", 13): 1.5,
    ("value sets", 14): 2.2,
    ("value sets", 15): 2.9,
}
"""Counterfeits in percent of the people who are there; computed without pganon, with other people
leaving."""


def show(rows: list[dict[str, Any]]) -> None:
    """The months with an expectation beside it."""
    shown = [
        row | {"expected counterfeits": EXPECTED[row["refresh"], row["month"]]}
        for row in rows
        if (row["refresh"], row["month"]) in EXPECTED
    ]
    support.print_rows(
        "Adult in monthly batches, 5 % leave every month, anatomy with l = 3: percent of people",
        [
            *("refresh", "month", "people", "released"),
            *("counterfeits", "expected counterfeits"),
        ],
        shown,
        words=("refresh",),
        asked=(),
    )
