"""Posterior over the k candidates of a reader who counts the worlds that fit a cluster.

    candidates    (cluster_no, attribute_set, size, counts, combinations)   of small clusters
    posteriors    (cluster_no, attribute_set, posterior)                    of those counted

Worlds are counted in Python, on numbers of values; see
:mod:`pganon.methods.clusters.search.exact_cover`.
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from pganon.forms.facts import MEASURE
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.methods.clusters.search.exact_cover import worst_posterior
from pganon.policy.options import CLUSTER_NO
from pganon.privacy.quasi_sensitive import supported_combinations
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import Fact, Facts, count, measure, or_null
from pganon.steps.tasks import TaskResult

MOST_RECORDS = 8
MOST_COMBINATIONS = 32
"""Clusters with more are skipped: they have too many worlds in any case."""

MOST_ROWS = 5_000
"""Most clusters and sets, the fewest records first, since these have the fewest worlds."""

TASK = 500
"""Rows of one task."""


def posterior_steps(context: QuasiSensitive) -> list[Step]:
    """From `cluster_codes` to the facts of :func:`posteriors`."""
    return [
        table(
            "candidates",
            "combinations that exist in small clusters",
            lambda s: _candidates(context, s),
        ),
        Search(
            "posteriors",
            "how likely the likeliest combination of a small cluster is",
            lambda s: s.work("posteriors"),
            ((CLUSTER_NO, "integer"), ("attribute_set", "integer"), ("posterior", "float8")),
            rows=lambda s, batch: query(
                "select c.cluster_no, c.attribute_set, c.size, c.counts, c.combinations from c"
                " order by c.size, c.cluster_no, c.attribute_set",
                {"c": s.work("candidates")},
            ),
            tasks=lambda s, given, rows: [
                partial(_count, rows[first : first + TASK]) for first in range(0, len(rows), TASK)
            ],
        ),
        Check(
            "posterior",
            "highest posterior per QS set",
            lambda s: _highest(context, s),
            gives=[
                count("enumerated", MEASURE),
                *[
                    fact
                    for number in _sets(context)
                    for fact in (_posterior(number), _tried(number))
                ],
            ],
        ),
    ]


def _candidates(context: QuasiSensitive, state: State) -> exp.Expr:
    clusters = state.work("cluster_codes")
    small = query("select c.* from c where c.n <= :most", {"c": clusters}, most=num(MOST_RECORDS))
    parts: list[exp.Select] = []
    for number, qs_set in context.sets(state).items():
        existing = supported_combinations(small, CLUSTER_NO, qs_set, context.element(state))
        row = exp.Array(expressions=[col(f"v{i + 1}", "s") for i in range(len(qs_set.arrays))])
        listed = query(
            "select array_agg(:row) as combinations from s having count(*) <= :most",
            {"s": existing},
            row=row,
            most=num(MOST_COMBINATIONS),
        )
        listed = listed.select(col(CLUSTER_NO, "s")).group_by(col(CLUSTER_NO, "s"))
        sizes = [fragment("cardinality(:a)", a=col(name, "c")) for name in qs_set.arrays]
        parts.append(
            query(
                "select c.cluster_no, :set as attribute_set, c.n as size, :counts as counts,"
                " l.combinations from c join l on l.cluster_no = c.cluster_no",
                {"c": small, "l": listed},
                set=num(number),
                counts=cast(exp.Array(expressions=sizes), "int[]"),
            )
        )
    return query(
        "select u.* from u order by u.size, u.cluster_no, u.attribute_set limit :most",
        {"u": stacked(parts)},
        most=num(MOST_ROWS),
    )


def _count(rows: Rows) -> TaskResult:
    counted: list[tuple[int, int, float]] = []
    for cluster, attribute_set, size, counts, combinations in rows:
        posterior = worst_posterior(counts, combinations, size)
        if posterior is not None:
            counted.append((cluster, attribute_set, float(posterior)))
    return TaskResult(counted)


def _highest(context: QuasiSensitive, state: State) -> exp.Expr:
    tree = query("select 1 as enumerated")
    for number in _sets(context):
        for fact, aggregate in (
            (_posterior(number), "max(p.posterior)"),
            (_tried(number), "count(*)"),
        ):
            value = query(
                "select :x from p where p.attribute_set = :set",
                {"p": state.work("posteriors")},
                x=fragment(aggregate),
                set=num(number),
            )
            tree = tree.select(named(scalar(value), fact.column))
    return tree


def _sets(context: QuasiSensitive) -> range:
    return range(1, len(context.set_names) + 1)


def _posterior(number: int) -> Fact[float | None]:
    """The highest posterior of a set; None where no cluster was counted."""
    return or_null(measure(f"posterior{number}", MEASURE))


def _tried(number: int) -> Fact[int]:
    """Clusters that were counted for a set."""
    return count(f"enumerated{number}", MEASURE)


def posteriors(context: QuasiSensitive, facts: Facts) -> dict[str, tuple[float | None, int]]:
    """By set, the highest posterior and the number of clusters that were counted."""
    return {
        name: (facts[_posterior(number)], facts[_tried(number)])
        for number, name in enumerate(context.set_names, start=1)
    }
