"""A published release as a file: CSV, gzipped CSV or Parquet.

Rows are streamed from the published view, so whoever may read the view may export it. The file
appears under its name only when it is complete, and only its owner may read it unless everybody may
read the view. What the steward exports is in the ledger before the file is there; others may not
write to it.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import psycopg
from psycopg import sql

from pganon import files
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import QualifiedName, quote
from pganon.install import access
from pganon.ledger import repository as ledger
from pganon.publish import listing, sessions
from pganon.sqlfiles import Connection, ask

Report = Callable[[int], None]

FORMATS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        rows: without the header.
        sha256: digest (hex) of the file.
        not_decimal: columns of numeric that Parquet holds as `numeric` says, not as decimals.
        recorded: whether the ledger has a row of it.
    """

    file: str
    view: str
    version: int
    rows: int
    sha256: str
    not_decimal: Sequence[str] = ()
    recorded: bool = False


@dataclass(frozen=True)
class _Source:
    """A view to read, the version it is of, the SELECT that reads it.

    Attributes:
        run_id: of the run that made the version; None for who may not write to the ledger.
        shown: whether the view shows that version now.
    """

    view: QualifiedName
    version: int
    select: sql.Composable
    run_id: int | None = None
    shown: bool = True


def export(
    conn: Connection,
    name: str,
    path: Path,
    *,
    view: str | None = None,
    version: int | None = None,
    replace: bool = False,
    safe_csv: bool = False,
    numeric: Numeric | None = None,
    report: Report = lambda rows: None,
) -> Exported:
    """Write one view of a release.

    Args:
        path: ends in .csv, .csv.gz or .parquet.
        view: name of a view of the release, or its part ("st" for adult_st); default: the first.
        version: a stored version other than the current one; for the steward.
        safe_csv: write no cell that a spreadsheet takes for a formula (`_SAFE`).
        numeric: what numbers become in Parquet that no decimal128 holds; default: text.
        report: called with the number of rows written so far (Parquet only).

    Raises:
        UsageError: unknown ending, existing file, no such view; `safe_csv` in Parquet, `numeric` in
            CSV.
        LedgerError: unknown_release, unknown_version, not_stored.
        PreconditionError: no_pyarrow, not_in_parquet.
    """
    form = next((f for f in reversed(FORMATS) if path.name.lower().endswith(f)), None)
    if form is None:
        raise UsageError(f"{path.name} must end in {', '.join(FORMATS)}")
    if safe_csv and form == ".parquet":
        raise UsageError("--safe-csv is about CSV", hint="cells of Parquet are never formulas")
    if numeric and form != ".parquet":
        raise UsageError("--numeric is about Parquet", hint="CSV holds every number as it is")
    if path.exists() and not replace:
        raise UsageError(f"{path} exists", hint="choose another name, or add --force")
    # The file appears after the commit: no file without its row.
    with sessions.translated(), ExitStack() as last, conn.transaction():
        source = _source(conn, name, view, version)
        private = not (source.shown and _is_open(conn, source.view))
        select = _safe(conn, source.select) if safe_csv else source.select
        file = last.enter_context(files.writing(path, private=private))
        if form == ".parquet":
            written = write_parquet(conn, select, file, report, numeric or "text")
        else:
            written = Written(_write_csv(conn, select, file, compressed=form == ".csv.gz"))
        file.seek(0)
        made = Exported(
            file=str(path),
            view=str(source.view),
            version=source.version,
            rows=written.rows,
            sha256=hashlib.file_digest(cast(BufferedRandom, file), "sha256").hexdigest(),
            not_decimal=written.not_decimal,
        )
        recorded = _record(conn, name, source, made)
    return dataclasses.replace(made, recorded=recorded)


def _record(conn: Connection, name: str, source: _Source, made: Exported) -> bool:
    """Write the row of the ledger; False where this role or this server cannot."""
    if source.run_id is None:
        return False
    if ask(conn, "lifecycle", "writable").fetchone() != (True,):
        return False
    # Names of files are bytes, which JSON need not have a text for.
    file = Path(made.file).name.encode(errors="replace").decode()
    ledger.append(
        conn,
        "exported",
        run_id=source.run_id,
        release=name,
        version=made.version,
        details={"file": file, "view": made.view, "rows": made.rows, "sha256": made.sha256},
    )
    return True


