"""Utility and risk on tables small enough to work out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.driver import run
from tests.support.sources.builders import make_table, policy


def test_figures_by_hand(db: Any) -> None:
    # Classes {0, 2} and {8, 10} of [0, 10]; words a | b of 3 values with NULL.
    rows = [[0, "a"], [2, "a"], [8, "b"], [10, None], [None, "b"]]
    make_table(db.connect("source_owner"), {"n": "integer", "w": "text"}, rows)
    columns = {"n": {"nulls": "suppress", "weight": 3}, "w": {"weight": 1}}
    staged = run(db.owner(), policy(columns, 2, suppression_limit=0.2))
    got = staged.utility
    assert got.ncp == {"n": pytest.approx(0.2), "w": pytest.approx((0 + 0.5) / 2)}
    per_record = [(3 * 0.2 + 0) / 4] * 2 + [(3 * 0.2 + 0.5) / 4] * 2 + [1]
    assert got.gcp == pytest.approx(sum(per_record) / 5)
    assert got.discernibility == 2 * 2 + 2 * 2 + 1 * 5
    assert (got.classes, got.smallest_class, got.largest_class) == (2, 2, 2)
    assert got.average_class == 1
    assert (got.highest_risk, got.mean_risk) == (0.5, 0.5)


def test_mean_risk_is_per_record_not_per_class(db: Any) -> None:
    """Classes of 2 and 98 records: 2 classes / 100 records, not the mean of 1/2 and 1/98."""
    make_table(db.connect("source_owner"), {"q": "integer"}, [[0]] * 2 + [[1]] * 98)
    got = run(db.owner(), policy({"q": "q"}, 2)).utility
    assert (got.mean_risk, got.highest_risk) == (0.02, 0.5)


def test_one_class_of_everything_costs_all_and_single_values_nothing(db: Any) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    make_table(source, {"n": "integer", "w": "text"}, [[0, "a"], [5, "b"], [9, "c"]])
    assert run(owner, policy({"n": "q", "w": "q"}, 3)).utility.gcp == 1
    make_table(source, {"n": "integer", "w": "text"}, [[7, "a"]] * 3)
    assert run(owner, policy({"n": "q", "w": "q"}, 3)).utility.gcp == 0
