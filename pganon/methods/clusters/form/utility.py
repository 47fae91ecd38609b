"""Statistics of every release of clusters."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.forms.facts import (
    CLASSES,
    LARGEST,
    MEASURE,
    RELEASED,
    SMALLEST,
    SUPPRESSED,
    WEIGHTED_LOSS,
    losses,
    ncp,
)
from pganon.forms.utility import ClusterUtility, Combinations, Posterior
from pganon.methods.clusters.form.posterior import posterior_steps, posteriors
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.metrics import loss
from pganon.policy.options import CLUSTER_NO
from pganon.privacy.quasi_sensitive import product_histogram, supported_histogram
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, scalar, total
from pganon.steps import Chains, Check, CreateTable, State, Step
from pganon.steps.facts import RECORDS, Fact, Facts, count, measure

CONSTANTS = count("constants", MEASURE)

COMBINATIONS = "combinations"
"""Work table (cluster_no, value, product, supported): of every cluster and number of a QS set."""


def measures(spec: ReleaseSpec) -> Chains:
    """Steps that observe the facts of :func:`utility`, from the codes of the clusters."""
    context = QuasiSensitive(spec)
    sizes = Check(
        "utility",
        "loss and sizes of the clusters",
        lambda s: _losses(spec, s),
        gives=[*losses(spec), CONSTANTS],
    )
    return [*further_chains(context), [sizes]]


def further_chains(context: QuasiSensitive) -> Chains:
    """From `cluster_codes` and the combinations that exist to what clusters leave possible."""
    combinations = CreateTable(
        COMBINATIONS,
        "combinations of every cluster and QS set",
        lambda s: s.work(COMBINATIONS),
        lambda s: _combinations(context, s),
    )
    counts = Check(
        "counts",
        "combinations per QS set",
        lambda s: _counts(context, s),
        gives=[count("counted", MEASURE), *_counted(context)],
    )
    chains: list[list[Step]] = [[combinations, counts]]
    if context.model.counts_supported:
        chains.append(posterior_steps(context))
    return chains


def _losses(spec: ReleaseSpec, state: State) -> exp.Expr:
    extents = group_extents(
        axes(spec.attributes), state, state.work("cluster_cells"), [CLUSTER_NO], weighted=False
    )
    extents = extents.select(named(fragment("sum(c.n)::bigint"), "n"))
    return with_constants(spec, loss.basic(spec, extents, state), state)


def with_constants(spec: ReleaseSpec, tree: exp.Select, state: State) -> exp.Select:
    """With how often an attribute has one value in a cluster of `cluster_codes`."""
    single = [
        scalar(
            query(
                "select count(*) filter (where cardinality(:a) = 1) from k",
                {"k": state.work("cluster_codes")},
                a=col(axis.code, "k"),
            )
        )
        for axis in axes(spec.attributes)
    ]
    return tree.select(named(total(single), "constants"))


def _combinations(context: QuasiSensitive, state: State) -> exp.Expr:
    codes, sets = state.work("cluster_codes"), context.sets(state)
    product = product_histogram(codes, CLUSTER_NO, sets)
    supported = supported_histogram(codes, CLUSTER_NO, sets, context.element(state))
    return query(
        "select p.cluster_no, p.value, p.n as product, s.n as supported from p"
        " join s on s.cluster_no = p.cluster_no and s.value = p.value",
        {
            "p": product,
            "s": supported,
        },
    )


_COUNTED = {
    "least": "min(:n)",
    "mean": "avg(:n)",
    "most": "max(:n)",
    "median": "percentile_cont(0.5) within group (order by :n)",
}


_KINDS = ("product", "supported")


def _combinations_of(kind: str, number: int, statistic: str) -> Fact[float]:
    """A statistic of :data:`_COUNTED` over the clusters, for one set."""
    return measure(f"{kind}{number}_{statistic}", MEASURE)


def _counted(context: QuasiSensitive) -> list[Fact[float]]:
    """Facts of the columns of :func:`_counts`."""
    return [
        _combinations_of(kind, number, statistic)
        for number in range(1, len(context.set_names) + 1)
        for kind in _KINDS
        for statistic in _COUNTED
    ]


def _counts(context: QuasiSensitive, state: State) -> exp.Expr:
    tree = query("select 1 as counted")
    for number in range(1, len(context.set_names) + 1):
        for kind in _KINDS:
            for name, aggregate in _COUNTED.items():
                value = query(
                    "select :x::float8 from c where c.value = :set",
                    {"c": state.work(COMBINATIONS)},
                    x=fragment(aggregate, n=col(kind, "c")),
                    set=num(number),
                )
                tree = tree.select(
                    named(scalar(value), _combinations_of(kind, number, name).column)
                )
    return tree


def utility(spec: ReleaseSpec, facts: Facts) -> ClusterUtility:
    """The utility of a release, from the facts of :func:`measures`."""
    lost = facts[WEIGHTED_LOSS] + facts[SUPPRESSED]
    clusters = facts[CLASSES]

    def counted(kind: str) -> dict[str, Combinations]:
        return {
            name: Combinations(**{x: facts[_combinations_of(kind, number, x)] for x in _COUNTED})
            for number, name in enumerate(spec.qs_sets, start=1)
        }

    return ClusterUtility(
        gcp=lost / facts[RECORDS],
        ncp={a.published: facts[ncp(a.index)] for a in spec.attributes},
        ncp_total=lost * len(spec.attributes),
        clusters=clusters,
        smallest_cluster=facts[SMALLEST],
        mean_cluster=facts[RELEASED] / clusters,
        largest_cluster=facts[LARGEST],
        constants=facts[CONSTANTS],
        product=counted("product"),
        supported=counted("supported"),
        posterior=_posterior(QuasiSensitive(spec), facts),
    )


def _posterior(context: QuasiSensitive, facts: Facts) -> dict[str, Posterior]:
    if not context.model.counts_supported:
        return {}
    return {name: Posterior(*result) for name, result in posteriors(context, facts).items()}
