"""`pganon import`: a CSV file becomes a table whose column types are inferred.

The file is streamed into a temporary table of texts (constant memory here) while the types are
inferred, and the table is made with casts and closed to everybody but its owner: all
in one transaction, so a failure leaves nothing and nobody sees an open table. No message holds a
value of the file; positions are line numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pganon.catalog.introspect import refuse_own
from pganon.errors import UsageError
from pganon.identifiers import NameProblem, QualifiedName, parse_name
from pganon.importing import table as import_table
from pganon.importing.form import Format
from pganon.importing.inference import ColumnType, SureLines
from pganon.importing.names import check_key, column_names
from pganon.importing.notes import Note, notes_on, unnamed
from pganon.importing.opened import opened
from pganon.importing.records import Records
from pganon.publish.grants import regrant

Connection = psycopg.Connection[Any]

DEFAULT_SCHEMA = "public"
DEFAULT_FORMAT = Format()
_STAGE = sql.Identifier("pg_temp", "pganon_import")
_REPORT_EVERY = 50_000
_VALUES_AT_ONCE = 10_000


@dataclass(frozen=True)
class Imported:
    """The table that was made.

    Attributes:
        columns: (column, type) in order.
        notes: columns that may not be what was meant, and what to do.
    """

    table: str
    columns: Sequence[tuple[str, str]]
    rows: int
    notes: Sequence[Note] = ()

    def as_dict(self) -> dict[str, Any]:
        facts = asdict(self)
        facts["columns"] = [{"name": name, "type": kind} for name, kind in self.columns]
        return facts


def import_file(
    conn: Connection,
    file: Path,
    table: str,
    *,
    form: Format = DEFAULT_FORMAT,
    key: Sequence[str] = (),
    replace: bool = False,
    report: Callable[[int], None] = lambda rows: None,
) -> Imported:
    """Make `table` (`name` or `schema.name`, default schema public) from a CSV file.

    Args:
        conn: autocommit connection of a role that may create the table.
        file: plain text, gzip, or a zip archive of one file.
        key: columns that become the primary key.
        report: called now and then with the number of rows read so far.

    Raises:
        UsageError: the file cannot be read as described; says in which line.
        PreconditionError: the table exists (without `replace`), its schema does not or is one of
            pganon's, or others keep a privilege on it; key_null, key_repeated.
    """
    form.check()
    target = _target(table)
    refuse_own(target, "target of an import")
    with opened(file, form.encoding) as text, conn.transaction():
        import_table.check_target(conn, target, replace)
        records = Records(text, form, file)
        names, unnamed_first = column_names(records, form, file)
        check_key(names, key)
        rows, types = _load(conn, file, records, names, form, report)
        notes = [unnamed(names[0])] if unnamed_first else []
        notes += notes_on(names, types, form, lambda number: _values(conn, number))
        columns = [
            import_table.TableColumn(name, column.name, nullable=column.nullable or not rows)
            for name, column in zip(names, types, strict=True)
        ]
        grants = import_table.drop(conn, target) if replace else []
        import_table.make(conn, target, _STAGE, columns, form.reading)
        import_table.add_key(conn, target, key)
        import_table.seal(conn, target)
        regrant(conn, target, names, grants)
    return Imported(str(target), [(c.name, c.kind) for c in columns], rows, tuple(notes))


def _target(table: str) -> QualifiedName:
    try:
        schema, name = parse_name(table)
    except NameProblem as problem:
        raise UsageError(str(problem)) from None
    return QualifiedName(schema or DEFAULT_SCHEMA, name)


def _make_stage(conn: Connection, width: int) -> None:
    columns = sql.SQL(", ").join(sql.SQL("{} text").format(_column(n)) for n in range(width))
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_STAGE))
    conn.execute(sql.SQL("CREATE TEMP TABLE {} ({}) ON COMMIT DROP").format(_STAGE, columns))


def _column(number: int) -> sql.Identifier:
    """The column of the stage for a column of the file, counted from 0."""
    return sql.Identifier(f"c{number + 1}")


def _load(
    conn: Connection,
    file: Path,
    records: Records,
    names: Sequence[str],
    form: Format,
    report: Callable[[int], None],
) -> tuple[int, list[ColumnType]]:
    """Stream the records into the staging table; gives their number, and the columns' types."""
    types = [ColumnType(form.reading) for _ in names]
    sure = SureLines(types, records.marks.separator)
    rows = reported = 0
    _make_stage(conn, len(names))
    try:
        with conn.cursor() as cursor:
            with cursor.copy(_copy_in(records)) as copy:
                for text, number, columns in records.batches(len(names), sure.pattern):
                    copy.write(text.encode())
                    for kind, column in zip(types, columns, strict=bool(columns)):
                        kind.add(column)
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
    return rows, types


def _copy_in(records: Records) -> sql.Composed:
    separator, quote = records.copy_marks
    options = sql.SQL("FORMAT csv, ENCODING 'UTF8', DELIMITER {}, QUOTE {}, ESCAPE {}, NULL {}")
    marks = map(sql.Literal, (separator, quote, quote, records.null))
    return sql.SQL("COPY {} FROM STDIN ({})").format(_STAGE, options.format(*marks))


def _values(conn: Connection, number: int) -> Iterator[set[str]]:
    """All values of a column of the stage."""
    with conn.cursor(name="pganon_import_values") as cursor:
        cursor.execute(
            sql.SQL("SELECT DISTINCT {0} FROM {1} WHERE {0} IS NOT NULL").format(
                _column(number), _STAGE
            )
        )
        while part := cursor.fetchmany(_VALUES_AT_ONCE):
            yield {row[0] for row in part}
