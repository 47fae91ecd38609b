"""Which records stay: those of clusters that can be divided into classes at all.

Where one cannot, the refusal names the smallest J for which none has to be left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby

import numpy as np
from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.records import NUMBER, PLACE
from pganon.encode.work import CODED
from pganon.errors import PganonError
from pganon.forms.work import CELL_VECTORS, QI_CELLS, VECTORS
from pganon.methods.background.context import Context, model_against, source_counts
from pganon.methods.background.prior_facts import LOST, NEEDED, more_alike
from pganon.methods.background.rows import histograms
from pganon.methods.background.search.dropping import kept, smallest_j, trimmed
from pganon.methods.background.search.limits import (
    BetaLimits,
    Model,
    limits_against,
    smallest_classes,
)
from pganon.methods.background.search.linkage import Dendrogram, dendrogram
from pganon.methods.common.reachable import infeasible
from pganon.methods.common.suppression import enough
from pganon.sqltools import col, equal, named, query
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import RECORDS, Fact, count, measure
from pganon.steps.tasks import TaskResult

REACHABLE = count("reachable", "levels_")
"""1 where there is such a J."""

LEAST_J = measure("least_j", "levels_")
"""It, if there is."""


def level_step(context: Context, wanted: Fact[int]) -> Search:
    """Args: wanted: a fact that is 0 where nobody needs to know."""

    def needed(state: State) -> bool:
        refuses = context.spec.policy.on_infeasible == "refuse"
        return context.knowledge is not None and refuses and state[wanted] > 0

    return Search(
        "levels",
        "the smallest J for which all records can be in classes",
        lambda s: s.work("levels"),
        (("nothing", "integer"),),
        given=lambda s: source_counts(context, s),
        rows=lambda s, batch: _rows(context, s),
        tasks=lambda s, given, rows: [
            partial(_levels, rows, given["source"], context.k, model_against(context, given))
        ],
        when=needed,
        gives=[REACHABLE, LEAST_J],
    )


def _rows(context: Context, state: State) -> exp.Select:
    """SELECT block, vector, probabilities, values, counts: by vector, its records by value."""
    counted = query(
        "select v.vector, :value as value, count(*) as n from c join q on :same"
        " join v on v.cell = q.cell group by 1, 2",
        {
            "c": state.work(CODED),
            "q": state.work(QI_CELLS),
            "v": state.work(CELL_VECTORS),
        },
        value=col(context.value, "c"),
        same=equal(context.codes, "q", "c"),
    )
    return query(
        "select b.block, b.vector, p.probabilities, n.sensitive, n.counts from b"
        " join p on p.vector = b.vector join"
        " (select x.vector, array_agg(x.value) as sensitive, array_agg(x.n) as counts from x"
        " group by x.vector) as n on n.vector = b.vector order by b.block, b.vector",
        {"b": state.work("vector_blocks"), "p": state.work(VECTORS), "x": counted},
    )


def _levels(rows: Rows, source: Sequence[int], k: int, model: Model) -> TaskResult:
    blocks: list[tuple[Dendrogram, np.ndarray]] = []
    for _, group in groupby(rows, lambda row: row[0]):
        vectors = list(group)
        of_block = np.zeros((len(vectors), len(source)), dtype=np.int64)
        for place, (*_, values, counts) in enumerate(vectors):
            of_block[place, np.array(values) - 1] = counts
        tree = dendrogram(np.array([vector[2] for vector in vectors], dtype=float))
        blocks.append((tree, of_block))
    least = smallest_j(blocks, np.array(source), k, model)
    return TaskResult([], {"reachable": int(least is not None), "least_j": least or 0.0})


SMALL = count("small", "kept_", assumed=0)
"""Records in clusters with fewer than k."""

UNLIKE = count("unlike", "kept_", assumed=0)
"""Records that their cluster cannot put into classes."""

CLUSTERS = count("clusters", "kept_", assumed=1)
"""Clusters that stay."""

KEPT_RECORDS = count("records", "kept_", assumed=40)
"""Records that stay."""


def kept_steps(context: Context) -> list[Step]:
    """From `cell_clusters` to `placed`."""
    return [
        table(
            "cluster_values",
            "sensitive values of every cluster",
            lambda s: _cluster_values(context, s),
            inline=True,
        ),
        Search(
            "kept",
            "how many records of every cluster and value can stay",
            lambda s: s.work("kept"),
            (("cluster", "bigint"), ("value", "integer"), ("n", "bigint")),
            given=lambda s: source_counts(context, s),
            rows=lambda s, batch: query(
                "select v.cluster, v.value, v.n from v order by v.cluster, v.value",
                {"v": s.work("cluster_values")},
            ),
            tasks=lambda s, given, rows: [
                partial(
                    _kept,
                    rows,
                    given["source"],
                    context.k,
                    model_against(context, given),
                    context.options.trims,
                )
            ],
            gives=[LOST, SMALL, UNLIKE, CLUSTERS, KEPT_RECORDS, NEEDED],
        ),
        level_step(context, LOST),
        Check(
            "stay",
            "whether records of all clusters can stay",
            lambda s: query("select 1 as asked"),
            lambda row, state: _refused(context, state),
            gives=[count("asked", "stay_")],
        ),
        table("placed", "the records that stay, along the curve", lambda s: _placed(context, s)),
    ]


def _cluster_values(context: Context, state: State) -> exp.Expr:
    return query(
        "select k.cluster, :value as value, count(*) as n from c join k on :same group by 1, 2",
        {"c": state.work(CODED), "k": state.work("cell_clusters")},
        value=col(context.value, "c"),
        same=equal(context.codes, "k", "c"),
    )


def _kept(rows: Rows, source: Sequence[int], k: int, model: Model, trims: bool) -> TaskResult:
    """The clusters that stay.

    Args:
        rows: (cluster, value, n).
        source: records by value of the source.
        trims: of beta-likeness alone.
    """
    clusters, counts = histograms(rows, len(source))
    sizes = counts.sum(axis=1)
    staying = (trimmed if trims else kept)(counts, np.array(source), k, model).counts
    stay = staying.sum(axis=1)
    small = int(sizes[sizes < k].sum())
    limits = limits_against(model, np.array(source))
    facts = {
        "lost": int(sizes.sum() - stay.sum()),
        "small": small,
        "unlike": int(sizes.sum() - stay.sum()) - small,
        "clusters": int(np.count_nonzero(stay)),
        "records": int(stay.sum()),
        "needed": int(smallest_classes(limits).max()) if isinstance(limits, BetaLimits) else 0,
    }
    placed = [
        (*clusters[place], int(value) + 1, int(staying[place, value]))
        for place, value in zip(*np.nonzero(staying), strict=True)
    ]
    return TaskResult(placed, facts)


def _refused(context: Context, state: State) -> PganonError | None:
    """Where `on_infeasible` is refuse, no record is left out for its cluster."""
    lost, records = state[LOST], state[RECORDS]
    if state[CLUSTERS] and (not lost or context.spec.policy.on_infeasible == "suppress"):
        return None
    reasons = (
        [f"{state[SMALL]} are in clusters of fewer than k = {context.k}"] if state[SMALL] else []
    )
    if state[UNLIKE]:
        reasons.append(f"{state[UNLIKE]} in clusters that violate {context.closeness.label}")
    why = " and ".join(reasons)
    if context.knowledge is None:
        return infeasible(
            f"no classes of these {records} records satisfy the policy: {why}",
            model=context.closeness.name,
            required=context.closeness.parameter,
            observed=0,
            hint="release more records, or require less",
        )
    j = context.knowledge.j
    ways = [_larger(context, state)]
    if state[CLUSTERS]:
        ways.append(
            "leave them out with on_infeasible: suppress and"
            f" suppression_limit: {enough(lost, state):g}"
        )
    return infeasible(
        f"j = {j:g} leaves {lost} of {records} records without a class: {why}",
        model=context.knowledge.name,
        required=j,
        observed=state[LEAST_J] if state.facts.get(REACHABLE) else 1,
        hint=", or ".join(ways),
    )


def _larger(context: Context, state: State) -> str:
    """The smallest J that leaves no record out, or how to have other priors, in words."""
    if not state.facts.get(REACHABLE):
        return "require a smaller k or a larger beta"
    smallest = (
        f"the smallest j that leaves none is {min(1.0, math.ceil(state[LEAST_J] * 1000) / 1000):g}"
    )
    instead = more_alike(context.spec)
    return smallest if instead is None else f"{smallest}, {instead} makes priors more alike"


def _placed(context: Context, state: State) -> exp.Expr:
    """Where a cluster keeps only some records of a value, which ones is random."""
    clustered = query(
        "select c.rid, k.cluster, k.h from c join k on :same",
        {"c": state.work(CODED), "k": state.work("cell_clusters")},
        same=equal(context.codes, "k", "c"),
    ).select(*[col(code, "c") for code in context.codes], named(col(context.value, "c"), "value"))
    if context.options.trims:
        rank = numbered([col(NUMBER, "x")], [col("cluster", "x"), col("value", "x")])
        ranked = query("select x.* from x", {"x": clustered}).select(named(rank, "rank"))
        stay = query(
            "select x.* from x join s on s.cluster = x.cluster and s.value = x.value"
            " and x.rank <= s.n",
            {"x": ranked, "s": state.work("kept")},
        )
    else:
        stay = query(
            "select x.* from x join s on s.cluster = x.cluster",
            {
                "x": clustered,
                "s": query("select distinct k.cluster from k", {"k": state.work("kept")}),
            },
        )
    place = numbered([col("h", "x"), col(NUMBER, "x")], [col("cluster", "x")])
    return query("select x.rid, x.cluster, x.value from x", {"x": stay}).select(
        *[col(code, "x") for code in context.codes], named(place, PLACE)
    )
