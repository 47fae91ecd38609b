"""Verification of a release of clusters from its stored relations."""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.values import in_order
from pganon.forms.form import STRUCTURE, Tables
from pganon.methods.clusters.form.staging import value_key
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.methods.common.form.checks import violations_check
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.privacy.base import Relation
from pganon.privacy.quasi_sensitive import QSSet, product_histogram, supported_histogram
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, render, scalar, total
from pganon.steps import State
from pganon.steps.relations import CheckQuery

MESSAGES = {
    "qs_k_anonymity.size": "Every cluster shows values of at least {required} records together.",
    "qs_k_anonymity.min_values": "Every column has at least {required} values in every cluster.",
}


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure the requirement, only from the relations in `tables`."""
    model = QuasiSensitive(spec).model
    sets: dict[int, QSSet] = {}
    for number, attributes in enumerate(spec.qs_sets.values(), start=1):
        combinations = None
        if "reference" in tables:
            combinations = query(
                "select r.* from reference as r where r.attribute_set = :set",
                {"reference": tables["reference"]},
                set=num(number),
            )
        sets[number] = QSSet(
            [a.index for a in attributes], [a.published for a in attributes], combinations
        )
    clusters = tables["clusters"]
    if model.counts_supported:
        histogram = supported_histogram(clusters, CLUSTER_NO, sets, lambda x, i: value_key(x))
    else:
        histogram = product_histogram(clusters, CLUSTER_NO, sets)
    measured = model.measure(histogram, [CLUSTER_NO])
    queries = [_structure(spec, tables), _check(spec, "k", model.k, model.worst(measured))]
    if model.counts_supported:
        queries.append(_fewest(spec, clusters, "size", model.size, col(SIZE, "c")))
    if model.min_values > 1:
        sizes = [fragment("cardinality(:a)", a=col(a.published, "c")) for a in spec.attributes]
        fewest = exp.func("least", *sizes)
        queries.append(_fewest(spec, clusters, "min_values", model.min_values, fewest))
    return tuple(queries)


def _fewest(
    spec: ReleaseSpec, clusters: Relation, symbol: str, parameter: int, measure: exp.Expr
) -> CheckQuery:
    """A check that the least `measure` of a cluster reaches the parameter."""
    worst = query(
        "select min(g.measure) as measured,"
        " count(*) filter (where coalesce(g.measure < :m, true)) as failing from g",
        {"g": query("select :m as measure from c", {"c": clusters}, m=measure)},
        m=num(parameter),
    )
    return _check(spec, symbol, parameter, worst)


def _check(spec: ReleaseSpec, symbol: str, parameter: int, worst: exp.Select) -> CheckQuery:
    model = QuasiSensitive(spec).model
    return CheckQuery(
        model=model.name,
        symbol=symbol,
        column=None,
        parameter=float(parameter),
        bound=model.comparison,
        against=f"{model.count} combinations" if symbol == "k" else "",
        sql=render(worst),
    )


def _structure(spec: ReleaseSpec, tables: Tables) -> CheckQuery:
    """A check for repeated numbers, clusters without records and arrays that are no sorted sets.

    Bags with another number of values than the cluster has records violate it, too.
    """
    bags = [
        fragment("cardinality(:b) is distinct from c.size", b=col(b.published, "c"))
        for b in spec.carried
    ]
    parts: list[exp.Expr] = [
        scalar(
            query(
                "select count(*) - count(distinct c.cluster_no)"
                " + count(*) filter (where :wrong) from clusters as c",
                dict(tables),
                wrong=exp.or_(fragment("not coalesce(c.size > 0, false)"), *bags),
            )
        )
    ]
    parts += [scalar(_unsorted(attribute, tables)) for attribute in spec.attributes]
    broken = exp.select(named(total(parts), "measured"))
    return violations_check(STRUCTURE, broken)


def _unsorted(attribute: Attribute, tables: Tables) -> exp.Select:
    """Number of different arrays that are empty, not sorted or have a value twice."""
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
        set=scalar(sorted_set),
    )
