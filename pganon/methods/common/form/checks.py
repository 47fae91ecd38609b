"""Verification queries, the same for every form."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.form import STRUCTURE
from pganon.forms.shape import PublishedRelation, Relations, Shape
from pganon.privacy.base import Requirement
from pganon.sqltools import col, fragment, named, presorted, query, render, stacked
from pganon.steps.relations import CheckQuery


def requirement_check(
    requirement: Requirement,
    measured: exp.Select,
    against: str = "",
    *,
    empty: bool = False,
    hint: str | None = None,
) -> CheckQuery:
    """Check that every group satisfies its requirements; `measured` selects the measures.

    Args:
        empty: whether there may be no group; that holds, too.
        hint: what to do if the release as a whole misses it; None where groups do.
    """
    model = requirement.model
    worst = model.worst(measured)
    if empty:
        limit = exp.Literal.number(repr(float(model.parameter)))
        text = "select w.failing, coalesce(w.measured, :p) as measured from w"
        worst = query(text, {"w": worst}, p=limit)
    return CheckQuery(
        model=model.name,
        symbol=model.symbol,
        column=requirement.column,
        parameter=float(model.parameter),
        bound=model.comparison,
        against=against,
        sql=render(worst),
        hint=hint,
    )


def violations_check(name: str, counted: exp.Select, column: str | None = None) -> CheckQuery:
    """Nothing is wrong; `counted` selects one row with the number of violations, `measured`."""
    tree = query("select b.measured, b.measured as failing from b", {"b": counted})
    return CheckQuery(name, "violations", column, 0, "<=", "", render(tree))


def offending_check(name: str, column: str | None, offending: exp.Select) -> CheckQuery:
    """Every row of `offending` is a violation."""
    counted = query("select count(*) as measured from o", {"o": offending})
    return violations_check(name, counted, column)


_MEANS = "(:mean > 0 and :mean < 'Infinity') is not true"
_AROUND = (
    "(:range @> :mean or :mean - lower(:range) between -0.000001 and 0.000001"
    " or :mean - upper(:range) between -0.000001 and 0.000001) is not true"
)


def structure_check(shape: Shape, tables: Relations) -> CheckQuery:
    """Every group has one row, and records; means of weights are weights, within their range."""
    groups, records, *_ = shape
    broken = query(
        "select g.number from (select :own as number, count(*) as n from x group by 1) as g"
        " full join (select :of as number from r group by 1) as h on h.number = g.number"
        " where g.n is distinct from 1 or h.number is null",
        {"x": tables[groups.part], "r": tables[records.part]},
        own=col(groups.groups[0], "x"),
        of=col(groups.groups[0], "r"),
    )
    wrong = [
        query(
            "select :own as number from x",
            {"x": tables[groups.part]},
            own=col(groups.groups[0], "x"),
        ).where(fragment(text, mean=col(item.published, "x"), range=col(item.range_name, "x")))
        for item in groups.averaged
        for text in (_MEANS, *([_AROUND] if item.ranged else []))
    ]
    return offending_check(STRUCTURE, None, stacked([broken, *wrong]) if wrong else broken)


def counted(relation: PublishedRelation, group: str, tables: Relations) -> exp.Select:
    """SELECT number, n, least: the records of every group, and the smallest count of a row."""
    n, least = "count(*)", "1"
    rows = query("select :g as number from t", {"t": tables[relation.part]}, g=col(group, "t"))
    rows = presorted(rows)
    if relation.count is not None:
        n, least = "sum(r.count)", "min(coalesce(r.count, 0))"
        rows = rows.select(named(col(relation.count, "t"), "count"))
    return query(
        "select r.number, :n as n, :least as least from r group by r.number",
        {"r": rows},
        n=fragment(n),
        least=fragment(least),
    )


def unequal(one: exp.Select, other: exp.Select) -> exp.Select:
    """SELECT number of groups, as of :func:`counted`, that have other numbers of records in both,
    or a row without any."""
    return query(
        "select a.number from a full join b on b.number = a.number"
        " where a.n is distinct from b.n or least(a.least, b.least) < 1",
        {"a": one, "b": other},
    )
