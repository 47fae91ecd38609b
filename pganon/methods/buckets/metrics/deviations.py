"""Standard deviations of the answers to random queries.

Of the n records of a bucket, b match the predicates on quasi-identifiers and a match the one on
the sensitive column. The number that match both is hypergeometric if every assignment is equally
likely. Its variance is a (n - a) b (n - b) / (n^2 (n - 1)). Buckets are independent.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.buckets.metrics.keys import matches
from pganon.methods.buckets.metrics.parts import Parts, PartsOf
from pganon.sqltools import query
from pganon.steps import Check, State, Step
from pganon.steps.facts import measure, or_null

DEVIATION = or_null(measure("workload_deviation"))
"""None where more than one random assignment decides whether a record matches."""


def steps(parts: PartsOf) -> list[Step]:
    """The check that observes DEVIATION."""
    return [
        Check(
            "workload_deviation",
            "how far answers may be from the truth by chance",
            lambda s: _deviation(parts(s), s),
            gives=[DEVIATION],
        )
    ]


def _deviation(parts: Parts, state: State) -> exp.Expr:
    """One row: the mean, over the queries with records, of the deviation over the exact answer.

    NULL where quasi-identifiers are in several tables, or generalized: then more than one random
    assignment decides whether a record matches.
    """
    if parts.beside():
        return query("select null::float8 as workload_deviation")
    having = query(
        "select q.query, q.item, t.group_id, t.size, sum(t.n) as a from q"
        " join t on t.item = q.item where :value group by 1, 2, 3, 4",
        {"q": state.work("mqueries"), "t": state.work("mheld")},
        value=matches("value", "", "t"),
    )
    variances = query(
        "select h.query, sum(case when h.size > 1 then h.a * (h.size - h.a) * r.n * (h.size - r.n)"
        " / (h.size * h.size * (h.size - 1)) else 0 end) as variance from h"
        " join r on r.query = h.query and r.item = h.item and r.number = h.group_id"
        " group by h.query",
        {"h": having, "r": state.work("mreached")},
    )
    return query(
        "select avg(sqrt(coalesce(v.variance, 0)) / e.n) as workload_deviation from e"
        " left join v on v.query = e.query where e.n > 0",
        {"e": state.work("mexact"), "v": variances},
    )
