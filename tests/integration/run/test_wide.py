"""Sources and releases with very many columns."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from sqlglot import exp

from pganon.catalog.introspect import read_relation
from pganon.loading import known
from pganon.plan.build import Plan
from pganon.plan.explain import explain
from pganon.policy.first_text import policy_text
from pganon.policy.loader import LoadedPolicy
from pganon.policy.rules import MOST_GROUPED, MOST_IN_ARRAYS, MOST_RELEASED, MOST_UNLINKED
from pganon.policy.scaffold import first_policy
from pganon.policy.tasks import TASKS
from pganon.policy.words import UNPUBLISHED_ROLES
from pganon.run.context import plan_release
from pganon.run.release import run_release
from tests.support.harness import driver, plans
from tests.support.harness.cluster import Database
from tests.support.sources import conformance

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


def test_a_list_of_steps_renders_no_statement(db: Database) -> None:
    plan = wide(db, 3)
    whole, listed = explain(plan), explain(plan, sql=False)
    assert [(s.phase, s.step, s.purpose) for s in listed] == [
        (s.phase, s.step, s.purpose) for s in whole
    ]
    assert [s.step for s in listed if s.sql] == []
    assert len([s.step for s in whole if s.sql]) > 30


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_as_many_quasi_identifiers_as_a_policy_may_have(db: Database) -> None:
    """Ranges of large numbers are the widest values that a row has to hold itself."""
    values = ", ".join(
        f"((-1) ^ g * (9e17 + g * {97 + i}))::bigint AS c{i}" for i in range(MOST_GROUPED)
    )
    db.source(f"CREATE TABLE public.widest AS SELECT {values} FROM generate_series(1, 6) AS g")
    policy = {
        "release": "widest",
        "source": "public.widest",
        "columns": {f"c{i}": {"role": "quasi_identifying"} for i in range(MOST_GROUPED)},
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
    }
    run_release(driver.loaded(policy), dsn=db.dsn())
    assert db.connect().execute("SELECT count(*) FROM published.widest").fetchone() == (6,)


def beside(db: Database, method: str, number: int, value: str) -> LoadedPolicy:
    """The small policy of a method, over a source with so many released columns.

    Args:
        value: SQL of the values of the further ones.
    """
    declared = conformance.document(method)
    number -= sum(
        column["role"] not in UNPUBLISHED_ROLES for column in declared["columns"].values()
    )
    columns = ", ".join(f"{value} AS w{i}" for i in range(number))
    db.source(
        f"CREATE TABLE public.wide{number} AS SELECT *, {columns} FROM public.visit;"
        f" ALTER TABLE public.wide{number} ADD PRIMARY KEY (id)"
    )
    wide = {f"w{i}": {"role": "insensitive"} for i in range(number)}
    source = f"public.wide{number}"
    return conformance.loaded(
        {**declared, "source": source, "columns": {**declared["columns"], **wide}}
    )


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", conformance.FIRST)
def test_statements_take_time_in_proportion_to_what_is_released(
    db: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    db.source(plans.SOURCE)
    few, many = (
        nodes_made(plan_release(beside(db, method, n, "id % 7"), dsn=db.dsn()), monkeypatch)
        for n in (FEW, MANY)
    )
    assert many / few < 1.1 * MANY / FEW


ROOM = {"buckets": MOST_UNLINKED, "local": MOST_UNLINKED, "clusters": MOST_IN_ARRAYS}


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", [*conformance.FIRST, "local_generalization"])
def test_as_many_columns_as_a_release_may_have(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    most = ROOM.get(conformance.family(method), MOST_RELEASED)
    value = "rpad(id % 7 || '', 22, 'x')" if most == MOST_UNLINKED else "id % 7"
    if method == "local_generalization":  # which hides nothing
        most, value = MOST_RELEASED, "id % 7"
    run_release(beside(db, method, most, value), dsn=db.dsn())
    shown = db.connect().execute(
        "SELECT count(DISTINCT attname) FROM pg_attribute AS a JOIN pg_class AS c"
        " ON c.oid = a.attrelid WHERE c.relnamespace = 'published'::regnamespace"
        " AND c.relname LIKE 'visits%' AND a.attname ~ '^(w[0-9]+|age|zip|disease|drug|cost)$'"
    )
    assert shown.fetchone() == (most,)


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_a_first_policy_for_as_many_columns_as_a_table_can_have(db: Database) -> None:
    columns = ", ".join(f"c{i} smallint DEFAULT 1" for i in range(1600))
    db.source(
        f"CREATE TABLE public.widest ({columns});"
        "INSERT INTO public.widest DEFAULT VALUES; INSERT INTO public.widest DEFAULT VALUES;"
    )
    conn = db.connect()
    relation = read_relation(conn, "public.widest")
    text = policy_text(first_policy(conn, relation, known(), next(iter(TASKS))), known())
    assert "  # c1599: not released" in text
    driver.loaded(yaml.safe_load(text))
