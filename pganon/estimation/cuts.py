"""Where what a query says of a column can change along a line that is not counted value by value.

Only such uses of a column are estimated: comparisons with constants, and functions that are the
same from one border to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.estimation.lines import NUMERIC, Number, steps
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import Published
from pganon.identifiers import quote
from pganon.sqlfiles import Connection
from pganon.sqltools import cast, fragment, num, query, statement

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
    if isinstance(inner, exp.Cast) and _is_time(inner):
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


def _is_time(node: exp.Cast) -> bool:
    times = exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.DATE
    return node.to.this in times and not node.to.expressions


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
