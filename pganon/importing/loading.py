"""Records of a file into a table of the types that its first records have, or of texts.

Either way the types are inferred from all records while they are copied.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pganon.errors import UsageError
from pganon.identifiers import QualifiedName
from pganon.importing.form import Format
from pganon.importing.inference import ColumnType, SureLines
from pganon.importing.records import Column, Records

Connection = psycopg.Connection[Any]
Report = Callable[[int], None]
Batch = tuple[str, int, list[Column]]

_STAGE = QualifiedName("pg_temp", "pganon_import")
_REPORT_EVERY = 50_000
_FIRST_CHARACTERS = 4_000_000
"""Of the records that are read before a table of their types is made."""


class OtherType(Exception):
    """A record does not fit the types that the first ones have."""


@dataclass(frozen=True)
class Loaded:
    """A table with the records.

    Attributes:
        rows: number of records.
        types: what the columns of the file are.
        table: temporary, or in the schema of the table to make.
        columns: columns there.
        kinds: SQL types of these columns; text where they have to be converted.
    """

    rows: int
    types: Sequence[ColumnType]
    table: QualifiedName
    columns: Sequence[sql.Identifier]
    kinds: Sequence[str]

    @property
    def temporary(self) -> bool:
        return self.table == _STAGE


def typed(
    conn: Connection,
    file: Path,
    records: Records,
    names: Sequence[str],
    form: Format,
    schema: str,
    report: Report,
) -> Loaded:
    """Copy the records into a table of the types of the first ones; text where these have no value.

    Raises:
        OtherType: the table is of no use, and its transaction must be undone.
    """
    types = [ColumnType(form.reading) for _ in names]
    batches = _learned(records, types)
    first: list[Batch] = []
    characters = 0
    for batch in batches:
        first.append(batch)
        characters += len(batch[0])
        if characters >= _FIRST_CHARACTERS:
            break
    kinds = [column.name for column in types]
    made = QualifiedName(schema, f"pganon_import_{secrets.token_hex(8)}")
    columns = [sql.Identifier(name) for name in names]
    _make(conn, made, columns, kinds, b"CREATE TABLE {} ({})")

    def fitting() -> Iterator[Batch]:
        yield from first
        first.clear()
        for batch in batches:
            if any(k not in ("text", t.name) for k, t in zip(kinds, types, strict=True)):
                raise OtherType
            yield batch

    rows = _copy(conn, made, columns, file, records, fitting(), report)
    return Loaded(rows, types, made, columns, kinds)


def texts(
    conn: Connection,
    file: Path,
    records: Records,
    names: Sequence[str],
    form: Format,
    report: Report,
) -> Loaded:
    """Copy the records into a temporary table of texts."""
    types = [ColumnType(form.reading) for _ in names]
    columns = [sql.Identifier(f"c{number}") for number, _ in enumerate(names, start=1)]
    kinds = ["text"] * len(names)
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_STAGE.identifier))
    _make(conn, _STAGE, columns, kinds, b"CREATE TEMP TABLE {} ({}) ON COMMIT DROP")
    rows = _copy(conn, _STAGE, columns, file, records, _learned(records, types), report)
    return Loaded(rows, types, _STAGE, columns, kinds)


def _make(
    conn: Connection,
    name: QualifiedName,
    columns: Sequence[sql.Identifier],
    kinds: Sequence[str],
    statement: bytes,
) -> None:
    defined = sql.SQL(", ").join(
        sql.SQL("{} {}").format(column, sql.SQL(kind))  # pyright: ignore[reportArgumentType]
        for column, kind in zip(columns, kinds, strict=True)
    )
    text = sql.SQL(statement.decode())  # pyright: ignore[reportArgumentType]
    conn.execute(text.format(name.identifier, defined))


def _learned(records: Records, types: Sequence[ColumnType]) -> Iterator[Batch]:
    """The batches of the records, from each of which the types have learned."""
    sure = SureLines(types, records.marks.separator)
    for batch in records.batches(len(types), sure.pattern):
        columns = batch[2]
        for kind, column in zip(types, columns, strict=bool(columns)):
            kind.add(column)
        yield batch


def _copy(
    conn: Connection,
    table: QualifiedName,
    columns: Sequence[sql.Identifier],
    file: Path,
    records: Records,
    batches: Iterable[Batch],
    report: Report,
) -> int:
    """COPY the batches; gives the number of records."""
    rows = reported = 0
    try:
        with conn.cursor() as cursor:
            with cursor.copy(_copy_in(table, columns, records)) as copy:
                for text, number, _ in batches:
                    copy.write(text.encode())
                    rows += number
                    if rows - reported >= _REPORT_EVERY:
                        reported = rows
                        report(rows)
            assert cursor.rowcount == rows  # COPY has found the same records
    except psycopg.DataError:  # a NUL, or a character that the database's encoding lacks
        raise UsageError(
            f"{file} holds a character that the database cannot store",
            hint="remove NUL characters, or check --encoding",
        ) from None
    except psycopg.errors.ProgramLimitExceeded:
        raise UsageError(
            f"{file} has a record that PostgreSQL cannot store: too many columns, or a field of"
            " more than 1 GB",
            hint="divide the file into several of fewer columns, or check --quote",
        ) from None
    report(rows)
    return rows


def _copy_in(
    table: QualifiedName, columns: Sequence[sql.Identifier], records: Records
) -> sql.Composed:
    """By name: an event trigger may have added columns."""
    separator, quote = records.copy_marks
    options = sql.SQL("FORMAT csv, ENCODING 'UTF8', DELIMITER {}, QUOTE {}, ESCAPE {}, NULL {}")
    marks = map(sql.Literal, (separator, quote, quote, records.null))
    return sql.SQL("COPY {} ({}) FROM STDIN ({})").format(
        table.identifier, sql.SQL(", ").join(columns), options.format(*marks)
    )
