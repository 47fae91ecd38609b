"""Every object of pganon x every kind of role: what the catalog allows is what is meant, cell by
cell.

Kinds of roles: a stranger that may connect, a reader of the release, the owner of the source, a
member of pganon's owner. The owner itself may do everything with what it owns.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pganon.identifiers import OWN_SCHEMAS
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database

CALLABLE = {
    "assert_sets",
    "assess",
    "beta_likeness",
    "class_query",
    "comparable",
    "delta_disclosure",
    "distinguishing",
    "eir_l_diversity",
    "equivalence_classes",
    "expected_risk",
    "greedy_set",
    "hierarchical_distance",
    "hitting_set_size",
    "hitting_set_within",
    "individual_risk",
    "k_anonymity",
    "l_diversity",
    "lookalikes",
    "looks",
    "measurable",
    "measure_query",
    "measures",
    "number_of_sets",
    "quasi_identifiers",
    "reasoning_query",
    "reasoning_sizes",
    "risk",
    "set_figures",
    "special_uniques",
    "suda",
    "t_closeness",
    "text_of",
    "weight_of",
}
"""Functions that measure what the caller may read."""

READING = {"first_whole", "last_whole", "overlaps", "share"}
"""Functions of generalized values."""

ESTIMATING = {
    "both_lower",
    "box_lower",
    "box_pair",
    "box_share",
    "box_upper",
    "count_variance",
    "exact_pair",
    "exact_share",
    "neither_pair",
    "ranked",
    "sum_variance",
}
"""Functions of numbers of records."""

ASKED = {
    "asked",
    "asked_columns",
    "both_texts",
    "box_part",
    "estimate",
    "estimate_query",
    "figures_query",
    "operands",
    "plain_type",
    "range_condition",
    "range_part",
    "range_sums",
    "set_part",
    "value_condition",
}
"""`estimate` and its parts, which write the statement that it runs as its caller."""

ASKING = {
    "act",
    "approve_release",
    "ask",
    "assert_release",
    "cancel_request",
    "has_role",
    "is_atomic",
    "is_steward",
    "may_wait",
    "reject_release",
    "release",
    "request_evidence",
    "request_progress",
    "request_release",
}
"""Functions by which roles ask, decide and look up."""

FOR_ALL = {
    ("schema", "pganon"): {"USAGE"},
    ("view", "pganon.action"): {"SELECT", "INSERT", "DELETE"},
    ("view", "pganon.release_policies"): {"SELECT"},
    ("view", "pganon.requests"): {"SELECT"},
    ("view", "pganon.guarantees"): {"SELECT"},
    ("view", "pganon.held_releases"): {"SELECT"},
    ("view", "pganon.release_columns"): {"SELECT"},
    ("view", "pganon.releases"): {"SELECT"},
    **{
        ("function", name): {"EXECUTE"} for name in CALLABLE | READING | ESTIMATING | ASKED | ASKING
    },
}
FOR_READERS = {
    ("schema", "published"): {"USAGE"},
    ("view", "published.patients"): {"SELECT"},
    ("view", "published.patients_flat"): {"SELECT"},
}
SCHEMA = ("USAGE", "CREATE")
TABLE = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
COLUMN = ("SELECT", "INSERT", "UPDATE", "REFERENCES")
SEQUENCE = ("USAGE", "SELECT", "UPDATE")

Cell = tuple[str, str]

OBJECTS = """
    SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END,
        n.nspname || '.' || c.relname, c.oid, c.relowner::regrole::text
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY (%(schemas)s) AND c.relkind IN ('r', 'v', 'S', 'm', 'p', 'f')
    UNION ALL
    SELECT 'schema', n.nspname, n.oid, n.nspowner::regrole::text
    FROM pg_namespace AS n WHERE n.nspname = ANY (%(schemas)s)
    UNION ALL
    SELECT 'function', p.proname, p.oid, p.proowner::regrole::text
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = ANY (%(schemas)s)
"""


def _allowed(conn: Connection, role: str, kind: str, oid: int) -> set[str]:
    """Privileges that the role has, whether on the whole or on a column only."""
    asked = {
        "schema": [("has_schema_privilege", p) for p in SCHEMA],
        "function": [("has_function_privilege", "EXECUTE")],
        "sequence": [("has_sequence_privilege", p) for p in SEQUENCE],
        "table": [("has_table_privilege", p) for p in TABLE]
        + [("has_any_column_privilege", p) for p in COLUMN],
    }
    found = set()
    for function, privilege in asked["table" if kind == "view" else kind]:
        row = conn.execute(f"SELECT {function}(%s, %s::oid, %s)".encode(), [role, oid, privilege])
        if row.fetchone() == (True,):
            found.add(privilege)
    return found


def _matrix(db: Database, role: str) -> Iterator[tuple[Cell, set[str]]]:
    schemas = [*OWN_SCHEMAS, "published"]
    rows = db.admin.execute(OBJECTS, {"schemas": schemas}).fetchall()
    assert len(rows) > 40
    for kind, name, oid, owner in rows:
        assert owner == "steward", name
        yield (kind, name), _allowed(db.admin, role, kind, oid)


@pytest.fixture
def released(db: Database) -> Database:
    """With tables and views of every kind, and a run's leftovers in work and staging schemas."""
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": ["analyst"]}))
    stranger = f"stranger_{db.name}"
    db.admin.execute(f"CREATE ROLE {stranger} LOGIN".encode())
    return db


