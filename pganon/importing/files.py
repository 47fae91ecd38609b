"""`pganon import`: a CSV file becomes a table whose column types are inferred.

The file is streamed into a temporary table of texts (constant memory here), the types are
inferred there in SQL, and the table is made with casts and closed to everybody but its owner: all
in one transaction, so a failure leaves nothing and nobody sees an open table. No message holds a
value of the file; positions are line numbers.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import psycopg
from psycopg import sql

from pganon.catalog.introspect import refuse_own
from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.identifiers import MAX_BYTES, NameProblem, QualifiedName, parse_name, quote
from pganon.importing import table as import_table
from pganon.importing.hints import missing_words
from pganon.importing.inference import DateOrder, infer_types
from pganon.publish.grants import regrant

Connection = psycopg.Connection[Any]

DEFAULT_SCHEMA = "public"
_STAGE = sql.Identifier("pg_temp", "pganon_import")
_SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})
_MAX_COLUMNS = 1600
_REPORT_EVERY = 50_000
_ESCAPED = re.compile("[\udc80-\udcff]")
_SEPARATORS = (";", "\t", "|")


@dataclass(frozen=True)
class Format:
    """How the file is written.

    Attributes:
        header: the first line names the columns.
        names: names to use; with a header they replace it.
        separator: one character, or one followed by blanks that are skipped (", "). None: a
            comma, but not if that makes one column of what another separator would divide.
        nulls: texts that mean NULL.
        quote: the quoting character.
        encoding: a Python codec.
        lower: names of the header in lower case, which SQL need not quote.
        dates: order of the parts of dates.
    """

    header: bool = True
    names: Sequence[str] | None = None
    separator: str | None = None
    nulls: Sequence[str] = ("",)
    quote: str = '"'
    encoding: str = "utf-8"
    lower: bool = False
    dates: DateOrder = "ymd"

    def dialect(self) -> dict[str, Any]:
        """Arguments for csv.reader."""
        given = "," if self.separator is None else self.separator
        separator = {"\\t": "\t", "tab": "\t"}.get(given, given)
        mark = separator.rstrip(" ") or separator[:1]
        if len(mark) != 1:
            raise UsageError(
                "the separator must be one character, or one followed by blanks",
                hint="--sep ',' or --sep ', ' or --sep '\\t'",
            )
        if len(self.quote) != 1 or self.quote == mark:
            raise UsageError("the quote must be one character other than the separator")
        return {
            "delimiter": mark,
            "quotechar": self.quote,
            "skipinitialspace": separator != mark,
            "strict": True,
        }


DEFAULT_FORMAT = Format()


@dataclass(frozen=True)
class Imported:
    """The table that was made.

    Attributes:
        columns: (column, type) in order.
        notes: columns that are text because of a word for missing values, and what to do.
    """

    table: str
    columns: Sequence[tuple[str, str]]
    rows: int
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        found = asdict(self)
        found["columns"] = [{"name": name, "type": kind} for name, kind in self.columns]
        return found


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
    """Make `table` (`name` or `schema.name`, default schema public) from a csv or csv.gz file.

    Args:
        conn: autocommit connection of a role that may create the table.
        key: columns that become the primary key.
        report: called now and then with the number of rows read so far.

    Raises:
        UsageError: the file cannot be read as described; says in which line.
        PreconditionError: the table exists (without `replace`), its schema does not or is one of
            pganon's, or others keep a privilege on it; key_null, key_repeated.
    """
    target = _target(table)
    refuse_own(target, "target of an import")
    with _reading(file, form) as records, conn.transaction():
        import_table.check_target(conn, target, replace)
        names = _names(records, form, file)
        _check_key(names, key)
        _make_stage(conn, len(names))
        rows = _load(conn, records, names, form, report)
        types = infer_types(conn, _STAGE, len(names), form.dates)
        columns = list(zip(names, types, strict=True))
        notes = missing_words(conn, _STAGE, columns, form)
        grants = import_table.drop(conn, target) if replace else []
        import_table.make(conn, target, _STAGE, columns, form.dates)
        import_table.add_key(conn, target, key)
        import_table.seal(conn, target)
        regrant(conn, target, [name for name, _ in columns], grants)
    return Imported(str(target), columns, rows, notes)


def _target(table: str) -> QualifiedName:
    try:
        schema, name = parse_name(table)
    except NameProblem as problem:
        raise UsageError(str(problem)) from None
    return QualifiedName(schema or DEFAULT_SCHEMA, name)


@dataclass
class _Records:
    """The records of a file that are not blank, with the line each one ends in."""

    reader: Any
    file: Path

    def __iter__(self) -> Iterator[list[str]]:
        for record in self.reader:
            if record and not (len(record) == 1 and not record[0].strip()):
                yield record

    @property
    def line(self) -> int:
        return int(self.reader.line_num)


@contextmanager
def _reading(file: Path, form: Format) -> Iterator[_Records]:
    """The file's records; any error in the file becomes a UsageError with its line."""
    dialect = form.dialect()
    # The default limit of 128 KiB per field is smaller than what a text column may hold.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    records: _Records | None = None
    try:
        with _open(file, form.encoding) as text:
            records = _Records(csv.reader(text, **dialect), file)
            yield records
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or 'not a gzip file'}") from None
    except (EOFError, zlib.error):
        raise UsageError(f"{file} is not a complete gzip file") from None
    except UnicodeError:
        line = _undecodable(file, form.encoding)
        where = f"{file}, line {line}" if line else f"{file}"
        raise UsageError(
            f"{where}: not {form.encoding} text",
            hint="give --encoding, such as --encoding latin-1",
        ) from None
    except csv.Error as error:
        after = records.line if records else 0
        raise UsageError(f"{file}, line {after}: {error}", hint="check --quote and --sep") from None


