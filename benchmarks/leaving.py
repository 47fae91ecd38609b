"""Releases over time: Adult in monthly batches as bucketized data, while 5 % leave every month.

Groups made anew are refused beside those of before, and so published with `allow`. With
`refresh: invariant` people keep their value set, and counterfeits stand in for who left: after the
last month nobody comes any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import adult, increments, support
from benchmarks.classes import policy

NAME = "adult_leaving"
ALONE = 3
"""Months after the last newcomers."""

_MODES = {
    "new groups": ({"republication": "allow"}, 0),
    "value sets": ({"refresh": "invariant", "on_infeasible": "suppress"}, ALONE),
}

EXPECTED = {
    ("value sets", 12): 0.0,
    ("value sets", 13): 1.5,
    ("value sets", 14): 2.2,
    ("value sets", 15): 2.9,
}
"""Counterfeits in percent of the people who are there; computed without pganon, with other people
leaving."""


def measure(dsn: str, data: Path, months: int) -> Iterator[dict[str, Any]]:
    """A row per month and way to refresh."""
    increments.load(dsn, data, months)
    for mode, (keys, more) in _MODES.items():
        increments.create(dsn, NAME)
        release = policy(
            NAME, NAME, adult.QUASI, 3, sensitive="occupation", method={"name": "anatomy"}
        )
        release["privacy"] = [{"model": "anatomy_l_diversity", "column": "occupation", "l": 3}]
        for month in range(1, months + more + 1):
            # Of everybody who is there; newcomers stay for a month at least.
            support.execute(
                dsn, f"DELETE FROM {NAME} WHERE hashint8extended(id, {month}) & 1023 < 51"
            )
            increments.add(dsn, NAME, month, month)
            result = support.run_policy(dsn, {**release, "suppression_limit": 1.0, **keys}).result
            released = result["released"]
            false = _counterfeits(dsn) if mode == "value sets" else 0
            yield {
                "refresh": mode,
                "month": month,
                "people": result["records"],
                "released": released,
                "counterfeits": 100 * false / released,
                **(
                    {"expected counterfeits": EXPECTED[key]}
                    if (key := (mode, month)) in EXPECTED
                    else {}
                ),
            }


def _counterfeits(dsn: str) -> int:
    with psycopg.connect(dsn) as conn:
        row = conn.execute(
            f"SELECT coalesce(sum(count), 0) FROM published.{NAME}_counterfeits".encode()
        ).fetchone()
    assert row is not None
    return int(row[0])
