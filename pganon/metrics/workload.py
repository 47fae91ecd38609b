"""Random queries: answered from the published relations alone, compared with exact answers.

mqueries    one row per query: per attribute first<i>, last<i> (codes), low<i>, high<i> (numbers) or
            bits<i> (codes as in mcover<i>); all NULL where the query does not restrict it
mtotals     (group_id, size, t<j>)    published records and sums of every group
mexact      (query, n, t<j>)          answers on the source; no row: nothing matches
mestimate   (query, n, t<j>)          answers from what is published

Predicates restrict values, never NULL. Queries depend on the seed and the source's values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.methods.base import Description, Tables
from pganon.metrics.coverage import no_codes
from pganon.metrics.request import Workload
from pganon.metrics.source import discrete, on_line, summed
from pganon.plan.sqltools import cast, col, conjunction, fragment, named, num, query
from pganon.plan.steps import Check, CreateTable, State, Step
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
    for name in ("n", *sums):
        found.append(
            Check(
                f"workload_error_{name}",
                "errors of counts" if name == "n" else "errors of sums",
                lambda s, name=name: _errors(name, s),
                prefix=f"workload_{name}_",
            )
        )
    return found


# -- queries ------------------------------------------------------------------------------------


def _hash(seed: int, *terms: exp.Expr) -> exp.Expr:
    """A number per query and term, the same on every server."""
    value: exp.Expr = cast(num(seed), "bigint")
    for term in terms:
        value = fragment("hashint8extended(:t::bigint, :v)", t=term, v=value)
    return value


def predicates(count: int, workload: Workload) -> int:
    return min(workload.predicates, count)


def _chosen(count: int, workload: Workload) -> exp.Select:
    """(query, attribute): the attributes that each query restricts."""
    every = query(
        "select q.q as query, a.a as attribute, row_number() over (partition by q.q"
        " order by :h, a.a) as place"
        " from generate_series(1, :n) as q(q) cross join generate_series(1, :d) as a(a)",
        None,
        h=_hash(workload.seed, exp.column("q", "q"), exp.column("a", "a")),
        n=num(workload.queries),
        d=num(count),
    )
    return query(
        "select e.query, e.attribute - 1 as attribute from e where e.place <= :k",
        {"e": every},
        k=num(predicates(count, workload)),
    )


def _drawn(axis: Axis, count: int, workload: Workload, state: State) -> exp.Expr:
    """(query, first, last, low, high) or (query, bits) of the queries that restrict `axis`."""
    size = axis.size(state)
    share = workload.selectivity ** (1 / predicates(count, workload))
    wide = min(max(1, round(size * share)), max(size, 1))
    mine = query(
        "select c.query from c where c.attribute = :i",
        {"c": _chosen(count, workload)},
        i=num(axis.index),
    )
    seed = workload.seed
    if not on_line(axis):
        ranked = query(
            "select m.query, d.code, row_number() over (partition by m.query order by :h, d.code)"
            " as place from m left join d on d.code > 0",
            {"m": mine, "d": axis.dictionary(state)},
            h=_hash(seed, fragment("m.query"), num(axis.index), fragment("coalesce(d.code, 0)")),
        )
        return query(
            "select r.query, bit_or(coalesce(set_bit(:none, r.code, 1), :none)) as bits"
            " from r where r.place <= :wide group by r.query",
            {"r": ranked},
            none=no_codes(axis, state),
            wide=num(wide),
        )
    starts = query(
        "select m.query, 1 + abs(:h % :places) as first from m",
        {"m": mine},
        h=_hash(seed, fragment("m.query"), num(axis.index), num(-1)),
        places=num(size - wide + 1 if size else 1),
    )
    return query(
        "select s.query, s.first, s.first + :wide - 1 as last, l.place::float8 as low,"
        " h.place::float8 as high from s left join p as l on l.code = s.first"
        " left join p as h on h.code = s.first + :wide - 1",
        {"s": starts, "p": state.work(f"mplaces{axis.index}")},
        wide=num(wide),
    )


def _queries(attributes: Sequence[Axis], workload: Workload, state: State) -> exp.Expr:
    tree = query(
        "select q.q as query from generate_series(1, :n) as q(q)", None, n=num(workload.queries)
    )
    for axis in attributes:
        i, alias = axis.index, f"a{axis.index}"
        names = ("first", "last", "low", "high") if on_line(axis) else ("bits",)
        tree = tree.select(*[named(col(name, alias), f"{name}{i}") for name in names])
        tree = tree.join(
            exp.alias_(state.work(f"mdraw{i}").table, alias, table=True, quoted=True),
            on=exp.EQ(this=col("query", alias), expression=fragment("q.q")),
            join_type="left",
        )
    return tree


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
    i, code = axis.index, col(axis.code, "s")
    if not on_line(axis):
        bits = col(f"bits{i}", "q")
        return fragment(":b is null or get_bit(:b, :c) = 1", b=bits, c=code)
    first, last = col(f"first{i}", "q"), col(f"last{i}", "q")
    return fragment(":a is null or :c between :a and :z", a=first, z=last, c=code)


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
        return fragment(
            "case when :q is null then 1 else bit_count(:q & :b)::float8 / :n end",
            q=col(f"bits{i}", "q"),
            b=col(f"bits{i}", "b"),
            n=col(f"covers{i}", "b"),
        )
    parts = {
        "first": col(f"first{i}", "q"),
        "below": col(f"low{i}", "q"),
        "above": col(f"high{i}", "q"),
        "low": col(f"low{i}", "b"),
        "high": col(f"high{i}", "b"),
        "z": col(f"z{i}", "b"),
    }
    start = "case when :first is null then 1 when :low is null or :below is null then 0 "
    if discrete(axis):
        return fragment(start + _DISCRETE, **parts)
    return fragment(start + _CONTINUOUS, **parts)


_DISCRETE = (
    "else greatest(0, least(:high, :above) - greatest(:low, :below) + 1)"
    " / (:high - :low + 1 + :z::int) end"
)
_CONTINUOUS = (
    "when :low = :high then (:low between :below and :above)::int::float8 / (1 + :z::int)"
    " else greatest(0, least(:high, :above) - greatest(:low, :below)) / (:high - :low) end"
)


def _errors(name: str, state: State) -> exp.Expr:
    """One row: median and mean relative error, and queries with an exact answer of 0."""
    return query(
        "select percentile_cont(0.5) within group (order by x.error) as median,"
        " avg(x.error) as mean, count(*) filter (where x.error is null) as empty from x",
        {
            "x": query(
                "select abs(coalesce(p.v, 0) - e.v) / nullif(abs(e.v), 0) as error"
                " from q left join e on e.query = q.query left join p on p.query = q.query",
                {
                    "q": state.work("mqueries"),
                    "e": _answers("mexact", name, state),
                    "p": _answers("mestimate", name, state),
                },
            )
        },
    )


def _answers(table: str, name: str, state: State) -> exp.Select:
    return query("select a.query, :v as v from a", {"a": state.work(table)}, v=col(name, "a"))
