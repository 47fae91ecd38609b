"""Association with numbers and dates on their line: correlation and correlation ratio."""

from __future__ import annotations

from itertools import combinations

from sqlglot import exp

from pganon.methods.common.association.pairs import (
    Associated,
    Columns,
    Relation,
    codes,
    grouped,
    listed,
    nothing,
)
from pganon.sqltools import cast, col, fragment, materialized, named, num, query

_MEASURES = {"n": "count", "mean": "avg", "spread": "var_pop", "low": "min", "high": "max"}


def correlation(relation: Relation, columns: Columns) -> exp.Select:
    """(i, j, value) with |r| for pairs of numbers i < j, all in one aggregation."""
    pairs = list(combinations(columns, 2))
    if not pairs:
        return nothing()
    values = [_correlated(_place(columns[i]), _place(columns[j])) for i, j in pairs]
    coefficients = query("select :r as r from t", {"t": relation}, r=exp.Array(expressions=values))
    rows = [[num(place), num(i), num(j)] for place, (i, j) in enumerate(pairs, start=1)]
    return query("select p.i, p.j, c.r[p.place] as value from c", {"c": coefficients}).join(
        listed(rows, "p", ["place", "i", "j"]), join_type="cross"
    )


def _correlated(x: exp.Expr, y: exp.Expr) -> exp.Expr:
    """|r| over records with both; 0 if one of them is constant there, or not finite."""
    # Rounding gives corr() a variance of equal numbers on servers before 18.
    constant = "min(:x) filter (where :y is not null) = max(:x) filter (where :y is not null)"
    return fragment(
        "case when :cx or :cy then 0"
        " else least(1, coalesce(nullif(abs(corr(:x, :y)), 'NaN'), 0)) end",
        cx=fragment(constant, x=x, y=y),
        cy=fragment(constant, x=y, y=x),
        x=x,
        y=y,
    )


def correlation_ratio(relation: Relation, nominal: Columns, numbers: Columns) -> exp.Select:
    """(i, j, value) of a nominal attribute and a number, i < j: the square root of the share of
    the number's variance that lies between the attribute's values."""
    if not nominal or not numbers:
        return nothing()
    places = [named(_place(column), f"x{j}") for j, column in numbers.items()]
    sums = query(
        "select m.i, m.j, min(m.low) = max(m.high) as constant, sum(m.n * m.spread) as inside,"
        " sum(m.n * (m.mean - m.centre) ^ 2) as outside from m group by m.i, m.j",
        {"m": _spreads(nominal, numbers)},
    )
    tree = query(
        "select least(s.i, s.j) as i, greatest(s.i, s.j) as j, case when s.constant then 0 else"
        " sqrt(coalesce(nullif(s.outside / nullif(s.outside + s.inside, 0), 'NaN'), 0)) end"
        " as value from s",
        {"s": sums},
    )
    return materialized(tree, x=codes(relation, nominal).select(*places))


def _spreads(nominal: Columns, numbers: Columns) -> exp.Select:
    """(i, j, n, mean, spread, low, high, centre) per value of attribute i: the measures of number
    j there, and the mean of j over all values of i."""
    measured = [
        named(exp.func(function, col(f"x{j}", "x"), dialect="postgres"), f"{name}{j}")
        for j in numbers
        for name, function in _MEASURES.items()
    ]
    groups = grouped([(i,) for i in nominal], nominal).select(*measured)
    rows = [[num(j), *[col(f"{name}{j}", "g") for name in _MEASURES]] for j in numbers]
    return query(
        "select g.i, p.j, p.n, p.mean, p.spread, p.low, p.high,"
        " sum(p.n * p.mean) over (partition by g.i, p.j)"
        " / sum(p.n) over (partition by g.i, p.j) as centre from g where p.n > 0",
        {"g": groups},
    ).join(listed(rows, "p", ["j", *_MEASURES]), join_type="cross")


def _place(column: Associated) -> exp.Expr:
    assert column.number is not None
    return cast(column.number, "float8")
