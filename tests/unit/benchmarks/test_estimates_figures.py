"""How near estimates come, from answers beside what is true."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.estimates_claims import evaluate
from benchmarks.estimates_queries import ADULT, Asked, Found, figures, query

ASKED = Asked("SELECT count(*) AS v FROM {}", "count(*)", 1)


def found(
    true: float | None, v: float, ends: tuple[float, ...], error: float | None = 1.0
) -> Found:
    names = ("v_lower", "v_upper", "v_low", "v_high")
    row: dict[str, Any] = {"v": v, "v_error": error, **dict(zip(names, ends, strict=True))}
    return Found(ASKED, true, row, 0.002, 0.001)


def test_figures():
    told = figures(
        [
            found(10, 12, (5, 20, 11, 13)),
            found(10, 15, (0, 40, 9, 20)),
            found(8, 8, (8, 8, 8, 8)),
            found(10, 11, (11, 12, 11, 12)),
            found(0, 1, (0, 4, 0, 4)),
            found(None, 1, (0, 4, 0, 4)),
        ]
    )
    assert (told["outside"], told["exact"], told["open"]) == (1, 1, 3)
    assert (told["error"], told["width"]) == (0.2, 1.5)
    assert (told["held"], told["likely_held"]) == pytest.approx((2 / 3, 1 / 3))
    assert (told["ms"], told["source_ms"]) == (2, 1)


def test_queries_are_the_same_everywhere():
    records = [
        {name: f"{name}{i}" for name in (*ADULT.quasi, ADULT.sensitive)} | {"age": 20 + i}
        for i in range(5)
    ]
    asked = query(ADULT, 4, records)
    assert (asked.aggregate, asked.predicates) == ("sum(hours_per_week)", 2)
    assert "occupation IN (" in asked.text
    assert asked == query(ADULT, 4, records)
    assert {query(ADULT, i, records).predicates for i in range(3)} == {1, 2, 3}


def test_what_is_outside_is_a_claim_that_fails():
    row = {
        "form": "anatomy",
        "aggregate": "all",
        "predicates": "all",
        "outside": 0,
        "suppressed": 0,
    }
    row |= {"exact": 267, "error": 0.0264, "width": 0.545, "held": 0.27, "likely_held": 1.0}
    assert {one["holds"] for one in evaluate({"adult": [row]})} == {"yes"}
    assert {
        one["holds"] for one in evaluate({"adult": [{**row, "outside": 1, "suppressed": 5}]})
    } == {"yes"}
    judged = evaluate({"adult": [{**row, "outside": 1, "width": 0.7}]})
    failed = [one["claim"] for one in judged if one["holds"] == "NO"]
    assert failed == ["nothing true is outside the bounds", "anatomy, all: width is 0.545"]
