"""What is expected of estimates on Adult: errors and bounds of 500 queries.

Runs draw which records share a bucket, so figures of buckets differ a little between them. Those of
classes are about `choose: width`, which cuts as LeFevre et al. do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks import support
from benchmarks.estimates_queries import ADULT

Row = dict[str, Any]

GOLDEN: dict[str, dict[str, float]] = {
    "mondrian, width": {
        "exact": 86,
        "error": 0.0044,
        "width": 0.171,
        "held": 0.57,
        "likely_held": 1.0,
    },
    "mondrian, width, uniform": {
        "exact": 86,
        "error": 0.0096,
        "width": 0.171,
        "held": 0.37,
        "likely_held": 0.99,
    },
    "anatomy": {"exact": 267, "error": 0.0264, "width": 0.545, "held": 0.27, "likely_held": 1.0},
    "slicing": {"exact": 90, "error": 0.0129, "width": 0.472, "held": 0.33, "likely_held": 0.96},
}
AGGREGATES: dict[str, dict[str, tuple[float, float]]] = {
    form: dict(zip(ADULT.aggregates, errors, strict=True))
    for form, errors in {
        "mondrian, width": (
            (0.0131, 0.293),
            (0.0119, 0.319),
            (0.0020, 0.072),
            (0.0014, 0.095),
            (0.0082, 0.219),
        ),
        "anatomy": (
            (0.0468, 1.04),
            (0.0358, 0.923),
            (0.0265, 0.460),
            (0.0209, 0.398),
            (0.0216, 0.773),
        ),
        "slicing": (
            (0.0180, 0.666),
            (0.0244, 0.741),
            (0.0181, 0.724),
            (0.0023, 0.090),
            (0.0072, 0.243),
        ),
    }.items()
}
"""Error and width by aggregate."""
NEAR = {"exact": 0.03, "error": 0.3, "width": 0.1, "held": 0.3, "likely_held": 0.03}
"""How far a figure may be from the expected one, as a share of it."""


def near(figure: str, found: float, expected: float) -> bool:
    return abs(found - expected) <= NEAR[figure] * expected


def evaluate(found: Row) -> list[Row]:
    """Claims about the parts that were measured, whether they hold, and by what figures."""
    parts = [part for name, part in found.items() if isinstance(part, list) and name != "claims"]
    rows = [row for part in parts for row in part]
    claim = "nothing true is outside the bounds"
    judged = [_claim(claim, not _outside(rows), f"{len(rows)} runs")] if rows else []
    for row in found.get("adult", ()):
        if row["predicates"] == "all":
            judged += [_figure(row, *item) for item in _expected(row)]
    return judged


def _expected(row: Row) -> list[tuple[str, float]]:
    """Figures of a row with what is expected of each."""
    if row["aggregate"] == "all":
        return list(GOLDEN.get(row["form"], {}).items())
    both = AGGREGATES.get(row["form"], {}).get(row["aggregate"])
    return list(zip(("error", "width"), both, strict=True)) if both else []


def _figure(row: Row, figure: str, expected: float) -> Row:
    value = row[figure]
    claim = f"{row['form']}, {row['aggregate']}: {figure} is {expected:g}"
    return _claim(claim, value is not None and near(figure, value, expected), support.shown(value))


def _outside(rows: Iterable[Row]) -> int:
    """Bounds are about the released records, so only where these are all."""
    return sum(row["outside"] for row in rows if not row["suppressed"])


def _claim(claim: str, holds: bool, figures: str) -> Row:
    return {"claim": claim, "holds": "yes" if holds else "NO", "found": figures}
