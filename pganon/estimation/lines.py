"""Lines: the values of a column that shows ranges, in order, in cells.

A cell has values that nothing in a query and no published range tells apart. Where there are few
values every one is a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import FLOATS, Published
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.sqlfiles import Connection
from pganon.sqltools import cast, col, fragment, named, num, query, statement, text

Number = int | Decimal


@dataclass(frozen=True)
class Steps:
    """How the values of a type that has next values are numbered.

    Attributes:
        first, last: the numbers of the first and the last value of a range `:v`.
        value: the value with the number `:p`.
        number: the number of a value `:v`; a fraction if it lies between two.
        least, most: the numbers of the first and the last value that there is, which stand for
            the ends of a range that has none; None if they are too large to count up to.
    """

    first: str
    last: str
    value: str
    number: str
    least: int | None = None
    most: int | None = None

    def ends(self, value: exp.Expr) -> list[exp.Expr]:
        """The numbers of the first and the last value of a range; NULL if there is none."""
        found: list[exp.Expr] = []
        for end, beyond in ((self.first, self.least), (self.last, self.most)):
            number = fragment(end, v=value.copy())
            if beyond is not None:
                number = fragment(
                    "case when :v is not null then coalesce(:n, :beyond) end",
                    v=value.copy(),
                    n=number,
                    beyond=num(beyond),
                )
            found.append(number)
        return found


_TIMES = "(extract(epoch from {}(:v)) * 1000000)::bigint"
_AT = (
    "(timestamp '1970-01-01' + make_interval(days => (:p / 86400000000)::integer)"
    " + :p % 86400000000 * interval '1 microsecond')"
)


NUMERIC = "(:v + 0.0)::text::numeric"
"""A constant as numeric, with all digits of a float: `real` is added as `double precision`, as it
is compared with other numbers."""


def _scaled(scale: int, *ends: int) -> Steps:
    unit, step = f"{Decimal(10) ** scale:f}", f"{Decimal(10) ** -scale:f}"
    return Steps(
        f"case when lower_inc(:v) then ceil(lower(:v) * {unit})"
        f" else floor(lower(:v) * {unit}) + 1 end::bigint",
        f"case when upper_inc(:v) then floor(upper(:v) * {unit})"
        f" else ceil(upper(:v) * {unit}) - 1 end::bigint",
        f":p * {step}" if scale else ":p",
        f"{NUMERIC} * {unit}",
        *ends,
    )


_DAYS = Steps(
    "lower(:v) - date '1970-01-01'",
    "upper(:v) - 1 - date '1970-01-01'",
    "date '1970-01-01' + (:p)::integer",
    "(:v)::date - date '1970-01-01'",
    -2_440_588,
    2_145_042_905,
)
_WHOLE = {"smallint": (-(2**15), 2**15 - 1), "integer": (-(2**31), 2**31 - 1)}
_DIGITS = 18
"""Digits of numbers of which all together can be counted in a bigint."""


def _microseconds(kind: str, value: str) -> Steps:
    return Steps(
        f"{_TIMES.format('lower')} + (not lower_inc(:v))::integer",
        f"{_TIMES.format('upper')} - (not upper_inc(:v))::integer",
        value,
        f"extract(epoch from (:v)::{kind}) * 1000000",
    )


DIGITS = {"real": 45, "double precision": 324}
"""Decimals of the smallest float above 0."""


def steps(column: Published) -> Steps | None:
    """None of numbers that have no next one."""
    if column.whole:
        return _scaled(0, *_WHOLE.get(column.kind, ()))
    if column.kind == "date":
        return _DAYS
    scale = re.fullmatch(r"numeric\((\d+)(?:,(-?\d+))?\)", column.kind)
    if scale is not None:
        most = 10 ** int(scale[1]) - 1
        return _scaled(int(scale[2] or 0), *((-most, most) if most < 10**_DIGITS else ()))
    if column.kind.endswith("without time zone"):
        return _microseconds("timestamp", _AT)
    if column.kind.endswith("with time zone"):
        return _microseconds("timestamptz", f"{_AT} at time zone 'UTC'")
    return None


@dataclass(frozen=True)
class Line:
    """The cells of a column.

    Attributes:
        steps: how values are numbered; None of numbers that have no next one: their cells are
            points, each followed by the gap before the next one.
        low, high: the ends of every cell, as numbers of values; of a gap those of the open range.
        single: whether every value is a cell.
    """

    column: Published
    steps: Steps | None
    low: tuple[Number, ...]
    high: tuple[Number, ...]
    single: bool = False

    @property
    def dense(self) -> bool:
        return self.steps is None

    def places(self, value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        """The places of the first and the last cell of a range of the view."""
        if self.steps is None:
            points = _array(self.low[::2], "numeric[]")
            first = "2 * width_bucket(lower(:v), :p) - lower_inc(:v)::integer"
            last = "2 * width_bucket(upper(:v), :p) - 2 + upper_inc(:v)::integer"
            return tuple(fragment(side, v=value.copy(), p=points) for side in (first, last))  # pyright: ignore[reportReturnType]
        ends = self.steps.ends(value)
        if self.single:
            before = num(int(self.low[0]) - 1)
            return tuple(fragment(":e - :b", e=end, b=before) for end in ends)  # pyright: ignore[reportReturnType]
        starts = _array(self.low, "bigint[]")
        return tuple(
            fragment("width_bucket((:e)::bigint, :s)", e=end, s=starts.copy()) for end in ends
        )  # pyright: ignore[reportReturnType]

    def cells(self, shares: exp.Expr) -> exp.Select:
        """SELECT place, v (a value of the cell), w, k (how many values), low, high."""
        if self.single:
            found = query(
                "select u.place, u.w, u.place - 1 + :first as low, u.place - 1 + :first as high"
                " from unnest(:w) with ordinality as u(w, place)",
                first=num(int(self.low[0])),
                w=shares,
            )
        else:
            kind = "numeric[]" if self.dense else "bigint[]"
            found = query(
                "select u.place, u.w, u.low, u.high"
                " from unnest(:w, :low, :high) with ordinality as u(w, low, high, place)",
                w=shares,
                low=_array(self.low, kind),
                high=_array(self.high, kind),
            )
        low, high = col("low", "c"), col("high", "c")
        if self.steps is None:
            v, k = fragment("(:l + :h) * 0.5", l=low, h=high), fragment("1::bigint")
            if self.column.kind in DIGITS:
                # A number between 0 and the smallest float has no cast to one.
                v = fragment("round(:v, :d)", v=v, d=num(DIGITS[self.column.kind]))
            ends = (low, high)
        else:
            ends = tuple(fragment(self.steps.value, p=end) for end in (low, high))
            v, k = ends[0], fragment("(:h - :l + 1)::bigint", l=low, h=high)
        tree = query("select c.place, c.w, :k as k from c", {"c": found}, k=k)
        columns = {"v": typed(self.column, v)}
        if self.column.is_time:
            columns |= {"low": low, "high": high}
        elif self.column.is_number:
            columns |= {"low": cast(ends[0], "numeric"), "high": cast(ends[1], "numeric")}
        return tree.select(*[named(item, name) for name, item in columns.items()])


def _array(values: Iterable[Number], kind: str) -> exp.Expr:
    return cast(text("{" + ",".join(f"{value}" for value in values) + "}"), kind)


def single(column: Published, steps: Steps, first: int, last: int) -> Line:
    """A line on which every value is a cell."""
    places = tuple(range(first, last + 1))
    return Line(column, steps, places, places, single=True)


def cut(column: Published, steps: Steps | None, borders: Iterable[Number]) -> Line:
    """A line of cells between borders.

    Args:
        borders: first values of cells, the last of them beyond the end; of dense numbers, points.
    """
    found = sorted(set(borders))
    if steps is not None:
        ends = tuple(int(value) - 1 for value in found[1:])
        return Line(column, steps, tuple(found[:-1]), ends)
    low = [value for point in found for value in (point, point)][:-1]
    high = [value for point in found for value in (point, point)][1:]
    return Line(column, None, tuple(low), tuple(high))


def refined(shares: Sequence[float], coarse: Line, fine: Line) -> list[float]:
    """Shares of cells, of which each is in a cell of a coarser line that is even inside."""
    found: list[float] = []
    place = 0
    for low, high in zip(fine.low, fine.high, strict=True):
        if fine.dense and low == high:
            found.append(0.0)
            continue
        while coarse.high[place] < high:
            place += 1
        found.append(
            shares[place]
            * _length(fine, low, high)
            / _length(fine, coarse.low[place], coarse.high[place])
        )
    return found


def _length(line: Line, low: Number, high: Number) -> float:
    return float(high - low + (0 if line.dense else 1))


def lengths(line: Line) -> list[float]:
    """How many values every cell has; of dense numbers, how long it is."""
    return [_length(line, low, high) for low, high in zip(line.low, line.high, strict=True)]


Values = Callable[[str], exp.Expr]
"""The value of a column, by its name."""


def typed(column: Published, value: exp.Expr) -> exp.Expr:
    """A value in the type and the collation of the source column."""
    value = cast(value, column.kind)
    return collated(column, value)


def as_numeric(column: Published, value: exp.Expr) -> exp.Expr:
    """A number as numeric. The cast of a float keeps 6 or 15 digits, its text keeps all."""
    return fragment(":v::text::numeric" if column.kind in FLOATS else ":v::numeric", v=value)


def collated(column: Published, value: exp.Expr) -> exp.Expr:
    """A value that is compared as in the source: what is published has another collation."""
    if column.collation is None:
        return value
    schema, name = parse_name(column.collation)
    parts = QualifiedName(schema or "pg_catalog", name).table.parts
    quoted = ".".join(part.sql(dialect="postgres", identify=True) for part in parts)
    return exp.paren(exp.Collate(this=value, expression=exp.Var(this=quoted)), copy=False)


def over(tree: exp.Expr, values: Values) -> exp.Expr:
    """The expression with a value in the place of every column."""
    tree = exp.paren(tree.copy(), copy=False)
    for column in list(tree.find_all(exp.Column)):
        column.replace(values(column.name))
    return tree


def holds(condition: exp.Expr | None, values: Values) -> exp.Expr:
    """Whether a condition is true; without one it always is."""
    if condition is None:
        return exp.true()
    return fragment("(:c) IS TRUE", c=over(condition, values))


def certain(condition: exp.Expr | None, label: exp.Expr) -> exp.Expr:
    """A condition on a column that shows a label: NULL where records below it may differ.

    A record is below the label of its class. So a comparison with that label is true, and one with
    any other label is true or false.
    """
    if condition is None:
        return exp.true()
    tree = exp.paren(condition.copy(), copy=False)
    for node in list(tree.walk()):
        if isinstance(node, exp.EQ | exp.In):
            known = over(node, lambda name: label.copy())
            node.replace(fragment("CASE WHEN :k THEN true END", k=known))
        elif isinstance(node, exp.NEQ):
            known = over(exp.EQ(this=node.this, expression=node.expression), lambda n: label.copy())
            node.replace(fragment("CASE WHEN :k THEN false END", k=known))
        elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
            # Of a condition: what is not known of it is not known of whether it is true.
            node.replace(node.this)
        elif isinstance(node, exp.Is):
            node.replace(over(node, lambda name: label.copy()))
    return tree


# -- where what a query says of a column can change -----------------------------------------------
#
# Along a line that is not counted value by value only such uses of a column are estimated:
# comparisons with constants, and functions that are the same from one border to the next.

MAX_BORDERS = 100_000

_COMPARED = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_UNITS = {
    **{unit: unit for unit in ("second", "minute", "hour", "day", "week", "month", "year")},
    "dow": "day",
    "isodow": "day",
    "doy": "day",
    "isoyear": "week",
    "quarter": "month",
    "decade": "year",
    "century": "year",
}
"""Units of date_trunc and extract: a unit whose borders have theirs among them."""
_TIMES_CAST = (
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.DATE,
)


@dataclass(frozen=True)
class Use:
    """What a query has of a column.

    Attributes:
        key: whether it is a key of GROUP BY.
    """

    expression: exp.Expr
    key: bool


_Cut = exp.Expr | str
"""A constant that the column is compared with, width_bucket of the column, or a unit of borders."""


def cuts(
    conn: Connection, column: Published, uses: Sequence[Use], low: Number, high: Number
) -> list[Number]:
    """Borders of cells, as :func:`pganon.estimation.lines.cut` takes them; some may be beyond.

    Args:
        low, high: the ends of the line.

    Raises:
        Unsupported: something in the uses may change anywhere.
    """
    found: list[_Cut] = []
    for use in uses:
        if use.key and isinstance(use.expression.unnest(), exp.Column):
            raise Unsupported(
                f"{quote(column.name)} has too many values for a group each",
                use.expression,
                "group by width_bucket or date_trunc",
            )
        found += _of(use.expression, column)
    borders: list[Number] = []
    for value in _constants(conn, column, [item for item in found if not isinstance(item, str)]):
        if steps(column) is not None:
            # What is below a value, and above, may differ from it.
            borders += [floor(value), floor(value) + 1]
        else:
            borders += [value, *_floats_around(column, value)]
    for unit in dict.fromkeys(item for item in found if isinstance(item, str)):
        numbered = steps(column)
        assert numbered is not None
        first, last = (fragment(numbered.value, p=num(end)) for end in (int(low), int(high)))
        tree = query(
            f"select (:number)::bigint from generate_series(date_trunc('{unit}', :first), :last,"
            f" interval '1 {unit}') as s(s)",
            number=fragment(numbered.number, v=fragment(f"date_trunc('{unit}', s.s)")),
            first=first,
            last=last,
        )
        borders += _read(conn, tree)
    return borders


def _of(node: exp.Expr, column: Published) -> Iterator[_Cut]:
    node = node.unnest()
    if not node.find(exp.Column):
        return
    if isinstance(node, exp.Column):
        raise Unsupported(
            f"{quote(column.name)} has too many values to count one by one",
            node,
            f"compare {quote(column.name)} itself with a constant",
        )
    if isinstance(node, _COMPARED) and _bare(node.this) is not _bare(node.expression):
        yield _constant(node.expression if _bare(node.this) else node.this)
    elif isinstance(node, exp.In | exp.Between | exp.Is) and _bare(node.this):
        others = [item for item in node.iter_expressions() if item is not node.this]
        yield from (_constant(item) for item in others if not isinstance(node, exp.Is))
    elif isinstance(node, exp.WidthBucket) and _bare(node.this):
        parts = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
        for part in parts:
            _constant(part or node)
        yield node
    elif unit := _unit(node):
        yield unit
    else:
        for child in node.iter_expressions():
            yield from _of(child, column)


def _bare(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Column)


def _constant(node: exp.Expr) -> exp.Expr:
    if node.find(exp.Column):
        raise Unsupported("a condition on this column takes a constant here", node)
    return node


def _unit(node: exp.Expr) -> str | None:
    """The unit of which the borders are those of the function."""
    inner = node.this if not isinstance(node, exp.Extract) else node.expression
    if not isinstance(inner, exp.Expr):
        return None
    inner = inner.unnest()
    if isinstance(inner, exp.Cast) and inner.to.this in _TIMES_CAST and not inner.to.expressions:
        inner = inner.this
    if not _bare(inner):
        return None
    if isinstance(node, exp.Cast):
        return "day" if node.to.this == exp.DataType.Type.DATE else None
    if isinstance(node, exp.TimestampTrunc):
        return _UNITS.get(node.args["unit"].name.lower())
    if isinstance(node, exp.Extract):
        unit = node.this.name.lower()
        return _UNITS.get(unit) if unit != "second" else None
    return None


def _constants(conn: Connection, column: Published, found: Sequence[exp.Expr]) -> list[Decimal]:
    """Numbers of constants, and of borders of width_bucket, by the server."""
    numbered = steps(column)
    number = NUMERIC if numbered is None else f"({numbered.number})::numeric"
    values = [fragment(number, v=v) for v in found if not isinstance(v, exp.WidthBucket)]
    selects: list[exp.Select] = []
    if values:
        selects.append(query("select unnest(:v) as v", v=exp.Array(expressions=values)))
    for item in found:
        if isinstance(item, exp.WidthBucket):
            low, high = (fragment(number, v=item.args[name]) for name in ("min_value", "max_value"))
            # Of buckets of the same width, to more decimals than values have.
            selects.append(
                query(
                    "select :low + round((:high - :low) * i.i, 40) / :n"
                    " from generate_series(0, :n) as i(i)",
                    low=low,
                    high=high,
                    n=cast(exp.paren(item.args["num_buckets"].copy()), "integer"),
                )
            )
    read: list[Decimal] = []
    for select in selects:
        read += [v for v in _read(conn, select) if v is not None and v.is_finite()]
    return read


def _read(conn: Connection, select: exp.Select) -> list[Any]:
    rows = conn.execute(statement(select.limit(MAX_BORDERS + 1))).fetchall()
    if len(rows) > MAX_BORDERS:
        raise EstimateRefused(f"the ranges have more than {MAX_BORDERS} groups or borders")
    return [row[0] for row in rows]


_FLOATS: dict[str, type[np.floating[Any]]] = {
    "real": np.float32,
    "double precision": np.float64,
}


def _floats_around(column: Published, value: Decimal) -> list[Number]:
    """Published ends are the shortest texts of floats, and may be on the other side of it."""
    kind = _FLOATS.get(column.kind)
    if kind is None:
        return []
    with np.errstate(over="ignore", under="ignore"):
        near = kind(float(value))
        found = [np.nextafter(near, kind(end)) for end in (-np.inf, np.inf)]
    return [Decimal(str(item)) for item in (near, *found) if np.isfinite(item)]
