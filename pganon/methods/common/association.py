"""How much attributes of a relation have to do with each other, for all pairs of them at once.

It stands with the encoding because a method decides by it which columns to publish together:
it reads codes of records, where metrics read what was published.

    contingency   Cramer's V, corrected for bias (Bergsma 2013)
    msc           mean-square contingency coefficient of classical slicing (Li et al. 2012)
    pearson       numbers |r|, nominal attributes V, one of each the correlation ratio

Numbers and dates with more than 32 different values are cut into quarters of the records. Equal
values stay in one quarter, that of their middle record, so the result does not depend on the order
of equal records. NULL is a value of its own, outside the quarters.

Records are counted for all pairs in one pass by GROUPING SETS, whose hash tables share one limit on
memory. Joining the records to themselves would make a row per record and pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from sqlglot import exp

from pganon.encode.axis import OrderedAxis, axes
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, fragment, materialized, named, num, query, scalar, stacked
from pganon.steps import State

Relation = QualifiedName | exp.Select


@dataclass(frozen=True)
class Associated:
    """A column to compare. Its expressions are over columns of the relation, alias `t`.

    Attributes:
        name: what to call it.
        code: whole number from 0, in the order of the values; may be NULL for NULL.
        number: place of the value on a line, as a float8, NULL for NULL; None if the column is
            nominal.
    """

    name: str
    code: exp.Expr
    number: exp.Expr | None = None


Columns = Mapping[int, Associated]


def codes(relation: Relation, columns: Columns) -> exp.Select:
    """A code k<i> per column; never NULL, which GROUPING SETS need for columns left out."""
    tree = query("select 1 as n from t", {"t": relation})
    keys = [
        named(fragment("coalesce(:c, -1)", c=column.code), f"k{i}") for i, column in columns.items()
    ]
    return tree.select(*keys, append=False)


def grouped(sets: Iterable[Sequence[int]], columns: Iterable[int]) -> exp.Select:
    """(i, j, va, vb) per set of columns and codes in `x`; a set of one has i = j and va = vb."""
    forth = list(columns)
    back = forth[::-1]
    tree = query("select 1 as n from x").select(
        named(_first(forth), "i"),
        named(_first(back), "j"),
        named(exp.func("coalesce", *map(key, forth)), "va"),
        named(exp.func("coalesce", *map(key, back)), "vb"),
        append=False,
    )
    grouping = [exp.Tuple(expressions=[key(i) for i in members]) for members in sets]
    return tree.group_by(exp.GroupingSets(expressions=grouping))


def _first(columns: Sequence[int]) -> exp.Expr:
    """Number of the first column that is in the set."""
    case = exp.Case()
    for i in columns:
        case = case.when(fragment(":k is not null", k=key(i)), num(i), copy=False)
    return case


def key(i: int) -> exp.Column:
    return col(f"k{i}", "x")


def listed(rows: Sequence[Sequence[exp.Expr]], alias: str, names: Sequence[str]) -> exp.Expr:
    """VALUES that may use columns of the tables before them."""
    values = exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows])
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    return exp.Lateral(
        this=exp.Subquery(this=values),
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True), columns=columns),
    )


def nothing() -> exp.Select:
    """No pair."""
    return query("select 0 as i, 0 as j, 0::float8 as value where false")


def determined(relation: Relation, columns: Columns) -> exp.Select:
    """(i, j, value): column i determines column j. It is read from the least and greatest
    code of j per value of i: there are far fewer values than pairs of values."""
    same, varies, all_same = [], [], []
    for j in columns:
        ends = {"low": fragment("min(:k)", k=key(j)), "high": fragment("max(:k)", k=key(j))}
        same.append(named(fragment(":low = :high", **ends), f"same{j}"))
        varies.append(named(fragment(":low < :high", **ends), f"varies{j}"))
        every = fragment("bool_and(:s)", s=col(f"same{j}", "g"))
        all_same.append(named(every, f"same{j}"))
    groups = grouped([(i,) for i in columns], columns).select(*same)
    held = query("select g.i from g group by g.i", {"g": groups}).select(*all_same)
    whole = query("select 1 as n from x").select(*varies, append=False)
    rows = [[num(j), col(f"same{j}", "h"), col(f"varies{j}", "w")] for j in columns]
    pairs = query(
        "select h.i, p.j, 1 as value from h cross join w where p.same and p.varies and h.i <> p.j",
        {"h": held, "w": whole},
    ).join(listed(rows, "p", ["j", "same", "varies"]), join_type="cross")
    return materialized(pairs, x=codes(relation, columns))


Pairs = Sequence[tuple[int, int]]

DISTINCT = 32
"""Most different values of a number or date that are compared uncut."""

_R, _C, _N = col("distinct_values", "a"), col("distinct_values", "b"), col("n", "a")
_SHRUNK = ":r - (:r - 1) * (:r - 1) / nullif(:n - 1, 0)"


def contingency(
    relation: Relation, columns: Columns, pairs: Pairs | None = None, *, weighted: bool = False
) -> exp.Select:
    """(i, j, value) with V corrected for bias, for these pairs i < j or all of them.

    Args:
        weighted: whether a row of the relation stands for `w` records.
    """
    value = fragment(
        "case when least(:r, :c) < 2 then 0"
        # LEAST and GREATEST ignore NULL, so they must not meet what is undefined.
        " when :lesser - 1 <= 1e-9 then 0"
        " else least(1, sqrt(greatest(0, s.phi2 - (:r - 1) * (:c - 1) / (:n - 1))"
        " / (:lesser - 1))) end",
        lesser=exp.func("least", fragment(_SHRUNK, r=_R, n=_N), fragment(_SHRUNK, r=_C, n=_N)),
        r=_R,
        c=_C,
        n=_N,
    )
    return _measured(relation, columns, value, pairs, weighted)


def _measured(
    relation: Relation,
    columns: Columns,
    value: exp.Expr,
    wanted: Pairs | None,
    weighted: bool = False,
) -> exp.Select:
    """The value of every pair; `s.phi2` is its mean-square contingency, `a` and `b` the sizes."""
    pairs = list(combinations(columns, 2)) if wanted is None else list(wanted)
    if not pairs:
        return nothing()
    counts = grouped([*[(i,) for i in columns], *pairs], columns)
    records = "sum(x.w)" if weighted else "count(*)"
    counts = counts.select(named(fragment(f"{records}::float8"), "f"))
    sizes = query(
        "select g.i, count(*)::float8 as distinct_values, sum(g.f) as n from g where g.i = g.j"
        " group by g.i"
    )
    squares = query(
        "select g.i, g.j, sum(g.f * g.f / (a.f * b.f)) - 1 as phi2 from g"
        " join g as a on a.i = g.i and a.j = g.i and a.va = g.va"
        " join g as b on b.i = g.j and b.j = g.j and b.vb = g.vb"
        " where g.i < g.j group by g.i, g.j"
    )
    categories = _categories(relation, columns)
    tree = query("select s.i, s.j from s join d as a on a.i = s.i join d as b on b.i = s.j")
    # One row: arrays e<i> of the numbers and dates.
    edges = [
        named(scalar(_edges(relation, column.code, column.number, weighted)), f"e{i}")
        for i, column in columns.items()
        if column.number is not None
    ]
    return materialized(
        tree.select(named(value, "value")),
        e=query("select 1 as n").select(*edges),
        x=categories.select(col("w", "t")) if weighted else categories,
        g=counts,
        d=sizes,
        s=squares,
    )


def _categories(relation: Relation, columns: Columns) -> exp.Select:
    """A code k<i> per column: the quarter where a number or date has too many values."""
    tree = codes(relation, columns)
    keys: list[exp.Expr] = []
    for (i, column), plain in zip(columns.items(), tree.expressions, strict=True):
        if column.number is None:
            keys.append(plain)
            continue
        cut = fragment(
            "case when :e is null then :plain when :x is null then -1"
            " else width_bucket(:c, :e) end",
            e=col(f"e{i}", "e"),
            plain=plain.this,
            x=column.number,
            c=column.code,
        )
        keys.append(named(cut, f"k{i}"))
    return tree.select(*keys, append=False).join("e", join_type="cross")


def _edges(relation: Relation, code: exp.Expr, number: exp.Expr, weighted: bool) -> exp.Select:
    """One array: the least codes of the quarters after the first, NULL if there are few values.

    Quarters are those of ntile(4): the first ones take one record more if n is no multiple of 4.
    """
    values = query(
        "select :c as code, :f as f from t where :x is not null group by :c",
        {"t": relation},
        f=fragment("sum(t.w)::bigint" if weighted else "count(*)"),
        c=code,
        x=number,
    )
    middles = query(
        "select v.code, sum(v.f) over (order by v.code) - v.f + (v.f - 1) / 2 as middle,"
        " sum(v.f) over () as n from v",
        {"v": values},
    )
    quarter = "min(m.code) filter (where m.middle >= :b * div(m.n, 4) + least(:b, mod(m.n, 4)))"
    starts = exp.Array(expressions=[fragment(quarter, b=num(b)) for b in (1, 2, 3)])
    return query(
        "select case when count(*) > :most then array_remove(:starts, null) end as starts from m",
        {"m": middles},
        most=num(DISTINCT),
        starts=starts,
    )


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


__all__ = ["Associated", "Mode", "association", "associations", "dependencies", "matrix", "values"]

Mode = Literal["contingency", "msc", "pearson"]


def association(
    relation: Relation, columns: Sequence[Associated], mode: Mode, *, weighted: bool = False
) -> exp.Select:
    """One row, one column `association`: the text of a JSON array of [i, j, value] for i < j.

    Values are in [0, 1], with 9 decimals; i and j are places in `columns`. Pairs may be missing,
    which means 0: see :func:`matrix`. A column of one value has association 0 with all others.
    NULL is a value of its own, but `pearson` takes numbers from the records that have them, and
    gives 0 where some are not finite. Its three measures are not strictly comparable.

    Args:
        weighted: whether a row of the relation stands for `w` records; for `contingency` alone.
    """
    chosen = dict(enumerate(columns))
    if mode == "msc":
        # (i, j, value) with the square of V without correction, for pairs i < j.
        value = fragment(
            "case when least(:r, :c) < 2 then 0"
            " else least(1, greatest(0, s.phi2 / (least(:r, :c) - 1))) end",
            r=_R,
            c=_C,
        )
        return _as_json(_measured(relation, chosen, value, None), "association")
    if mode == "contingency":
        return _as_json(contingency(relation, chosen, weighted=weighted), "association")
    nominal = {i: column for i, column in chosen.items() if column.number is None}
    numbers = {i: column for i, column in chosen.items() if column.number is not None}
    parts = [contingency(relation, nominal), correlation(relation, numbers)]
    parts.append(correlation_ratio(relation, nominal, numbers))
    # In a subquery each, for a WITH cannot follow UNION.
    every = stacked([query("select v.* from v", {"v": part}) for part in parts])
    return _as_json(every, "association")


def associations(relation: Relation, columns: Sequence[Associated], pairs: Pairs) -> exp.Select:
    """The same of some pairs i < j alone, by `contingency`."""
    return _as_json(contingency(relation, dict(enumerate(columns)), pairs), "association")


def dependencies(relation: Relation, columns: Sequence[Associated]) -> exp.Select:
    """One row, one column `dependencies`: the text of a JSON array of [i, j, 1] in both orders,
    where column i determines column j.

    Records with equal values of i have equal values of j, and j has more than one value. NULL is
    one value. A column without repetition determines all others that are not constant.
    """
    pairs = determined(relation, dict(enumerate(columns))) if len(columns) > 1 else nothing()
    return _as_json(pairs, "dependencies")


def matrix(text: str, size: int) -> list[list[float]]:
    """The symmetric matrix of a JSON text of pairs; 1 on the diagonal, 0 for missing pairs."""
    result = [[float(i == j) for j in range(size)] for i in range(size)]
    for (i, j), value in values(text).items():
        result[i][j] = result[j][i] = value
    return result


def values(text: str) -> dict[tuple[int, int], float]:
    """The values of a JSON text of pairs."""
    return {(i, j): float(value) for i, j, value in json.loads(text)}


def _as_json(pairs: exp.Select, name: str) -> exp.Select:
    # Sums depend in their last digits on the order in which the server adds.
    listed = fragment(
        "coalesce(jsonb_agg(jsonb_build_array(v.i, v.j, trim_scale(round(v.value::numeric, 9)))"
        " order by v.i, v.j), '[]'::jsonb)"
    )
    return query("select 1 as n from v", {"v": pairs}).select(
        named(cast(listed, "text"), name), append=False
    )


def sensitive_columns(spec: ReleaseSpec) -> list[Associated]:
    return [_unchanged(item, f"s{item.index}", f"v{item.index}") for item in spec.sensitive]


def carried_columns(spec: ReleaseSpec) -> list[Associated]:
    """Their codes are called `i<j>`."""
    return [_unchanged(item, f"i{item.index}", f"p{item.index}") for item in spec.carried]


def _unchanged(item: Sensitive | Carried, code: str, value: str) -> Associated:
    on_line = item.column.is_number or item.column.is_time
    number = _number(item, col(value, "t")) if on_line else None
    return Associated(item.published, col(code, "t"), number)


def _number(item: Sensitive | Carried, value: exp.Expr) -> exp.Expr:
    if item.column.is_number:
        return fragment(":v::float8", v=value)
    if item.column.kind == "date":
        return fragment("(:v - date '2000-01-01')::float8", v=value)
    return fragment("extract(epoch from :v)::float8", v=value)


def quasi_columns(spec: ReleaseSpec, state: State) -> list[Associated]:
    columns: list[Associated] = []
    for axis in axes(spec.attributes):
        number = None
        if isinstance(axis, OrderedAxis):
            codes = col(axis.code, "t")
            number = fragment(
                "case when :c > 0 then :position end",
                c=codes,
                position=axis.position(state, codes),
            )
        code = fragment("nullif(:c, 0)", c=col(axis.code, "t"))
        columns.append(Associated(axis.attribute.published, code, number))
    return columns
