"""Random queries on records that may hide the queried values: counts, sums, and their bounds.

mqueries    see :mod:`pganon.metrics.queries`; sensitive columns that are also attributes are only
            queried as attributes
mheld       (query, number, n)       share of a bucket that has the sensitive values asked for
mestimate   (query, n, t<j>)         answers from what is published
mhelp<j>    (number, h, low, high)   sums of the h smallest and the h largest values of a bucket
mbounds<j>  (query, lower, upper, least, most)   of the sum of column j, from what is published

Bounds are those of Zhang, Koudas, Srivastava and Yu (2007) as Li, He and Sun use them: `lower` and
`upper` take as many values of every bucket as records are expected to match; the true sum may lie
outside. `least` and `most` take as many as must and may match.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.work import sensitive_values
from pganon.forms.request import Workload
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.local_names import bucket_column
from pganon.methods.local.metrics.relations import added, always_hidden
from pganon.methods.local.search.subsets import BUCKET, GENERALIZED, WITHHELD
from pganon.metrics.answers import error_step
from pganon.metrics.draws import holds, predicates
from pganon.metrics.queries import exact_step, query_steps
from pganon.metrics.source import on_line
from pganon.metrics.workload import asked_of
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import (
    aliased,
    cast,
    col,
    computed_once,
    fragment,
    named,
    num,
    query,
    stacked,
    text,
)
from pganon.steps import Check, CreateTable, State, Step, table
from pganon.steps.facts import Fact, count, measure, or_null


def answer_steps(spec: ReleaseSpec, places: int) -> list[Step]:
    """From `mwhere` to `mmatch` and `mreach`."""
    return [
        table(
            "workload_match",
            "shares of what is shown that match",
            lambda s: stacked(
                [
                    tree
                    for axis in axes(spec.attributes)
                    for place in range(places)
                    for tree in _matches(spec, axis, place, s)
                ]
            ),
            into="mmatch",
        ),
        *[
            table(
                f"workload_reach{place}",
                f"records that match up to predicate {place + 1}",
                lambda s, place=place: _reached(place, s),
                into=f"mreach{place + 1}",
            )
            for place in range(places)
        ],
    ]


def _reached(place: int, state: State) -> exp.Expr:
    matches = query(
        "select m.* from m where m.place = :place",
        {"m": state.work("mmatch")},
        place=num(place),
    )
    where = state.work("mwhere")
    if place == 0:
        return query(
            "select m.query, w.row, m.n from w join m on m.attribute = w.attribute"
            " and m.form = w.form and m.number = w.number",
            {"m": matches, "w": where},
        )
    # Locations are joined to rows first: joined only by query there would be too many pairs.
    probes = computed_once(
        query(
            "select r.query, r.row, r.n, w.attribute, w.form, w.number from r"
            " join q on q.query = r.query join w on w.row = r.row and w.attribute = :asked",
            {"r": state.work(f"mreach{place}"), "q": state.work("mqueries"), "w": where},
            asked=col(f"a{place}", "q"),
        )
    )
    return query(
        "select x.query, x.row, x.n * m.n as n from x join m on m.query = x.query"
        " and m.attribute = x.attribute and m.form = x.form and m.number = x.number",
        {"x": probes, "m": matches},
    )


def _matches(spec: ReleaseSpec, axis: Axis, place: int, state: State) -> list[exp.Select]:
    """SELECTs of mmatch: by group, and of what some hide by bucket, and where it is withheld."""
    asking = query(
        "select q.* from q where :asked = :i",
        {"q": state.work("mqueries")},
        asked=col(f"a{place}", "q"),
        i=num(axis.index),
    )
    shares = query(
        "select q.query, b.group_id as number, :share as n from q cross join b",
        {"q": asking, "b": state.work("mboxes")},
        share=asked_of(axis, place).share,
    )
    found = {GENERALIZED: query("select s.* from s where s.n > 0", {"s": shares})}
    item = Layout(spec).hiding(axis.attribute)
    if item is not None:
        found[BUCKET] = query(
            "select q.query, v.number, sum(v.n) / v.size as n from q join h on :holds"
            " join v on :code = h.code group by q.query, v.number, v.size",
            {
                "q": asking,
                "h": state.work(f"mplaced{axis.index}"),
                "v": state.work(f"mvalues{item.index}"),
            },
            holds=holds(str(place), col("at", "h")),
            code=col(f"s{item.index}", "v"),
        )
        size = axis.size(state)
        if size:
            # The matching share of the values that any record shows.
            matching = "bit_count(:bits)::float8 / :m"
            if on_line(axis):
                matching = "(:last - :first + 1)::float8 / :m"
            asks = {name: col(f"{name}{place}", "q") for name in ("first", "last", "bits")}
            share = fragment(matching, m=num(size), **asks)
            found[WITHHELD] = query(
                "select q.query, 0 as number, :share as n from q", {"q": asking}, share=share
            )
    return [
        query(
            "select x.query, :place as place, :i as attribute, :form as form,"
            " x.number::bigint as number, x.n::float8 as n from x",
            {"x": tree},
            place=num(place),
            i=num(axis.index),
            form=text(form),
        )
        for form, tree in found.items()
    ]


ENOUGH = 0.01
"""Least share of the sum over all records that a true sum needs for `mean_of_enough`."""


def steps(spec: ReleaseSpec, workload: Workload) -> list[Step]:
    """From a workload to the facts of its errors and of the bounds of sums."""
    places = predicates(len(spec.attributes), workload)
    asked = replace(spec, sensitive=tuple(always_hidden(spec)))
    sums = [f"t{item.index}" for item in added(spec)]
    return [
        *query_steps(asked, workload, placed=True),
        exact_step(asked, workload, "msource", sums, apart=True),
        *answer_steps(spec, places),
        *([_held_step(spec)] if workload.sensitive else []),
        table(
            "workload_estimate",
            "answers from the published relations",
            lambda s: _estimate(spec, places, workload, s),
            into="mestimate",
        ),
        *[error_step(name) for name in ("n", *sums)],
        *[step for item in added(spec) for step in _bound_steps(item, places)],
    ]


# -- answers ------------------------------------------------------------------------------------


def _held_step(spec: ReleaseSpec) -> CreateTable:
    def held(state: State) -> exp.Expr:
        return stacked(
            [
                query(
                    "select q.query, v.number, sum(v.n) / v.size as n from q join v on :holds"
                    " where q.item = :j group by q.query, v.number, v.size",
                    {"q": state.work("mqueries"), "v": state.work(f"mvalues{item.index}")},
                    holds=holds("", col(f"s{item.index}", "v")),
                    j=num(item.index),
                )
                for item in always_hidden(spec)
            ]
        )

    return table(
        "workload_held", "shares of buckets with the sensitive values asked for", held, into="mheld"
    )


def _estimate(spec: ReleaseSpec, places: int, workload: Workload, state: State) -> exp.Expr:
    tree = query(
        "select r.query from r join q on q.query = r.query join m on m.row = r.row",
        {
            "r": state.work(f"mreach{places}"),
            "q": state.work("mqueries"),
            "m": state.work("mrows"),
        },
    )
    counts: exp.Expr = fragment("r.n * m.n")
    if workload.sensitive:
        bucket = exp.Case(this=col("item", "q"))
        for item in always_hidden(spec):
            bucket = bucket.when(num(item.index), col(bucket_column(item.published), "m"))
        tree = tree.join(
            aliased(state.work("mheld"), "h"),
            on=fragment("h.query = r.query and h.number = :bucket", bucket=bucket),
            join_type="left",
        )
        counts = fragment("r.n * m.n * coalesce(h.n, 0)")
    tree = tree.select(named(fragment("sum(:n)", n=counts), "n"))
    for item in added(spec):
        means = query(
            "select v.number, sum(v.n * v.amount) / max(v.size) as mean from v group by v.number",
            {"v": state.work(f"mvalues{item.index}")},
        )
        alias = f"v{item.index}"
        tree = tree.join(
            means.subquery(alias),
            on=exp.EQ(
                this=col("number", alias), expression=col(bucket_column(item.published), "m")
            ),
            join_type="left",
        )
        amount = fragment("sum(r.n * m.n * coalesce(:v, 0))", v=col("mean", alias))
        tree = tree.select(named(amount, f"t{item.index}"))
    return tree.group_by(col("query", "r"))


# -- bounds -------------------------------------------------------------------------------------


def _bound_steps(item: Sensitive, places: int) -> list[Step]:
    j, name = item.index, item.published
    return [
        table(
            f"workload_help{j}",
            f"sums of the least and the greatest values of {name} in every bucket",
            lambda s: _help(item, s),
            into=f"mhelp{j}",
        ),
        table(
            f"workload_bounds{j}",
            f"bounds of the sums of {name}",
            lambda s: _bounds(item, places, s),
            into=f"mbounds{j}",
        ),
        Check(
            f"workload_bound_error{j}",
            f"how far the bounds of the sums of {name} are apart",
            lambda s: _errors(item, s),
            gives=bound_facts(j),
        ),
    ]


def bound_facts(index: int) -> list[Fact[Any]]:
    """Statistics of the bounds of the sums of a column, None where no query has one, and `empty`,
    the number of queries whose exact sum is 0."""
    of = f"workload_bounds{index}_"
    names = ("mean", "median", "mean_of_enough", "certain_mean", "certain_median")
    measures = [or_null(measure(name, of)) for name in (*names, "outside", "beyond")]
    return [*measures, count("empty", of)]


def _help(item: Sensitive, state: State) -> exp.Expr:
    each = query(
        "select v.number, v.amount from v cross join lateral generate_series(1, v.n::bigint)",
        {"v": state.work(f"mvalues{item.index}")},
    )
    text = (
        "select e.number, row_number() over w as h, sum(e.amount) over w as amount from e"
        " window w as (partition by e.number order by e.amount rows unbounded preceding)"
    )
    least = query(text, {"e": each})
    most = query(text.replace("e.amount rows", "e.amount desc rows"), {"e": each.copy()})
    none = query(
        "select distinct v.number, 0::bigint as h, 0::float8 as low, 0::float8 as high from v",
        {"v": state.work(f"mvalues{item.index}")},
    )
    some = query(
        "select l.number, l.h, l.amount as low, g.amount as high from l"
        " join g on g.number = l.number and g.h = l.h",
        {"l": least, "g": most},
    )
    return stacked([none, some])


def _bounds(item: Sensitive, places: int, state: State) -> exp.Expr:
    expected = query(
        "select r.query, :bucket as bucket, round(sum(r.n * m.n)::numeric, 9) as p,"
        " coalesce(sum(m.n) filter (where r.n > 1 - 1e-12), 0) as sure, sum(m.n) as possible"
        " from r join m on m.row = r.row where :bucket is not null group by r.query, :bucket",
        {"r": state.work(f"mreach{places}"), "m": state.work("mrows")},
        bucket=col(bucket_column(item.published), "m"),
    )
    of_bucket = query(
        "select e.query, min(h.low) filter (where :around) as lower,"
        " max(h.high) filter (where :around) as upper,"
        " min(h.low) filter (where :within) as least,"
        " max(h.high) filter (where :within) as most"
        " from e join h on h.number = e.bucket group by e.query, e.bucket",
        {"e": expected, "h": state.work(f"mhelp{item.index}")},
        around=fragment("h.h in (floor(e.p), ceil(e.p))"),
        within=fragment("h.h between e.sure and e.possible"),
    )
    return query(
        "select x.query, sum(x.lower) as lower, sum(x.upper) as upper, sum(x.least) as least,"
        " sum(x.most) as most from x group by x.query",
        {"x": of_bucket},
    )


def _errors(item: Sensitive, state: State) -> exp.Expr:
    """SELECT one row of statistics; only more than rounding puts a sum outside its bounds."""
    answers = query(
        "select q.query, coalesce(e.t, 0) as t, coalesce(b.lower, 0) as lower,"
        " coalesce(b.upper, 0) as upper, coalesce(b.least, 0) as least,"
        " coalesce(b.most, 0) as most from q left join e on e.query = q.query"
        " left join b on b.query = q.query",
        {
            "q": state.work("mqueries"),
            "e": query(
                "select m.query, :t as t from m",
                {"m": state.work("mexact")},
                t=col(f"t{item.index}", "m"),
            ),
            "b": state.work(f"mbounds{item.index}"),
        },
    )
    every = query(
        "select sum(abs(d.value::float8) * d.n) as amount from d where d.value is not null",
        {"d": state.work(sensitive_values(item.index))},
    )
    errors = query(
        "select (a.upper - a.lower) / nullif(abs(a.t), 0) as error,"
        " (a.most - a.least) / nullif(abs(a.t), 0) as certain, abs(a.t) >= :enough * s.amount"
        " as enough, a.t < a.lower - :r or a.t > a.upper + :r as outside,"
        " a.t < a.least - :r or a.t > a.most + :r as beyond from a cross join s",
        {"a": answers, "s": every},
        enough=cast(exp.Literal.number(repr(ENOUGH)), "float8"),
        r=fragment("1e-9 * (1 + abs(a.t))"),
    )
    return query(
        "select avg(j.error) as mean, percentile_cont(0.5) within group (order by j.error)"
        " as median, avg(j.error) filter (where j.enough) as mean_of_enough,"
        " avg(j.certain) as certain_mean,"
        " percentile_cont(0.5) within group (order by j.certain) as certain_median,"
        " avg(j.outside::int)::float8 as outside, avg(j.beyond::int)::float8 as beyond,"
        " count(*) filter (where j.error is null) as empty from j",
        {"j": errors},
    )
