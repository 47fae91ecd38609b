"""Asking a release: the whole way from the text of a query to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from sqlglot import exp

from pganon import database
from pganon.errors import UsageError
from pganon.estimation.boxes import Fitted, Spread, fitted
from pganon.estimation.lines import Use, over
from pganon.estimation.parse import parse_query
from pganon.estimation.question import (
    FIGURES,
    FLAGS,
    INDEPENDENT,
    Aggregate,
    Item,
    Resolved,
    added_beside,
)
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import read_release
from pganon.estimation.resolve import resolve
from pganon.estimation.statement import answered
from pganon.frames import Frame, table
from pganon.identifiers import quote
from pganon.install import access
from pganon.publish.sessions import translated
from pganon.sqlfiles import Connection
from pganon.sqltools import aliased, cast, col, finished, fragment, named, num, query, statement

SETTINGS = database.Settings(statement_timeout="60s")


def estimate(name: str, query: str, dsn: str | None = None, spread: Spread = "column") -> Estimates:
    """Answer an aggregate query on a release: estimates, sure bounds, likely ranges.

    Only views that the role of the connection may read are read, in one read-only transaction.

    Args:
        name: the release.
        query: one SELECT with count(*), count, sum, avg, min or max of columns, from the release
            alone, as it would be written for the source; WHERE, GROUP BY, HAVING.
        dsn: libpq connection string; default: that of the command line.
        spread: `column`: values are as frequent as the whole release makes plausible; `uniform`:
            every source that fits what is published is equally likely.

    Raises:
        EstimateRefused: the query has no estimate, or not yet; says where.
        LedgerError: unknown_release.
        DatabaseError: the server.
    """
    with database.connect(dsn, settings=SETTINGS) as conn:
        return ask(conn, name, query, spread)


def ask(conn: Connection, name: str, query: str, spread: Spread = "column") -> Estimates:
    """As :func:`estimate`, on a connection that is not in a transaction."""
    if spread not in ("column", "uniform"):
        raise UsageError("spread is column or uniform")
    try:
        parsed = parse_query(query)
        with translated(), conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            release = read_release(conn, name)
            resolved = resolve(parsed, release)
            # Keep the views as they are until the end, and see that only the release's tables are
            # read.
            parts = [resolved.release.home, *resolved.parts]
            columns = resolved.release.columns.values()
            labels = [c.labels for c in columns if c.labels is not None and c.part in parts]
            events = [view for fact in resolved.release.facts.values() for view in fact.views]
            views = dict.fromkeys([*[part.view for part in parts], *labels, *events])
            for view in views:
                conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(view.identifier))
                access.check_view(conn, view)
            return answer(conn, resolved, spread)
    except Unsupported as refused:
        raise refused.in_text(query) from None


def answer(conn: Connection, resolved: Resolved, spread: Spread) -> Estimates:
    """Run a query on the views that it names."""
    release = resolved.release
    values: dict[str, Fitted] = {}
    try:
        for part in resolved.parts:
            if not part.exact and not part.events:
                conditions = [c for q in resolved.questions for c in q.conditions_on(part)]
                uses = [Use(condition, key=False) for condition in dict.fromkeys(conditions)]
                keys = [k.expression for k in resolved.questions[0].keys if k.part == part]
                uses += [Use(key, key=True) for key in keys]
                column = release.columns[part.name]
                values[column.name] = fitted(conn, column, spread, uses)
        select = statement(joined(resolved, values))
        cursor = conn.execute(select)
        rows = cursor.fetchall()
    except psycopg.DataError as error:
        if error.sqlstate is None:
            raise EstimateRefused("the answer has a date beyond those of Python") from None
        aggregates = [a for q in resolved.questions for a in q.aggregates]
        names = dict.fromkeys(quote(a.column.name) for a in aggregates if a.column)
        measured = ", ".join(names)
        if isinstance(error, psycopg.errors.NumericValueOutOfRange) and measured:
            raise EstimateRefused(
                f"numbers of {measured} are too large or too small: their sums or squares are"
                " beyond double precision",
                hint="ask for count(*), or about a release of a view that scales the column",
            ) from None
        raise EstimateRefused(
            f"the condition fails on a value that a class covers ({error.sqlstate})",
            hint="write it so that no value makes it fail",
        ) from None
    except psycopg.errors.UndefinedFunction:
        raise EstimateRefused(
            "a constant does not fit the type of its column",
            hint="labels of hierarchies are texts: compare them with a text",
        ) from None
    if len(rows) > MAX_GROUPS:
        raise EstimateRefused(f"the answer has more than {MAX_GROUPS} groups")
    names = tuple(column.name for column in cursor.description or ())
    keys = tuple(item.name for item in resolved.items if isinstance(item.what, int))
    aggregates = tuple(item.name for item in resolved.items if item.name not in keys)
    return Estimates(
        release.name, release.version, names, keys, aggregates, tuple(rows), select.as_string()
    )


@dataclass(frozen=True)
class Estimates:
    """The answer to a query.

    For an aggregate `a` there are the columns `a` (the estimate), `a_lower` and `a_upper` (bounds
    that surely hold for the released records), `a_low` and `a_high` (the likely range) and
    `a_error` (the standard deviation that the model gives). Of min and max the estimate and the
    error are None unless the bounds meet. Behind them are `classes`, the number
    of groups of which the release does not say how many records match; `few`, whether so few of
    them matter that errors do not average out; and `maybe_empty`, whether no record may match. Of
    related tables there is `independent` where several things of a person are taken to be, such as
    two events. Rows of events have an estimate alone.

    Attributes:
        release, version: which version answered.
        columns: names, in order.
        keys, aggregates: those of the list, in order.
        rows: of one row per group.
        sql: the SELECT on the views of the release that was run.
    """

    release: str
    version: int
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    sql: str

    def to_frame(self) -> Frame:
        """A pandas frame with one row per group."""
        return table(self.columns, self.rows)

    def as_dicts(self) -> list[dict[str, Any]]:
        """One dict per group."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


