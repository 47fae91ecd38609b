"""Figures of every release of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.forms.clusters.posterior import posterior_steps, posteriors
from pganon.metrics import loss
from pganon.policy.options import CLUSTER_NO
from pganon.privacy.quasi_sensitive import product_histogram, supported_histogram
from pganon.published.quasi_sensitive import QuasiSensitive
from pganon.published.utility import ClusterUtility, Combinations, Posterior
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, scalar, total
from pganon.steps import Chains, Check, CreateTable, State, Step


def measures(spec: ReleaseSpec) -> Chains:
    """What :func:`utility` reads, from the codes of the clusters."""
    shape = QuasiSensitive(spec)
    losses = Check(
        "utility",
        "loss and sizes of the clusters",
        lambda s: _losses(spec, s),
        prefix="measure_",
    )
    combinations = CreateTable(
        "combinations",
        "combinations of every cluster and QS set",
        lambda s: s.work("combinations"),
        lambda s: _combinations(shape, s),
    )
    counts = Check(
        "counts",
        "combinations per QS set",
        lambda s: _counts(shape, s),
        prefix="measure_",
    )
    chains: list[list[Step]] = [[combinations, counts], [losses]]
    if shape.model.counts_supported:
        chains.append(posterior_steps(shape))
    return chains


def _losses(spec: ReleaseSpec, state: State) -> exp.Expr:
    extents = group_extents(
        axes(spec.attributes), state, state.work("cluster_cells"), [CLUSTER_NO], weighted=False
    )
    extents = extents.select(named(fragment("sum(c.n)::bigint"), "n"))
    tree = loss.basic(spec, extents, state)
    alone = [
        scalar(
            query(
                "select count(*) filter (where cardinality(:a) = 1) from k",
                {"k": state.work("cluster_codes")},
                a=col(axis.code, "k"),
            )
        )
        for axis in axes(spec.attributes)
    ]
    return tree.select(named(total(alone), "constants"))


def _combinations(shape: QuasiSensitive, state: State) -> exp.Expr:
    codes, sets = state.work("cluster_codes"), shape.sets(state)
    product = product_histogram(codes, CLUSTER_NO, sets)
    supported = supported_histogram(codes, CLUSTER_NO, sets, shape.element(state))
    return query(
        "select p.value, p.n as product, s.n as supported from p"
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


def _counts(shape: QuasiSensitive, state: State) -> exp.Expr:
    tree = query("select 1 as counted")
    for number in range(1, len(shape.set_names) + 1):
        for kind in ("product", "supported"):
            for name, aggregate in _COUNTED.items():
                value = query(
                    "select :x::float8 from c where c.value = :set",
                    {"c": state.work("combinations")},
                    x=fragment(aggregate, n=col(kind, "c")),
                    set=num(number),
                )
                tree = tree.select(named(scalar(value), f"{kind}{number}_{name}"))
    return tree


def utility(spec: ReleaseSpec, facts: Mapping[str, Any]) -> ClusterUtility:
    records, suppressed = int(facts["records"]), int(facts["suppressed"])
    weighted, released = float(facts["measure_weighted_loss"]), int(facts["measure_released"])
    clusters = int(facts["measure_classes"])

    def counted(kind: str) -> dict[str, Combinations]:
        return {
            name: Combinations(**{x: float(facts[f"measure_{kind}{number}_{x}"]) for x in _COUNTED})
            for number, name in enumerate(spec.qs_sets, start=1)
        }

    return ClusterUtility(
        gcp=(weighted + suppressed) / records,
        ncp={a.published: float(facts[f"measure_ncp{a.index}"]) for a in spec.attributes},
        ncp_total=(weighted + suppressed) * len(spec.attributes),
        clusters=clusters,
        smallest_cluster=int(facts["measure_smallest_class"]),
        mean_cluster=released / clusters,
        largest_cluster=int(facts["measure_largest_class"]),
        constants=int(facts["measure_constants"]),
        product=counted("product"),
        supported=counted("supported"),
        posterior=_posterior(QuasiSensitive(spec), facts),
    )


def _posterior(shape: QuasiSensitive, facts: Mapping[str, Any]) -> dict[str, Posterior]:
    if not shape.model.counts_supported:
        return {}
    return {name: Posterior(*found) for name, found in posteriors(shape, facts).items()}