def _source(conn: Connection, name: str, view: str | None, version: int | None) -> _Source:
    """The view or tables to read.

    The steward reads the stored tables as the view should; others read the view, if it is one.
    """
    if not sessions.is_steward(conn):
        if version is not None:
            raise UsageError("only the steward can export other versions than the current one")
        return _published(conn, name, view)
    recorded = listing.find(conn, name)
    newest = recorded.versions[0].version  # of a release that was dropped: the error says so
    stored = recorded.stored(newest if version is None and not recorded.current else version)
    chosen = _choose([v.name for v in stored.views], view)
    text = next(v.select for v in stored.views if v.name == chosen)
    select = sql.SQL(text)  # pyright: ignore[reportArgumentType]
    return _Source(
        chosen, stored.version, select, stored.run_id, stored.version == recorded.release.current
    )


def _published(conn: Connection, name: str, view: str | None) -> _Source:
    info = listing.show(conn, name)
    if info.version is None:
        raise PreconditionError(f"the release {quote(name)} shows no version")
    chosen = _choose([QualifiedName.of(text) for text in info.views], view)
    _hold(conn, chosen)
    if listing.show(conn, name) != info:
        raise PreconditionError(
            f"the release {quote(name)} changed at this moment",
            hint="try again",
            code=ErrorCode.BUSY,
        )
    return _Source(chosen, info.version, sql.SQL("SELECT * FROM {}").format(chosen.identifier))


def _hold(conn: Connection, view: QualifiedName) -> None:
    """Keep the view as it is until the transaction ends, and see that only its data are read."""
    conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(view.identifier))
    access.check_view(conn, view)


def _choose(views: Sequence[QualifiedName], wanted: str | None) -> QualifiedName:
    if wanted is None:
        return views[0]
    for view in views:
        if wanted in (view.name, str(view)) or view.name == f"{views[0].name}_{wanted}":
            return view
    raise UsageError(
        f"the release has no view {quote(wanted)}; its views: {', '.join(map(str, views))}"
    )


def _is_open(conn: Connection, view: QualifiedName) -> bool:
    """Whether everybody who may connect may read it."""
    row = ask(conn, "lifecycle", "open", schema=view.schema, name=view.name).fetchone()
    return bool(row and row[0])


# Values are shown by the output functions of their types, as COPY does: a cast can be planted.
_SAFE = """
CASE WHEN num_nulls({0}) = 0 THEN
    CASE WHEN format('%s', {0}) COLLATE "C" ~ {1} AND format('%s', {0}) COLLATE "C" !~ {2}
        THEN '''' ELSE '' END || regexp_replace(format('%s', {0}) COLLATE "C", {3}, {4}, 'g')
END AS {5}
"""
_FORMULA = "^[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]"
"""The beginning of a formula in spreadsheets, in half and full width."""
_SEPARATED = '([;|\t\r\n]"*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])'
"""Where one begins in a cell that a spreadsheet cuts by another separator than the comma."""
_APART = r"\1'"
_NUMBER = r"^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$"


def _safe(conn: Connection, select: sql.Composable) -> sql.Composed:
    """The same rows and header as texts, with an apostrophe before what looks like a formula."""
    described = conn.execute(sql.SQL("SELECT * FROM ({}) AS s LIMIT 0").format(select)).description
    columns = [
        sql.SQL(_SAFE).format(
            sql.Identifier("s", column.name),
            sql.Literal(_FORMULA),
            sql.Literal(_NUMBER),
            sql.Literal(_SEPARATED),
            sql.Literal(_APART),
            sql.Identifier(
                ("'" if re.search(_FORMULA, column.name) else "")
                + re.sub(_SEPARATED, _APART, column.name)
            ),
        )
        for column in described or ()
    ]
    return sql.SQL("SELECT {} FROM ({}) AS s").format(sql.SQL(", ").join(columns), select)


def _write_csv(
    conn: Connection, select: sql.Composable, file: BinaryIO, *, compressed: bool
) -> int:
    copy_out = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, HEADER true, ENCODING 'UTF8')")
    # No file name and time in the gzip header: equal rows make equal files.
    out = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if compressed else file
    with conn.cursor() as cursor:
        with cursor.copy(copy_out.format(select)) as copy:
            for block in copy:
                cast(BinaryIO, out).write(block)
        rows = cursor.rowcount
    if out is not file:
        out.close()
    return rows


# -- Parquet --------------------------------------------------------------------------------------


Numeric = Literal["text", "float64"]
"""The type of a numeric that no decimal128 holds."""

_BATCH = 20_000

# PostgreSQL's built-in type numbers never change.
_PLAIN = {
    16: "bool_",
    21: "int16",
    23: "int32",
    20: "int64",
    700: "float32",
    701: "float64",
    1082: "date32",
}
_LISTS = {1000: 16, 1005: 21, 1007: 23, 1016: 20, 1021: 700, 1022: 701, 1182: 1082}
_TIMESTAMP, _TIMESTAMPTZ, _NUMERIC, _NUMERIC_ARRAY = 1114, 1184, 1700, 1231
_MOST_DIGITS = 38
_FIRST_OF_USERS = 16384

