"""Generalized columns: the values that classes may have there, and how often each is had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Published
from pganon.estimation.spread import Box, fit
from pganon.estimation.values import typed
from pganon.identifiers import quote
from pganon.sqltools import cast, col, fragment, named, num, query, statement, text

Connection = psycopg.Connection[Any]
Spread = Literal["column", "uniform"]

MAX_VALUES = 100_000
"""Values between the ends of all ranges of a column that are counted one by one."""

_VALUE, _FLAG = "value", "flag"

_FIRST = {
    "whole": "case when lower_inc(:v) then ceil(lower(:v)) else floor(lower(:v)) + 1 end::bigint",
    "date": "(lower(:v) - date '2000-01-01')::bigint",
}
_LAST = {
    "whole": "case when upper_inc(:v) then floor(upper(:v)) else ceil(upper(:v)) - 1 end::bigint",
    "date": "(upper(:v) - 1 - date '2000-01-01')::bigint",
}


@dataclass(frozen=True)
class Fitted:
    """A generalized column with its values and their spread.

    Attributes:
        first: place of the first value: a whole number, or a day since 2000-01-01.
        elements: texts of the values of sets and labels; None of a range.
        shares: by value.
        lacking: share of missing values.
    """

    column: Published
    first: int
    elements: tuple[str, ...] | None
    shares: tuple[float, ...]
    lacking: float

    @property
    def ranges(self) -> bool:
        return self.elements is None

    @property
    def labels(self) -> bool:
        return self.column.form == "label"


def places(column: Published, value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The places of the first and the last value of a range."""
    steps = "whole" if column.whole else "date"
    return fragment(_FIRST[steps], v=value), fragment(_LAST[steps], v=value.copy())


def is_line(column: Published) -> bool:
    """Whether it shows ranges of values that can be counted."""
    return column.form == "range" and (column.whole or column.kind == "date")


def shown_set(column: Published, value: exp.Expr) -> exp.Expr:
    """The values that a set or label shows, as an array."""
    if column.form != "label":
        return value
    return fragment("case when :v is not null then array[:v] end", v=value)


def fitted(conn: Connection, column: Published, spread: Spread) -> Fitted:
    """Read the distinct boxes of a column from its view, and fit the spread."""
    if column.form == "range":
        if not is_line(column):
            raise EstimateRefused(
                f"{quote(column.name)} is {column.kind}, which has no next value: its ranges are"
                " not estimated from yet"
            )
        return _fitted_line(conn, column, spread)
    return _fitted_sets(conn, column, spread)


def _fitted_line(conn: Connection, column: Published, spread: Spread) -> Fitted:
    first, last = places(column, col(_VALUE, "t"))
    rows = _distinct(conn, column, {"first": first, "last": last})
    shown = [row for row in rows if row["shown"]]
    if any(row["first"] is None or row["last"] is None for row in shown):
        raise EstimateRefused(
            f"{quote(column.name)} has ranges without an end, which are not estimated from yet"
        )
    low = min((row["first"] for row in shown), default=0)
    size = max((row["last"] for row in shown), default=low) - low + 1
    if size > MAX_VALUES:
        raise EstimateRefused(
            f"the ranges of {quote(column.name)} span more than {MAX_VALUES} values, which is not"
            " estimated from yet"
        )
    boxes = []
    for row in rows:
        ends = (row["first"] - low, row["last"] - low) if row["shown"] else ()
        boxes.append(_box(column, row, ends, ends))
    return _fit(column, spread, boxes, size, low, None)


def _fitted_sets(conn: Connection, column: Published, spread: Spread) -> Fitted:
    elements = cast(shown_set(column, col(_VALUE, "t")), "text[]")
    rows = _distinct(conn, column, {"elements": elements})
    known: dict[str, int] = {}
    boxes = []
    for row in rows:
        values: tuple[int, ...] = ()
        if row["shown"]:
            values = tuple(known.setdefault(item, len(known)) for item in row["elements"])
        ends = (values[0], values[-1]) if values and column.form == "ordinal" else values
        boxes.append(_box(column, row, values, ends))
    return _fit(column, spread, boxes, len(known), 1, tuple(known))


