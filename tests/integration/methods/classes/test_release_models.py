"""Models of all classes together, on what runs stage."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.resolved.guarantee import guarantee
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

LINE = {"name": "one_dimensional"}
K: dict[str, Any] = {"model": "k_anonymity", "k": 2}


def average(risk: float, **further: float) -> list[dict[str, Any]]:
    return [K, {"model": "average_risk", "risk": risk, **further}]


def table(db: Database, rows: list[list[Any]]) -> None:
    make_table(db.connect("source_owner"), {"x": "int", "s": "int"}, rows)


def test_a_release_that_misses_the_model_as_a_whole(db: Database) -> None:
    table(db, [[n // 3, n] for n in range(12)])
    with refused("verification") as caught:
        run(db.owner(), policy({"x": "q", "s": "i"}, average(0.33), method=LINE))
    assert "average_risk requires risk <= 0.33; the staged release measures 0.333333" in str(
        caught[0]
    )
    assert "larger classes" in (caught[0].hint or "")


def test_a_release_that_satisfies_both_bounds(db: Database) -> None:
    """Classes of 2, 2 and 4: 3 of 8 records on average, and half of them above 0.4."""
    table(db, [[x, n] for n, x in enumerate([1, 1, 2, 2, 3, 3, 3, 3])])
    wanted = average(0.375, highest=0.4, share=0.5)
    staged = run(db.owner(), policy({"x": "q", "s": "i"}, wanted, method=LINE))
    assert staged.verified("average_risk") == [0.375, 0.5]
    stated = [one["requirement"] for one in guarantee(staged.plan.spec)]
    assert stated[1:] == ["average_risk risk=0.375", "average_risk highest=0.4 share=0.5"]


def test_no_outlier_is_left_out_beside_it(db: Database) -> None:
    """A class fewer, or a smaller one, changes what the model is about."""
    table(db, [[x, n] for n, x in enumerate([1, 1, 1, 1, 1, 1000])])
    declared = policy({"x": "q", "s": "i"}, [K], method=LINE, suppression_limit=0.2)
    assert run(db.owner(), declared).facts["suppressed"] == 1
    beside = run(db.owner(), {**declared, "privacy": average(0.5)})
    assert beside.facts["suppressed"] == 0


def test_increments_are_some_of_the_groups(db: Database) -> None:
    table(db, [[n, n] for n in range(12)])
    growing = policy(
        {"x": "q", "s": {"role": "individual"}},
        average(0.5),
        refresh="increments",
        republication="refuse",
    )
    with pytest.raises(PolicyError, match="increments are not available with average_risk"):
        run(db.owner(), growing)
