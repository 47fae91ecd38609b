"""What a reader finds in published views beside their rows: by functions, plans and definitions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlglot
from psycopg import sql
from sqlglot import exp

from tests.support.harness.cluster import Connection, Database

TELLS = """
CREATE FUNCTION pg_temp.tells(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
    RAISE NOTICE '%', coalesce($1, '<NULL>');
    RETURN true;
END $$
"""
"""So cheap that the server calls it before everything else."""

_VIEWS = """
SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'published' AND c.relkind = 'v' ORDER BY 1, 2
"""
_COLUMNS = """
SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum
"""
_READ = """
SELECT DISTINCT c.oid::regclass::text, a.attname::text FROM pg_rewrite AS w
JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> w.ev_class AND d.refobjsubid > 0
JOIN pg_class AS c ON c.oid = d.refobjid
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
WHERE w.ev_class = %s::regclass
"""
_HIDING = (
    *(exp.Where, exp.Having, exp.Distinct, exp.Limit, exp.Offset, exp.Exists, exp.Except),
    *(exp.Intersect, exp.Filter, exp.Window, exp.In, exp.Qualify),
)
"""With any of these a view may leave out a row of what it reads."""


def views(conn: Connection) -> list[sql.Identifier]:
    """All published views."""
    return [sql.Identifier(*row) for row in conn.execute(_VIEWS).fetchall()]


def hidden(db: Database) -> list[str]:
    """What a reader learns beyond the rows of all published views: nothing, or this."""
    reader = db.connect("analyst")
    reader.execute(TELLS)
    found: list[str] = []
    for view in views(db.admin):
        found += _hiding(db.admin, view)
        found += _told(reader, view)
    return found + _unshown(db.admin)


def _hiding(admin: Connection, view: sql.Identifier) -> list[str]:
    """Parts of a definition by which rows of its tables may stay away."""
    (text,) = admin.execute("SELECT pg_get_viewdef(%s::regclass)", [view.as_string()]).fetchone()  # type: ignore[misc]
    tree = sqlglot.parse_one(text, dialect="postgres")
    parts = [node.sql("postgres") for node in tree.find_all(*_HIDING)]
    parts += [n.sql("postgres") for n in tree.find_all(exp.Union) if n.args.get("distinct")]
    for join in tree.find_all(exp.Join):
        on = join.args.get("on")
        plain = on is None or (
            isinstance(on.unnest(), exp.EQ)
            and isinstance(on.unnest().left, exp.Column)
            and isinstance(on.unnest().right, exp.Column)
        )
        if join.side or not plain:
            parts.append(join.sql("postgres"))
    return [f"{view.as_string()}: {part}" for part in parts]


def _told(reader: Connection, view: sql.Identifier) -> list[str]:
    """Columns of which a reader's own function gets more values than there are in the view."""
    found: list[str] = []
    for name, _ in reader.execute(_COLUMNS, [view.as_string()]).fetchall():
        column = sql.Identifier(name)
        told: Counter[str] = Counter()

        def tell(notice: Any, told: Counter[str] = told) -> None:
            told[notice.message_primary] += 1

        reader.add_notice_handler(tell)
        text = sql.SQL("SELECT FROM {} AS v WHERE pg_temp.tells(v.{}::text)")
        reader.execute(text.format(view, column))
        reader.remove_notice_handler(tell)
        text = sql.SQL("SELECT coalesce(v.{}::text, '<NULL>') FROM {} AS v")
        shown = Counter(row[0] for row in reader.execute(text.format(column, view)).fetchall())
        if not told <= shown:
            more = sum((told - shown).values())
            found.append(f"{view.as_string()}: {more} further values of {name}")
    return found


def _unshown(admin: Connection) -> list[str]:
    """Columns of stored tables that views read and none shows."""
    read: dict[str, set[str]] = {}
    shown: set[str] = set()
    for view in views(admin):
        for table, column in admin.execute(_READ, [view.as_string()]).fetchall():
            read.setdefault(table, set()).add(column)
        shown |= {name for name, _ in admin.execute(_COLUMNS, [view.as_string()]).fetchall()}
    return [f"{table}: {column}" for table, columns in read.items() for column in columns - shown]


def expected_rows(reader: Connection, view: sql.Identifier, column: str, value: str) -> float:
    """How many rows the server expects to have this value."""
    text = sql.SQL("EXPLAIN (FORMAT json) SELECT FROM {} AS v WHERE v.{} = {}").format(
        view, sql.Identifier(column), sql.Literal(value)
    )
    row = reader.execute(text).fetchone()
    assert row is not None
    return row[0][0]["Plan"]["Plan Rows"]


def equal_columns(conn: Connection, view: sql.Identifier) -> list[str]:
    """Columns whose values are compared with one that is written."""
    plain = ("integer", "bigint", "numeric", "text", "character varying")
    found = conn.execute(_COLUMNS, [view.as_string()]).fetchall()
    return [name for name, kind in found if kind in plain]


Shown = dict[tuple[str, str], set[str]]


def values(conn: Connection) -> Shown:
    """Values of such columns of all views, by view and column."""
    found: Shown = {}
    for view in views(conn):
        for name in equal_columns(conn, view):
            text = sql.SQL("SELECT DISTINCT v.{}::text FROM {} AS v WHERE v.{} IS NOT NULL")
            rows = conn.execute(text.format(sql.Identifier(name), view, sql.Identifier(name)))
            found[view.as_string(), name] = {row[0] for row in rows.fetchall()}
    return found


def expected(db: Database, gone: Shown) -> list[str]:
    """Values that are shown no longer, of which the server expects another number of rows than of
    one that was never there."""
    reader, found = db.connect("analyst"), []
    for view in views(db.admin):
        for name in equal_columns(db.admin, view):
            away = gone.get((view.as_string(), name), set())
            for value in away:
                never, number, after = (
                    expected_rows(reader, view, name, asked) for asked in ("-4711", value, "-4711")
                )
                # What autovacuum analyses meanwhile has other figures, of all values alike.
                if number not in (never, after):
                    found.append(f"{view.as_string()}: {number} rows of {name} {value}, {never}")
    return found
