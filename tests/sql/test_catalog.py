"""Rules that every object in pganon's schemas keeps, checked in the catalog."""

from pganon import sqlfiles
from tests.support.harness.cluster import Database

# Functions that run with their owner's rights, each with its reason beside it here.
# The trigger of pganon_private.action acts for the role that the row names (test_who_acts).
SECURITY_DEFINER = frozenset({"perform"})

# They commit, which a SET clause forbids; their names are qualified (test_waiting_calls).
PROCEDURES_THAT_COMMIT = frozenset({"release", "may_wait", "ask", "revert_release", "drop_release"})

# Bodies of functions of any type are parsed when called, and with SET they would not be inlined;
# their names are qualified (test_a_hostile_search_path_of_a_reader).
QUALIFIED = frozenset(
    {
        "pganon.share(anycompatiblearray,anycompatible)",
        'pganon."overlaps"(anycompatiblearray,anycompatible)',
        'pganon."overlaps"(anycompatiblerange,anycompatible)',
    }
)

# What analysts may use: see open_to_all.sql. A function that reads a table does so as the caller.
PUBLIC_VIEWS = frozenset(
    {
        *("action", "guarantees", "held_releases", "releases", "release_columns"),
        *("release_policies", "requests"),
    }
)
NEVER_PUBLIC = frozenset({"seal"})

FUNCTIONS = """
    SELECT p.proname::text, p.oid::regprocedure::text, l.lanname::text, p.prosecdef,
        coalesce(p.proconfig, '{}'), p.prosqlbody IS NOT NULL,
        has_function_privilege('analyst', p.oid, 'EXECUTE')
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    JOIN pg_language AS l ON l.oid = p.prolang
    WHERE n.nspname = ANY (%s)
"""


def _granted_to_public() -> str:
    return sqlfiles.object_set().named("open_to_all").text.decode()


def test_every_function_has_its_file(db: Database):
    there = {row[0] for row in db.admin.execute(FUNCTIONS, [["pganon"]])}
    files = {i.name for i in sqlfiles.object_set().objects if i.path.startswith("functions/")}
    assert there == files


def test_every_view_has_its_file(db: Database):
    rows = db.admin.execute("SELECT viewname::text FROM pg_views WHERE schemaname = 'pganon'")
    files = {i.name for i in sqlfiles.object_set().objects if i.path.startswith("views/")}
    assert {name for (name,) in rows} == files


def test_plpgsql_fixes_its_search_path(db: Database):
    schemas = [["pganon", "pganon_private"]]
    for name, signature, language, _, config, _, _ in db.admin.execute(FUNCTIONS, schemas):
        if language != "sql" and name not in PROCEDURES_THAT_COMMIT:
            assert "search_path=pg_catalog, pg_temp" in config, signature


def test_sql_functions_are_parsed_at_creation_or_fix_their_search_path(db: Database):
    schemas = [["pganon", "pganon_private"]]
    for _, signature, language, _, config, parsed, _ in db.admin.execute(FUNCTIONS, schemas):
        if language == "sql" and signature not in QUALIFIED:
            assert parsed or "search_path=pg_catalog, pg_temp" in config, signature


def test_nothing_runs_with_the_rights_of_its_owner(db: Database):
    schemas = [["pganon", "pganon_private"]]
    definers = {row[0] for row in db.admin.execute(FUNCTIONS, schemas) if row[3]}
    assert definers <= SECURITY_DEFINER


def test_execute_is_public_only_where_granted(db: Database):
    grants = _granted_to_public()
    for name, signature, *_, open_to_all in db.admin.execute(FUNCTIONS, [["pganon"]]):
        if open_to_all:
            assert f"pganon.{name}" in grants, signature
            assert name not in NEVER_PUBLIC, signature


def test_private_functions_are_closed(db: Database):
    for _, signature, *_, open_to_all in db.admin.execute(FUNCTIONS, [["pganon_private"]]):
        assert not open_to_all, signature


def test_analyst_may_enter_one_schema_and_read_its_public_views(db: Database):
    rows = db.admin.execute(
        "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'pganon%'"
        " AND has_schema_privilege('analyst', oid, 'USAGE')"
    )
    assert [name for (name,) in rows] == ["pganon"]
    rows = db.admin.execute(
        "SELECT relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname LIKE 'pganon%' AND relkind IN ('r', 'v', 'S')"
        " AND has_table_privilege('analyst', c.oid, 'SELECT')"
    )
    assert {name for (name,) in rows} == PUBLIC_VIEWS


def test_everything_belongs_to_one_role(db: Database):
    rows = db.admin.execute(
        "SELECT DISTINCT pg_get_userbyid(o.owner)::text FROM ("
        " SELECT nspowner AS owner FROM pg_namespace WHERE nspname LIKE 'pganon%'"
        " UNION ALL SELECT relowner FROM pg_class WHERE relnamespace IN"
        " (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pganon%')"
        " UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace IN"
        " (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pganon%')) AS o"
    )
    assert rows.fetchall() == [("steward",)]


def test_private_schemas_do_not_need_schema_pganon(db: Database):
    rows = db.admin.execute(
        "SELECT d.classid::regclass, d.objid FROM pg_depend AS d"
        " JOIN pg_proc AS p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid"
        " JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = 'pganon'"
        " LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid"
        " JOIN pg_namespace AS cn ON cn.oid = c.relnamespace AND cn.nspname <> 'pganon'"
    )
    assert rows.fetchall() == []
