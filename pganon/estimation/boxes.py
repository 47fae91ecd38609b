"""Generalized columns: the values that classes may have there, and how often each is had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

import numpy as np
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.estimation.lines import (
    Line,
    Use,
    cut,
    cuts,
    lengths,
    refined,
    single,
    steps,
    typed,
)
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import Published
from pganon.identifiers import quote
from pganon.sqlfiles import Connection
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked, statement, text

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
    value = col(_VALUE, "t")
    if column.form == "range":
        return _fitted_ranges(conn, column, spread, uses, value)
    elements = cast(shown_set(column, value), "text[]")
    rows = _distinct(conn, column, {"elements": elements})
    known: dict[str, int] = {}
    spots: list[_Spots] = []
    for row in rows:
        values = tuple(known.setdefault(item, len(known)) for item in row["elements"] or ())
        ends = (values[0], values[-1]) if values and column.form == "ordinal" else values
        spots.append((values, tuple(dict.fromkeys(ends))))
    if spread == "uniform":
        return Fitted(column, None, tuple(known), (1.0,) * len(known), 1.0)
    boxes = [_box(column, row, own) for row, own in zip(rows, spots, strict=True)]
    shares, lacking = fit(boxes, len(known), ranges=False)
    return Fitted(column, None, tuple(known), tuple(shares), lacking)


def _fitted_ranges(
    conn: Connection, column: Published, spread: Spread, uses: Sequence[Use], value: exp.Expr
) -> Fitted:
    """Values between borders of ranges are counted together, unless there are few."""
    numbered, shown = steps(column), dict[str, exp.Expr]()
    if numbered is not None:
        shown["first"], shown["last"] = numbered.ends(value)
    else:
        texts = {"first": "lower", "last": "upper", "first_in": "lower_inc", "last_in": "upper_inc"}
        shown |= {name: fragment(f"{text}(:v)", v=value) for name, text in texts.items()}
    infinite = "coalesce(lower_inf(:v) or upper_inf(:v), false)"
    shown["unbounded"] = fragment(infinite, v=value)
    rows = _distinct(conn, column, shown)
    having = [row for row in rows if row["shown"]]
    ends = [end for row in having for end in (row["first"], row["last"])]
    unbounded = any(row["unbounded"] for row in rows)
    if any(end is None or not isfinite(end) for end in ends) or (unbounded and column.attained):
        raise EstimateRefused(
            f"{quote(column.name)} has ranges without an end, which are not estimated from yet"
        )
    low, high = min(ends, default=0), max(ends, default=0)
    if numbered is not None and high - low < MAX_VALUES:
        coarse = fine = single(column, numbered, low, high)
    else:
        borders = {row["first"] for row in having} | {row["last"] + 1 for row in having}
        borders = borders if numbered else {*ends} or {0}
        found = [v for v in cuts(conn, column, uses, low, high) if low < v <= high]
        coarse, fine = (cut(column, numbered, points) for points in (borders, borders | {*found}))
    lacking, odds, shares = 0.0 if numbered is None else 1.0, 1.0, lengths(fine)
    if spread != "uniform" and numbered is not None:
        starts = {start: place for place, start in enumerate(coarse.low)}
        lasts = {last: place for place, last in enumerate(coarse.high)}
        boxes: list[Box] = []
        for row in rows:
            own = (starts[row["first"]], lasts[row["last"]]) if row["shown"] else ()
            attained = own if row["first"] != row["last"] else own[:1]
            boxes.append(_box(column, row, (own, attained)))
        shares, lacking = fit(boxes, len(coarse.low), ranges=True)
        shares = refined(shares, coarse, fine)
    elif spread != "uniform":
        shares, lacking = _fit_gaps(column, rows, coarse)
        shares, odds = refined(shares, coarse, fine), lacking / max(1 - lacking, 1e-9)
    return Fitted(column, fine, None, tuple(shares), lacking, odds, unbounded)


def _fit_gaps(column: Published, rows: Rows, line: Line) -> tuple[list[float], float]:
    """Gaps between published ends are even inside; the ends themselves have no share."""
    places = {point: place for place, point in enumerate(line.low[::2])}
    gaps, boxes = max(len(places) - 1, 1), list[Box]()
    for row in rows:
        inside = (places[row["first"]], places[row["last"]] - 1) if row["shown"] else ()
        if not row["shown"] or row["first"] != row["last"]:
            boxes.append(_box(column, row, (inside, inside)))
        elif any(other["missing"] for other in rows):
            # A point has no share of the spread, but says how often values are not missing.
            boxes.append(_box(column, row, ((0, gaps - 1), ())))
    shares, lacking = fit(boxes, gaps, ranges=True)
    by_cell = [0.0] * len(line.low)
    by_cell[1::2] = shares[: len(places) - 1]
    return by_cell, lacking


_Spots = tuple[tuple[int, ...], tuple[int, ...]]
"""Places of values, and of those that somebody has, where the column says so."""


def _box(column: Published, row: Mapping[str, Any], spots: _Spots) -> Box:
    return Box(
        values=spots[0],
        missing=row["missing"],
        attained=spots[1] if column.attained else (),
        missing_attained=row["missing"] and column.null_attained,
        classes=row["classes"],
        records=row["records"],
    )


def _distinct(
    conn: Connection, column: Published, shown: Mapping[str, exp.Expr]
) -> list[dict[str, Any]]:
    """What classes show: columns of `shown`, whether there are values, and missing ones."""
    part = column.part
    # Under names that cannot clash.
    bucketed = query(
        "select :b as bucket, :n as records, :v as value from v",
        {"v": part.view},
        b=col(part.bucket, "v"),
        n=col(part.weight, "v") if part.weight else num(1),
        v=col(column.name, "v"),
    )
    if column.null_column is not None:
        bucketed = bucketed.select(named(col(column.null_column, "v"), _FLAG))
    if column.display is not None:
        bucketed = bucketed.where(fragment(":d = 'g'", d=col(column.display, "v")))
    renamed = replace(column, name=_VALUE, null_column=column.null_column and _FLAG)
    classes = query(
        "select t.bucket as bucket, t.value is not null as shown, :missing as missing,"
        " sum(t.records) as n from t",
        {"t": bucketed},
        missing=missing(renamed, "t"),
    )
    classes = classes.select(*[named(item, name) for name, item in shown.items()])
    classes = classes.group_by(*[num(place) for place in (1, 2, 3, *range(5, 5 + len(shown)))])
    names = ", ".join(f"c.{name}" for name in ("shown", "missing", *shown))
    tree = query(
        f"select count(*)::bigint as classes, sum(c.n)::bigint as records, {names} from c"
        f" group by {names}",
        {"c": classes},
    )
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement(tree)).fetchall()


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
    if fitted.line is not None:
        tree = fitted.line.cells(shares)
    else:
        listed = exp.Array(expressions=[text(item) for item in fitted.elements or ()])
        value = col("el", "u")
        tree = query(
            "select u.place as place, u.el as element, u.w as w, :v as v"
            " from unnest(:el, :w) with ordinality as u(el, w, place)",
            el=cast(listed, "text[]"),
            w=shares,
            v=value if fitted.labels else typed(fitted.column, value),
        )
    nothing = [named(exp.null(), item.alias_or_name) for item in tree.expressions]
    return stacked([tree, query("select 1").select(*nothing, append=False)])


# The spread of a generalized column: how often each value is had, fitted to the release.
#
# Expectation maximization for grouped data (Turnbull, JRSS B 1976): every record that need not have
# an attained value has a value of its box with the probability that the spread gives it there. The
# result is a function of the release alone. So it discloses nothing, and it enters no bounds.

TOLERANCE = 1e-6
ROUNDS = 100

Array = np.ndarray
_Sum = Callable[[Array], Array]


@dataclass(frozen=True)
class Box:
    """Classes that show the same of a column.

    Attributes:
        values: places of its possible values: first and last of a range, or every one of a set;
            empty where all records lack the value.
        missing: whether records may lack the value.
        attained: places of values that at least one record of each class has; each as often as it
            has such values.
        missing_attained: whether at least one record of each class lacks the value.
        classes, records: how many of them, together.
    """

    values: tuple[int, ...]
    missing: bool
    attained: tuple[int, ...]
    missing_attained: bool
    classes: int
    records: int

    @property
    def free(self) -> int:
        """Records that are not needed for the attained values."""
        return self.records - self.classes * (len(self.attained) + self.missing_attained)


def _sums(boxes: Sequence[Box], size: int, *, ranges: bool) -> tuple[_Sum, _Sum]:
    """Functions of shares of values and of numbers of boxes.

    The first has the share of every box's values, but for missing ones; the second, by value, the
    sum of the numbers of the boxes that have it.
    """
    if not ranges:
        box = np.repeat(np.arange(len(boxes)), [len(box.values) for box in boxes])
        value = np.array([value for box in boxes for value in box.values], dtype=np.intp)
        return (
            lambda shares: np.bincount(box, weights=shares[value], minlength=len(boxes)),
            lambda densities: np.bincount(value, weights=densities[box], minlength=size),
        )
    first = np.array([box.values[0] if box.values else 0 for box in boxes])
    end = np.array([box.values[1] + 1 if box.values else 0 for box in boxes])

    def masses(shares: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(shares)])
        return sums[end] - sums[first]

    def spread(densities: Array) -> Array:
        steps = np.zeros(size + 1)
        np.add.at(steps, first, densities)
        np.add.at(steps, end, -densities)
        return np.maximum(np.cumsum(steps)[:-1], 0.0)

    return masses, spread


def fit(boxes: Sequence[Box], size: int, *, ranges: bool) -> tuple[list[float], float]:
    """Shares of `size` values and of missing ones, which add up to 1.

    Args:
        ranges: whether boxes have the first and last of consecutive values.
    """
    if not boxes:
        return [1.0 / size] * size, 0.0
    masses_of, spread = _sums(boxes, size, ranges=ranges)
    missing = np.array([box.missing for box in boxes], dtype=float)
    free = np.array([max(0, box.free) for box in boxes], dtype=float)
    fixed = np.zeros(size)
    for box in boxes:
        for place in box.attained:
            fixed[place] += box.classes
    fixed_missing = float(sum(box.classes for box in boxes if box.missing_attained))
    some_missing = bool(missing.any())
    start = 1.0 / (size + some_missing)
    shares, lacking = np.full(size, start), start if some_missing else 0.0
    for _ in range(ROUNDS):
        masses = masses_of(shares) + missing * lacking
        densities = np.divide(free, masses, out=np.zeros_like(free), where=masses > 0)
        new = fixed + shares * spread(densities)
        new_lacking = fixed_missing + lacking * float(densities @ missing)
        total = float(new.sum()) + new_lacking
        new, new_lacking = new / total, new_lacking / total
        change = float(np.abs(new - shares).sum()) + abs(new_lacking - lacking)
        shares, lacking = new, new_lacking
        if change < TOLERANCE:
            break
    return shares.tolist(), lacking
