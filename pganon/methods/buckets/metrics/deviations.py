"""Standard deviations and bounds of the answers to random queries.

Of the n records of a bucket, b match the predicates on quasi-identifiers and a match the one on
the sensitive column: two conditions of an estimate. Buckets are independent.

mworlds     (query, variance, lower, upper)   where these alone decide
"""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.matched import both, call, exact
from pganon.methods.buckets.metrics.keys import matches
from pganon.methods.buckets.metrics.parts import PartsOf
from pganon.metrics.answers import bounds_step
from pganon.sqltools import col, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import measure, or_null

DEVIATION = or_null(measure("workload_deviation"))
"""None where more than one random assignment decides whether a record matches."""


def steps(parts: PartsOf) -> list[Step]:
    """Steps that observe DEVIATION and bounds; both are known where one assignment decides."""

    def one(state: State) -> bool:
        return not parts(state).beside()

    return [
        CreateTable(
            "workload_worlds",
            "what answers may be",
            lambda s: s.work("mworlds"),
            _worlds,
            when=one,
        ),
        Check(
            "workload_deviation",
            "how far answers may be from the truth by chance",
            lambda s: _deviation(s) if one(s) else query("select null as workload_deviation"),
            gives=[DEVIATION],
        ),
        bounds_step(lambda s: s.work("mworlds") if one(s) else None),
    ]


def _worlds(state: State) -> exp.Expr:
    having = query(
        "select q.query, q.item, t.group_id, t.size, sum(t.n) as a from q"
        " join t on t.item = q.item where :value group by 1, 2, 3, 4",
        {"q": state.work("mqueries"), "t": state.work("mheld")},
        value=matches("value", "", "t"),
    )
    size = col("size", "h")
    found = both(size, [exact(size, col("a", "h")), exact(size, col("n", "r"))])
    return query(
        "select h.query, sum(:variance) as variance, sum(:fewest) as lower, sum(:most) as upper"
        " from h join r on r.query = h.query and r.item = h.item and r.number = h.group_id"
        " group by h.query",
        {"h": having, "r": state.work("mreached")},
        fewest=found.fewest,
        most=found.most,
        variance=call("count_variance", n=size, **vars(found)),
    )


def _deviation(state: State) -> exp.Expr:
    """One row: the mean, over the queries with records, of the deviation over the exact answer."""
    return query(
        "select avg(sqrt(coalesce(v.variance, 0)) / e.n) as workload_deviation from e"
        " left join v on v.query = e.query where e.n > 0",
        {"e": state.work("mexact"), "v": state.work("mworlds")},
    )