def _fit(
    column: Published,
    spread: Spread,
    boxes: Sequence[Box],
    size: int,
    first: int,
    elements: tuple[str, ...] | None,
) -> Fitted:
    if spread == "uniform":
        return Fitted(column, first, elements, (1.0,) * size, 1.0)
    shares, lacking = fit(boxes, size, ranges=elements is None)
    return Fitted(column, first, elements, tuple(shares), lacking)


def _box(
    column: Published, row: Mapping[str, Any], values: tuple[int, ...], ends: tuple[int, ...]
) -> Box:
    return Box(
        values=values,
        missing=row["missing"],
        attained=ends if column.attained else (),
        missing_attained=row["missing"] and column.null_attained,
        classes=row["classes"],
        records=row["records"],
    )


def _distinct(
    conn: Connection, column: Published, shown: Mapping[str, exp.Expr]
) -> list[dict[str, Any]]:
    """What classes show: columns of `shown`, whether there are values, and missing ones."""
    renamed = replace(column, name=_VALUE, null_column=column.null_column and _FLAG)
    classes = query(
        "select t.bucket as bucket, :shown as shown, :missing as missing, count(*) as n from t",
        {"t": _bucketed(column)},
        shown=fragment(":v is not null", v=col(_VALUE, "t")),
        missing=missing(renamed, "t"),
    )
    classes = classes.select(*[named(item, name) for name, item in shown.items()])
    classes = classes.group_by(*[num(place) for place in (1, 2, 3, *range(5, 5 + len(shown)))])
    names = [col(name, "c") for name in ("shown", "missing", *shown)]
    tree = query(
        "select count(*)::bigint as classes, sum(c.n)::bigint as records from c", {"c": classes}
    )
    tree = tree.select(*names).group_by(*[name.copy() for name in names])
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement(tree)).fetchall()


def _bucketed(column: Published) -> exp.Select:
    """(bucket, what is published of the column), under names that cannot clash."""
    part = column.part
    tree = query("select :b as bucket from v", {"v": part.view}, b=col(part.bucket, "v"))
    tree = tree.select(named(col(column.name, "v"), _VALUE))
    if column.null_column is not None:
        tree = tree.select(named(col(column.null_column, "v"), _FLAG))
    return tree


def missing(column: Published, table: str) -> exp.Expr:
    """Whether records may lack the value."""
    value = col(column.name, table)
    if column.null_column is None:
        return fragment(":v is null", v=value)
    flag = col(column.null_column, table)
    return fragment(":v is null or coalesce(:f, false)", v=value, f=flag)


def atoms(fitted: Fitted) -> exp.Select:
    """SELECT place, element (of a set), v, w: all values, and a missing one without a place."""
    shares = cast(text("{" + ",".join(map(repr, fitted.shares)) + "}"), "float8[]")
    column = fitted.column
    if fitted.elements is None:
        place = fragment("u.place - 1 + :first", first=num(fitted.first))
        value = place
        if column.kind == "date":
            value = fragment("date '2000-01-01' + (:p)::integer", p=place.copy())
        element = fragment("null::text")
        tree = query("select 1 from unnest(:w) with ordinality as u(w, place)", w=shares)
    else:
        place, value, element = col("place", "u"), col("el", "u"), col("el", "u")
        listed = exp.Array(expressions=[text(item) for item in fitted.elements])
        tree = query(
            "select 1 from unnest(:el, :w) with ordinality as u(el, w, place)",
            el=cast(listed, "text[]"),
            w=shares,
        )
    if not fitted.labels:
        value = typed(column, value)
    tree = tree.select(
        named(place, "place"),
        named(element, "element"),
        named(value, "v"),
        named(col("w", "u"), "w"),
        append=False,
    )
    kind = "text" if fitted.labels else column.kind
    lacking = query(
        "select null::bigint as place, null::text as element, :v as v, :w as w",
        v=cast(exp.null(), kind),
        w=cast(exp.Literal.number(repr(fitted.lacking)), "float8"),
    )
    both = exp.union(tree, lacking, distinct=False)
    return query("select a.* from a", {"a": both})  # pyright: ignore[reportArgumentType]
