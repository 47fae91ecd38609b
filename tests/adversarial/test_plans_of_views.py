"""Attack: a role asks the planner about private rows, through the views that everybody may read.

After ANALYZE a plan says how many rows a condition is expected to meet, and EXPLAIN (ANALYZE) how
many it has met. Two sets of private rows, as many and as large, give the same plans of every view,
for every condition.
"""

from __future__ import annotations

import re

import pytest
from psycopg import sql

from pganon import sqlfiles
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database

PRIVATE = ("action", "approval", "held", "ledger", "policy_role", "request", "worker")

FILL = """
INSERT INTO pganon_private.request
    (release, revision, origin, requester, requester_id, state, step, code, parameters, version)
SELECT rpad('r' || n % {few}, 6, '_'), 1, 'request',
    (ARRAY['alice', 'bobby'])[1 + (n < {many})::int],
    ('source_owner'::regrole)::oid, s.state, repeat('x', 20 - length(s.state)), 'limit', '{{}}',
    n % {few}
FROM generate_series(0, 59) AS n
CROSS JOIN LATERAL (
    SELECT CASE WHEN n < {many} THEN 'awaiting_approval' ELSE 'refused' END AS state
) AS s;
INSERT INTO pganon_private.policy_role (release, revision, purpose, role, role_id)
SELECT rpad('r' || n, 6, '_'), 1, CASE WHEN n < {many} THEN 'approve' ELSE 'request' END,
    'source_owner', ('source_owner'::regrole)::oid
FROM generate_series(0, 59) AS n;
INSERT INTO pganon_private.held (request, run_id, revision, staged)
SELECT n, n, 1, json_build_object('staged', json_build_object(
    'release', rpad('r' || n % {few}, 6, '_'), 'row_count', n % {few}
))
FROM generate_series(0, 59) AS n;
INSERT INTO pganon_private.ledger (release, version, event, program_version, policy_hash)
SELECT rpad('r' || n % {few}, 6, '_'), 1,
    CASE WHEN n < {many} THEN 'released' ELSE 'rejected' END, '', 'h'
FROM generate_series(0, 59) AS n;
INSERT INTO pganon_private.approval (request, decision, login, role, reason)
SELECT n, CASE WHEN n < {many} THEN 'approved' ELSE 'rejected' END, 'alice', 'alice',
    'r' || n % {few}
FROM generate_series(0, 59) AS n;
INSERT INTO pganon_private.worker (lock_key, kind, name)
SELECT n, 'worker', 'r' || n % {few} FROM generate_series(0, 9) AS n;
"""
ACTIONS = """
INSERT INTO pganon_private.action (actor, kind, release)
SELECT (ARRAY['alice', 'bobby'])[1 + (n < {many})::int], 'cancel', 'r' || n % {few}
FROM generate_series(0, 59) AS n
"""
CONDITIONS = {
    "text": ["= 'alice'", "= 'r1____'", "= 'awaiting_approval'", "<> 'refused'", "IS NULL", "~ 'a'",
             "LIKE 'r%'", "IN ('r1____', 'r2____')", "> 'b'"],
    "name": ["= 'alice'", "<> 'bobby'", "= current_user"],
    "integer": ["= 1", "> 3", "IS NULL", "BETWEEN 1 AND 2"],
    "bigint": ["= 1", "< 30", "IS NULL"],
    "boolean": ["", "IS FALSE", "IS NULL"],
    "jsonb": ["->> 'release' = 'r1____'", "IS NULL", "= '{}'"],
    "text[]": ["@> '{x}'", "IS NULL"],
    "timestamp with time zone": ["< now()", "> '2000-01-01'", "IS NULL"],
}  # fmt: skip


