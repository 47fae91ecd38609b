"""Statistics of every release of clusters, and of all increments of one that grows.

cluster_codes   (cluster_no, n, c<i>)   of a run, or of all increments from what they show
support<s>      (v1, v2, ..)            combinations that exist: in the source, or when an
                increment was made
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.encode.work import dictionary
from pganon.forms.elements import element
from pganon.forms.facts import (
    CLASSES,
    LARGEST,
    MEASURE,
    RELEASED,
    SMALLEST,
    SUPPRESSED,
    WEIGHTED_LOSS,
    ncp,
)
from pganon.forms.form import Whole
from pganon.forms.shape import Relations
from pganon.forms.utility import ClusterUtility, Combinations, Posterior
from pganon.identifiers import QualifiedName
from pganon.methods.clusters.form.posterior import posterior_steps, posteriors
from pganon.methods.clusters.form.staging import REFERENCE, counts_supported, value_key
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.metrics import exact, loss
from pganon.policy.options import CLUSTER_NO
from pganon.privacy.quasi_sensitive import product_histogram, supported_histogram
from pganon.resolved import increments
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar, stacked, total
from pganon.steps import Chains, Check, CreateTable, State, Step, table
from pganon.steps.facts import RECORDS, Fact, Facts, count, measure

Published = Callable[[State], Relations]


def _beside(spec: ReleaseSpec) -> dict[str, list[str]]:
    if not counts_supported(spec):
        return {}
    width = max(map(len, spec.qs_sets.values()))
    return {REFERENCE: ["attribute_set", *[f"v{place + 1}" for place in range(width)]]}


def _measures(
    spec: ReleaseSpec, tables: Published, lost: Callable[[State], QualifiedName]
) -> Sequence[Step]:
    context = QuasiSensitive(spec)
    codes = table("cluster_codes", "codes of every cluster", lambda s: _codes(spec, lost(s), s))
    support = [
        CreateTable(
            f"support{number}",
            f"combinations of set {number} that exist",
            lambda s, number=number: context.support(s, number),
            lambda s, number=number, of=attributes: _support(spec, number, of, tables(s), s),
        )
        for number, attributes in enumerate(spec.qs_sets.values(), start=1)
    ]
    basic = loss.whole_step(
        spec, "loss and sizes of all clusters", lost, {CONSTANTS: lambda s: _constants(spec, s)}
    )
    further = [step for chain in further_chains(context) for step in chain]
    return [codes, *support, basic, *further]


def _codes(spec: ReleaseSpec, lost: QualifiedName, state: State) -> exp.Select:
    tree = query("select l.group_id as cluster_no, l.n from l", {"l": lost})
    for axis in axes(spec.attributes):
        alias = f"a{axis.index}"
        arrays = query(
            "select x.number, array_agg(:code order by :code) as held from x group by x.number",
            {"x": exact.codes(axis, state)},
            code=col(axis.code, "x"),
        )
        tree = tree.join(
            aliased(arrays, alias), on=fragment(":n = l.group_id", n=col("number", alias))
        )
        tree = tree.select(named(col("held", alias), axis.code))
    return tree


def _support(
    spec: ReleaseSpec,
    number: int,
    attributes: Sequence[Attribute],
    tables: Relations,
    state: State,
) -> exp.Select:
    """SELECT v1, v2, .. of the numbers of values."""
    context = QuasiSensitive(spec)
    source = query("select distinct 1 from w", {"w": state.outer.work(increments.WHOLE)}).select(
        *[
            named(value_key(element(a, col(f"q{a.index}", "w"))), f"v{place + 1}")
            for place, a in enumerate(attributes)
        ],
        append=False,
    )
    parts = [source]
    if REFERENCE in tables:
        kept = query(
            "select 1 from r where r.attribute_set = :set",
            {"r": tables[REFERENCE]},
            set=num(number),
        )
        names = [col(f"v{place + 1}", "r") for place in range(len(attributes))]
        parts.append(kept.select(*names, append=False))
    tree = query("select distinct 1 from u", {"u": stacked(parts)}).select(append=False)
    for place, attribute in enumerate(attributes):
        alias = f"d{place}"
        code = context.value_number(state, attribute.index, col("code", alias))
        key = value_key(element(attribute, col("value", alias)))
        tree = tree.join(
            aliased(state.work(dictionary(attribute.index)), alias),
            on=exp.EQ(this=key, expression=col(f"v{place + 1}", "u")),
        )
        tree = tree.select(named(code, f"v{place + 1}"), append=place > 0)
    return tree


CONSTANTS = count("constants", MEASURE)

COMBINATIONS = "combinations"
"""Work table (cluster_no, value, product, supported): of every cluster and number of a QS set."""


def measures(spec: ReleaseSpec) -> Chains:
    """Steps that observe the facts of :func:`utility`, from the codes of the clusters."""
    context = QuasiSensitive(spec)
    sizes = loss.utility_step(
        spec,
        "loss and sizes of the clusters",
        lambda s: _extents(spec, s),
        more={CONSTANTS: lambda s: _constants(spec, s)},
    )
    return [*further_chains(context), [sizes]]


def further_chains(context: QuasiSensitive) -> Chains:
    """From `cluster_codes` and the combinations that exist to what clusters leave possible."""
    combinations = table(
        COMBINATIONS,
        "combinations of every cluster and QS set",
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


def _extents(spec: ReleaseSpec, state: State) -> exp.Select:
    cells = state.work("cluster_cells")
    extents = group_extents(axes(spec.attributes), state, cells, [CLUSTER_NO], weighted=False)
    return extents.select(named(fragment("sum(c.n)::bigint"), "n"))


def _constants(spec: ReleaseSpec, state: State) -> exp.Expr:
    """How often an attribute has one value in a cluster of `cluster_codes`."""
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
    return total(single)


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


WHOLE = Whole(_measures, utility, _beside)
