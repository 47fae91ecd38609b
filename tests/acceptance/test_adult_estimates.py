"""Estimates on the Adult data set: queries of all kinds against what is true of the source.

Needs PGANON_DATA, as tests/acceptance/test_adult.py does.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any, Literal

import pytest

from benchmarks.estimates_claims import AGGREGATES, GOLDEN, near
from benchmarks.estimates_queries import ADULT, Found, answers, figures
from pganon.estimation.ask import ask
from tests.acceptance.test_adult import QIS, SENSITIVE, adult, policy, pytestmark  # noqa: F401
from tests.support.harness import driver

SOURCE = replace(ADULT, table="data.adult")
QUERIES = 500

WIDTH = {"method": {"name": "mondrian", "choose": "width"}}
ANATOMY = {
    "privacy": [{"model": "anatomy_l_diversity", "column": SENSITIVE, "l": 3}],
    "method": {"name": "anatomy"},
}
SLICED = {
    "privacy": [{"model": "slicing_l_diversity", "column": SENSITIVE, "l": 3}],
    "method": {"name": "slicing", "columns": [list(QIS[:3]), list(QIS[3:]), [SENSITIVE]]},
}
OTHER = "marital_status"
"""A second sensitive column, whose table has buckets of its own."""

_TWO = {name: {"role": "sensitive"} for name in (SENSITIVE, OTHER)}
_APART = {"sensitive_tables": [[SENSITIVE], [OTHER]], "link_threshold": 1}


def with_columns(changed: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"columns": {**policy(10)["columns"], **changed}, **others}


INDEPENDENT = with_columns(
    _TWO,
    privacy=[{"model": "slicing_l_diversity", "l": 2}],
    method={"name": "slamsa", "profile": "independent", "optimizer": "base", **_APART},
)
SLOMS = with_columns(
    _TWO,
    privacy=[
        {"model": "k_anonymity", "k": 10},
        {"model": "slicing_l_diversity", "l": 2, "level": "unique"},
    ],
    method={"name": "sloms", **_APART},
)
_SETS = {"person": ("age", "race", "sex", "native_country"), "work": ("education", OTHER)}
CLUSTERS = with_columns(
    {
        name: {"role": "quasi_sensitive", "set": key}
        for key, names in {**_SETS, "job": (SENSITIVE,)}.items()
        for name in names
    },
    privacy=[{"model": "qs_k_anonymity", "k": 4, "count": "product"}],
    method={"name": "qs_efficient"},
)


def asked(
    db: Any,
    changes: dict[str, Any],
    spread: Literal["column", "uniform"] = "column",
    queries: int = QUERIES,
) -> list[Found]:
    driver.publish(db, {**policy(10), **changes}, seed=b"estimates")
    with db.connect() as steward:
        return answers(steward, SOURCE, "adult", queries, spread)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ("mondrian, width", WIDTH),
        ("mondrian, width, uniform", WIDTH),
        ("anatomy", ANATOMY),
        ("slicing", SLICED),
    ],
)
def test_estimates_and_bounds(adult: Any, form: str, changes: dict[str, Any]):  # noqa: F811
    """Nothing true is outside the bounds; errors and widths are the expected ones."""
    found = asked(adult, changes, "uniform" if "uniform" in form else "column")
    told = figures(found)
    assert told["outside"] == 0
    assert told["exact"] + told["open"] == QUERIES - 3
    for figure, expected in GOLDEN[form].items():
        assert near(figure, told[figure], expected), (figure, told[figure])
    for aggregate, (error, width) in AGGREGATES.get(form, {}).items():
        own = figures(one for one in found if one.asked.aggregate == aggregate)
        assert near("error", own["error"], error), (aggregate, own["error"])
        assert near("width", own["width"], width), (aggregate, own["width"])


@pytest.mark.slow
def test_one_count_and_many_groups(adult: Any):  # noqa: F811
    """As golden as the figures above; cutting into classes draws nothing, so they are exact."""
    driver.publish(adult, {**policy(10), **WIDTH}, seed=b"estimates")
    with adult.connect() as steward:
        counted = steward.execute("SELECT count(DISTINCT class_id) FROM published.adult")
        assert counted.fetchone() == (1528,)
        text = "SELECT count(*) AS n FROM adult WHERE age BETWEEN 30 AND 40"
        (one,) = ask(steward, "adult", text).as_dicts()
        text = "SELECT age / 10 AS decade, sex, occupation, count(*) AS n FROM {} GROUP BY 1, 2, 3"
        cells = ask(steward, "adult", text.format("adult")).as_dicts()
        rows = steward.execute(text.format("data.adult").encode()).fetchall()
    assert (round(one["n"]), one["n_lower"], one["n_upper"]) == (9409, 7829, 11_441)
    true = {tuple(key): number for *key, number in rows}
    found = {(row["decade"], row["sex"], row["occupation"]): row for row in cells}
    assert true.keys() <= found.keys()
    for key, row in found.items():
        assert row["n_lower"] <= true.get(key, 0) <= row["n_upper"]
    many = {key: n for key, n in true.items() if key[2] is not None and n >= 30}
    assert len(many) == 113
    errors = [abs(found[key]["n"] - n) / n for key, n in many.items()]
    assert median(errors) == pytest.approx(0.018, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "error", "width"),
    [(INDEPENDENT, 0.07, 0.8), (SLOMS, 0.04, 1.5), (CLUSTERS, 0.2, 5.0)],
    ids=["slamsa independent", "sloms", "clusters"],
)
def test_several_partitions_and_clusters(
    adult: Any,  # noqa: F811
    changes: dict[str, Any],
    error: float,
    width: float,
):
    told = figures(asked(adult, changes, queries=100))
    assert told["outside"] == 0
    assert told["exact"] + told["open"] > 95
    assert told["error"] < error
    assert told["width"] < width
    assert told["likely_held"] > 0.85
