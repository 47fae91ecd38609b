"""Generalized columns: the values that classes may have there, and how often each is had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.estimation.cuts import Use, cuts
from pganon.estimation.lines import Line, Number, Steps, cut, lengths, refined, single, steps
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Published
from pganon.estimation.spread import Box, fit
from pganon.estimation.values import typed
from pganon.identifiers import quote
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, statement, text

Connection = psycopg.Connection[Any]
Spread = Literal["column", "uniform"]
Rows = list[dict[str, Any]]

MAX_VALUES = 100_000
"""Values between the ends of all ranges of a column that are counted one by one."""

_VALUE, _FLAG = "value", "flag"


@dataclass(frozen=True)
class Fitted:
    """A generalized column with its values and their spread.

    Attributes:
        line: the cells of ranges; None of sets and labels.
        elements: texts of the values of sets and labels; None of a range.
        shares: by cell or value.
        lacking: share of missing values.
        odds: that a value is missing, where the only other one is a point that has no share.
        unbounded: whether a range has no end.
    """

    column: Published
    line: Line | None
    elements: tuple[str, ...] | None
    shares: tuple[float, ...]
    lacking: float
    odds: float = 1.0
    unbounded: bool = False

    @property
    def labels(self) -> bool:
        return self.column.form == "label"

    @property
    def endless(self) -> bool:
        """Whether ranges have any number of values."""
        return self.line is not None and self.line.dense


def shown_set(column: Published, value: exp.Expr) -> exp.Expr:
    """The values that a set or label shows, as an array; NULL without any but a missing one."""
    if column.labels is not None:
        below = query(
            "select array_agg(l.value order by l.value) from l"
            " where l.column_name = :name and l.label = :v",
            {"l": column.labels},
            name=text(column.name),
            v=value,
        )
        return scalar(below)
    if column.form == "label":
        return fragment("case when :v is not null then array[:v] end", v=value)
    if column.null_column is None:
        return fragment("nullif(array_remove(:v, null), '{}')", v=value)
    return value


def fitted(conn: Connection, column: Published, spread: Spread, uses: Sequence[Use] = ()) -> Fitted:
    """Read the distinct boxes of a column from its view, and fit the spread.

    Args:
        uses: what a query has of the column.
    """
    if column.form != "range":
        return _fitted_sets(conn, column, spread)
    numbered = steps(column)
    shown = _ends(numbered, col(_VALUE, "t"))
    rows = _distinct(conn, column, shown)
    ends = [end for row in rows if row["shown"] for end in (row["first"], row["last"])]
    unbounded = any(row["unbounded"] for row in rows)
    if any(end is None or not isfinite(end) for end in ends) or (unbounded and column.attained):
        raise EstimateRefused(
            f"{quote(column.name)} has ranges without an end, which are not estimated from yet"
        )
    low, high = min(ends, default=0), max(ends, default=0)
    if numbered is None:
        return _dense(
            column, spread, rows, ends, _within(cuts(conn, column, uses, low, high), low, high)
        )
    if high - low < MAX_VALUES:
        line = _single(column, spread, rows, single(column, numbered, low, high))
    else:
        found = _within(cuts(conn, column, uses, low, high), low, high)
        line = _cut(column, spread, rows, numbered, found)
    return replace(line, unbounded=unbounded)


def _ends(numbered: Steps | None, value: exp.Expr) -> dict[str, exp.Expr]:
    """Columns `first` and `last` of distinct boxes; of dense numbers whether they are in it."""
    unbounded = fragment("coalesce(lower_inf(:v) or upper_inf(:v), false)", v=value)
    if numbered is not None:
        first, last = numbered.ends(value)
        return {"first": first, "last": last, "unbounded": unbounded}
    texts = {"first": "lower", "last": "upper", "first_in": "lower_inc", "last_in": "upper_inc"}
    found = {name: fragment(f"{text}(:v)", v=value.copy()) for name, text in texts.items()}
    return {**found, "unbounded": unbounded}


def _within(found: Sequence[Number], low: Number, high: Number) -> list[Number]:
    return [value for value in found if low < value <= high]


def _single(column: Published, spread: Spread, rows: Rows, line: Line) -> Fitted:
    """Every value is counted."""
    low = line.low[0]
    boxes = []
    for row in rows:
        ends = (row["first"] - low, row["last"] - low) if row["shown"] else ()
        boxes.append(_box(column, row, ends, tuple(dict.fromkeys(ends))))
    return _fit(column, spread, boxes, len(line.low), line, None)


def _cut(
    column: Published, spread: Spread, rows: Rows, numbered: Steps, found: Sequence[Number]
) -> Fitted:
    """Values between borders are counted together."""
    shown = [row for row in rows if row["shown"]]
    borders = {row["first"] for row in shown} | {row["last"] + 1 for row in shown}
    coarse, fine = (cut(column, numbered, b) for b in (borders, borders | set(found)))
    if spread == "uniform":
        return Fitted(column, fine, None, tuple(lengths(fine)), 1.0)
    starts = {start: place for place, start in enumerate(coarse.low)}
    lasts = {last: place for place, last in enumerate(coarse.high)}
    boxes = []
    for row in rows:
        ends = (starts[row["first"]], lasts[row["last"]]) if row["shown"] else ()
        attained = ends if row["shown"] and row["first"] != row["last"] else ends[:1]
        boxes.append(_box(column, row, ends, attained))
    shares, lacking = fit(boxes, len(coarse.low), ranges=True)
    return Fitted(column, fine, None, tuple(refined(shares, coarse, fine)), lacking)


def _dense(
    column: Published, spread: Spread, rows: Rows, ends: Sequence[Number], found: Sequence[Number]
) -> Fitted:
    """Gaps between published ends are even inside; the ends themselves have no share."""
    points = sorted({*ends} or {0})
    coarse, fine = cut(column, None, points), cut(column, None, [*points, *found])
    if spread == "uniform":
        return Fitted(column, fine, None, tuple(lengths(fine)), 0.0)
    gaps = max(len(points) - 1, 1)
    places = {point: place for place, point in enumerate(points)}
    some_missing = any(row["missing"] for row in rows)
    boxes = []
    for row in rows:
        if not row["shown"]:
            boxes.append(_box(column, row, (), ()))
        elif row["first"] != row["last"]:
            inside = (places[row["first"]], places[row["last"]] - 1)
            boxes.append(_box(column, row, inside, inside))
        elif some_missing:
            # A point has no share of the spread, but says how often values are not missing.
            boxes.append(_box(column, row, (0, gaps - 1), ()))
    shares, lacking = fit(boxes, gaps, ranges=True)
    by_cell = [0.0] * len(coarse.low)
    by_cell[1::2] = shares[: len(points) - 1]
    odds = lacking / max(1 - lacking, 1e-9)
    return Fitted(column, fine, None, tuple(refined(by_cell, coarse, fine)), lacking, odds)


def _fitted_sets(conn: Connection, column: Published, spread: Spread) -> Fitted:
    elements = cast(shown_set(column, col(_VALUE, "t")), "text[]")
    rows = _distinct(conn, column, {"elements": elements})
    known: dict[str, int] = {}
    boxes = []
    for row in rows:
        values: tuple[int, ...] = ()
        if row["elements"]:
            values = tuple(known.setdefault(item, len(known)) for item in row["elements"])
        ends = (values[0], values[-1]) if values and column.form == "ordinal" else values
        boxes.append(_box(column, row, values, tuple(dict.fromkeys(ends))))
    return _fit(column, spread, boxes, len(known), None, tuple(known))


def _fit(
    column: Published,
    spread: Spread,
    boxes: Sequence[Box],
    size: int,
    line: Line | None,
    elements: tuple[str, ...] | None,
) -> Fitted:
    if spread == "uniform":
        return Fitted(column, line, elements, (1.0,) * size, 1.0)
    shares, lacking = fit(boxes, size, ranges=elements is None)
    return Fitted(column, line, elements, tuple(shares), lacking)


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
        "select t.bucket as bucket, :shown as shown, :missing as missing,"
        " sum(t.records) as n from t",
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
    """(bucket, records, what is published of the column), under names that cannot clash."""
    part = column.part
    records = col(part.weight, "v") if part.weight else num(1)
    tree = query(
        "select :b as bucket, :n as records from v",
        {"v": part.view},
        b=col(part.bucket, "v"),
        n=records,
    )
    tree = tree.select(named(col(column.name, "v"), _VALUE))
    if column.null_column is not None:
        tree = tree.select(named(col(column.null_column, "v"), _FLAG))
    if column.display is not None:
        tree = tree.where(fragment(":d = 'g'", d=col(column.display, "v")))
    return tree


def missing(column: Published, table: str) -> exp.Expr:
    """Whether records may lack the value."""
    value = col(column.name, table)
    if column.null_column is None:
        listed = column.form in ("set", "ordinal")
        found = ":v is null or array_position(:v, null) is not null" if listed else ":v is null"
        return fragment(found, v=value)
    flag = col(column.null_column, table)
    return fragment(":v is null or coalesce(:f, false)", v=value, f=flag)


def atoms(fitted: Fitted) -> exp.Select:
    """SELECT place, v, w, ...: all values or cells, and a missing value without a place."""
    shares = cast(text("{" + ",".join(map(repr, fitted.shares)) + "}"), "float8[]")
    tree = fitted.line.cells(shares) if fitted.line is not None else _elements(fitted, shares)
    nothing = [named(exp.null(), item.alias_or_name) for item in tree.expressions]
    lacking = query("select 1").select(*nothing, append=False)
    both = exp.union(tree, lacking, distinct=False)
    return query("select a.* from a", {"a": both})  # pyright: ignore[reportArgumentType]


def _elements(fitted: Fitted, shares: exp.Expr) -> exp.Select:
    """SELECT place, element, v, w."""
    assert fitted.elements is not None
    listed = exp.Array(expressions=[text(item) for item in fitted.elements])
    value = col("el", "u")
    tree = query(
        "select u.place as place, u.el as element, u.w as w, :v as v"
        " from unnest(:el, :w) with ordinality as u(el, w, place)",
        el=cast(listed, "text[]"),
        w=shares,
        v=value if fitted.labels else typed(fitted.column, value),
    )
    return tree
