"""Random queries: counts of records with quasi-identifiers and a sensitive value of some kind.

mdraws      (query, x, first, last, bits)   predicate of a query on column x: codes from first to
            last, or those whose bit is set
mqueries    (query, a<p>, item, first<p>, last<p>, bits<p>, first, last, bits)   one row per
            query: quasi-identifiers in places, and a sensitive column with its predicate
mexact      (query, n)   answers on the source; no row: nothing matches

Queries are those of Xiao and Tao (VLDB 2006): every predicate asks for the same share of values.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.request import Workload
from pganon.methods.buckets.metrics import deviations, estimates
from pganon.methods.buckets.metrics.keys import (
    all_match,
    asked,
    codes,
    distinct,
    keyed,
    keys,
    matches,
    same,
    summed,
    value,
)
from pganon.methods.buckets.metrics.parts import PartsOf
from pganon.methods.common.metrics.queries import draws, queries
from pganon.metrics.answers import error_step
from pganon.metrics.draws import predicates
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import CreateTable, State, Step


def steps(spec: ReleaseSpec, parts: PartsOf, workload: Workload) -> list[Step]:
    """From a workload to the facts of its errors."""
    places = predicates(len(spec.attributes), workload)
    return [
        CreateTable(
            "workload_draws",
            "random predicates",
            lambda s: s.work("mdraws"),
            lambda s: draws(spec, workload, s),
        ),
        CreateTable(
            "workload_queries",
            "random queries",
            lambda s: s.work("mqueries"),
            lambda s: queries(spec, workload, s),
        ),
        CreateTable(
            "workload_exact",
            "answers on the source",
            lambda s: s.work("mexact"),
            lambda s: _exact(spec, places, s),
        ),
        *estimates.steps(parts, places),
        error_step("n"),
        *deviations.steps(parts),
    ]


def _exact(spec: ReleaseSpec, places: int, state: State) -> exp.Expr:
    names = [*asked(places), "item"]
    cells = query(
        "select q.item, s.n from q cross join s",
        {"q": distinct(state.work("mqueries"), names), "s": state.work("msource")},
    ).select(*[col(name, "q") for name in asked(places)], value(spec.sensitive, "s"))
    cells = keyed(cells, codes(spec.attributes, places, "q", "s"))
    return query(
        "select q.query, sum(c.n) as n from q join c on :same and :all and :value group by q.query",
        {
            "q": state.work("mqueries"),
            "c": summed(cells, [*names, *keys(places), "value"]),
        },
        same=same(names, "c"),
        all=all_match(places, "c"),
        value=matches("value", "", "c"),
    )
