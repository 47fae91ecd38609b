"""The table that an import makes: closed to everybody but its owner, or to whom it was open before.

Default privileges open nothing. What the owner of a table had granted on it is granted again on
the table that takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql

from pganon.database import check_encoding
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import QualifiedName, quote
from pganon.publish.views import regrant, standing
from pganon.sqlfiles import Connection, ask

_TYPE = re.compile(r"(?P<name>[a-z][a-z0-9 ]*)(?P<size>\([0-9]{1,4}(, ?[0-9]{1,4})?\))?")


def check_target(conn: Connection, target: QualifiedName, replace: bool) -> None:
    """Refuse a name that cannot be used, or whose table others have built on.

    Raises:
        PreconditionError: no such schema, the table exists, it is none, row_security, dependents.
    """
    check_encoding(conn)
    row = ask(conn, "importing", "relation", schema=target.schema, name=target.name).fetchone()
    schema_exists, kind, oid, guarded = row or (False, None, None, None)
    if not schema_exists:
        raise PreconditionError(
            f'the schema "{target.schema}" does not exist',
            hint="create it first, or name an existing one as in schema.table",
        )
    if kind is None:
        return
    if kind != "r":
        raise PreconditionError(f"{target} exists and is not a table")
    if not replace:
        raise PreconditionError(
            f"the table {target} exists", hint="choose another name, or give --replace"
        )
    if guarded:
        # The new table would be open, by the same grants, to whom this one showed some rows or
        # none. Policies are not made again: they may name columns that the new table lacks.
        raise PreconditionError(
            f"the table {target} has row-level security or policies, which would be lost",
            hint="import under another name; or revoke what is granted on the table, drop its"
            " policies, disable its row-level security, and set them up anew afterwards",
            code=ErrorCode.ROW_SECURITY,
        )
    rows = ask(conn, "publish", "dependents", oid=oid).fetchall()
    if rows:
        raise PreconditionError(
            f"other objects depend on {target}: {', '.join(row[0] for row in rows)}",
            hint="drop them first and create them anew afterwards",
            code=ErrorCode.DEPENDENTS,
        )


@dataclass(frozen=True)
class TableColumn:
    """A column of the table to make, and its SQL type."""

    name: str
    kind: str
    nullable: bool

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.name)


def builtin_type(conn: Connection, name: str) -> str:
    """A type that a column is declared to have, as the server writes it.

    Only types that are built in: those of others run their code.

    Raises:
        UsageError: there is no such type.
    """
    match = _TYPE.fullmatch(name.strip())
    row = match and ask(conn, "importing", "builtin_type", name=match["name"].strip()).fetchone()
    if not match or not row or row[0] is None:
        raise UsageError(
            f'"{name}" is no type of PostgreSQL that a column can be declared to have',
            hint="--type age=integer, --type seen=timestamptz, --type code=text",
        )
    return row[0] + (match["size"] or "")


def create(conn: Connection, name: QualifiedName, columns: Sequence[TableColumn]) -> None:
    """Make an empty table. NOT NULL where no value is missing: a release then says nothing of
    missing ones."""
    defined = [
        sql.SQL("{} {}{}").format(
            column.identifier,
            sql.SQL(column.kind),  # pyright: ignore[reportArgumentType]
            sql.SQL("" if column.nullable else " NOT NULL"),
        )
        for column in columns
    ]
    conn.execute(
        sql.SQL("CREATE TABLE {} ({})").format(name.identifier, sql.SQL(", ").join(defined))
    )


def put(
    conn: Connection,
    made: QualifiedName,
    target: QualifiedName,
    columns: Sequence[str],
    key: Sequence[str],
    replace: bool,
) -> None:
    """Give a table its name, key and privileges: those of others on the one that it replaces.

    Raises:
        PreconditionError: key_null, key_repeated, not_sealed.
    """
    there = standing(conn, [target]).get(target) if replace else None
    if there and there.oid is not None:  # else a type has the name, of which RENAME says so
        conn.execute(sql.SQL("DROP TABLE {}").format(target.identifier))
    conn.execute(
        sql.SQL("ALTER TABLE {} RENAME TO {}").format(made.identifier, sql.Identifier(target.name))
    )
    if key:
        _add_key(conn, target, key)
    # What default privileges gave to others; as `pganon.seal`, which may not be here.
    for role in _others(conn, target):
        conn.execute(
            sql.SQL("REVOKE ALL ON TABLE {} FROM {} CASCADE").format(
                target.identifier, sql.Identifier(role)
            )
        )
    # REVOKE says nothing of what somebody else granted.
    if _others(conn, target):
        raise PreconditionError(
            f"{target} would stay open to roles other than its owner",
            hint="look for an event trigger that grants privileges; nothing was imported",
            code=ErrorCode.NOT_SEALED,
        )
    regrant(conn, target, columns, there.grants if there else [])


def _others(conn: Connection, target: QualifiedName) -> set[str]:
    """Roles other than the owner that hold privileges; "public" is everybody."""
    return {role for _, role, *_ in standing(conn, [target])[target].grants}


def _add_key(conn: Connection, target: QualifiedName, key: Sequence[str]) -> None:
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
