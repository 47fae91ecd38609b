"""Releases over time: twelve monthly batches of Adult, each version made anew.

How many people readers of all versions tell apart by intersecting classes; with
`republication: refuse` months 2 to 12 would be refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import increments, support
from benchmarks.increments import DIVERSITY, MONTHS, K
from benchmarks.mondrian import ADULT_QI, policy

NAME = "adult_recomputed"


def measure(dsn: str, data: Path) -> Iterator[dict[str, Any]]:
    """A row per month and model of diversity."""
    increments.load(dsn, data)
    for diversity, model in DIVERSITY.items():
        support.forget(dsn)
        support.execute(
            dsn,
            f"DROP TABLE IF EXISTS {NAME}; CREATE TABLE {NAME} (LIKE adult_all, PRIMARY KEY (id))",
        )
        release = policy(NAME, NAME, ADULT_QI, K, sensitive="occupation")
        release["privacy"] = [{"model": "k_anonymity", "k": K}, model]
        for month in range(1, MONTHS + 1):
            support.execute(
                dsn, f"INSERT INTO {NAME} SELECT * FROM adult_all WHERE month = {month}"
            )
            measured = support.run_policy(dsn, {**release, "republication": "allow"})
            guard = measured.result["guard"]
            people = measured.result["released"]
            yield {
                "diversity": diversity,
                "month": month,
                "classes": measured.result["utility"]["classes"],
                "gcp": measured.result["utility"]["gcp"],
                "smallest": guard.get("guard_smallest"),
                "below k": 100 * guard.get("guard_below_k", 0) / people,
                "seconds": measured.seconds,
            }


EXPECTED = {
    ("distinct", 1): (173, 0.0595, 0.0),
    ("distinct", 2): (343, 0.0442, 77.6),
    ("distinct", 6): (821, 0.0259, 91.5),
    ("distinct", 12): (1399, 0.0182, 91.6),
    ("frequency", 1): (124, 0.1311, 0.0),
    ("frequency", 2): (228, 0.1276, 48.9),
    ("frequency", 6): (496, 0.1114, 74.4),
    ("frequency", 12): (702, 0.0908, 79.3),
}
"""Classes, GCP and percent of people below k, as computed without pganon."""


def show(rows: list[dict[str, Any]]) -> None:
    """The months with an expectation beside it."""
    shown = [
        row
        | dict(
            zip(
                ("expected classes", "expected gcp", "expected below k"),
                EXPECTED[row["diversity"], row["month"]],
                strict=True,
            )
        )
        for row in rows
        if (row["diversity"], row["month"]) in EXPECTED
    ]
    support.print_rows(
        "Adult in twelve monthly batches, each version made anew: percent of people",
        [
            *("diversity", "month", "classes", "expected classes", "gcp", "expected gcp"),
            *("smallest", "below k", "expected below k"),
        ],
        shown,
        words=("diversity",),
        asked=(),
    )
