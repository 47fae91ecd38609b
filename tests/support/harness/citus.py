"""A cluster of Citus that is given, and a catalog that says what Citus would say.

PGANON_TEST_CITUS_DSN is the connection string of a superuser in a database of the coordinator,
which the tests take for themselves, with at least two workers. Roles of the tests must be able to
connect from every server to the others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import conninfo, sql

from pganon import database, install
from pganon.identifiers import OWN_SCHEMAS
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness.cluster import ROLES, Database, Server

GIVEN = "PGANON_TEST_CITUS_DSN"
_LOCK = 7161736300452071

STAYS = """
CREATE TABLE public.stay (
    id integer PRIMARY KEY, age integer, weight float8, since timestamptz, disease text
);
SELECT create_distributed_table('public.stay', 'id', shard_count => 8);
INSERT INTO public.stay
SELECT n, n % 7, 1.0 / (1 + n % 5), timestamptz '2024-01-01 00:00+00' + n % 24 * interval '1 hour',
    'd' || n % 5
FROM generate_series(0, 2399) AS n
"""
"""A source of `source_owner`."""

FAKE = """
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (
    logicalrelid regclass PRIMARY KEY, partmethod "char", partkey text, colocationid integer
);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
CREATE FUNCTION pg_catalog.shard_name(regclass, bigint) RETURNS text
    RETURN (SELECT quote_ident(c.relname || '_' || $2) FROM pg_class AS c WHERE c.oid = $1);
CREATE FUNCTION pg_catalog.run_command_on_all_nodes(
    text, OUT nodeid integer, OUT success boolean, OUT result text
) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    nodeid := 1;
    result := $1;
    IF $1 ~ 'aclexplode|datcollate|pg_stats' THEN
        success := true;
        EXECUTE $1 INTO result;
    END IF;
    RETURN NEXT;
END
$$;
CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text RETURN $2;
CREATE FUNCTION pg_catalog.create_distributed_table(
    regclass, text, colocate_with text DEFAULT 'default'
) RETURNS void BEGIN ATOMIC SELECT; END;
GRANT SELECT ON pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard TO PUBLIC;
RESET allow_system_table_mods
"""
"""The tables of the extension as far as pganon reads them, without servers that have any shard. Who
has privileges on a shard is who has them on the table. Statistics of a shard are of a table of its
name, if there is one."""


def pretend(db: Database, shards: dict[str, int]) -> None:
    """Let the catalog of a database without Citus say that tables are in so many shards."""
    db.admin.execute(FAKE.encode())
    safe_path(db)
    for table, number in shards.items():
        db.admin.execute("INSERT INTO pg_dist_partition VALUES (%s::regclass)", [table])
        db.admin.execute(
            "INSERT INTO pg_dist_shard SELECT %s::regclass, generate_series(1, %s)", [table, number]
        )


def safe_path(db: Database) -> None:
    """Sessions of `steward` begin with no schema of others."""
    text = "ALTER ROLE steward IN DATABASE {} SET search_path = pg_catalog, pg_temp"
    db.admin.execute(sql.SQL(text).format(sql.Identifier(db.name)))


def distribute(db: Database, table: str, column: str) -> None:
    """Let it say that one of them is distributed by hashes of a column."""
    db.admin.execute(
        "UPDATE pg_dist_partition SET partmethod = 'h', partkey = %s, colocationid = 1"
        " WHERE logicalrelid = %s::regclass",
        [column, table],
    )


def policy(release: str, **changes: Any) -> LoadedPolicy:
    """Of a release of the source; with other top-level keys."""
    return load_policy(
        json.dumps(
            {
                "release": release,
                "source": "public.stay",
                "columns": {
                    "age": {"role": "quasi_identifying"},
                    "weight": {"role": "quasi_identifying"},
                    "disease": {"role": "sensitive"},
                },
                "privacy": [
                    {"model": "k_anonymity", "k": 2},
                    {"model": "distinct_l_diversity", "column": "disease", "l": 2},
                ],
                "method": {"name": "one_dimensional"},
                "trust": ["source_owner"],
                "republication": "allow",
                **changes,
            }
        )
    )


@contextmanager
def cluster() -> Iterator[Database]:
    """The database with pganon of `steward` and without tables, for one process at a time."""
    dsn = os.environ.get(GIVEN)
    if not dsn:
        pytest.skip(f"needs {GIVEN}, a database of Citus with two workers")
    server = Server(dsn)
    server.create_roles()
    db = Database(server, str(conninfo.conninfo_to_dict(dsn)["dbname"]))
    db.admin.execute(b"SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        for role in ROLES:  # the owner of a type is made known to all servers in this database
            given = sql.SQL("ALTER TYPE public.known OWNER TO {}").format(sql.Identifier(role))
            db.admin.execute(b"CREATE TYPE public.known AS (one integer)")
            db.admin.execute(given)
            db.admin.execute(b"DROP TYPE public.known")
        granted = sql.SQL("GRANT CREATE ON DATABASE {} TO steward, source_owner")
        db.admin.execute(granted.format(sql.Identifier(db.name)))
        safe_path(db)
        db.admin.execute(b"GRANT CREATE ON SCHEMA public TO source_owner")
        renew(db)
        yield db
        _clear(db)
    finally:
        db.disconnect()


def renew(db: Database) -> None:
    """Forget all releases and tables."""
    _clear(db)
    with database.connect(db.dsn()) as conn:
        install.init(conn)


def on_servers(db: Database) -> list[str]:
    """Tables in shards of runs, and their shards, on every server that has any."""
    found = db.admin.execute(
        "SELECT n.success, n.result FROM run_command_on_all_nodes("
        "'SELECT string_agg(relname, '' '') FROM pg_class"
        " WHERE relname ~ ''^r[0-9]+_(snap|coded|cell_classes)''') AS n"
    ).fetchall()
    assert all(success for success, _ in found)
    return [name for _, names in found for name in names.split()]


def _clear(db: Database) -> None:
    own = [*OWN_SCHEMAS, "published"]
    db.admin.execute(
        sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(
            sql.SQL(", ").join(map(sql.Identifier, own))
        )
    )
    found = db.admin.execute(
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind IN ('r', 'p') AND NOT relispartition"
        " AND relowner = 'source_owner'::regrole"
    ).fetchall()
    for (name,) in found:
        db.admin.execute(sql.SQL("DROP TABLE public.{} CASCADE").format(sql.Identifier(name)))
