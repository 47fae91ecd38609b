"""Means and modes: what a class of microaggregation shows for its codes.

Numbers, dates and timestamps show the mean of the values that are there, rounded as the column is;
other columns the most frequent value, the first one on a tie, NULL before all. Unlike every other
published value it need not cover the values of the records.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms.elements import element
from pganon.forms.work import GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Shown
from pganon.sqltools import cast, col, fragment, query, scalar
from pganon.steps import CreateTable, State

_SECONDS = "extract(epoch from :v)"
_MEANS = {
    "date": "date '2000-01-01' + round(avg(:v - date '2000-01-01'))::integer",
    "timestamp": f"timestamp 'epoch' + avg({_SECONDS}) * interval '1 second'",
    "timestamptz": f"to_timestamp(avg({_SECONDS})::float8)",
}


def centre_step(axis: Axis) -> CreateTable:
    return CreateTable(
        f"centres{axis.index}",
        f"centres of the classes in attribute {axis.index + 1}",
        lambda s: centres(axis, s),
        lambda s: _mean(axis, s) if axis.attribute.form is Shown.MEAN else _mode(axis, s),
        inline=True,
    )


def centres(axis: Axis, state: State) -> QualifiedName:
    """Work table (class_id, has_null, value)."""
    return state.work(f"centres{axis.index}")


def _members(axis: Axis, state: State) -> exp.Select:
    """SELECT class_id, code, value: a row per record; NULL has no value."""
    return query(
        "select g.class_id, :code as code, d.value from g left join d on d.code = :code"
        " and :code > 0",
        {"g": state.work(GROUPED_CLASSES), "d": axis.dictionary(state)},
        code=col(axis.code, "g"),
    )


def _mean(axis: Axis, state: State) -> exp.Expr:
    value = col("value", "m")
    mean = fragment(_MEANS.get(axis.attribute.column.kind, "avg(:v::numeric)"), v=value)
    return query(
        "select m.class_id, bool_or(m.code = 0) as has_null, :mean as value from m"
        " group by m.class_id",
        {"m": _members(axis, state)},
        mean=cast(exp.paren(_rounded(axis, mean, state)), axis.attribute.published_type),
    )


def _rounded(axis: Axis, mean: exp.Expr, state: State) -> exp.Expr:
    """Numbers have as many decimals as the source shows at most."""
    if axis.attribute.column.kind != "numeric":
        return mean
    most = query(
        "select coalesce(max(scale(d.value::numeric)), 0) from d where d.code > 0",
        {"d": axis.dictionary(state)},
    )
    return fragment("round(:mean, (:most))", mean=mean, most=scalar(most))


def _mode(axis: Axis, state: State) -> exp.Expr:
    counted = query(
        "select m.class_id, m.code, m.value, count(*) as n from m"
        " group by m.class_id, m.code, m.value",
        {"m": _members(axis, state)},
    )
    first = query(
        "select distinct on (c.class_id) c.class_id,"
        " bool_or(c.code = 0) over (partition by c.class_id) as has_null, c.value from c"
        " order by c.class_id, c.n desc, c.code",
        {"c": counted},
    )
    return query(
        "select f.class_id, f.has_null, :value as value from f",
        {"f": first},
        value=element(axis.attribute, col("value", "f")),
    )