def fill(db: Database, many: int, few: int, *, actions: bool) -> None:
    """So many requests wait for approval; names are so few."""
    for table in PRIVATE:
        db.admin.execute(f"ALTER TABLE pganon_private.{table} DISABLE TRIGGER ALL".encode())
        db.admin.execute(f"DELETE FROM pganon_private.{table} WHERE true".encode())
    text = FILL + (ACTIONS if actions else "")
    db.admin.execute(text.format(many=many, few=few).encode())
    db.admin.execute(
        "UPDATE pganon_private.version SET method = %s, over_versions = %s, guarantee = %s",
        [f"mondria{few}", ("void", "finer")[few % 2].ljust(5), f'[{{"reader": "{many}"}}]'],
    )
    for table in (*PRIVATE, "version", "release"):
        db.admin.execute(f"VACUUM (FULL, ANALYZE) pganon_private.{table}".encode())


def plans(conn: Connection, options: str, views: list[str]) -> dict[str, str]:
    """What the server says of every view under every condition."""
    found: dict[str, str] = {}
    for view in views:
        columns = conn.execute(
            "SELECT quote_ident(a.attname), format_type(a.atttypid, a.atttypmod)"
            " FROM pg_attribute AS a WHERE a.attrelid = %s::regclass AND a.attnum > 0",
            [f"pganon.{view}"],
        ).fetchall()
        asked = ["true", *[f"{name} {text}" for name, kind in columns for text in CONDITIONS[kind]]]
        for condition in asked:
            text = f"EXPLAIN ({options}) SELECT FROM pganon.{view} AS v WHERE {condition}"
            rows = conn.execute(text.encode()).fetchall()
            found[f"{view}: {condition}"] = "\n".join(line for (line,) in rows)
    return found


def open_views(db: Database) -> list[str]:
    return [
        name
        for (name,) in db.admin.execute(
            "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'pganon'::regnamespace"
            " AND c.relkind = 'v' AND has_table_privilege('analyst', c.oid, 'SELECT') ORDER BY 1"
        )
    ]


@pytest.mark.parametrize("measured", [False, True], ids=["expected", "counted"])
@pytest.mark.slow
def test_no_plan_tells_of_rows_that_a_role_may_not_see(db: Database, measured: bool) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    views = open_views(db)
    assert len(views) == 7
    options = "COSTS ON"
    if measured:  # a row of `action` ends with its transaction, so that nobody else can count it
        options = "ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF"
    different = list(views)
    # What is known of the catalogs changes by itself, in every third try or so: what tells of rows
    # differs every time.
    for _ in range(10):
        found = []
        for many, few in [(50, 3), (0, 8)]:
            fill(db, many, few, actions=not measured)
            stranger = db.connect("analyst")
            for view in views:
                assert stranger.execute(f"TABLE pganon.{view}".encode()).fetchall() == []
            found.append(plans(stranger, options, views))
        different = [about for about, plan in found[0].items() if found[1][about] != plan]
        if not different:
            break
    assert different == []


def test_no_column_behind_the_views_has_statistics(db: Database) -> None:
    """Attack: widths of rows are in every plan, and what was measured before an upgrade stays."""
    fill(db, 50, 3, actions=True)
    assert statistics(db) == []
    tables = [f"pganon_private.{name}" for name in (*PRIVATE, "version", "release")]
    for table, column in db.admin.execute(
        "SELECT a.attrelid::regclass::text, a.attname FROM pg_attribute AS a"
        " WHERE a.attrelid = ANY (%s::regclass[]) AND a.attnum > 0",
        [tables],
    ).fetchall():
        alter = f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STATISTICS -1'
        db.admin.execute(alter.encode())
    db.admin.execute(b"ANALYZE")
    assert len(statistics(db)) > 50
    db.admin.execute(b"DROP SCHEMA pganon CASCADE")  # as an upgrade drops its views
    (migration,) = [m for m in sqlfiles.migrations() if "no_statistics" in m.name]
    db.connect().execute(b"SET search_path = pg_catalog, pg_temp;" + migration.text)
    assert statistics(db) == []
    db.admin.execute(b"ANALYZE")
    assert statistics(db) == []


def statistics(db: Database) -> list[tuple[str, str]]:
    return db.admin.execute(
        "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'pganon_private'"
        " AND tablename = ANY (%s)",
        [[*PRIVATE, "version", "release"]],
    ).fetchall()


