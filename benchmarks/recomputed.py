"""Releases over time: monthly batches of Adult, each version made anew.

How many people readers of all versions tell apart by intersecting classes; with
`republication: refuse` months 2 to 12 would be refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import adult, increments, support
from benchmarks.classes import METHODS, policy
from benchmarks.increments import DIVERSITY, K

NAME = "adult_recomputed"

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
EXPECTATIONS = ("expected classes", "expected gcp", "expected below k")


def measure(dsn: str, data: Path, months: int) -> Iterator[dict[str, Any]]:
    """A row per month and model of diversity."""
    increments.load(dsn, data, months)
    for diversity, model in DIVERSITY.items():
        increments.create(dsn, NAME)
        release = policy(
            NAME, NAME, adult.QUASI, K, sensitive="occupation", method=METHODS["mondrian, width"]
        )
        release["privacy"] = [{"model": "k_anonymity", "k": K}, model]
        for month in range(1, months + 1):
            increments.add(dsn, NAME, month, month)
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
                **dict(zip(EXPECTATIONS, EXPECTED.get((diversity, month), ()), strict=False)),
            }