def test_nobody_may_more_than_is_meant(released: Database) -> None:
    stranger = f"stranger_{released.name}"
    expected: dict[str, dict[Cell, set[str]]] = {
        stranger: FOR_ALL,
        "source_owner": FOR_ALL,
        "analyst": {**FOR_ALL, **FOR_READERS},
    }
    try:
        for role, meant in expected.items():
            found = {cell: held for cell, held in _matrix(released, role) if held}
            assert found == meant, role
    finally:
        released.admin.execute(f"DROP ROLE {stranger}".encode())


def test_a_run_opens_nothing_in_any_step(db: Database) -> None:
    """What a run makes is nobody's business from its first moment on."""
    db.source(faults.SOURCE)
    seen = 0

    def look(step: str) -> None:
        nonlocal seen
        rows = db.admin.execute(
            "SELECT c.oid::regclass::text FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'v', 'S')"
            " AND (c.relacl IS NOT NULL AND EXISTS (SELECT FROM aclexplode(c.relacl) AS a"
            " WHERE a.grantee <> c.relowner))",
            [[name for name in OWN_SCHEMAS if name != "pganon"]],
        ).fetchall()
        assert rows == [], step
        seen += 1

    faults.run(db.dsn(), before=look)
    assert seen > 20


def test_members_of_the_owner_may_all(db: Database) -> None:
    """Documented: they can act as each other, since all of them can become the owner."""
    name = f"member_{db.name}"
    db.admin.execute(f"CREATE ROLE {name} LOGIN IN ROLE steward".encode())
    try:
        for (kind, shown), held in _matrix(db, name):
            wanted = {
                "schema": set(SCHEMA),
                "function": {"EXECUTE"},
                "sequence": set(SEQUENCE),
                "table": set(TABLE),
                "view": set(TABLE),
            }[kind]
            assert held == wanted, shown
    finally:
        db.admin.execute(f"DROP ROLE {name}".encode())


def test_functions_with_the_rights_of_their_owner(db: Database) -> None:
    """Only the trigger of actions, which looks up no name in a schema of the caller."""
    rows = db.admin.execute(
        "SELECT p.proname::text, p.proconfig FROM pg_proc AS p"
        " JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname = ANY (%s) AND p.prosecdef",
        [list(OWN_SCHEMAS)],
    ).fetchall()
    assert rows == [("perform", ["search_path=pg_catalog, pg_temp", "TimeZone=UTC"])]
