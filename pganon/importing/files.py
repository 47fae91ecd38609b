"""`pganon import`: a CSV file becomes a table whose column types are inferred.

The file is streamed (constant memory here) while the types are inferred: into a table of the types
of the first records, or of texts, from which the table is made with casts. The table is closed to
everybody but its owner: all in one transaction, so a failure leaves nothing and nobody sees an open
table. No message holds a value of the file; positions are line numbers.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pganon.catalog.introspect import refuse_own
from pganon.errors import UsageError
from pganon.identifiers import NameProblem, QualifiedName, parse_name
from pganon.importing import loading
from pganon.importing import table as import_table
from pganon.importing.form import Format
from pganon.importing.kinds import Reading
from pganon.importing.loading import Loaded
from pganon.importing.names import check_key, column_names
from pganon.importing.notes import Note, notes_on, unnamed
from pganon.importing.opened import opened
from pganon.importing.records import Records
from pganon.publish.grants import regrant

Connection = psycopg.Connection[Any]

DEFAULT_SCHEMA = "public"
DEFAULT_FORMAT = Format()
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
        state = _state(file)
        import_table.check_target(conn, target, replace)
        records = Records(text, form, file)
        names, unnamed_first = column_names(records, form, file)
        check_key(names, key)
        loaded = _load(conn, file, state, records, names, form, target.schema, report)
        notes = [unnamed(names[0])] if unnamed_first else []
        notes += notes_on(names, loaded.types, form, lambda n: _values(conn, loaded, n))
        columns = [
            import_table.TableColumn(name, column.name, nullable=column.nullable or not loaded.rows)
            for name, column in zip(names, loaded.types, strict=True)
        ]
        grants = import_table.drop(conn, target) if replace else []
        import_table.make(conn, target, loaded, columns, form.reading)
        import_table.add_key(conn, target, key)
        import_table.seal(conn, target)
        regrant(conn, target, names, grants)
    return Imported(str(target), [(c.name, c.kind) for c in columns], loaded.rows, tuple(notes))


def _target(table: str) -> QualifiedName:
    try:
        schema, name = parse_name(table)
    except NameProblem as problem:
        raise UsageError(str(problem)) from None
    return QualifiedName(schema or DEFAULT_SCHEMA, name)


def _load(
    conn: Connection,
    file: Path,
    state: Sequence[int] | None,
    records: Records,
    names: Sequence[str],
    form: Format,
    schema: str,
    report: Callable[[int], None],
) -> Loaded:
    """Copy the records as they are typed, or as texts where that cannot be done or fails.

    A file that can be read again is, if a later record does not fit the types of the first ones.

    Args:
        state: of the file when it was opened; None: it can be read only once.

    Raises:
        UsageError: the file is another one, or was written, when it has been read again.
    """
    if form.reading != Reading() or state is None:
        return loading.texts(conn, file, records, names, form, report)
    with suppress(loading.OtherType), conn.transaction():
        return loading.typed(conn, file, records, names, form, schema, report)
    with opened(file, form.encoding) as text:
        records = Records(text, form, file)
        column_names(records, form, file)
        loaded = loading.texts(conn, file, records, names, form, report)
    if _state(file) != state:
        raise UsageError(
            f"{file} changed while it was read",
            hint="try again when nobody writes it, or import a copy; nothing was imported",
        )
    return loaded


def _state(file: Path) -> Sequence[int] | None:
    """The same as long as nobody replaces or writes the file; None for what is no regular file."""
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _values(conn: Connection, loaded: Loaded, number: int) -> Iterator[set[str]]:
    """All values of a column of texts."""
    with conn.cursor(name="pganon_import_values") as cursor:
        cursor.execute(
            sql.SQL("SELECT DISTINCT {0} FROM {1} WHERE {0} IS NOT NULL").format(
                loaded.columns[number], loaded.table.identifier
            )
        )
        while part := cursor.fetchmany(_VALUES_AT_ONCE):
            yield {row[0] for row in part}
