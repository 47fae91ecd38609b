"""What records in shards show, counted where they are: as it is in the source."""

from __future__ import annotations

import json

import pytest
from psycopg import sql

from pganon.loading import load_policy
from tests.integration.methods.test_conformance import shown
from tests.integration.run.test_shards import placed
from tests.support.harness import citus, faults, plans
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

KINDS: dict[str, tuple[str, list[str | None]]] = {
    "number": ("numeric", ["1.0", "1.00", "1e-30", "NaN", None]),
    "share": ("float8", ["0", "-0", "0.1", "Infinity", None]),
    "word": ("text", ["NULL", "", 'a "b", {c}\\', " d ", None]),
    "padded": ("bpchar", ["x", "x ", "NULL", "", None]),
    "code": ("varchar(9)", ["A", "a", "{}", "1,2", None]),
    "fixed": ("char(3)", ["a", "ab ", "", None]),
    "sorted": ('text COLLATE "POSIX"', ["b", "B", "a", None]),
    "price": ("public.price", ["1.5", "1.50", "2", None]),
    "least": ("float4", ["1e-40", "-0", "0.1", None]),
    "local": ("timestamp(0)", ["2024-03-31 02:30", "0044-03-15 BC", None]),
    "day": ("date", ["2024-02-29", "0044-03-15 BC", "infinity", None]),
    "seen": ("timestamptz", ["2024-03-31 01:30+00", "2024-03-31 03:30+02", "-infinity", None]),
    "held": ("boolean", ["t", "f", None]),
    "mark": ("uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None]),
    "weekday": ("public.weekday", ["mo", "tu", None]),
    "short": ("public.short", ["1", "2", None]),
}
"""Types with values that are equal and look different, or look like parts of an array's text."""


@pytest.mark.parametrize(
    ("method", "models"), [("one_dimensional", 2), ("mondrian", 1), ("full_domain", 2)]
)
def test_values_of_all_kinds_come_as_they_are(db: Database, method: str, models: int) -> None:
    """Records that look alike are counted in shards; these differ in one column at most."""
    db.source(
        "CREATE TYPE public.weekday AS ENUM ('mo', 'tu'); CREATE DOMAIN public.short AS smallint;"
        "CREATE DOMAIN public.price AS numeric(6, 2)"
    )
    values = [
        f"({sql.Literal(texts).as_string(db.admin)}::text[])[1 + CASE WHEN i % {len(KINDS)} ="
        f" {place} THEN i / {len(KINDS)} % {len(texts)} ELSE 0 END]::{kind} AS {name}"
        for place, (name, (kind, texts)) in enumerate(KINDS.items())
    ]
    db.source(
        f"CREATE TABLE public.seen AS SELECT i AS id, i % 3 AS age, 'Z' || i / 7 % 2 AS zip,"
        f" {', '.join(values)} FROM generate_series(0, 959) AS i"
    )
    document = plans.policy_of(method).policy.document()
    document |= {"source": "public.seen", "trust": ["source_owner"]}
    columns = {name: role for name, role in document["columns"].items() if name in ("age", "zip")}
    sensitive = {"number": {"role": "sensitive"}}
    insensitive = {name: {"role": "insensitive"} for name in KINDS}
    document["columns"] = {**columns, **insensitive, **sensitive}
    document["privacy"][1] |= {"column": "number", "l": 4}
    del document["privacy"][models:]
    asked = load_policy(json.dumps(document))
    here = faults.run(db.dsn(), asked, stable=True)
    alone, types = shown(db.admin), _types(db)
    citus.pretend(db, {"public.seen": 8})
    citus.distribute(db, "public.seen", "id")
    assert "pganon_work.r0_coded" in placed(db, asked)
    there = faults.run(db.dsn(), asked, stable=True)
    assert (shown(db.admin), _types(db)) == (alone, types)
    assert (there.utility, there.verified) == (here.utility, here.verified)
    rows = "SELECT " + ", ".join(f"format('%s|%s', {n} IS NULL, {n})" for n in KINDS) + " FROM {0}"
    found = sorted(db.admin.execute(rows.format("published.visits").encode()).fetchall())
    assert found == sorted(db.admin.execute(rows.format("public.seen").encode()).fetchall())


def _types(db: Database) -> list[tuple[str, str, str]]:
    """Columns that are published, their types and collations."""
    return db.admin.execute(
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation::text"
        " FROM pg_attribute AS a WHERE a.attrelid = 'published.visits'::regclass"
        " AND a.attnum > 0 ORDER BY a.attnum"
    ).fetchall()
