"""Estimates on the Adult data set: queries of all kinds against what is true of the source.

Needs PGANON_DATA, as tests/acceptance/test_adult.py does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from benchmarks.estimates_claims import AGGREGATES, GOLDEN, near
from benchmarks.estimates_queries import ADULT, Found, answers, figures
from tests.acceptance.test_adult import QIS, SENSITIVE, adult, policy, pytestmark  # noqa: F401
from tests.support.harness import driver

SOURCE = replace(ADULT, table="data.adult")
QUERIES = 500

ANATOMY = {
    "privacy": [{"model": "anatomy_l_diversity", "column": SENSITIVE, "l": 3}],
    "method": {"name": "anatomy"},
}
SLICED = {
    "privacy": [{"model": "slicing_l_diversity", "column": SENSITIVE, "l": 3}],
    "method": {"name": "slicing", "columns": [list(QIS[:3]), list(QIS[3:]), [SENSITIVE]]},
}


def asked(
    db: Any, changes: dict[str, Any], spread: Literal["column", "uniform"] = "column"
) -> list[Found]:
    driver.publish(db, {**policy(10), **changes}, seed=b"estimates")
    with db.connect() as steward:
        return answers(steward, SOURCE, "adult", QUERIES, spread)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ("mondrian", {}),
        ("mondrian, uniform", {}),
        ("anatomy", ANATOMY),
        ("slicing", SLICED),
    ],
)
def test_estimates_and_bounds(adult: Any, form: str, changes: dict[str, Any]):  # noqa: F811
    """Nothing true is outside the bounds; errors and widths are the expected ones."""
    found = asked(adult, changes, "uniform" if "uniform" in form else "column")
    told = figures(found)
    assert (told["outside"], told["exact"] + told["open"]) == (0, QUERIES - 3)
    if form.startswith("mondrian"):
        assert told["error"] < 0.02
        assert told["width"] < 0.4
        assert told["likely_held"] > 0.9
        return
    for figure, expected in GOLDEN[form].items():
        assert near(figure, told[figure], expected), (figure, told[figure])
    for aggregate, (error, width) in AGGREGATES.get(form, {}).items():
        own = figures(one for one in found if one.asked.aggregate == aggregate)
        assert near("error", own["error"], error), (aggregate, own["error"])
        assert near("width", own["width"], width), (aggregate, own["width"])
