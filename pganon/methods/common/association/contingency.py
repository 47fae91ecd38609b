"""Association of values as categories: Cramer's V and the mean-square contingency coefficient.

Numbers and dates with more than 32 different values are cut into quarters of the records. Equal
values stay in one quarter, that of their middle record, so the result does not depend on the order
of equal records. NULL is a value of its own, outside the quarters.

Records are counted for all pairs in one pass by GROUPING SETS, whose hash tables share one limit on
memory. Joining the records to themselves would make a row per record and pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from pganon.methods.common.association.pairs import Columns, Relation, codes, grouped, nothing
from pganon.sqltools import col, fragment, materialized, named, num, query, scalar

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


def mean_square_contingency(relation: Relation, columns: Columns) -> exp.Select:
    """(i, j, value) with the square of V without correction, for pairs i < j."""
    value = fragment(
        "case when least(:r, :c) < 2 then 0"
        " else least(1, greatest(0, s.phi2 / (least(:r, :c) - 1))) end",
        r=_R,
        c=_C,
    )
    return _measured(relation, columns, value, None)


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