# The owner of a type can plant casts on it, so its values are shown by their output function.
_RENDERED = "CASE WHEN num_nulls({0}) = 0 THEN format('%s', {0}) END"
_RENDERED_ARRAY = (
    "CASE WHEN num_nulls({0}) = 0 THEN ARRAY(SELECT CASE WHEN num_nulls(e) = 0"
    " THEN format('%s', e) END FROM unnest({0}) AS u(e)) END"
)


@dataclass(frozen=True)
class Written:
    """The result of writing a file.

    Attributes:
        not_decimal: columns of numeric that no decimal128 holds.
    """

    rows: int
    not_decimal: Sequence[str] = ()


@dataclass(frozen=True)
class _Field:
    """A column of the file.

    Attributes:
        type: an Arrow type.
        template: SQL of the value to write, with {} for the column.
        is_decimal: None where the column is no numeric.
    """

    name: str
    type: Any
    template: str = "{}"
    is_decimal: bool | None = None


def write_parquet(
    conn: Connection,
    select: sql.Composable,
    file: BinaryIO,
    report: Callable[[int], None],
    numeric: Numeric = "text",
) -> Written:
    """Write the rows of a SELECT, in batches through a cursor in the server.

    Types: booleans, integers, floats, dates and timestamps (microseconds; UTC with time zone) as
    they are; numeric(p, s) as decimal128(p, s), numeric without a declared precision as
    decimal128(38, s) with the scale s of the data; arrays as lists; everything else, such as
    ranges, as the text that PostgreSQL shows. A numeric that no decimal128 holds (more than 38
    digits, NaN, infinite) is text or float64.

    Args:
        numeric: what a numeric becomes that no decimal128 holds.

    Raises:
        PreconditionError: no_pyarrow, not_in_parquet.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise PreconditionError(
            "Parquet needs the package pyarrow, which is not installed",
            hint="pip install 'pganon[parquet]', or export to .csv",
            code=ErrorCode.NO_PYARROW,
        ) from None
    fields = _fields(conn, select, arrow, numeric)
    schema = arrow.schema([(field.name, field.type) for field in fields])
    rows = 0
    try:
        with conn.transaction(), conn.cursor(name="pganon_export") as cursor:
            cursor.execute(_cast(select, fields))
            with parquet.ParquetWriter(file, schema) as writer:
                while batch := cursor.fetchmany(_BATCH):
                    columns = zip(*batch, strict=True)
                    arrays = [
                        arrow.array(list(column), field.type)
                        for column, field in zip(columns, fields, strict=True)
                    ]
                    writer.write_batch(arrow.record_batch(arrays, schema=schema))
                    rows += len(batch)
                    report(rows)
    except (psycopg.DataError, arrow.ArrowException) as error:
        beyond = isinstance(error, psycopg.errors.NumericValueOutOfRange) and numeric == "float64"
        if isinstance(error, psycopg.Error) and error.sqlstate is not None and not beyond:
            raise
        # The text of either error would quote the value.
        what = "a number beyond float64" if beyond else "an infinite date"
        raise PreconditionError(
            f"the release holds a value that Parquet cannot hold, such as {what}",
            hint="leave --numeric float64 out" if beyond else "export to .csv",
            code=ErrorCode.NOT_IN_PARQUET,
        ) from None
    return Written(rows, [field.name for field in fields if field.is_decimal is False])


def _fields(conn: Connection, select: sql.Composable, arrow: Any, numeric: Numeric) -> list[_Field]:
    cursor = conn.execute(sql.SQL("SELECT * FROM ({}) AS s LIMIT 0").format(select))
    described = cursor.description or []
    oids = [column.type_code for column in described]
    rows = ask(conn, "lifecycle", "arrays", oids=oids).fetchall()
    arrays = {row[0] for row in rows}
    decimals = _decimals(conn, select, described)
    return [
        _numeric_field(column, decimals[column.name], numeric, arrow)
        if column.name in decimals
        else _field(column, column.type_code in arrays, arrow)
        for column in described
    ]


def _field(column: psycopg.Column, is_array: bool, arrow: Any) -> _Field:
    oid = column.type_code
    if oid in _PLAIN:
        return _Field(column.name, getattr(arrow, _PLAIN[oid])())
    if oid in _LISTS:
        return _Field(column.name, arrow.list_(getattr(arrow, _PLAIN[_LISTS[oid]])()))
    if oid == _TIMESTAMP:
        return _Field(column.name, arrow.timestamp("us"))
    if oid == _TIMESTAMPTZ:
        return _Field(column.name, arrow.timestamp("us", tz="UTC"))
    text = arrow.list_(arrow.string()) if is_array else arrow.string()
    if oid >= _FIRST_OF_USERS:
        return _Field(column.name, text, _RENDERED_ARRAY if is_array else _RENDERED)
    return _Field(column.name, text, "{}::text[]" if is_array else "{}::text")


_Decimal = tuple[int, int]
"""Precision and scale."""


def _numeric_field(
    column: psycopg.Column, decimal: _Decimal | None, numeric: Numeric, arrow: Any
) -> _Field:
    is_array = column.type_code == _NUMERIC_ARRAY
    if decimal is not None:
        value, template = arrow.decimal128(*decimal), "{}"
    elif numeric == "float64":
        value, template = arrow.float64(), "{}::float8[]" if is_array else "{}::float8"
    else:
        value, template = arrow.string(), "{}::text[]" if is_array else "{}::text"
    kind = arrow.list_(value) if is_array else value
    return _Field(column.name, kind, template, is_decimal=decimal is not None)


_COLUMNS_AT_ONCE = 500
"""Columns of a query, with three values each: a target list of PostgreSQL has at most 1,664."""

_SIZE = "max({0}.scale), max({0}.whole), coalesce(sum({0}.outside), 0)"

# NaN and infinities have no scale.
_SCALAR = """
SELECT scale(x.v), CASE WHEN scale(x.v) IS NOT NULL THEN char_length(trunc(abs(x.v))::text) END,
    CASE WHEN x.v IS NOT NULL AND scale(x.v) IS NULL THEN 1 END
