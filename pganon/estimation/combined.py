"""Aggregates that + - * / combine: figures of the result, by interval arithmetic.

Bounds are calculated in the types that the source would have, so that a quotient of whole numbers
is one. They hold, but are wider than need be where the aggregates depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from sqlglot import exp

from pganon.estimation.question import Aggregate
from pganon.sqltools import cast, col, finished, fragment, named, query

_FLOAT = "double precision"


@dataclass(frozen=True)
class Interval:
    """Estimate, sure bounds and likely range of an expression."""

    estimate: exp.Expr
    lower: exp.Expr
    upper: exp.Expr
    low: exp.Expr
    high: exp.Expr


def of_aggregate(aggregate: Aggregate, figure: Callable[[str], exp.Expr]) -> Interval:
    """Those of an aggregate of numbers.

    Args:
        figure: its figures, by their endings.
    """
    kind = _kind(aggregate)
    lower, upper = (cast(figure(end), kind) for end in ("_lower", "_upper"))
    if aggregate.measure in ("min", "max"):
        # What is calculated from infinity or NaN may be beyond what is calculated from others.
        finite = "case when abs(:v) < 'infinity'::float8 then :v end"
        lower, upper = (fragment(finite, v=end) for end in (lower, upper))
    return Interval(figure(""), lower, upper, figure("_low"), figure("_high"))


def _kind(aggregate: Aggregate) -> str:
    """The type of the values of an aggregate."""
    column = aggregate.column
    if column is None or aggregate.measure in ("count", "persons"):
        return "bigint"
    if column.kind in ("real", _FLOAT):
        return _FLOAT
    if aggregate.measure in ("min", "max"):
        return column.kind
    small = aggregate.measure == "sum" and column.kind in ("smallint", "integer")
    return "bigint" if small else "numeric"


class Combined:
    """Expressions over aggregates.

    Attributes:
        joins: relations with one row, to join in this order; each has an interval.
    """

    def __init__(self, known: Callable[[str], Interval]) -> None:
        self.known = known
        self.joins: list[exp.Join] = []

    def figures(self, tree: exp.Expr) -> list[exp.Expr]:
        """Estimate, bounds, likely range and error, which is not known."""
        found = self._of(tree)
        ends = {"lower": found.lower, "upper": found.upper}
        estimate, low, high = (
            fragment(
                "case when :v is not null"
                " then least(:upper::float8, greatest(:lower::float8, :v)) end",
                v=value,
                **ends,
            )
            for value in (found.estimate, found.low, found.high)
        )
        return [estimate, found.lower, found.upper, low, high, fragment("null::float8")]

    def _of(self, tree: exp.Expr) -> Interval:
        if isinstance(tree, exp.Column):
            return self.known(tree.name)
        if isinstance(tree, exp.Literal):
            value = cast(tree, _FLOAT)
            return Interval(value, tree, tree, value, value)
        if isinstance(tree, exp.Neg):
            x = self._of(tree.this)
            ends = (x.estimate, x.upper, x.lower, x.high, x.low)
            return self._joined(*[fragment("- :v", v=end) for end in ends])
        if isinstance(tree, exp.Cast):
            x = self._of(tree.this)
            lower, upper = (
                exp.Cast(this=exp.paren(end.copy()), to=tree.to.copy())
                for end in (x.lower, x.upper)
            )
            return self._joined(x.estimate, lower, upper, x.low, x.high)
        assert isinstance(tree, exp.Binary)
        x, y = self._of(tree.this), self._of(tree.expression)
        return self._joined(*_OPERATIONS[type(tree)](x, y))

    def _joined(self, *values: exp.Expr) -> Interval:
        """A relation by itself: written out, products in products would grow without end."""
        alias = f"c{len(self.joins)}"
        names = [field.name for field in fields(Interval)]
        columns = [named(value, name) for value, name in zip(values, names, strict=True)]
        select = query("select 1 offset 0").select(*columns, append=False)
        lateral = exp.Lateral(
            this=exp.Subquery(this=finished(select)),
            alias=exp.TableAlias(this=exp.to_identifier(alias)),
        )
        self.joins.append(exp.Join(this=lateral, kind="CROSS"))
        return Interval(*[col(name, alias) for name in names])


_Ends = tuple[exp.Expr, exp.Expr]


def _sum(x: Interval, y: Interval) -> list[exp.Expr]:
    pairs = [
        *((x.estimate, y.estimate), (x.lower, y.lower), (x.upper, y.upper)),
        *((x.low, y.low), (x.high, y.high)),
    ]
    return [fragment(":a + :b", a=a, b=b) for a, b in pairs]


def _difference(x: Interval, y: Interval) -> list[exp.Expr]:
    pairs = [
        *((x.estimate, y.estimate), (x.lower, y.upper), (x.upper, y.lower)),
        *((x.low, y.high), (x.high, y.low)),
    ]
    return [fragment(":a - :b", a=a, b=b) for a, b in pairs]


def _product(x: Interval, y: Interval) -> list[exp.Expr]:
    return [
        fragment(":a * :b", a=x.estimate, b=y.estimate),
        *_corners("*", (x.lower, x.upper), (y.lower, y.upper)),
        *_corners("*", (x.low, x.high), (y.low, y.high)),
    ]


def _quotient(x: Interval, y: Interval) -> list[exp.Expr]:
    return [
        fragment(":a / nullif(:b, 0)", a=x.estimate, b=y.estimate),
        *_corners("/", (x.lower, x.upper), (y.lower, y.upper)),
        *_corners("/", (x.low, x.high), (y.low, y.high)),
    ]


_OPERATIONS: dict[type[exp.Expr], Callable[[Interval, Interval], list[exp.Expr]]] = {
    exp.Add: _sum,
    exp.Sub: _difference,
    exp.Mul: _product,
    exp.Div: _quotient,
}


def _corners(operator: str, x: _Ends, y: _Ends) -> list[exp.Expr]:
    """The least and the greatest of what the ends give; NULL if one is, or a divisor may be 0."""
    parts = dict(zip("abcd", (*x, *y), strict=True))
    known = "num_nulls(:a, :b, :c, :d) = 0" + (" and (:c > 0 or :d < 0)" if operator == "/" else "")
    values = ", ".join(f":{one} {operator} :{other}" for one in "ab" for other in "cd")
    return [
        fragment(f"case when {known} then {end}({values}) end", **parts)
        for end in ("least", "greatest")
    ]
