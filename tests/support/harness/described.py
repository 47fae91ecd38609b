"""Everything that an installation of pganon consists of, as the server describes it."""

from __future__ import annotations

from typing import Any

from tests.support.harness.cluster import Connection

_QUERIES = {
    "functions": """
        SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.proowner::regrole::text,
            array(
                SELECT a::text
                FROM unnest(coalesce(p.proacl, acldefault('f', p.proowner))) AS a ORDER BY 1
            ),
            obj_description(p.oid, 'pg_proc')
        FROM pg_proc AS p WHERE p.pronamespace IN (SELECT oid FROM ours)""",
    "relations": """
        SELECT c.oid::regclass::text, c.relkind::text, c.relpersistence::text,
            c.relowner::regrole::text, c.reloptions,
            array(
                SELECT a::text
                FROM unnest(coalesce(
                    c.relacl,
                    acldefault((CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", c.relowner)
                )) AS a ORDER BY 1
            ),
            obj_description(c.oid, 'pg_class'),
            CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END
        FROM pg_class AS c WHERE c.relnamespace IN (SELECT oid FROM ours)""",
    "columns": """
        SELECT a.attrelid::regclass::text, a.attname::text,
            row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum),
            format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text,
            pg_get_expr(d.adbin, d.adrelid), a.attacl::text,
            col_description(a.attrelid, a.attnum)
        FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace IN (SELECT oid FROM ours) AND a.attnum > 0 AND NOT a.attisdropped""",
    "constraints": """
        SELECT k.conrelid::regclass::text, k.conname::text, pg_get_constraintdef(k.oid)
        FROM pg_constraint AS k WHERE k.connamespace IN (SELECT oid FROM ours)""",
    "indexes": """
        SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE c.relnamespace IN (SELECT oid FROM ours)""",
    "triggers": """
        SELECT pg_get_triggerdef(t.oid), t.tgenabled::text
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
        WHERE c.relnamespace IN (SELECT oid FROM ours) AND NOT t.tgisinternal""",
    "schemas": """
        SELECT n.nspname::text, n.nspowner::regrole::text,
            array(
                SELECT a::text
                FROM unnest(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a ORDER BY 1
            )
        FROM pg_namespace AS n WHERE n.oid IN (SELECT oid FROM ours)""",
    "migrations": """
        SELECT number, name, checksum, program_version FROM pganon_private.migration""",
    "objects": """
        SELECT checksum, manifest, program_version FROM pganon_private.object_set
        ORDER BY number DESC LIMIT 1""",
}
_OURS = """
    WITH ours AS (
        SELECT oid FROM pg_namespace
        WHERE nspname IN ('pganon', 'pganon_private', 'pganon_work', 'pganon_stage', 'pganon_data')
    )"""


def described(conn: Connection) -> dict[str, list[Any]]:
    """Definitions, comments, owners and privileges of all objects, by kind."""
    return {
        kind: sorted(conn.execute(f"{_OURS} {text}".encode()).fetchall(), key=str)
        for kind, text in _QUERIES.items()
    }


def members(conn: Connection) -> list[tuple[str, bool]]:
    """Members of the extension, and whether a dump has their rows."""
    return conn.execute("""
        SELECT pg_describe_object(d.classid, d.objid, 0),
            d.classid = 'pg_class'::regclass AND d.objid = ANY (coalesce(e.extconfig, '{}'))
        FROM pg_extension AS e
        JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
            AND d.deptype = 'e'
        WHERE e.extname = 'pganon' ORDER BY 1
    """).fetchall()
