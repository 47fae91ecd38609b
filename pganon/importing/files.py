"""`pganon import`: a file becomes a table. Types of columns of texts are inferred.

The file is read twice: to infer types, and to copy its records into the table that it becomes,
which is closed to everybody but its owner: all in one transaction, so a failure leaves nothing and
nobody sees an open table. No message holds a value of the file; positions are lines.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from psycopg import sql

from pganon.catalog.introspect import refuse_own
from pganon.errors import UsageError
from pganon.identifiers import MAX_BYTES, NameProblem, QualifiedName, parse_name, quote
from pganon.importing import csvs, typed_files
from pganon.importing import table as import_table
from pganon.importing.content import content_of
from pganon.importing.form import EXTRA, THOUSANDS, Format
from pganon.importing.kinds import NUMBERS, Inference
from pganon.importing.notes import Note, of_texts
from pganon.importing.table import TableColumn
from pganon.sqlfiles import Connection

pc: Any = pyarrow.compute
Source = csvs.CsvFile | typed_files.Columns

DEFAULT_SCHEMA = "public"
DEFAULT_FORMAT = Format()
ROW_NAME = "row_name"
"""Name of a first column that has none, as R and pandas write the names of rows."""

_SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})
_CUT = 60
_READERS: dict[str, Callable[..., Source]] = {
    "text": csvs.CsvFile,
    "columns": typed_files.columns,
    "workbook": typed_files.workbook,
    "statistics": typed_files.statistics,
}


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
    """Make `table` (`name` or `schema.name`, default schema public) from a file.

    Args:
        conn: autocommit connection of a role that may create the table.
        file: text with separators, workbook (.xlsx, .xls, .xlsb, .ods), Parquet, Arrow, Stata,
            SPSS or SAS; gzip, bzip2, xz, zstd, or a zip archive of one file.
        key: columns that become the primary key.
        report: called now and then with the number of rows read so far.

    Raises:
        UsageError: the file cannot be read as described; says in which line.
        PreconditionError: the table exists (without `replace`), its schema does not or is one of
            pganon's, or others keep a privilege on it; key_null, key_repeated.
    """
    try:
        schema, name = parse_name(table)
    except NameProblem as problem:
        raise UsageError(str(problem)) from None
    target = QualifiedName(schema or DEFAULT_SCHEMA, name)
    refuse_own(target, "target of an import")
    with content_of(file) as content, conn.transaction():
        form.check(content.kind)
        import_table.check_target(conn, target, replace)
        try:
            source = _READERS[content.kind](content, form)
        except ImportError as error:
            raise UsageError(f"{file} needs {error.name}, which is missing", hint=EXTRA) from None
        names, notes = _names(source, form, file)
        wanted = [n for n, name in enumerate(names) if form.columns is None or name in form.columns]
        names = [names[number] for number in wanted]
        notes = [note for note in notes if note.column in names]
        for asked in (*(form.columns or ()), *key, *form.types):
            if asked not in names:
                raise UsageError(
                    f"the file has no column {quote(asked)}",
                    hint="--columns, --key and --type name columns as the table will have them",
                )
        declared = {name: import_table.builtin_type(conn, t) for name, t in form.types.items()}
        rows, columns, found = _columns(source, wanted, names, declared, form, report)
        notes += found
        made = QualifiedName(target.schema, f"pganon_import_{secrets.token_hex(8)}")
        _fill(conn, made, columns, source, wanted, form, file)
        content.check_unchanged()
        import_table.put(conn, made, target, names, key, replace)
    return Imported(str(target), [(c.name, c.kind) for c in columns], rows, tuple(notes))


def _columns(
    source: Source,
    wanted: Sequence[int],
    names: Sequence[str],
    declared: dict[str, str],
    form: Format,
    report: Callable[[int], None],
) -> tuple[int, list[TableColumn], list[Note]]:
    """Number of records, columns of the table, and notes on them."""
    rows = 0
    inference = Inference(len(names))
    kinds: list[pa.DataType] = [pa.string()] * len(names)
    texts: dict[int, pa.Array] = {}
    nulls = [False] * len(names)
    for batch in source.batches(wanted):
        kinds = batch.schema.types
        nulls = [null or column.null_count > 0 for null, column in zip(nulls, batch, strict=True)]
        texts = {
            n: batch.column(n)
            for n, name in enumerate(names)
            if pa.types.is_dictionary(kinds[n]) and not form.text and name not in declared
        }
        inference.add(texts, rows)
        rows += batch.num_rows
        report(rows)
    stored: list[str | None] = []
    notes = [
        Note(names[wanted.index(number)], note, remedy)
        for number, note, remedy in source.notes
        if number in wanted
    ]
    for n, name in enumerate(names):
        kind = declared.get(name) or typed_files.sql_type(kinds[n])
        if n in texts:
            kind, note = of_texts(name, inference.columns[n], form, source.place)
            notes += [note] if note else []
        stored.append(kind)
    unstored = [quote(name) for name, kind in zip(names, stored, strict=True) if kind is None]
    if unstored:
        raise UsageError(
            f"columns of lists, structures or other types that no column of a release can have:"
            f" {', '.join(unstored)}",
            hint="--columns names those that are wanted",
        )
    columns = [
        TableColumn(name, kind or "text", nullable or not rows)
        for name, kind, nullable in zip(names, stored, nulls, strict=True)
    ]
    return rows, columns, notes


def _fill(
    conn: Connection,
    table: QualifiedName,
    columns: Sequence[TableColumn],
    source: Source,
    wanted: Sequence[int],
    form: Format,
    file: Path,
) -> None:
    """Make and fill the table. By name: an event trigger may have added columns.

    In what COPY reads texts are quoted, and what is quoted is not NULL.
    """
    command = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv, ENCODING 'UTF8')").format(
        table.identifier, sql.SQL(", ").join(column.identifier for column in columns)
    )
    if form.dates != "ymd":
        conn.execute("SELECT set_config('datestyle', %s, true)", [f"ISO, {form.dates}"])
    marks = f"[{re.escape(THOUSANDS[form.thousands])}]" if form.thousands else ""
    plain = pyarrow.csv.WriteOptions(include_header=False)
    try:
        import_table.create(conn, table, columns)
        with conn.cursor() as cursor, cursor.copy(command) as copy:
            for batch in source.batches(wanted):
                arrays: list[pa.Array] = list(batch)
                for n, column in enumerate(columns):
                    if pa.types.is_dictionary(arrays[n].type):
                        arrays[n] = arrays[n].cast(pa.string())
                        if column.kind in NUMBERS and not form.is_plain:
                            texts = pc.replace_substring_regex(arrays[n], marks, "")
                            arrays[n] = pc.replace_substring(texts, form.decimal, ".")
                sink = pa.BufferOutputStream()
                pyarrow.csv.write_csv(pa.record_batch(arrays, batch.schema.names), sink, plain)
                copy.write(memoryview(sink.getvalue()))
    except (psycopg.errors.ProgramLimitExceeded, psycopg.errors.TooManyColumns):
        raise UsageError(
            f"{file} has a record that PostgreSQL cannot store: too many columns, or a field of"
            " more than 1 GB",
            hint="--columns names those that are wanted; or check --quote",
        ) from None
    except (psycopg.errors.CharacterNotInRepertoire, psycopg.errors.UntranslatableCharacter):
        raise UsageError(
            f"{file} holds a character that the database cannot store",
            hint="check --encoding, or use a database whose encoding is UTF8",
        ) from None
    except psycopg.DataError as error:
        # The context names line, column and value; only the first is said.
        record = re.search(r"\bline ([0-9]+)", error.diag.context or "")
        raise UsageError(
            f"{file}{f', {source.place(int(record[1]))}' if record else ''}: a value is none of"
            " the type that --type declares",
            hint="give the column another --type, or text",
        ) from None
    conn.execute(sql.SQL("ANALYZE {}").format(table.identifier))


def _names(source: Source, form: Format, file: Path) -> tuple[list[str], list[Note]]:
    """Names of all columns of the file, as the table can have them, and which were changed.

    Raises:
        UsageError: there are none, or those that were given cannot be.
    """
    width = source.width
    if form.names is None and source.header is None:
        raise UsageError("without a header the names of the columns are needed", hint="--names a,b")
    names = list((source.header or []) if form.names is None else form.names)
    if len(names) != width:
        raise UsageError(f"{len(names)} names were given, the file has {width} columns")
    names = [name.lower() for name in names] if form.lower else names
    if form.names is not None and len(set(names)) < width:
        number = next(n for n, name in enumerate(names) if name in names[:n])
        first = names.index(names[number])
        raise UsageError(f"columns {first + 1} and {number + 1} have the same name")
    empty = [number for number, name in enumerate(names, start=1) if not name.strip()]
    pandas = [n for n, name in enumerate(names, 1) if re.fullmatch("Unnamed: [0-9]+", name)]
    if empty not in ([], [1]) or len(pandas) > 1 or (empty and width == 1):
        raise UsageError(
            f"the name of column {(empty or pandas)[-1]} is empty, or was when the file was made",
            hint="--header-row N if another line names the columns, or --names; with --no-header"
            " if the first line holds data",
        )
    used: dict[str, None] = {}
    taken = set(names)
    notes: list[Note] = []
    for number, name in enumerate(names, start=1):
        new, why = name.replace("\0", ""), ""
        if number in empty:
            new = ROW_NAME
            why = "the first column has no name, as row names that R and pandas write"
        if len(new.encode()) > MAX_BYTES:
            new = new.encode()[:_CUT].decode(errors="ignore")
            why = f"the name is cut: PostgreSQL allows {MAX_BYTES} bytes"
        if new in _SYSTEM_COLUMNS:
            new, why = f"{new}_", "the name is one that PostgreSQL reserves for itself"
        if new in used:
            numbered = (f"{new}_{n}" for n in range(2, width + 2))
            new = next(each for each in numbered if each not in used and each not in taken)
            why = why or "an earlier column has the same name"
        used[new] = None
        if why:
            remedy = "give all names with --names"
            remedy = f"write the file without row names, or {remedy}" if number in empty else remedy
            notes.append(Note(new, why, remedy))
    return list(used), notes