# -- the SELECT of an answer ----------------------------------------------------------------------
#
# What + - * / makes of aggregates is calculated by interval arithmetic, in the types that the
# source would have, so that a quotient of whole numbers is one. Bounds hold, but are wider than
# need be where aggregates depend on each other.

MAX_GROUPS = 100_000

_FIRST = "q0"


def joined(resolved: Resolved, fitted: Mapping[str, Fitted]) -> exp.Select:
    """The answer; at most one group more than :data:`MAX_GROUPS`.

    Args:
        fitted: the generalized columns in it, by name.
    """
    _check_names(resolved)
    keys = [col(f"k{number}", _FIRST) for number in range(len(resolved.questions[0].keys))]
    tree = query("select 1")
    for number, question in enumerate(resolved.questions):
        # All keys in one, of which a missing value equals another.
        key = exp.Anonymous(this="row", expressions=[col(key.name, "f") for key in keys])
        own = query("select f.*, :key as key from f", {"f": answered(question, fitted)}, key=key)
        alias = f"q{number}"
        if number == 0:
            tree = tree.from_(aliased(own, alias))
        else:
            on = fragment(f"{alias}.key = {_FIRST}.key")
            tree = tree.join(aliased(own, alias), on=on, join_type="left")
    combined = _Combined(resolved)
    columns = [column for item in resolved.items for column in _columns(resolved, item, combined)]
    for join in combined.joins:
        tree = tree.join(join)
    # Whether no record may match, or none that has a value to average or to compare.
    own = resolved.questions[0].aggregates
    counts = [one for a in own if a.measure in ("avg", "min", "max") for one in added_beside(a)[:1]]
    empty = [fragment(f"{_FIRST}.a{own.index(one)}_lower = 0") for one in counts]
    maybe_empty = exp.or_(col(FLAGS[2], _FIRST), *empty, copy=False)
    flags = [*[col(name, _FIRST) for name in FLAGS[:2]], named(maybe_empty, FLAGS[2])]
    flags += [named(exp.true(), INDEPENDENT)] if resolved.independent else []
    tree = tree.select(*columns, *flags, append=False)
    if resolved.having is not None:
        known = {key.name: key for key in keys}
        known |= {name: _figure(resolved, name, "") for name in resolved.aggregates}
        tree = tree.where(over(resolved.having, lambda name: known[name].copy()))
    order = [
        exp.Ordered(
            this=exp.column(exp.to_identifier(name, quoted=True)), desc=desc, nulls_first=first
        )
        for name, desc, first in resolved.order
    ]
    order += [exp.Ordered(this=key.copy(), nulls_first=False) for key in keys]
    if order:
        tree = tree.order_by(*order)
    limit = MAX_GROUPS + 1 if resolved.limit is None else min(resolved.limit, MAX_GROUPS + 1)
    return tree.limit(num(limit))


