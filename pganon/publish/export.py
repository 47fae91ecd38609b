"""A published release as a file: CSV, gzipped CSV or Parquet.

Rows are streamed from the published view, so whoever may read the view may export it. The file
appears under its name only when it is complete.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import psycopg
from psycopg import sql

from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.install import access
from pganon.publish import history, lifecycle
from pganon.publish.parquet import write_parquet

Connection = psycopg.Connection[Any]
Report = Callable[[int], None]

FORMATS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class Exported:
    """A file that was written; `rows` without the header."""

    file: str
    view: str
    version: int
    rows: int


def export(
    conn: Connection,
    name: str,
    path: Path,
    *,
    view: str | None = None,
    version: int | None = None,
    replace: bool = False,
    report: Report = lambda rows: None,
) -> Exported:
    """Write one view of a release.

    Args:
        path: ends in .csv, .csv.gz or .parquet.
        view: name of a view of the release, or its part ("st" for adult_st); default: the first.
        version: a stored version other than the current one; for the steward.
        report: called with the number of rows written so far (Parquet only).

    Raises:
        UsageError: unknown ending, existing file, no such view.
        LedgerError: unknown_release, unknown_version, not_stored.
        PreconditionError: no_pyarrow, not_in_parquet.
    """
    form = next((f for f in reversed(FORMATS) if path.name.lower().endswith(f)), None)
    if form is None:
        raise UsageError(f"{path.name} must end in {', '.join(FORMATS)}")
    if path.exists() and not replace:
        raise UsageError(f"{path} exists", hint="choose another name, or add --force")
    with lifecycle.translated(), conn.transaction():
        shown, number, select = _source(conn, name, view, version)
        with _temporary(path) as part:
            if form == ".parquet":
                rows = write_parquet(conn, select, part, report)
            else:
                rows = _write_csv(conn, select, part, compressed=form == ".csv.gz")
    return Exported(str(path), str(shown), number, rows)


def _source(
    conn: Connection, name: str, view: str | None, version: int | None
) -> tuple[QualifiedName, int, sql.Composable]:
    """The view to read, its version, and the SELECT that reads it.

    The steward reads the stored tables as the view should; others read the view, if it is one.
    """
    if not lifecycle.is_steward(conn):
        if version is not None:
            raise UsageError("only the steward can export other versions than the current one")
        return _published(conn, name, view)
    known = lifecycle.find(conn, name)
    wanted = version if version is not None else known.release.current
    found = next((v for v in known.versions if v.version == wanted), None)
    if version is None and found is None:
        found = known.versions[0]  # of a release that was dropped: the error says so
    stored = history.check_stored(known, found, version)
    chosen = _choose([v.name for v in stored.views], view)
    text = next(v.select for v in stored.views if v.name == chosen)
    return chosen, stored.version, sql.SQL(text)  # pyright: ignore[reportArgumentType]


def _published(
    conn: Connection, name: str, view: str | None
) -> tuple[QualifiedName, int, sql.Composable]:
    info = lifecycle.show(conn, name)
    if info.version is None:
        raise PreconditionError(f"the release {quote(name)} shows no version")
    chosen = _choose([_qualified(text) for text in info.views], view)
    _hold(conn, chosen)
    if lifecycle.show(conn, name) != info:
        raise PreconditionError(
            f"the release {quote(name)} changed at this moment", hint="try again", code="busy"
        )
    return chosen, info.version, sql.SQL("SELECT * FROM {}").format(chosen.identifier)


def _hold(conn: Connection, view: QualifiedName) -> None:
    """Keep the view as it is until the transaction ends, and see that only its data are read."""
    conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(view.identifier))
    access.check_view(conn, view)


def _qualified(text: str) -> QualifiedName:
    schema, name = parse_name(text)
    return QualifiedName(schema or "", name)


def _choose(there: Sequence[QualifiedName], wanted: str | None) -> QualifiedName:
    if wanted is None:
        return there[0]
    for view in there:
        if wanted in (view.name, str(view)) or view.name == f"{there[0].name}_{wanted}":
            return view
    raise UsageError(
        f"the release has no view {quote(wanted)}; its views: {', '.join(map(str, there))}"
    )


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """A temporary name next to the file; renamed to the file on success, removed otherwise."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _write_csv(conn: Connection, select: sql.Composable, part: Path, *, compressed: bool) -> int:
    copy_out = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, HEADER true, ENCODING 'UTF8')")
    with open(part, "wb") as raw:
        # No file name and time in the gzip header: equal rows make equal files.
        out = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compressed else raw
        with conn.cursor() as cursor:
            with cursor.copy(copy_out.format(select)) as copy:
                for block in copy:
                    cast(BinaryIO, out).write(block)
            rows = cursor.rowcount
        if out is not raw:
            out.close()
    return rows
