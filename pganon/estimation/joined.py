"""The one SELECT of an answer: figures of several questions, by group, as the list has them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.errors import UsageError
from pganon.estimation.across import answered
from pganon.estimation.boxes import Fitted
from pganon.estimation.combined import Combined, Interval, of_aggregate
from pganon.estimation.question import FIGURES, FLAGS, Item, Resolved
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.values import over
from pganon.identifiers import quote
from pganon.sqltools import aliased, col, fragment, named, num, query

MAX_GROUPS = 100_000

_FIRST = "q0"


def joined(resolved: Resolved, fitted: Mapping[str, Fitted]) -> exp.Select:
    """The answer; at most one group more than :data:`MAX_GROUPS`.

    Args:
        fitted: the generalized columns in it, by name.
    """
    _check_names(resolved)
    first, *others = [answered(question, fitted) for question in resolved.questions]
    tree = query("select 1 from q0", {_FIRST: _keyed(resolved, first)})
    for number, other in enumerate(others, 1):
        alias = f"q{number}"
        same = exp.EQ(this=col("key", alias), expression=col("key", _FIRST))
        tree = tree.join(aliased(_keyed(resolved, other), alias), on=same, join_type="left")
    combined = Combined(lambda name: _interval(resolved, name))
    columns = [column for item in resolved.items for column in _columns(resolved, item, combined)]
    for join in combined.joins:
        tree = tree.join(join)
    tree = tree.select(*columns, *[col(name, _FIRST) for name in FLAGS], append=False)
    if resolved.having is not None:
        known = {f"k{i}": col(f"k{i}", _FIRST) for i in range(_keys(resolved))}
        known |= {name: _figure(resolved, name, "") for name in resolved.aggregates}
        tree = tree.where(over(resolved.having, lambda name: known[name].copy()))
    if order := _order(resolved):
        tree = tree.order_by(*order)
    limit = MAX_GROUPS + 1 if resolved.limit is None else min(resolved.limit, MAX_GROUPS + 1)
    return tree.limit(num(limit))


def _keys(resolved: Resolved) -> int:
    return len(resolved.questions[0].keys)


def _keyed(resolved: Resolved, figures: exp.Select) -> exp.Select:
    """With all keys in one, of which a missing value equals another."""
    key = exp.Anonymous(this="row", expressions=[col(f"k{i}", "f") for i in range(_keys(resolved))])
    return query("select f.*, :key as key from f", {"f": figures}, key=key)


def _figure(resolved: Resolved, name: str, ending: str) -> exp.Expr:
    """One of :data:`FIGURES` of an aggregate.

    Where a FILTER keeps no record of a group, there are none to count or to add up.
    """
    question, number = name.removeprefix("a").split("_")
    value: exp.Expr = col(f"a{number}{ending}", f"q{question}")
    measure = resolved.aggregates[name].measure
    if question == "0" or measure not in ("count", "persons", "sum"):
        return value
    lacks = fragment(":c is null", c=col(FLAGS[0], f"q{question}"))
    return fragment("case when :lacks then 0 else :v end", lacks=lacks, v=value)


def _interval(resolved: Resolved, name: str) -> Interval:
    aggregate = resolved.aggregates[name]
    return of_aggregate(aggregate, lambda ending: _figure(resolved, name, ending))


def _columns(resolved: Resolved, item: Item, combined: Combined) -> list[exp.Expr]:
    """Columns of the answer."""
    if isinstance(item.what, int):
        return [named(col(f"k{item.what}", _FIRST), item.name)]
    if isinstance(item.what, exp.Column):
        values = [_figure(resolved, item.what.name, ending) for ending in FIGURES]
    else:
        values = combined.figures(item.what)
    return [named(value, item.name + end) for value, end in zip(values, FIGURES, strict=True)]


def _order(resolved: Resolved) -> list[exp.Expr]:
    given = [
        exp.Ordered(
            this=exp.column(exp.to_identifier(name, quoted=True)), desc=desc, nulls_first=first
        )
        for name, desc, first in resolved.order
    ]
    keys = [col(f"k{i}", _FIRST) for i in range(_keys(resolved))]
    return [*given, *[exp.Ordered(this=key, nulls_first=False) for key in keys]]


def _check_names(resolved: Resolved) -> None:
    names = [name for item in resolved.items for name in _names(item)]
    names += FLAGS
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EstimateRefused(
            f"two columns of the answer would be named {quote(twice[0])}",
            hint="give the columns of the list other aliases",
        )
    if any(len(name.encode()) > 63 for name in names):
        raise UsageError("an alias is too long: names of columns have 63 bytes, with endings")


def _names(item: Item) -> list[str]:
    return [item.name] if isinstance(item.what, int) else [item.name + end for end in FIGURES]
