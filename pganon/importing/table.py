"""The table that an import makes: closed to everybody but its owner, or to whom it was open before.

Default privileges open nothing. What the owner of a table had granted on it is granted again on
the table that takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.database import check_encoding
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.importing.kinds import Reading, canonical
from pganon.importing.loading import Loaded
from pganon.publish.grants import Grant, privileges_on

Connection = psycopg.Connection[Any]


def check_target(conn: Connection, target: QualifiedName, replace: bool) -> None:
    """Refuse a name that cannot be used, or whose table others have built on.

    Raises:
        PreconditionError: no such schema, the table exists, it is none, row_security, dependents.
    """
    check_encoding(conn)
    row = conn.execute(
        sqlfiles.query("importing", "relation"), {"schema": target.schema, "name": target.name}
    ).fetchone()
    schema_exists, kind = row or (False, None)
    if not schema_exists:
        raise PreconditionError(
            f'the schema "{target.schema}" does not exist',
            hint="create it first, or name an existing one as in schema.table",
        )
    if kind is not None and kind != "r":
        raise PreconditionError(f"{target} exists and is not a table")
    if kind is not None and not replace:
        raise PreconditionError(
            f"the table {target} exists", hint="choose another name, or give --replace"
        )
    if kind is not None:
        _refuse_row_security(conn, target)
        _refuse_dependents(conn, target)


def _refuse_row_security(conn: Connection, target: QualifiedName) -> None:
    """The new table would be open, by the same grants, to whom this one showed some rows or none.

    Policies are not made again: they may name columns that the new table lacks.
    """
    row = conn.execute(
        sqlfiles.query("importing", "row_security"), {"oid": _oid(conn, target)}
    ).fetchone()
    if row == (True,):
        raise PreconditionError(
            f"the table {target} has row-level security or policies, which would be lost",
            hint="import under another name; or revoke what is granted on the table, drop its"
            " policies, disable its row-level security, and set them up anew afterwards",
            code=ErrorCode.ROW_SECURITY,
        )


def _refuse_dependents(conn: Connection, target: QualifiedName) -> None:
    rows = conn.execute(
        sqlfiles.query("publish", "dependents"), {"oid": _oid(conn, target)}
    ).fetchall()
    if rows:
        raise PreconditionError(
            f"other objects depend on {target}: {', '.join(row[0] for row in rows)}",
            hint="drop them first and create them anew afterwards",
            code=ErrorCode.DEPENDENTS,
        )


def _oid(conn: Connection, target: QualifiedName) -> int | None:
    row = conn.execute("SELECT to_regclass(%s)::oid", [str(target)]).fetchone()
    return row[0] if row else None


def drop(conn: Connection, target: QualifiedName) -> list[Grant]:
    """Drop a table, if there is one; gives the privileges of others on it."""
    grants = privileges_on(conn, _oid(conn, target))
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(target.identifier))
    return grants


@dataclass(frozen=True)
class TableColumn:
    """A column of the table to make, and its SQL type."""

    name: str
    kind: str
    nullable: bool

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.name)


def make(
    conn: Connection,
    target: QualifiedName,
    loaded: Loaded,
    columns: Sequence[TableColumn],
    reading: Reading,
) -> None:
    """Make the table from what was loaded.

    NOT NULL where no value is missing: a release then says nothing of missing ones.
    """
    if loaded.temporary:
        values = sql.SQL(", ").join(
            sql.SQL("{} AS {}").format(_value(given, column.kind, reading), column.identifier)
            for given, column in zip(loaded.columns, columns, strict=True)
        )
        conn.execute(
            sql.SQL("CREATE TABLE {} AS SELECT {} FROM {}").format(
                target.identifier, values, loaded.table.identifier
            )
        )
        changes: list[sql.Composable] = []
    else:
        conn.execute(
            sql.SQL("ALTER TABLE {} RENAME TO {}").format(
                loaded.table.identifier, sql.Identifier(target.name)
            )
        )
        changes = [
            sql.SQL("ALTER COLUMN {} TYPE {} USING {}").format(
                column.identifier,
                sql.SQL(column.kind),  # pyright: ignore[reportArgumentType]
                _value(column.identifier, column.kind, reading),
            )
            for kind, column in zip(loaded.kinds, columns, strict=True)
            if kind != column.kind
        ]
    changes += [
        sql.SQL("ALTER COLUMN {} SET NOT NULL").format(column.identifier)
        for column in columns
        if not column.nullable
    ]
    if changes:
        conn.execute(
            sql.SQL("ALTER TABLE {} {}").format(target.identifier, sql.SQL(", ").join(changes))
        )
    conn.execute(sql.SQL("ANALYZE {}").format(target.identifier))


def _value(column: sql.Identifier, kind: str, reading: Reading) -> sql.Composable:
    if kind == "text":
        return column
    template, texts = canonical(kind, reading)
    text = sql.SQL(template).format(column, *map(sql.Literal, texts))  # pyright: ignore[reportArgumentType]
    return sql.SQL("CAST({} AS {})").format(
        text,
        sql.SQL(kind),  # pyright: ignore[reportArgumentType]
    )


def add_key(conn: Connection, target: QualifiedName, key: Sequence[str]) -> None:
    """Make columns the primary key.

    Raises:
        PreconditionError: key_null, key_repeated.
    """
    if not key:
        return
    columns = [sql.Identifier(name) for name in key]
    nulls = sql.SQL(", ").join(
        sql.SQL("count(*) FILTER (WHERE {} IS NULL)").format(column) for column in columns
    )
    listed = sql.SQL(", ").join(columns)
    row = conn.execute(
        sql.SQL("SELECT count(*) - count(DISTINCT ROW({})), {} FROM {}").format(
            listed, nulls, target.identifier
        )
    ).fetchone()
    assert row is not None
    repeated, *missing = row
    for name, rows in zip(key, missing, strict=True):
        if rows:
            raise PreconditionError(
                f"column {quote(name)} of the key has no value in {rows} rows",
                hint="fill it, or take another column; nothing was imported",
                code=ErrorCode.KEY_NULL,
            )
    if repeated:
        raise PreconditionError(
            f"{repeated} rows have the same {', '.join(map(quote, key))} as another",
            hint="remove repeated rows, or take a column in which they differ; for several records"
            " of a person leave --key out and declare `individual`; nothing was imported",
            code=ErrorCode.KEY_REPEATED,
        )
    conn.execute(sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(target.identifier, listed))


def seal(conn: Connection, target: QualifiedName) -> None:
    """Revoke what default privileges gave to others; as `pganon.seal`, which may not be here."""
    for grantee in _foreign_grantees(conn, target):
        conn.execute(
            sql.SQL("REVOKE ALL ON TABLE {} FROM {} CASCADE").format(target.identifier, grantee)
        )
    # REVOKE says nothing of what somebody else granted.
    if _foreign_grantees(conn, target):
        raise PreconditionError(
            f"{target} would stay open to roles other than its owner",
            hint="look for an event trigger that grants privileges; nothing was imported",
            code=ErrorCode.NOT_SEALED,
        )


def _foreign_grantees(conn: Connection, target: QualifiedName) -> list[sql.Composable]:
    rows = conn.execute(
        sqlfiles.query("privileges", "foreign_grantees"),
        {"schema": target.schema, "name": target.name},
    )
    return [sql.SQL("PUBLIC") if name is None else sql.Identifier(name) for (name,) in rows]
