"""Columns to compare, their codes, and records counted by the codes of one or two columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, materialized, named, num, query

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
