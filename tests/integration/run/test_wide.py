"""Sources with very many quasi-identifiers."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from pganon.plan.build import Plan
from pganon.plan.explain import explain
from pganon.run.context import plan_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database

FEW, MANY = 40, 160


def wide(db: Database, number: int) -> Plan:
    columns = ", ".join(f"g % {5 + i % 40} AS c{i}" for i in range(number))
    table = f"public.wide{number}"
    db.source(f"CREATE TABLE {table} AS SELECT g AS id, {columns} FROM generate_series(1, 20) AS g")
    policy = {
        "release": "wide",
        "source": table,
        "columns": {f"c{i}": {"role": "quasi_identifying"} for i in range(number)},
        "privacy": [{"model": "k_anonymity", "k": 5}],
        "method": {"name": "mondrian"},
    }
    return plan_release(driver.loaded(policy), dsn=db.dsn())


def nodes_made(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> int:
    """Nodes of syntax trees that rendering every statement makes, copies included."""
    made = 0
    original = exp.Expr.__init__

    def counted(self: Any, *arguments: Any, **given: Any) -> None:
        nonlocal made
        made += 1
        original(self, *arguments, **given)

    with monkeypatch.context() as patch:
        patch.setattr(exp.Expr, "__init__", counted)
        assert len(explain(plan)) > 30
    return made


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_statements_take_time_in_proportion_to_their_length(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree that is copied for every column takes minutes for 300 of them."""
    few = nodes_made(wide(db, FEW), monkeypatch)
    many = nodes_made(wide(db, MANY), monkeypatch)
    assert few > 10_000
    assert many / few < 1.5 * MANY / FEW
