"""Which random queries are asked of a workload, and what the source answers.

mdraws      see :mod:`pganon.metrics.draws`
mqueries    (query, a<p>, first<p>, last<p>, low<p>, high<p>, bits<p>)   one row per query: the
            number of the quasi-identifier in place p, and what is asked of it; where queries
            restrict a sensitive column also (item, first, last, low, high, bits)
mexact      (query, n, t<j>)   answers on the source; no row: nothing matches

Queries depend on the seed and the source's values. They are those of Xiao and Tao (VLDB 2006):
every predicate asks for the same share of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.facts import null_code, value_count
from pganon.encode.sensitive import value_counts, value_facts, values_of
from pganon.encode.value_codes import valued
from pganon.encode.work import sensitive_values
from pganon.forms.request import Workload
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
from pganon.metrics.keys import Cells, holding, in_places
from pganon.metrics.source import on_line
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import Check, CreateTable, State, Step, table


def query_steps(spec: ReleaseSpec, workload: Workload, *, placed: bool) -> list[Step]:
    """The steps that draw queries; `placed`: from mplaces<i> of :mod:`pganon.metrics.source`."""
    return [
        table(
            "workload_draws",
            "random predicates",
            lambda s: draws(spec, workload, s, placed=placed),
            into="mdraws",
        ),
        table(
            "workload_queries",
            "random queries",
            lambda s: queries(spec, workload, s),
            into="mqueries",
        ),
    ]


def draws(spec: ReleaseSpec, workload: Workload, state: State, *, placed: bool) -> exp.Expr:
    """Restrictions on all columns; sensitive ones have the numbers after the quasi-identifiers."""
    count = len(spec.attributes)
    queried: list[QueriedColumn] = []
    for axis in axes(spec.attributes):
        size = axis.size(state)
        domain = Domain(axis.index, size, size, axis.dictionary(state))
        mine = restricting(workload, count, axis.index)
        places = state.work(f"mplaces{axis.index}") if placed else None
        queried.append(QueriedColumn(domain, on_line(axis), mine, places))
    queried += columns(spec, workload, state) if workload.sensitive else []
    wide = share(count, workload)
    return stacked([drawn(column, workload.seed, wide) for column in queried])


def queries(spec: ReleaseSpec, workload: Workload, state: State) -> exp.Expr:
    count = len(spec.attributes)
    taken = predicates(count, workload)
    tree = in_places(chosen(workload.seed, workload.queries, count, taken), taken)
    restricted: dict[str, exp.Expr] = {str(p): col(f"a{p}", "q") for p in range(taken)}
    if workload.sensitive:
        tree = query(
            "select p.*, i.attribute as item from p join i on i.query = p.query",
            {"p": tree, "i": items(spec, workload)},
        )
        restricted[""] = fragment("q.item + :count", count=num(count))
    tree = query("select q.* from q", {"q": tree})
    for place, x in restricted.items():
        tree = _with(tree, place, x, state)
    return tree


def _with(tree: exp.Select, place: str, x: exp.Expr, state: State) -> exp.Select:
    """With the predicate on the column x."""
    alias = f"d{place}"
    drawn = aliased(state.work("mdraws"), alias)
    on = fragment(":query = q.query and :x = :y", query=col("query", alias), x=col("x", alias), y=x)
    tree = tree.join(drawn, on=on, join_type="left")
    return tree.select(*[named(col(name, alias), f"{name}{place}") for name in ASKS])


# -- answers on the source ----------------------------------------------------------------------


def exact_step(
    spec: ReleaseSpec,
    workload: Workload,
    source: str,
    sums: Sequence[str] = (),
    *,
    apart: bool = False,
) -> CreateTable:
    """The step that makes `mexact`.

    Args:
        source: work table (c<i>, s<j>, n, sums..) of the records; s<j> where queries restrict them.
        apart: whether sums are of all records that match but for the sensitive column.
    """
    items = spec.sensitive if workload.sensitive else ()
    cells = Cells(spec.attributes, items, predicates(len(spec.attributes), workload))
    added = ["n", *sums]

    def select(state: State) -> exp.Expr:
        asking = state.work("mqueries")
        # Predicates are compared once per combination of what they ask about.
        tree = query(
            "select q.query from q join c on :matched group by q.query",
            {"q": asking, "c": cells.select(state.work(source), asking, sums=added, every=True)},
            matched=cells.matched("c", value=not apart),
        )
        found = {name: fragment("sum(:n)::float8", n=col(name, "c")) for name in added}
        if items and apart:
            own = "(sum(c.n) filter (where :held))::float8"
            found["n"] = fragment(own, held=holding("value", "", "c"))
        return tree.select(*[named(n, name) for name, n in found.items()])

    return table("workload_exact", "answers on the source", select, into="mexact")


# The sensitive column that a query restricts, and its values as codes.
#
# Where a run made no :func:`pganon.encode.work.sensitive_values`, the steps here do.

SETS = 1000
"""Most values of a sensitive column that are asked for as sets; of more, neighbours are."""


# -- values -------------------------------------------------------------------------------------


def dictionary_steps(spec: ReleaseSpec, records: Callable[[State], exp.Select]) -> list[Step]:
    """For columns whose values no other step distinguished; `records` have them as `v<j>`."""
    others = [item for item in spec.sensitive if item not in valued(spec)]
    steps: list[Step] = [
        CreateTable(
            f"workload_values{item.index}",
            f"values of sensitive column {item.index + 1}",
            lambda s, item=item: s.work(sensitive_values(item.index)),
            lambda s, item=item: values_of(item, records(s), f"v{item.index}"),
        )
        for item in others
    ]
    if others:
        counts = lambda s: [count for item in others for count in value_counts(item, s)]  # noqa: E731
        sizes = Check(
            "workload_sizes",
            "sizes of the dictionaries",
            lambda s: exp.select(*counts(s)),
            gives=[fact for item in others for fact in value_facts(item)],
        )
        steps.append(sizes)
    return steps


# -- queries ------------------------------------------------------------------------------------


def items(spec: ReleaseSpec, workload: Workload) -> exp.Select:
    """(query, attribute): the sensitive column of every query.

    The seed is another one, so that it has nothing to do with the choice of quasi-identifiers.
    """
    count = len(spec.sensitive)
    drawn = chosen(workload.seed ^ 1, workload.queries, count, 1)
    numbers = [item.index for item in spec.sensitive]
    if numbers == list(range(count)):
        return drawn
    number = exp.Case(this=fragment("c.attribute"))
    for place, index in enumerate(numbers):
        number = number.when(num(place), num(index))
    return query("select c.query, :n as attribute from c", {"c": drawn}, n=number)


def columns(spec: ReleaseSpec, workload: Workload, state: State) -> Sequence[QueriedColumn]:
    """Axes that queries may restrict; numbered behind the quasi-identifiers."""
    return [_column(spec, item, workload, state) for item in spec.sensitive]


def _column(spec: ReleaseSpec, item: Sensitive, workload: Workload, state: State) -> QueriedColumn:
    """NULL has the last code, which is never asked for."""
    highest = state[value_count(item.index)]
    size = highest - (state[null_code(item.index)] > 0)
    values = query(
        "select d.code from d where d.code <= :size",
        {"d": state.work(sensitive_values(item.index))},
        size=num(size),
    )
    mine = query(
        "select c.query from c where c.attribute = :i",
        {"c": items(spec, workload)},
        i=num(item.index),
    )
    ordered = item.column.is_number or item.column.is_time or size > SETS
    domain = Domain(len(spec.attributes) + item.index, size, highest, values)
    return QueriedColumn(domain, size > 0 and ordered, mine)