def _undecodable(file: Path, encoding: str) -> int | None:
    """The line with the first invalid byte. Files are read ahead, so no record has its number.

    None if a unit of the encoding has several bytes, since there are no lines after an error, and
    for input that can be read only once, such as a pipe.
    """
    if not file.is_file():
        return None
    try:
        with _open(file, encoding, errors="surrogateescape") as text:
            escaped = (n for n, line in enumerate(text, start=1) if _ESCAPED.search(line))
            return next(escaped, None)
    except UnicodeError:
        return None


def _open(file: Path, encoding: str, errors: str = "strict") -> TextIO:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise UsageError(f'unknown encoding "{encoding}"') from None
    # A byte order mark is no part of the first column's name.
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding=codec, errors=errors, newline="")
    return file.open(encoding=codec, errors=errors, newline="")


def _names(records: _Records, form: Format, file: Path) -> list[str]:
    """Column names; consumes the header. Without header and names: column_1, column_2, ..."""
    given = None if form.names is None else list(form.names)
    if form.header:
        header = next(iter(records), None)
        if header is None:
            raise UsageError(f"{file} is empty: it has no header")
        if given is not None and len(given) != len(header):
            raise UsageError(f"{len(given)} names were given, the header has {len(header)} fields")
        if len(header) == 1 and form.separator is None:
            _refuse_undivided(header[0], file)
        found = given or header
        return _checked_names([name.lower() for name in found] if form.lower else found)
    if given is None:
        raise UsageError("without a header the names of the columns are needed", hint="--names a,b")
    return _checked_names(given)


def _check_key(names: Sequence[str], key: Sequence[str]) -> None:
    missing = [name for name in key if name not in names]
    if missing:
        raise UsageError(
            f"the file has no column {quote(missing[0])}, which --key names",
            hint="name a column as the table will have it",
        )


def _refuse_undivided(header: str, file: Path) -> None:
    """A file of one column whose name looks like several."""
    found = [mark for mark in _SEPARATORS if mark in header]
    if found:
        shown = "tab" if found[0] == "\t" else f"'{found[0]}'"
        raise UsageError(
            f"{file} has one column by the separator ',', and a {shown} in its name",
            hint=f"--sep {shown}, or --sep ',' if there is one column",
            code=ErrorCode.SEPARATOR,
        )


def _checked_names(names: list[str]) -> list[str]:
    """The names, or an error by position: without a header a "name" would be a value."""
    hint = "give --names; with --no-header if the first line holds data"
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise UsageError(f"columns {seen[name]} and {number} have the same name", hint=hint)
        seen[name] = number
        problem = _name_problem(name)
        if problem:
            raise UsageError(f"the name of column {number} {problem}", hint=hint)
    if len(names) > _MAX_COLUMNS:
        raise UsageError(f"the file has {len(names)} columns, PostgreSQL allows {_MAX_COLUMNS}")
    return names


def _name_problem(name: str) -> str | None:
    if not name:
        return "is empty"
    if "\x00" in name:
        return "holds the character NUL"
    size = len(name.encode())
    if size > MAX_BYTES:
        return f"has {size} bytes, PostgreSQL allows {MAX_BYTES}"
    if name in _SYSTEM_COLUMNS:
        return "is one that PostgreSQL reserves for itself (tableoid, ctid, xmin, ...)"
    return None


def _make_stage(conn: Connection, width: int) -> None:
    columns = sql.SQL(", ").join(
        sql.SQL("{} text").format(sql.Identifier(f"c{i}")) for i in range(1, width + 1)
    )
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_STAGE))
    conn.execute(sql.SQL("CREATE TEMP TABLE {} ({}) ON COMMIT DROP").format(_STAGE, columns))


def _load(
    conn: Connection,
    records: _Records,
    names: Sequence[str],
    form: Format,
    report: Callable[[int], None],
) -> int:
    """Stream the records into the staging table; gives their number."""
    width, nulls, rows = len(names), frozenset(form.nulls), 0
    try:
        with (
            conn.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {} FROM STDIN").format(_STAGE)) as copy,
        ):
            for record in records:
                if len(record) != width:
                    raise UsageError(
                        f"{records.file}, line {records.line}: {len(record)} fields, "
                        f"there are {width} columns",
                        hint="check --sep and --quote",
                    )
                copy.write_row([None if field in nulls else field for field in record])
                rows += 1
                if rows % _REPORT_EVERY == 0:
                    report(rows)
    except psycopg.DataError:  # a NUL, or a character that the database's encoding lacks
        raise UsageError(
            f"{records.file} holds a character that the database cannot store",
            hint="remove NUL characters, or check --encoding",
        ) from None
    report(rows)
    return rows
