"""What Citus does with statements over tables in shards: which rows come to the coordinator.

On a given cluster, see `tests/support/harness/citus.py`. `test_shards.py` looks for what Citus is
known to pull without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import psycopg
import pytest
from psycopg import rows, sql

from pganon.catalog import introspect
from tests.integration.run.test_shards import IN_CELLS
from tests.support.harness import citus, faults
from tests.support.harness.citus import STAYS, policy
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

RECORDS = 2400
COUNTED = 7 * 8
"""The most rows of a statement that counts: no column has more than seven values, and no more than
35 combinations of values are in eight shards."""

OF_PEOPLE = {"snapshot.known_people", "recode.members"}
"""Steps in which pganon gets to know every person, or knows again those of earlier versions."""

_IN_SHARDS = (
    b"SELECT c.relname FROM pg_catalog.pg_dist_partition AS p"
    b" JOIN pg_catalog.pg_class AS c ON c.oid = p.logicalrelid"
)
_MADE = re.compile(r"(?s)CREATE .*?TABLE .*? AS (?P<select>SELECT .*?)(; SELECT pganon\.seal.*)?")

_execute: Any = psycopg.Cursor.execute


@dataclass
class Explained:
    """Statements of a run that read tables in shards, as Citus explains them, each with its step.

    Attributes:
        came: rows of every query of a SELECT over several shards, by step.
        inserts: how rows of an INSERT go there, and how many queries over several shards it has.
    """

    step: str = ""
    came: list[tuple[str, int]] = field(default_factory=list)
    inserts: dict[str, tuple[str | None, int]] = field(default_factory=dict)

    def __call__(self, cursor: Any, query: Any, *args: Any, **options: Any) -> Any:
        text = query.as_string(cursor) if isinstance(query, sql.Composable) else str(query)
        made = _MADE.fullmatch(text)
        asked = made["select"] if made else text
        if re.match("SELECT|INSERT", asked) and not asked.endswith(" WITH NO DATA"):
            self._explain(cursor, asked, *args)
        return _execute(cursor, query, *args, **options)

    def _explain(self, cursor: Any, asked: str, *args: Any) -> None:
        inserts = asked.startswith("INSERT")
        done = "" if inserts else "ANALYZE, "
        with cursor.connection.cursor(row_factory=rows.tuple_row) as other:
            names = [name for (name,) in _execute(other, _IN_SHARDS).fetchall()]
            if not re.search(f"(FROM|JOIN) [^ ]*({'|'.join(names)})\\b", asked):
                return
            _execute(other, f"EXPLAIN ({done}FORMAT json) {asked}".encode(), *args)
            plan = other.fetchone()
        found = list(_queries(plan))
        if inserts:
            method = re.search("'INSERT/SELECT method': '(.*?)'", str(plan))
            self.inserts[self.step] = (method and method[1], len(found))
        else:
            self.came += [(self.step, number) for number in found]


def _queries(plan: Any) -> Iterator[int]:
    """Rows of queries over several shards, of any depth in a plan."""
    if isinstance(plan, list | tuple):
        for part in plan:
            yield from _queries(part)
    elif isinstance(plan, dict):
        if plan.get("Distributed Query", {}).get("Job", {}).get("Task Count", 1) > 1:
            yield plan.get("Actual Rows", 0)
        for part in plan.values():
            yield from _queries(part)


@contextmanager
def explained() -> Iterator[Explained]:
    found = Explained()

    def execute(cursor: Any, query: Any, *args: Any, **options: Any) -> Any:
        return found(cursor, query, *args, **options)

    with mock.patch.object(psycopg.Cursor, "execute", execute):
        yield found


@pytest.fixture(scope="module")
def cluster() -> Iterator[Database]:
    with citus.cluster() as database:
        database.source(STAYS)
        yield database


@pytest.mark.parametrize("method", IN_CELLS)
def test_only_counted_rows_come_to_the_coordinator(cluster: Database, method: str) -> None:
    """Steps over all rows are done in shards, or move rows from shard to shard: where Citus would
    pull them instead, it does so in silence."""
    columns = {name: {"role": "quasi_identifying"} for name in ("age", "weight")}
    if method == "full_domain":
        columns = {
            name: {**declared, "hierarchy": {"intervals": [0.25, 2]}}
            for name, declared in columns.items()
        }
    columns["disease"] = {"role": "sensitive"}
    asked = policy(method, columns=columns, method={"name": method})
    with explained() as found:
        done = faults.run(cluster.dsn(), asked, before=lambda step: setattr(found, "step", step))
    assert done.released == RECORDS
    assert found.inserts == {
        "snapshot.snapshot": (None, 1),  # each shard fills the one beside it
        "encode.coded": ("repartition", 1),
    }
    assert {step for step, number in found.came if number > COUNTED} <= OF_PEOPLE
    assert "encode.looks" in {step for step, _ in found.came}
    assert len(found.came) >= 12  # more about people whom earlier releases are about


def test_of_people_in_no_class_their_own_keys_come_alone(cluster: Database) -> None:
    """A digest of everybody comes once, and the keys of those who were left out."""
    cluster.source(
        """
        CREATE TABLE public.alone (id integer PRIMARY KEY, age integer, place integer);
        SELECT create_distributed_table('public.alone', 'id', shard_count => 4);
        INSERT INTO public.alone
        SELECT n, CASE WHEN n < 3 THEN 20 + n * 20 ELSE n % 7 END, n % 3
        FROM generate_series(0, 599) AS n
        """
    )
    columns = {
        "age": {"role": "quasi_identifying", "hierarchy": {"intervals": [7]}},
        "place": {"role": "quasi_identifying", "hierarchy": {"intervals": [3]}},
    }
    asked = policy(
        "alone",
        source="public.alone",
        columns=columns,
        privacy=[{"model": "k_anonymity", "k": 4}],
        method={"name": "full_domain"},
        suppression_limit=0.1,
    )
    with explained() as found:
        done = faults.run(cluster.dsn(), asked, before=lambda step: setattr(found, "step", step))
    assert done.suppressed == 3
    came = [number for step, number in found.came if step == "recode.members"]
    assert sorted(came) == [3, 600 - 3]


def test_few_different_rows_come_counted_to_the_coordinator(
    cluster: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard sends each of its different rows once, as its statistics say beforehand; what is
    released is that of a copy."""
    monkeypatch.setattr(introspect, "REPEATED_FROM", 1_000)
    cluster.source(
        """
        CREATE TABLE public.few (place integer, age integer, paid numeric, disease text);
        SELECT create_distributed_table('public.few', 'place', shard_count => 2);
        INSERT INTO public.few
        SELECT n, n % 7, CASE WHEN n % 2 = 0 THEN 1.0 ELSE 1.00 END, 'd' || n % 5
        FROM generate_series(0, 5599) AS n;
        ANALYZE public.few;
        CREATE TABLE public.few_here AS SELECT * FROM public.few
        """
    )
    shown = []
    for source in ("few", "few_here"):
        columns = {"age": "quasi_identifying", "disease": "sensitive", "paid": "insensitive"}
        asked = policy(
            source,
            source=f"public.{source}",
            columns={name: {"role": role} for name, role in columns.items()},
            method={"name": "one_dimensional"},
        )
        with explained() as found:
            faults.run(cluster.dsn(), asked, before=lambda step: setattr(found, "step", step))
        assert (found.inserts, found.came) == (
            {},
            [("snapshot.snapshot", 2 * 70)] if source == "few" else [],
        )
        rows = sql.SQL("SELECT age::text, disease, paid::text FROM published.{} ORDER BY 1, 2, 3")
        shown.append(cluster.admin.execute(rows.format(sql.Identifier(source))).fetchall())
    assert shown[0] == shown[1]
    assert len(shown[0]) == 5600


def test_assess_counts_classes_where_the_rows_are(cluster: Database) -> None:
    conn = cluster.owner()
    query = conn.execute(
        b"SELECT pganon.measure_query('public.stay', '{age,weight}', '{disease}', NULL,"
        b" ARRAY(SELECT DISTINCT name FROM pganon.measures() WHERE counts = 'values'), '{}', 2)"
    ).fetchone()
    assert query is not None
    plan = conn.execute(f"EXPLAIN (ANALYZE, FORMAT json) {query[0]}".encode()).fetchone()
    assert list(_queries(plan)) == [35 * 8]
