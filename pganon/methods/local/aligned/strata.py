"""Strata: records that hide the same columns of a set of associated columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.errors import PganonError
from pganon.identifiers import quote
from pganon.methods.common.association.pairs import listed
from pganon.methods.local.context import Context
from pganon.methods.local.eligible import too_frequent
from pganon.methods.local.form import facts
from pganon.methods.local.form.shared_buckets import sets
from pganon.methods.local.released_records import placed
from pganon.resolved.model import Sensitive
from pganon.sqltools import col, fragment, named, num, query, stacked, total
from pganon.steps import Check, State, Step, table

CHUNK = 20_000
"""Records whose piles are merged together."""


def associated(context: Context, state: State) -> bool:
    """Whether any columns share buckets."""
    return bool(sets(context.layout, state.facts))


def l_by_item(context: Context) -> dict[int, int]:
    """The l of every sensitive column, by its index."""
    return {item.index: context.layout.least(item) for item in context.spec.sensitive}


def code_column(item: Sensitive) -> str:
    """Work column with the code of a sensitive column."""
    return f"s{item.index}"


def stratum_steps(context: Context) -> list[Step]:
    """From `placed` to `strata`; refuses strata without buckets of l different values."""
    when = partial(associated, context)
    return [
        table(
            "strata_values",
            "hidden values by the associated columns that a record hides",
            lambda s: _values(context, s),
            when=when,
        ),
        table(
            "strata_piles",
            "into how many piles their records are dealt, and by which column",
            lambda s: _strata(context, s),
            into="strata",
            when=when,
        ),
        Check(
            "strata",
            "whether they can be in buckets",
            lambda s: _sizes(context, s) if when(s) else _nothing(),
            lambda row, state: _ineligible(context, row, state),
            gives=facts.STRATA,
        ),
    ]


def records(context: Context, state: State) -> exp.Select:
    """(lead, stratum, rid, s<j>): for each set the records that hide columns of it."""
    parts = []
    for columns in sets(context.layout, state.facts):
        hides = [fragment(":s > 0", s=col(code_column(item), "p")) for item in columns]
        stratum = total(
            [fragment(":h::int * :bit", h=h, bit=num(1 << at)) for at, h in enumerate(hides)]
        )
        tree = query(
            "select :lead as lead, :stratum as stratum, p.rid from p",
            {"p": placed(context, state)},
            lead=num(columns[0].index),
            stratum=stratum,
        ).where(exp.or_(*[h.copy() for h in hides]))
        for item in context.spec.sensitive:
            code = col(code_column(item), "p") if item in columns else num(0)
            tree = tree.select(named(code, code_column(item)))
        parts.append(tree)
    return stacked(parts)


def unpivoted(context: Context, table: str) -> exp.Expr:
    """(item, code): the columns s<j> of a table as rows, to be joined with the table."""
    rows = [[num(item.index), col(code_column(item), table)] for item in context.spec.sensitive]
    return listed(rows, "v", ["item", "code"])


def _values(context: Context, state: State) -> exp.Expr:
    tree = query(
        "select m.lead, m.stratum, v.item, v.code, count(*) as n from m where v.code > 0"
        " group by m.lead, m.stratum, v.item, v.code",
        {"m": records(context, state)},
    )
    return tree.join(unpivoted(context, "m"), join_type="cross")


def _counted(context: Context, state: State) -> exp.Select:
    """(lead, stratum, item, l, records, most) of the columns that the records of a stratum hide."""
    return query(
        "select v.lead, v.stratum, v.item, :l as l, sum(v.n)::bigint as records,"
        " max(v.n) as most from v group by v.lead, v.stratum, v.item",
        {"v": state.work("strata_values")},
        l=least_of(context, col("item", "v")),
    )


def least_of(context: Context, item: exp.Expr) -> exp.Expr:
    """The l of a column that is given by its index."""
    choice = exp.Case(this=item)
    for index, least in l_by_item(context).items():
        choice = choice.when(num(index), num(least))
    return exp.paren(choice)


def _strata(context: Context, state: State) -> exp.Expr:
    dealt = query(
        "select distinct on (c.lead, c.stratum) c.lead, c.stratum, c.item, c.l,"
        " c.records / c.l as piles, least(greatest(c.records / :chunk, 1), c.records / c.l)"
        " as chunks from c order by c.lead, c.stratum, c.most desc, c.item",
        {"c": _counted(context, state)},
        chunk=num(CHUNK),
    )
    return query(
        "select d.*, (sum(d.chunks) over (order by d.lead, d.stratum) - d.chunks)::bigint as first"
        " from d",
        {"d": dealt},
    )


def _sizes(context: Context, state: State) -> exp.Expr:
    """SELECT one row: the column of a stratum nearest to its limit, or beyond; number of chunks."""
    return query(
        "select (select sum(t.chunks)::bigint from t) as chunks, c.lead, c.stratum, c.item,"
        " c.records as cells, c.most from c"
        " order by c.records / c.most - c.l, c.lead, c.stratum, c.item limit 1",
        {"t": state.work("strata"), "c": _counted(context, state)},
    )


def _nothing() -> exp.Expr:
    """The row of :func:`_sizes` where no columns are associated."""
    return query("select 0 as chunks, 0 as lead, 0 as stratum, 0 as item, 0 as cells, 0 as most")


def _ineligible(context: Context, row: Mapping[str, Any], state: State) -> PganonError | None:
    item = context.spec.sensitive[row["item"]]
    cells, most, l = row["cells"], row["most"], context.layout.least(item)  # noqa: E741
    if most * l <= cells:
        return None
    (columns,) = [c for c in sets(context.layout, state.facts) if c[0].index == row["lead"]]
    hidden = [c.column.name for at, c in enumerate(columns) if row["stratum"] >> at & 1]
    others = [c.column.name for c in columns if c.column.name not in hidden]
    where = f" of records that hide {_listed(hidden)}" + (
        f" and show {_listed(others)}" if others else ""
    )
    hint = (
        f"lower l of {quote(item.column.name)}, leave out a column that it is associated with, or"
        " accept separate buckets with a higher link_threshold"
    )
    return too_frequent(item.column.name, l, cells, most, hint, where)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(quote(name) for name in names)