FROM (SELECT {}) AS x(v)
"""
_ELEMENTS = """
SELECT max(scale(x.v)),
    max(char_length(trunc(abs(x.v))::text)) FILTER (WHERE scale(x.v) IS NOT NULL),
    count(x.v) FILTER (WHERE scale(x.v) IS NULL)
FROM unnest({}) AS x(v)
"""


def _decimals(
    conn: Connection, select: sql.Composable, described: Sequence[psycopg.Column]
) -> dict[str, _Decimal | None]:
    """The decimal128 that holds all values of each numeric column; None: no decimal128 does.

    From one scan, unless there are more than _COLUMNS_AT_ONCE such columns.
    """
    numeric = [c for c in described if c.type_code in (_NUMERIC, _NUMERIC_ARRAY)]
    decimals: dict[str, _Decimal | None] = {}
    for start in range(0, len(numeric), _COLUMNS_AT_ONCE):
        some = numeric[start : start + _COLUMNS_AT_ONCE]
        row = conn.execute(_measured(select, some)).fetchone()
        assert row is not None
        for i, column in enumerate(some):
            decimals[column.name] = _decimal(column, *row[3 * i : 3 * i + 3])
    return decimals


def _measured(select: sql.Composable, columns: Sequence[psycopg.Column]) -> sql.Composed:
    sizes: list[sql.Composable] = []
    joined: list[sql.Composable] = []
    for i, column in enumerate(columns):
        alias = sql.Identifier(f"d{i}")
        values = _ELEMENTS if column.type_code == _NUMERIC_ARRAY else _SCALAR
        sizes.append(sql.SQL(_SIZE).format(alias))
        joined.append(
            sql.SQL(" CROSS JOIN LATERAL ({}) AS {}(scale, whole, outside)").format(
                sql.SQL(values).format(sql.Identifier("s", column.name)), alias
            )
        )
    return sql.SQL("SELECT {} FROM ({}) AS s{}").format(
        sql.SQL(", ").join(sizes), select, sql.SQL("").join(joined)
    )


def _decimal(
    column: psycopg.Column, scale: int | None, whole: int | None, outside: int
) -> _Decimal | None:
    if outside:
        return None
    given, decimals = column.precision, column.scale
    if given and decimals is not None and 0 <= decimals <= given <= _MOST_DIGITS:
        return given, decimals
    if (scale or 0) + (whole or 0) > _MOST_DIGITS:
        return None
    return _MOST_DIGITS, scale or 0


def _cast(select: sql.Composable, fields: Sequence[_Field]) -> sql.Composed:
    columns = [
        sql.SQL(field.template).format(sql.Identifier("s", field.name))  # pyright: ignore[reportArgumentType]
        for field in fields
    ]
    return sql.SQL("SELECT {} FROM ({}) AS s").format(sql.SQL(", ").join(columns), select)