def _figure(resolved: Resolved, name: str, ending: str) -> exp.Expr:
    """One of :data:`FIGURES` of an aggregate.

    Where a FILTER keeps no record of a group, there are none to count or to add up.
    """
    question, number = name.removeprefix("a").split("_")
    value: exp.Expr = col(f"a{number}{ending}", f"q{question}")
    aggregate = resolved.aggregates[name]
    if ending in _AWAY and len(added_beside(aggregate)) > 1:
        room = _room(resolved, int(question), aggregate)
        value = fragment(f":v {_AWAY[ending]} coalesce(:r, 0)", v=value, r=room)
    if question == "0" or aggregate.measure not in ("count", "persons", "sum", "weighted"):
        return value
    return fragment(f"case when q{question}.{FLAGS[0]} is null then 0 else :v end", v=value)


_AWAY = {"_lower": "-", "_upper": "+"}
_EPSILON = {"real": "1.2e-7", "double precision": "2.3e-16"}
"""What adding two floats may change, as a share of the sum of their absolute values."""


def _room(resolved: Resolved, question: int, aggregate: Aggregate) -> exp.Expr:
    """How far the sum or mean that the server has of floats may be from that of their texts.

    To add up n of them takes n roundings, each of at most all values together. A sum is of the type
    of the column; a mean is added up as `double precision`.
    """
    assert aggregate.column is not None
    own = resolved.questions[question].aggregates
    n, low, high = (
        f"q{question}.a{own.index(one)}{end}"
        for one, end in zip(added_beside(aggregate), ("_upper", "_lower", "_upper"), strict=True)
    )
    epsilon = _EPSILON[aggregate.column.kind]
    times = f"{epsilon} + {_EPSILON['double precision']} * {n}"
    if aggregate.measure == "sum":
        times = f"{epsilon} * {n} * {n}"
    return fragment(f"({times}) * greatest(abs({low}), abs({high}))")


def _columns(resolved: Resolved, item: Item, combined: _Combined) -> list[exp.Expr]:
    """Columns of the answer."""
    if isinstance(item.what, int):
        return [named(col(f"k{item.what}", _FIRST), item.name)]
    if isinstance(item.what, exp.Column):
        values = [_figure(resolved, item.what.name, ending) for ending in FIGURES]
    else:
        values = combined.figures(item.what)
    return [named(value, item.name + end) for value, end in zip(values, FIGURES, strict=True)]


def _check_names(resolved: Resolved) -> None:
    names = [*FLAGS, *([INDEPENDENT] if resolved.independent else [])]
    for item in resolved.items:
        ends = ("",) if isinstance(item.what, int) else FIGURES
        names += [item.name + end for end in ends]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EstimateRefused(
            f"two columns of the answer would be named {quote(twice[0])}",
            hint="give the columns of the list other aliases",
        )
    if any(len(name.encode()) > 63 for name in names):
        raise UsageError("an alias is too long: names of columns have 63 bytes, with endings")


# -- aggregates that are combined -----------------------------------------------------------------

_FLOAT = "double precision"

_Interval = Sequence[exp.Expr]
"""Estimate, lower and upper bound, low and high end of the likely range."""


def _kind(aggregate: Aggregate) -> str:
    """The type of the values of an aggregate."""
    column = aggregate.column
    if aggregate.measure == "weighted":
        return "numeric"
    if column is None or aggregate.measure in ("count", "persons"):
        return "bigint"
    if column.kind in ("real", _FLOAT):
        return _FLOAT
    if aggregate.measure in ("min", "max"):
        return column.kind
    small = aggregate.measure == "sum" and column.kind in ("smallint", "integer")
    return "bigint" if small else "numeric"


