"""Which random queries are asked of a workload."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.forms.request import Workload
from pganon.metrics import sensitive
from pganon.metrics.draws import (
    ASKS,
    Domain,
    QueriedColumn,
    chosen,
    drawn,
    predicates,
    restricting,
    share,
)
from pganon.metrics.source import on_line
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import State


def draws(spec: ReleaseSpec, workload: Workload, state: State) -> exp.Expr:
    """Restrictions on all columns; sensitive ones have the numbers after the quasi-identifiers."""
    count = len(spec.attributes)
    columns: list[QueriedColumn] = []
    for axis in axes(spec.attributes):
        size = axis.size(state)
        domain = Domain(axis.index, size, size, axis.dictionary(state))
        mine = restricting(workload, count, axis.index)
        columns.append(QueriedColumn(domain, on_line(axis), mine))
    columns += sensitive.columns(spec, workload, state) if workload.sensitive else []
    asked = share(count, workload)
    return stacked([drawn(column, workload.seed, asked) for column in columns])


def queries(spec: ReleaseSpec, workload: Workload, state: State) -> exp.Expr:
    count = len(spec.attributes)
    taken = predicates(count, workload)
    placed = query(
        "select c.query, c.attribute, row_number() over (partition by c.query"
        " order by c.attribute) - 1 as place from c",
        {"c": chosen(workload.seed, workload.queries, count, taken)},
    )
    tree = query("select p.query from p group by p.query", {"p": placed}).select(
        *[
            named(fragment("max(p.attribute) filter (where p.place = :p)", p=num(p)), f"a{p}")
            for p in range(taken)
        ]
    )
    asked: dict[str, exp.Expr] = {str(p): col(f"a{p}", "q") for p in range(taken)}
    if workload.sensitive:
        tree = query(
            "select p.*, i.attribute as item from p join i on i.query = p.query",
            {"p": tree, "i": sensitive.items(spec, workload)},
        )
        asked[""] = fragment("q.item + :count", count=num(count))
    tree = query("select q.* from q", {"q": tree})
    for place, x in asked.items():
        tree = _with(tree, place, x, state)
    return tree


def _with(tree: exp.Select, place: str, x: exp.Expr, state: State) -> exp.Select:
    """With the predicate on the column x."""
    alias = f"d{place}"
    drawn = aliased(state.work("mdraws"), alias)
    on = fragment(":query = q.query and :x = :y", query=col("query", alias), x=col("x", alias), y=x)
    tree = tree.join(drawn, on=on, join_type="left")
    return tree.select(*[named(col(name, alias), f"{name}{place}") for name in ASKS])
