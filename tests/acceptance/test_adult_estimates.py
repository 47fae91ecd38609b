"""Estimates on the Adult data set: queries of all kinds against what is true of the source.

Needs PGANON_DATA, as tests/acceptance/test_adult.py does.
"""

from __future__ import annotations

import hashlib
import statistics
from typing import Any

import pytest

from pganon.estimation.ask import ask
from tests.acceptance.test_adult import QIS, SENSITIVE, adult, policy, pytestmark  # noqa: F401
from tests.support.harness import driver

AGGREGATES = ("count(*)", "sum(hours_per_week)", "avg(hours_per_week)", "avg(age)", "sum(age)")
QUERIES = 60

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


def drawn(number: int, what: str) -> float:
    """From 0 to 1, the same everywhere."""
    return int(hashlib.md5(f"estimate:{number}:{what}".encode()).hexdigest()[:13], 16) / 16**13


def query(number: int, records: list[dict[str, Any]]) -> str:
    """One to three predicates, of which every other query has one on the sensitive column."""
    names = sorted(QIS, key=lambda name: drawn(number, name))
    wanted = 1 + number % 3
    names = [SENSITIVE, *names[: wanted - 1]] if number % 2 == 0 else names[:wanted]

    def value(name: str, which: int) -> Any:
        place = int(drawn(number, f"{name}:{which}") * len(records))
        while records[place % len(records)][name] is None:
            place += 1
        return records[place % len(records)][name]

    conditions = []
    for name in names:
        first, width = value(name, 1), drawn(number, f"{name}:w")
        if name == "age":
            conditions.append(f"age BETWEEN {first} AND {first + int(20 * width)}")
        else:
            listed = {first, value(name, 2)} if width >= 0.5 else {first}
            texts = ", ".join(f"'{item}'" for item in sorted(listed))
            conditions.append(f"{name} IN ({texts})")
    aggregate = AGGREGATES[(number // 3) % 5]
    return f"SELECT {aggregate} AS v FROM {{}} WHERE {' AND '.join(conditions)}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "exact", "error", "width"),
    [
        ({}, range(5, 25), 0.02, 0.4),
        (ANATOMY, range(20, 45), 0.06, 1.0),
        (SLICED, range(5, 25), 0.05, 1.2),
        (INDEPENDENT, range(15, 40), 0.07, 0.8),
        (SLOMS, range(1, 15), 0.04, 1.5),
        (CLUSTERS, range(6), 0.2, 5.0),
    ],
)
def test_estimates_and_bounds(
    adult: Any,  # noqa: F811
    changes: dict[str, Any],
    exact: range,
    error: float,
    width: float,
):
    driver.publish(adult, {**policy(10), **changes}, seed=b"estimates")
    columns = ", ".join([*QIS, SENSITIVE])
    records = driver.fetch(adult.admin, f"SELECT {columns} FROM data.adult ORDER BY ctid".encode())
    assert len(records) == 32_561
    found, sure = [], 0
    with adult.connect() as conn:
        for number in range(QUERIES):
            text = query(number, records)
            (row,) = ask(conn, "adult", text.format("adult")).as_dicts()
            true = adult.admin.execute(text.format("data.adult").encode()).fetchone()[0]
            if true is None or true == 0:
                continue
            assert float(row["v_lower"]) - 1e-6 <= true <= float(row["v_upper"]) + 1e-6, text
            if row["v_lower"] == row["v_upper"]:
                sure += 1
                continue
            true = float(true)
            within = row["v_low"] - 1e-6 <= true <= row["v_high"] + 1e-6
            bounds = float(row["v_upper"] - row["v_lower"])
            found.append((abs(row["v"] - true) / true, bounds / true, within))
    assert sure in exact
    assert statistics.median(item[0] for item in found) < error
    assert statistics.median(item[1] for item in found) < width
    assert statistics.mean(item[2] for item in found) > 0.9
