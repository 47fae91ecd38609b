"""Dictionaries that are joined as one: for speed, and with no trace in what is released."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon.encode import lookups as joining
from pganon.encode.lookups import AT_MOST
from pganon.loading import load_policy
from pganon.plan.explain import explain
from pganon.policy.loader import LoadedPolicy
from pganon.run import executor
from pganon.run.context import plan_release
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.sources import visits

SLICED = [{"model": "slicing_l_diversity", "column": "disease", "l": 3}]
TABLES = [["age", "zip"], ["ward", "nights"], ["disease"]]
METHODS: list[dict[str, Any]] = [
    {"method": {"name": "anatomy", "block_size": 16}},
    {"method": {"name": "slicing", "columns": TABLES}, "privacy": SLICED},
    {"method": {"name": "slamsa", "optimizer": "base"}, "privacy": SLICED},
    {"method": {"name": "mondrian"}, "privacy": [{"model": "k_anonymity", "k": 5}]},
]
IDENTIFYING = {name: {"role": "quasi_identifying"} for name in ("age", "zip", "ward", "nights")}


def released(db: Database, changes: dict[str, Any]) -> list[Any]:
    """All stored tables of a release."""
    columns = {**IDENTIFYING, "disease": {"role": "sensitive"}}
    changes = {"columns": columns, "republication": "allow", **changes}
    found = visits.release(db, stable=True, **changes)
    names = db.admin.execute(
        "SELECT n.nspname || '.' || c.relname, c.oid::regclass::text FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind = 'r' AND c.relname LIKE %s AND c.relname NOT LIKE %s ORDER BY 1",
        [f"r{found.run_id}\\_%", f"r{found.run_id}\\_guard%"],
    ).fetchall()
    assert len(names) >= 3
    tables = []
    for _, name in names:
        text = f"SELECT t::text FROM {name} AS t".encode()
        rows = [row[0] for row in db.admin.execute(text).fetchall()]
        private = name.endswith(("members", "histogram"))
        tables.append(sorted(rows) if private else rows)
    return tables


@pytest.mark.slow
@pytest.mark.parametrize("changes", METHODS, ids=lambda changes: changes["method"]["name"])
def test_the_same_release(
    db: Database, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """One by one, by a few, and all in one."""
    visits.build(db, visits.rows(400))
    shown = []
    for at_most in (1, AT_MOST, 10**6):
        monkeypatch.setattr(joining, "AT_MOST", at_most)
        shown.append(released(db, changes))
    assert shown[0] == shown[1] == shown[2]


def wide(db: Database, attributes: int) -> LoadedPolicy:
    """A table of so many columns, each of which takes a lookup of its own."""
    names = [f"q{n}" for n in range(attributes)]
    values = ", ".join(f"(n * {2 * i + 1}) % 41 AS {name}" for i, name in enumerate(names))
    db.source(
        f"CREATE TABLE public.wide AS SELECT {values}, 'v' || n % 40 AS s"
        " FROM generate_series(1, 400) AS n"
    )
    quasi = {name: {"role": "quasi_identifying"} for name in names}
    document = {
        "release": "wide",
        "source": "public.wide",
        "columns": {**quasi, "s": {"role": "sensitive"}},
        "privacy": [{"model": "anatomy_l_diversity", "column": "s", "l": 3}],
        "method": {"name": "anatomy", "block_size": 50},
    }
    return load_policy(json.dumps(document))


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_statements_of_hundreds_of_attributes(db: Database) -> None:
    """No expression is as deep as there are attributes: rendering it would be refused."""
    plan = plan_release(wide(db, 220), dsn=db.dsn())
    assert {"coded", "members", "qit1"} <= {step.step for step in explain(plan)}


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.usefixtures("steps_alone")
def test_memory_of_the_planner(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """With subqueries that it writes out, it takes ten times as much and grows with the cube."""
    original, used = executor.create_table_as, dict[str, int]()

    def explained(conn: Any, target: Any, select: Any, **options: Any) -> int:
        try:
            with conn.transaction():
                lines = conn.execute(sql.SQL("EXPLAIN (MEMORY) ") + select).fetchall()
        except psycopg.errors.SyntaxError:
            pytest.skip("the server does not tell the planner's memory")
        (found,) = re.findall(r"Memory: used=(\d+)kB", "\n".join(line for (line,) in lines))
        used[target.name.split("_", 1)[1]] = int(found)
        return original(conn, target, select, **options)

    monkeypatch.setattr(executor, "create_table_as", explained)
    faults.run(db.dsn(), wide(db, 100))
    assert {"coded", "members", "qit"} <= used.keys()
    assert max(used.values()) < 100_000, used
