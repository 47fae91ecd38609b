"""How a release of clusters is verified from what is stored, measured and shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.encode.values import in_order
from pganon.identifiers import quote
from pganon.methods.base import STRUCTURE, PublishedForm, Tables
from pganon.methods.forms import clusters
from pganon.methods.forms.checked import violations_check
from pganon.methods.forms.clusters import value_key
from pganon.methods.forms.clusters_posterior import posterior_steps, posteriors
from pganon.methods.qs.shape import Shape
from pganon.metrics import loss
from pganon.metrics.utility import ClusterUtility, Combinations, Posterior
from pganon.plan.sqltools import cast, col, fragment, named, num, query, render, total
from pganon.plan.staged import CheckQuery, PublishedView, ViewColumn
from pganon.plan.steps import Chains, Check, CreateTable, State, Step
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.privacy.base import Relation
from pganon.privacy.quasi_sensitive import QSSet, product_histogram, supported_histogram
from pganon.spec.model import Attribute, ReleaseSpec

# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure the requirement from the relations in `tables` alone."""
    model = Shape(spec).model
    sets = _published_sets(spec, tables)
    clusters = tables["clusters"]
    if model.counts_supported:
        histogram = supported_histogram(clusters, CLUSTER_NO, sets, lambda x, i: value_key(x))
    else:
        histogram = product_histogram(clusters, CLUSTER_NO, sets)
    measured = model.measure(histogram, [CLUSTER_NO])
    found = [_structure(spec, tables), _check(spec, "k", model.k, model.worst(measured))]
    if model.counts_supported:
        found.append(_fewest(spec, clusters, "size", model.size, col(SIZE, "c")))
    if model.min_values > 1:
        fewest = exp.func("least", *[_cardinality(a) for a in spec.attributes])
        found.append(_fewest(spec, clusters, "min_values", model.min_values, fewest))
    return tuple(found)


def _fewest(
    spec: ReleaseSpec, clusters: Relation, symbol: str, parameter: int, measure: exp.Expr
) -> CheckQuery:
    """Every cluster has at least so many of something."""
    worst = query(
        "select min(g.measure) as measured,"
        " count(*) filter (where coalesce(g.measure < :m, true)) as failing from g",
        {"g": query("select :m as measure from c", {"c": clusters}, m=measure)},
        m=num(parameter),
    )
    return _check(spec, symbol, parameter, worst)


def _check(spec: ReleaseSpec, symbol: str, parameter: int, worst: exp.Select) -> CheckQuery:
    model = Shape(spec).model
    return CheckQuery(
        model=model.name,
        symbol=symbol,
        column=None,
        parameter=float(parameter),
        bound=model.comparison,
        against=f"{model.count} combinations" if symbol == "k" else "",
        sql=render(worst),
    )


def _cardinality(attribute: Attribute) -> exp.Expr:
    return fragment("cardinality(:a)", a=col(attribute.published, "c"))


def _published_sets(spec: ReleaseSpec, tables: Tables) -> dict[int, QSSet]:
    found: dict[int, QSSet] = {}
    for number, attributes in enumerate(spec.qs_sets.values(), start=1):
        combinations = None
        if "reference" in tables:
            combinations = query(
                "select r.* from reference as r where r.attribute_set = :set",
                {"reference": tables["reference"]},
                set=num(number),
            )
        found[number] = QSSet(
            [a.index for a in attributes], [a.published for a in attributes], combinations
        )
    return found


def _structure(spec: ReleaseSpec, tables: Tables) -> CheckQuery:
    """Cluster numbers that repeat, clusters without records, arrays that are not sorted sets.

    And clusters whose bags have more or fewer values than the cluster has records.
    """
    bags = [
        fragment("cardinality(:b) is distinct from c.size", b=col(b.published, "c"))
        for b in spec.carried
    ]
    parts: list[exp.Expr] = [
        query(
            "select count(*) - count(distinct c.cluster_no)"
            " + count(*) filter (where :wrong) from clusters as c",
            dict(tables),
            wrong=exp.or_(fragment("not coalesce(c.size > 0, false)"), *bags),
        ).subquery()
    ]
    parts += [_unsorted(attribute, tables).subquery() for attribute in spec.attributes]
    broken = exp.select(named(total(parts), "measured"))
    return violations_check(STRUCTURE, broken)


