"""Which random queries are asked; see the work tables in :mod:`pganon.metrics.buckets.workload`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.metrics.draws import Domain, chosen, predicates, restricting, some, starts
from pganon.metrics.request import Workload
from pganon.metrics.source import on_line
from pganon.plan.sqltools import col, fragment, named, num, query, stacked
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec, Sensitive

SETS = 1000
"""Most values of a sensitive column that are asked for as sets; of more, neighbours are."""

ASKS = ("first", "last", "bits")


@dataclass(frozen=True)
class _Column:
    """A column that queries may restrict; `queries` are those that do."""

    domain: Domain
    on_line: bool
    queries: exp.Select


def draws(spec: ReleaseSpec, workload: Workload, state: State) -> exp.Expr:
    """What is asked of all columns; a sensitive one has a number behind the quasi-identifiers."""
    return stacked([_drawn(spec, workload, column) for column in _columns(spec, workload, state)])


def _columns(spec: ReleaseSpec, workload: Workload, state: State) -> list[_Column]:
    count = len(spec.attributes)
    found: list[_Column] = []
    for axis in axes(spec.attributes):
        size = axis.size(state)
        domain = Domain(axis.index, size, size, axis.dictionary(state))
        found.append(_Column(domain, on_line(axis), restricting(workload, count, axis.index)))
    for item in spec.sensitive:
        mine = query(
            "select c.query from c where c.attribute = :i",
            {"c": _items(spec, workload)},
            i=num(item.index),
        )
        found.append(_sensitive(item, count, mine, state))
    return found


def _items(spec: ReleaseSpec, workload: Workload) -> exp.Select:
    """(query, attribute): the sensitive column of every query.

    The seed is another one, so that it has nothing to do with the choice of quasi-identifiers.
    """
    return chosen(workload.seed ^ 1, workload.queries, len(spec.sensitive), 1)


def _sensitive(item: Sensitive, count: int, queries: exp.Select, state: State) -> _Column:
    """NULL has the last code, which is never asked for."""
    highest = state.count(f"sm{item.index}")
    size = highest - (state.count(f"snull{item.index}") > 0)
    known = query(
        "select d.code from d where d.code <= :size",
        {"d": state.work(f"sdict{item.index}")},
        size=num(size),
    )
    ordered = item.column.is_number or item.column.is_time or size > SETS
    domain = Domain(count + item.index, size, highest, known)
    return _Column(domain, size > 0 and ordered, queries)


def _drawn(spec: ReleaseSpec, workload: Workload, column: _Column) -> exp.Select:
    domain, count = column.domain, predicates(len(spec.attributes), workload)
    wide = domain.wide(workload.selectivity ** (1 / (count + 1)))
    x = {"x": num(domain.number), "wide": num(wide)}
    if column.on_line:
        drawn = {"s": starts(domain, column.queries, workload.seed, wide)}
        return query(
            "select s.query, :x as x, s.first, s.first + :wide - 1 as last, null::varbit as bits"
            " from s",
            drawn,
            **x,
        )
    return query(
        "select s.query, :x as x, null::bigint as first, null::bigint as last, s.bits from s",
        {"s": some(domain, column.queries, workload.seed, wide)},
        **x,
    )


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
    tree = query(
        "select p.*, i.attribute as item from p join i on i.query = p.query",
        {"p": tree, "i": _items(spec, workload)},
    )
    asked: dict[str, exp.Expr] = {str(p): col(f"a{p}", "q") for p in range(taken)}
    asked[""] = fragment("q.item + :count", count=num(count))
    tree = query("select q.* from q", {"q": tree})
    for place, x in asked.items():
        tree = _with(tree, place, x, state)
    return tree


def _with(tree: exp.Select, place: str, x: exp.Expr, state: State) -> exp.Select:
    """With what is asked of the column x."""
    alias = f"d{place}"
    drawn = exp.alias_(state.work("mdraws").table, alias, table=True, quoted=True)
    on = fragment(":query = q.query and :x = :y", query=col("query", alias), x=col("x", alias), y=x)
    tree = tree.join(drawn, on=on, join_type="left")
    return tree.select(*[named(col(name, alias), f"{name}{place}") for name in ASKS])
