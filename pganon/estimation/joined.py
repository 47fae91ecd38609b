"""The one SELECT of an answer: figures of several questions, by group, as the list has them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.errors import UsageError
from pganon.estimation.across import answered
from pganon.estimation.boxes import Fitted
from pganon.estimation.combined import Combined, Interval, of_aggregate
from pganon.estimation.question import (
    FIGURES,
    FLAGS,
    Aggregate,
    Item,
    Resolved,
    added_beside,
)
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
    flags = [*[col(name, _FIRST) for name in FLAGS[:2]], named(_maybe_empty(resolved), FLAGS[2])]
    tree = tree.select(*columns, *flags, append=False)
    if resolved.having is not None:
        known = {f"k{i}": col(f"k{i}", _FIRST) for i in range(_keys(resolved))}
        known |= {name: _figure(resolved, name, "") for name in resolved.aggregates}
        tree = tree.where(over(resolved.having, lambda name: known[name].copy()))
    if order := _order(resolved):
        tree = tree.order_by(*order)
    limit = MAX_GROUPS + 1 if resolved.limit is None else min(resolved.limit, MAX_GROUPS + 1)
    return tree.limit(num(limit))


def _maybe_empty(resolved: Resolved) -> exp.Expr:
    """Whether no record may match, or none that has a value to average or compare."""
    own = resolved.questions[0].aggregates
    counts = [one for a in own if a.measure in ("avg", "min", "max") for one in added_beside(a)[:1]]
    found = [col(FLAGS[2], _FIRST)]
    found += [fragment(":c = 0", c=col(f"a{own.index(o)}_lower", _FIRST)) for o in counts]
    return exp.or_(*found, copy=False)


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
    if ending in _AWAY and len(added_beside(resolved.aggregates[name])) > 1:
        room = _room(resolved, int(question), resolved.aggregates[name])
        value = fragment(f":v {_AWAY[ending]} coalesce(:r, 0)", v=value, r=room)
    if question == "0" or measure not in ("count", "persons", "sum"):
        return value
    lacks = fragment(":c is null", c=col(FLAGS[0], f"q{question}"))
    return fragment("case when :lacks then 0 else :v end", lacks=lacks, v=value)


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
        col(f"a{own.index(one)}{end}", f"q{question}")
        for one, end in zip(added_beside(aggregate), ("_upper", "_lower", "_upper"), strict=True)
    )
    epsilon = _EPSILON[aggregate.column.kind]
    times = f"{epsilon} + {_EPSILON['double precision']} * :n"
    if aggregate.measure == "sum":
        times = f"{epsilon} * :n * :n"
    return fragment(f"({times}) * greatest(abs(:low), abs(:high))", n=n, low=low, high=high)


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
