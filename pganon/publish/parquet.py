"""Rows of a query as a Parquet file, written in batches through a cursor in the server.

Types: booleans, integers, floats, dates and timestamps (microseconds; UTC with time zone) as
they are; numeric(p, s) up to 38 digits as decimal; arrays as lists; everything else, ranges and
numbers without a declared precision among it, as the text that PostgreSQL shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError

Connection = psycopg.Connection[Any]

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
_TIMESTAMP, _TIMESTAMPTZ, _NUMERIC = 1114, 1184, 1700
_MOST_DIGITS = 38
_FIRST_OF_USERS = 16384

# The owner of a type can plant casts on it, so its values are shown by their output function.
_RENDERED = "CASE WHEN num_nulls({0}) = 0 THEN format('%s', {0}) END"
_RENDERED_ARRAY = (
    "CASE WHEN num_nulls({0}) = 0 THEN ARRAY(SELECT CASE WHEN num_nulls(e) = 0"
    " THEN format('%s', e) END FROM unnest({0}) AS u(e)) END"
)


def write_parquet(
    conn: Connection, select: sql.Composable, file: BinaryIO, report: Callable[[int], None]
) -> int:
    """Write the rows of a SELECT; gives their number."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise PreconditionError(
            "Parquet needs the package pyarrow, which is not installed",
            hint="pip install 'pganon[parquet]', or export to .csv",
            code=ErrorCode.NO_PYARROW,
        ) from None
    names, types, casts = _shape(conn, select, arrow)
    schema = arrow.schema(list(zip(names, types, strict=True)))
    rows = 0
    try:
        with conn.transaction(), conn.cursor(name="pganon_export") as cursor:
            cursor.execute(_cast(select, names, casts))
            with parquet.ParquetWriter(file, schema) as writer:
                while batch := cursor.fetchmany(_BATCH):
                    columns = zip(*batch, strict=True)
                    arrays = [
                        arrow.array(list(column), kind)
                        for column, kind in zip(columns, types, strict=True)
                    ]
                    writer.write_batch(arrow.record_batch(arrays, schema=schema))
                    rows += len(batch)
                    report(rows)
    except (psycopg.DataError, arrow.ArrowException) as error:
        if isinstance(error, psycopg.Error) and error.sqlstate is not None:
            raise
        # The text of either error would quote the value.
        raise PreconditionError(
            "the release holds a value that Parquet cannot hold, such as an infinite date",
            hint="export to .csv",
            code=ErrorCode.NOT_IN_PARQUET,
        ) from None
    return rows


def _shape(
    conn: Connection, select: sql.Composable, arrow: Any
) -> tuple[list[str], list[Any], list[str | None]]:
    """Names, Arrow types, and the template of the text (None: as it is) of the columns."""
    cursor = conn.execute(sql.SQL("SELECT * FROM ({}) AS s LIMIT 0").format(select))
    described = cursor.description or []
    oids = [column.type_code for column in described]
    rows = conn.execute(sqlfiles.query("lifecycle", "arrays"), {"oids": oids}).fetchall()
    arrays = {row[0] for row in rows}
    shapes = [_type(column, column.type_code in arrays, arrow) for column in described]
    names = [column.name for column in described]
    return names, [kind for kind, _ in shapes], [target for _, target in shapes]


def _type(column: psycopg.Column, is_array: bool, arrow: Any) -> tuple[Any, str | None]:
    oid = column.type_code
    if oid in _PLAIN:
        return getattr(arrow, _PLAIN[oid])(), None
    if oid in _LISTS:
        return arrow.list_(getattr(arrow, _PLAIN[_LISTS[oid]])()), None
    if oid == _TIMESTAMP:
        return arrow.timestamp("us"), None
    if oid == _TIMESTAMPTZ:
        return arrow.timestamp("us", tz="UTC"), None
    digits, scale = column.precision, column.scale
    if oid == _NUMERIC and digits and scale is not None and 0 <= scale <= digits <= _MOST_DIGITS:
        return arrow.decimal128(digits, scale), None
    if oid >= _FIRST_OF_USERS:
        as_text = _RENDERED_ARRAY if is_array else _RENDERED
    else:
        as_text = "{}::text[]" if is_array else "{}::text"
    return arrow.list_(arrow.string()) if is_array else arrow.string(), as_text


def _cast(
    select: sql.Composable, names: Sequence[str], casts: Sequence[str | None]
) -> sql.Composed:
    columns = [
        sql.SQL(target or "{}").format(sql.Identifier("s", name))  # pyright: ignore[reportArgumentType]
        for name, target in zip(names, casts, strict=True)
    ]
    return sql.SQL("SELECT {} FROM ({}) AS s").format(sql.SQL(", ").join(columns), select)
