"""Counts of a bucket that match conditions: least, most, probabilities of one and two records.

The formulas are the functions in sql/functions/estimate, whose expressions become part of the
statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import sqlglot
from sqlglot import exp

from pganon import sqlfiles
from pganon.sqltools import DIALECT, fragment

_RETURN = re.compile(r"\bRETURN (.*?);\n", re.DOTALL)


@cache
def _body(name: str) -> exp.Expr:
    text = sqlfiles.object_set().named(name).text.decode()
    found = _RETURN.search(text)
    if found is None:
        raise ValueError(f"{name} has no RETURN")
    return sqlglot.parse_one(found[1], dialect=DIALECT)


def call(name: str, **arguments: exp.Expr) -> exp.Expr:
    """The expression of a function of sql/functions/estimate for these arguments."""
    tree = exp.paren(_body(name).copy(), copy=False)
    for column in list(tree.find_all(exp.Column)):
        column.replace(exp.paren(arguments[column.name].copy(), copy=False))
    return tree


@dataclass(frozen=True)
class Matched:
    """How many of the n records of a bucket match a condition; every field is an expression.

    Attributes:
        share, pair: probabilities that one record, and that two given ones, match.
    """

    fewest: exp.Expr
    most: exp.Expr
    share: exp.Expr
    pair: exp.Expr


def all_records(n: exp.Expr) -> Matched:
    """Without a condition."""
    one = fragment("1::float8")
    return Matched(n, n, one, one)


def exact(n: exp.Expr, matching: exp.Expr) -> Matched:
    """A condition on a part of which all rows are published."""
    return Matched(
        matching,
        matching,
        call("exact_share", n=n, matching=matching),
        call("exact_pair", n=n, matching=matching),
    )


def both(n: exp.Expr, items: Sequence[Matched]) -> Matched:
    """All of several conditions, on different parts."""
    if not items:
        return all_records(n)
    first, *others = items
    for other in others:
        first = Matched(
            call("both_lower", n=n, one=first.fewest, other=other.fewest),
            exp.func("least", first.most.copy(), other.most.copy()),
            _product(first.share, other.share),
            _product(first.pair, other.pair),
        )
    return first


def either(n: exp.Expr, items: Sequence[Matched]) -> Matched:
    """One or more of several conditions, on different parts."""
    return neither(n, both(n, [neither(n, item) for item in items]))


def neither(n: exp.Expr, item: Matched) -> Matched:
    """Not a condition."""
    return Matched(
        fragment(":n - :hi", n=n.copy(), hi=item.most.copy()),
        fragment(":n - :lo", n=n.copy(), lo=item.fewest.copy()),
        fragment("1 - :p", p=item.share.copy()),
        call("neither_pair", share=item.share, pair=item.pair),
    )


def _product(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return fragment(":a * :b", a=one.copy(), b=other.copy())
