"""Random queries: answered from the published relations alone, compared with exact answers.

mqueries    see draws; first<i> and last<i> also as numbers, low<i> and high<i>
mtotals     (group_id, size, t<j>)    published records and sums of every group
mexact      (query, n, t<j>)          answers on the source; no row: nothing matches
mestimate   (query, n, t<j>)          answers from what is published

Queries depend on the seed and the source's values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.methods.base import Description, Tables
from pganon.metrics.answers import error_step
from pganon.metrics.coverage import inside, overlap
from pganon.metrics.draws import Domain, gathered, matches, predicates, restricting, some, starts
from pganon.metrics.request import Workload
from pganon.metrics.source import on_line, summed
from pganon.plan.sqltools import cast, col, conjunction, fragment, named, num, query
from pganon.plan.steps import CreateTable, State, Step
from pganon.spec.model import ReleaseSpec


def steps(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    workload: Workload,
) -> list[Step]:
    attributes = axes(spec.attributes)
    sums = [f"t{item.number}" for item in summed(spec)]
    found: list[Step] = [
        CreateTable(
            f"workload_draw{axis.index}",
            f"random predicates on attribute {axis.index + 1}",
            lambda s, axis=axis: s.work(f"mdraw{axis.index}"),
            lambda s, axis=axis: _drawn(axis, len(attributes), workload, s),
        )
        for axis in attributes
    ]
    found += [
        CreateTable(
            "workload_queries",
            "random queries",
            lambda s: s.work("mqueries"),
            lambda s: _queries(attributes, workload, s),
        ),
        CreateTable(
            "workload_totals",
            "published records and sums by group",
            lambda s: s.work("mtotals"),
            lambda s: _totals(spec, description, tables(s)),
        ),
        CreateTable(
            "workload_exact",
            "answers on the source",
            lambda s: s.work("mexact"),
            lambda s: _exact(attributes, sums, s),
        ),
        CreateTable(
            "workload_estimate",
            "answers from the published relations",
            lambda s: s.work("mestimate"),
            lambda s: _estimate(attributes, sums, s),
        ),
    ]
    return [*found, *[error_step(name) for name in ("n", *sums)]]


# -- queries ------------------------------------------------------------------------------------


def _drawn(axis: Axis, count: int, workload: Workload, state: State) -> exp.Expr:
    """(query, first, last, low, high) or (query, bits) of the queries that restrict `axis`."""
    size = axis.size(state)
    domain = Domain(axis.index, size, size, axis.dictionary(state))
    wide = domain.wide(workload.selectivity ** (1 / predicates(count, workload)))
    mine = restricting(workload, count, axis.index)
    if not on_line(axis):
        return some(domain, mine, workload.seed, wide)
    return query(
        "select s.query, s.first, s.first + :wide - 1 as last, l.place::float8 as low,"
        " h.place::float8 as high from s left join p as l on l.code = s.first"
        " left join p as h on h.code = s.first + :wide - 1",
        {
            "s": starts(domain, mine, workload.seed, wide),
            "p": state.work(f"mplaces{axis.index}"),
        },
        wide=num(wide),
    )


def _queries(attributes: Sequence[Axis], workload: Workload, state: State) -> exp.Expr:
    line, bits = ("first", "last", "low", "high"), ("bits",)
    drawn = {str(axis.index): line if on_line(axis) else bits for axis in attributes}
    return gathered(state, workload.queries, drawn)


# -- answers ------------------------------------------------------------------------------------


def _totals(spec: ReleaseSpec, description: Description, tables: Tables) -> exp.Expr:
    tree = query(
        "select v.group_id, count(*) as size from v group by v.group_id",
        {"v": description.values(spec, tables)},
    )
    for item in summed(spec):
        added = fragment("coalesce(sum(:v), 0)", v=cast(col(item.published, "v"), "float8"))
        tree = tree.select(named(added, f"t{item.number}"))
    return tree


def _exact(attributes: Sequence[Axis], sums: Sequence[str], state: State) -> exp.Expr:
    tree = query(
        "select q.query, sum(s.n)::float8 as n from q join s on :matches group by q.query",
        {"q": state.work("mqueries"), "s": state.work("msource")},
        matches=conjunction([exp.paren(_matches(axis)) for axis in attributes]),
    )
    return tree.select(*[named(exp.Sum(this=col(name, "s")), name) for name in sums])


def _matches(axis: Axis) -> exp.Expr:
    return matches(str(axis.index), col(axis.code, "s"), on_line=on_line(axis))


def _estimate(attributes: Sequence[Axis], sums: Sequence[str], state: State) -> exp.Expr:
    share: exp.Expr = fragment("b.n::float8 / t.size")
    for axis in attributes:
        share = fragment(":s * :p", s=share, p=_share(axis))
    parts = query(
        "select q.query, t.size, :share as share from q cross join b"
        " join t on t.group_id = b.group_id",
        {"q": state.work("mqueries"), "b": state.work("mboxes"), "t": state.work("mtotals")},
        share=share,
    ).select(*[col(name, "t") for name in sums])
    tree = query(
        "select p.query, sum(p.share * p.size) as n from p where p.share > 0 group by p.query",
        {"p": parts},
    )
    added = [fragment("sum(p.share * :t)", t=col(name, "p")) for name in sums]
    return tree.select(*[named(item, name) for item, name in zip(added, sums, strict=True)])


def _share(axis: Axis) -> exp.Expr:
    """Share of a published value's spread that the predicate of a query covers."""
    i = axis.index
    if not on_line(axis):
        bits = col(f"bits{i}", "q")
        share = overlap(axis, bits, "b")
        return fragment("case when :q is null then 1 else :share end", q=bits, share=share)
    share = inside(axis, col(f"low{i}", "q"), col(f"high{i}", "q"), "b")
    first = col(f"first{i}", "q")
    return fragment("case when :first is null then 1 else :share end", first=first, share=share)
