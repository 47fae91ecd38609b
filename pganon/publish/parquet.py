"""Rows of a query as a Parquet file, written in batches through a cursor in the server.

Types: booleans, integers, floats, dates and timestamps (microseconds; UTC with time zone) as
they are; numeric(p, s) as decimal128(p, s), numeric without a declared precision as
decimal128(38, s) with the scale s of the data; arrays as lists; everything else, such as ranges, as
the text that PostgreSQL shows. A numeric that no decimal128 holds (more than 38 digits, NaN,
infinite) is text or float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

import psycopg
from psycopg import sql

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.sqlfiles import Connection, ask

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
    """Write the rows of a SELECT.

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