class _Combined:
    """Expressions over aggregates.

    Attributes:
        joins: relations with one row, to join in this order; each has an interval.
    """

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self.joins: list[exp.Join] = []

    def figures(self, tree: exp.Expr) -> list[exp.Expr]:
        """Estimate, bounds, likely range and error, which is not known."""
        estimate, lower, upper, low, high = self._of(tree)
        cut = "case when :v is not null then least(:b::float8, greatest(:a::float8, :v)) end"
        middle = [fragment(cut, v=value, a=lower, b=upper) for value in (estimate, low, high)]
        return [middle[0], lower, upper, *middle[1:], fragment("null::float8")]

    def _of(self, tree: exp.Expr) -> _Interval:
        if isinstance(tree, exp.Column):
            return self._of_aggregate(tree.name)
        if isinstance(tree, exp.Literal):
            value = cast(tree, _FLOAT)
            return [value, tree, tree, value, value]
        if isinstance(tree, exp.Cast):
            estimate, lower, upper, low, high = self._of(tree.this)
            ends = [
                exp.Cast(this=exp.paren(end.copy()), to=tree.to.copy()) for end in (lower, upper)
            ]
            return self._joined([estimate, *ends, low, high])
        if isinstance(tree, exp.Neg):
            return self._joined(_operated("-", [num(0)] * 5, self._of(tree.this)))
        assert isinstance(tree, exp.Binary)
        x, y = self._of(tree.this), self._of(tree.expression)
        return self._joined(_operated(_OPERATORS[type(tree)], x, y))

    def _of_aggregate(self, name: str) -> _Interval:
        """Those of an aggregate of numbers."""
        aggregate = self.resolved.aggregates[name]
        estimate, lower, upper, low, high = (
            _figure(self.resolved, name, end) for end in ("", "_lower", "_upper", "_low", "_high")
        )
        kind = _kind(aggregate)
        lower, upper = cast(lower, kind), cast(upper, kind)
        if aggregate.measure in ("min", "max"):
            # What is calculated from infinity or NaN may be beyond what is calculated from others.
            finite = "case when abs(:v) < 'infinity'::float8 then :v end"
            lower, upper = (fragment(finite, v=end) for end in (lower, upper))
        return [estimate, lower, upper, low, high]

    def _joined(self, values: Sequence[exp.Expr]) -> _Interval:
        """A relation by itself: written out, products in products would grow without end."""
        alias = f"c{len(self.joins)}"
        names = ["estimate", "lower", "upper", "low", "high"]
        columns = [named(value, name) for value, name in zip(values, names, strict=True)]
        select = query("select 1 offset 0").select(*columns, append=False)
        lateral = exp.Lateral(
            this=exp.Subquery(this=finished(select)),
            alias=exp.TableAlias(this=exp.to_identifier(alias)),
        )
        self.joins.append(exp.Join(this=lateral, kind="CROSS"))
        return [col(name, alias) for name in names]


_OPERATORS = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def _operated(operator: str, x: _Interval, y: _Interval) -> list[exp.Expr]:
    divisor = "nullif(:b, 0)" if operator == "/" else ":b"
    estimate = fragment(f":a {operator} {divisor}", a=x[0], b=y[0])
    if operator in "*/":
        return [estimate, *_corners(operator, x[1:3], y[1:3]), *_corners(operator, x[3:], y[3:])]
    ends = y[1:] if operator == "+" else (y[2], y[1], y[4], y[3])
    pairs = zip(x[1:], ends, strict=True)
    return [estimate, *[fragment(f":a {operator} :b", a=a, b=b) for a, b in pairs]]


def _corners(operator: str, x: _Interval, y: _Interval) -> list[exp.Expr]:
    """The least and the greatest of what the ends give; NULL if one is, or a divisor may be 0."""
    parts = dict(zip("abcd", (*x, *y), strict=True))
    known = "num_nulls(:a, :b, :c, :d) = 0" + (" and (:c > 0 or :d < 0)" if operator == "/" else "")
    values = ", ".join(f":{one} {operator} :{other}" for one in "ab" for other in "cd")
    return [
        fragment(f"case when {known} then {end}({values}) end", **parts)
        for end in ("least", "greatest")
    ]