def _unsorted(attribute: Attribute, tables: Tables) -> exp.Select:
    """Number of different arrays that are empty, not sorted or hold a value twice."""
    arrays = query(
        "select distinct :a as a from clusters as c",
        dict(tables),
        a=col(attribute.published, "c"),
    )
    text = attribute.column.kind in ("text", "bpchar", "citext")
    element = fragment('u.x::text collate "C"' if text else "u.x")
    sorted_set = query(
        "select array_agg(v.x order by :place) from v",
        {"v": query("select distinct :x as x from unnest(d.a) as u(x)", x=element)},
        place=in_order(attribute.column, col("x", "v")),
    )
    shown = fragment("d.a::text[]" if text else "d.a")
    return query(
        "select count(*) from d where coalesce(cardinality(d.a), 0) = 0"
        " or :shown is distinct from :set",
        {"d": arrays},
        shown=shown,
        set=sorted_set.subquery(),
    )


# -- views ------------------------------------------------------------------------------------


def views(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    """The clusters, and the products of their values."""
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    shown = query("select c.cluster_no from clusters as c", dict(tables))
    names = [item.published for item in (*spec.attributes, *spec.carried)]
    shown = shown.select(*[col(name, "c") for name in (*names, SIZE)])
    expanded = query("select c.cluster_no from clusters as c", dict(tables))
    for attribute in spec.attributes:
        alias = f"u{attribute.index}"
        each = exp.Unnest(
            expressions=[col(attribute.published, "c")],
            alias=exp.TableAlias(
                this=exp.to_identifier(alias, quoted=True),
                columns=[exp.to_identifier("v", quoted=True)],
            ),
        )
        expanded = expanded.join(each, join_type="cross")
        # Elements of an array of numeric(8, 2) are of type numeric.
        value = cast(col("v", alias), attribute.published_type.removesuffix("[]"))
        expanded = expanded.select(named(value, attribute.published))
    return (
        PublishedView(
            name=spec.view,
            select=render(shown),
            columns=_columns(spec),
            comment=f"Clusters of an anonymized release. Guarantee: {guarantee}.",
        ),
        PublishedView(
            name=spec.view_of("expanded"),
            select=render(expanded),
            columns=_expanded_columns(spec),
            comment="Every combination of the values of a cluster; most of them never occurred.",
        ),
    )


_NUMBER = ViewColumn(CLUSTER_NO, "integer", "Number of the cluster, random per release.")


def _columns(spec: ReleaseSpec) -> tuple[ViewColumn, ...]:
    columns = [_NUMBER]
    for attribute in spec.attributes:
        columns.append(
            ViewColumn(
                attribute.published,
                attribute.published_type,
                f"QS set {quote(str(attribute.qs_set))}. Sorted values of the cluster's records.",
            )
        )
    for item in spec.carried:
        columns.append(
            ViewColumn(
                item.published,
                f"{item.column.stored_type}[]",
                "Insensitive. Values of all records of the cluster, in random order.",
            )
        )
    return (*columns, ViewColumn(SIZE, "bigint", "Number of records of the cluster."))


def _expanded_columns(spec: ReleaseSpec) -> tuple[ViewColumn, ...]:
    return (
        _NUMBER,
        *[
            ViewColumn(
                attribute.published,
                attribute.published_type.removesuffix("[]"),
                f"QS set {quote(str(attribute.qs_set))}. One of the values of the cluster.",
            )
            for attribute in spec.attributes
        ],
    )


# -- figures ----------------------------------------------------------------------------------


def measures(spec: ReleaseSpec) -> Chains:
    """What :func:`utility` reads, from the codes of the clusters."""
    shape = Shape(spec)
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
        query(
            "select count(*) filter (where cardinality(:a) = 1) from k",
            {"k": state.work("cluster_codes")},
            a=col(axis.code, "k"),
        ).subquery()
        for axis in axes(spec.attributes)
    ]
    return tree.select(named(total(alone), "constants"))


def _combinations(shape: Shape, state: State) -> exp.Expr:
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


def _counts(shape: Shape, state: State) -> exp.Expr:
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
                tree = tree.select(named(value.subquery(), f"{kind}{number}_{name}"))
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
        posterior=_posterior(Shape(spec), facts),
    )


def _posterior(shape: Shape, facts: Mapping[str, Any]) -> dict[str, Posterior]:
    if not shape.model.counts_supported:
        return {}
    return {name: Posterior(*found) for name, found in posteriors(shape, facts).items()}


CLUSTERS = PublishedForm(
    relations=clusters.relations,
    staging_steps=clusters.staging_steps,
    checks=checks,
    views=views,
    released=clusters.released,
    misplaced=clusters.misplaced,
    measures=measures,
    utility=utility,
    figures=ClusterUtility,
    groups="clusters",
)