def test_a_leaky_function_sees_what_is_shown(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    fill(db, 50, 3, actions=True)
    stranger = db.connect("analyst")
    stranger.execute(
        b"CREATE FUNCTION pg_temp.tell(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001"
        b" AS $$BEGIN RAISE '%', $1; END$$"
    )
    for view in open_views(db):
        text = sql.SQL("SELECT FROM {} AS v WHERE pg_temp.tell(v::text)")
        assert stranger.execute(text.format(sql.Identifier("pganon", view))).fetchall() == []
    owner = db.connect("source_owner")
    assert owner.execute(b"SELECT count(*) FROM pganon.requests").fetchone() != (0,)


PLANNERS = (
    ("seqscan",),
    ("seqscan", "bitmapscan"),
    ("seqscan", "indexscan"),
    ("seqscan", "nestloop", "indexscan"),
    ("hashjoin", "mergejoin"),
    ("nestloop", "hashjoin"),
    (),
)
"""What a role can have the planner do without."""

LOCKS = re.compile(r"(Scan on pg_lock_status .*\n +Filter: .*\n +Rows Removed by Filter: )\d+")
"""Locks of other sessions, such as a worker of autovacuum, which everybody sees in pg_locks."""

BUSY = """
UPDATE pganon_private.request
SET state = 'running', worker = id, step = 'step', release = repeat('w', 900) || id
WHERE id IN (SELECT q.id FROM pganon_private.request AS q ORDER BY q.id LIMIT {busy});
UPDATE pganon_private.held
SET staged = jsonb_set(staged::jsonb, '{{staged,release}}', to_jsonb(repeat('h', 900)))
WHERE request IN (SELECT h.request FROM pganon_private.held AS h ORDER BY 1 LIMIT {busy});
UPDATE pganon_private.worker SET kind = 'command' WHERE id > {busy};
INSERT INTO pganon_private.request
    (id, release, revision, origin, requester, requester_id, requested_at, due_at)
OVERRIDING SYSTEM VALUE
VALUES (10000, 'mine', 1, 'request', 'source_owner', 'source_owner'::regrole, '-infinity', 'now')
"""


def test_no_way_to_look_up_counts_rows_that_a_role_may_not_see(db: Database) -> None:
    """Attack: indexes and joins of the role's choice; also by one who has asked, and sees that.

    A sort, or a hash of a join, says how much memory it takes: how long all names are together.
    """
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    found = []
    for many, few, busy in [(50, 3, 6), (0, 8, 1)]:
        fill(db, many, few, actions=False)
        text = (
            "UPDATE pganon_private.request SET requester_id = 10, id = DEFAULT;"
            "ALTER TABLE pganon_private.worker ALTER id SET GENERATED BY DEFAULT;"
            "UPDATE pganon_private.worker SET id = lock_key, started_at = '2020-01-01';"
            "UPDATE pganon_private.policy_role SET role = 'nobody'"
        )
        db.admin.execute(f"{text};{BUSY.format(busy=busy)}".encode())
        for table in PRIVATE:
            db.admin.execute(f"VACUUM (FULL) pganon_private.{table}".encode())
        held = "SELECT pg_advisory_lock(%s, n) FROM generate_series(1, 50) AS g(n)"
        db.admin.execute(held, [many])
        told: dict[tuple[str, ...], str] = {}
        for role, shown in (("analyst", 0), ("source_owner", 1)):
            conn = db.connect(role)
            assert conn.execute(b"TABLE pganon.requests").rowcount == shown
            for without in PLANNERS:
                conn.execute(b"RESET ALL; SET jit = off")
                for way in without:
                    conn.execute(f"SET enable_{way} = off".encode())
                for view in ("action", "held_releases", "requests"):  # others join the catalog
                    rows = conn.execute(
                        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"
                        f" TABLE pganon.{view}".encode()
                    ).fetchall()
                    text = "\n".join(line for (line,) in rows)
                    told[role, view, *without] = LOCKS.sub(r"\1those of all sessions", text)
        found.append(told)
    assert found[0] == found[1]
