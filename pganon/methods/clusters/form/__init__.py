"""The published form of QS k-anonymity: one row per cluster with the values of every attribute.

Stored are `clusters` (cluster_no, an array per attribute, a bag per insensitive column, size), the
steward's `members` and, where supported combinations count, `reference`: the combinations that
exist. A view expands the arrays to their product. Cluster numbers are a random permutation
under the run's secret key, arrays are sorted and bags shuffled, so none discloses the order of the
source or of the computation.

Nobody is a row of a cluster, so it has no sizes of groups in which people look the same, but the
combinations that remain for who knows a person's values in another QS set. An array has every
value of its cluster once, so its records are spread evenly over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.values import in_order
from pganon.encode.axis import Axis, axes
from pganon.forms.elements import text_key
from pganon.forms.form import (
    STRUCTURE,
    Evidence,
    Linkage,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
)
from pganon.forms.links import Linked, LinkedColumn
from pganon.forms.sentences import Told, count, number, share, told
from pganon.forms.shape import PublishedRelation, Relations, Shape
from pganon.forms.utility import ClusterUtility, Utility
from pganon.identifiers import quote
from pganon.methods.clusters.form import staging, utility
from pganon.methods.clusters.form.staging import value_key
from pganon.methods.clusters.form.utility import COMBINATIONS, WHOLE
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.methods.common.form.checks import violations_check
from pganon.metrics import distribution
from pganon.metrics.evidence import candidates, distributions, exactness
from pganon.metrics.evidence.people import fewest
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.privacy.base import Relation
from pganon.privacy.quasi_sensitive import QSSet, product_histogram, supported_histogram
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, query, render, scalar, total
from pganon.steps import Parallel, State, Step
from pganon.steps.facts import Facts
from pganon.steps.relations import CheckQuery, PublishedView, ViewColumn

MESSAGES = {
    "qs_k_anonymity.size": "Every cluster shows values of at least {required} records together.",
    "qs_k_anonymity.min_values": "Every column has at least {required} values in every cluster.",
}


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure the requirement, only from the relations in `tables`."""
    model = QuasiSensitive(spec).model
    sets: dict[int, QSSet] = {}
    for place, attributes in enumerate(spec.qs_sets.values(), start=1):
        combinations = None
        if "reference" in tables:
            combinations = query(
                "select r.* from reference as r where r.attribute_set = :set",
                {"reference": tables["reference"]},
                set=num(place),
            )
        sets[place] = QSSet(
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


def _steps(
    spec: ReleaseSpec, tables: Callable[[State], Tables], measured: Sequence[Step]
) -> tuple[Step, ...]:
    chains: list[list[Step]] = [_combinations(spec)]
    for axis in axes(spec.attributes):
        spread = distribution.table_step(axis, _spread)
        chains.append([spread, *distributions.steps(spec, axis), _exactness(axis)])
    return (Parallel("evidence", "figures for a report", chains),)


def _whole(spec: ReleaseSpec, relations: Callable[[State], Relations]) -> list[Step]:
    return [*_combinations(spec), *[_exactness(axis) for axis in axes(spec.attributes)]]


def _combinations(spec: ReleaseSpec) -> list[Step]:
    """How many combinations of every set remain that exist."""

    def groups(state: State, number: int) -> exp.Select:
        return query(
            "select k.n, c.supported as size from c join k on k.cluster_no = c.cluster_no"
            " where c.value = :set",
            {"c": state.work(COMBINATIONS), "k": state.work("cluster_codes")},
            set=num(number),
        )

    return [
        candidates.counted(str(number)).check(
            f"how many combinations of set {quote(name)} remain in clusters",
            lambda s, number=number: groups(s, number),
        )
        for number, name in enumerate(spec.qs_sets, start=1)
    ]


def _each(axis: Axis, state: State) -> exp.Select:
    """SELECT n, held: the records of every cluster, and the codes of its values."""
    return query(
        "select k.n, :held as held from k",
        {"k": state.work("cluster_codes")},
        held=col(axis.code, "k"),
    )


def _exactness(axis: Axis) -> Step:
    return exactness.observed(
        axis,
        lambda s: query(
            "select coalesce(sum(e.n) filter (where cardinality(e.held) = 1), 0) / sum(e.n)"
            " as exact, sum(e.n * cardinality(e.held)) / sum(e.n) as width from e",
            {"e": _each(axis, s)},
        ),
    )


def _spread(axis: Axis, state: State) -> exp.Select:
    """SELECT code, p, q, as :mod:`pganon.metrics.distribution` has it."""
    shares = query(
        "select u.code, sum(u.n) as n from"
        " (select e.n::float8 / cardinality(e.held) as n, unnest(e.held) as code from e) as u"
        " group by u.code",
        {"e": _each(axis, state)},
    )
    return query(
        "select d.code, d.n::float8 / sum(d.n) over () as p,"
        " coalesce(s.n / sum(s.n) over (), 0) as q from d left join s on s.code = d.code",
        {"d": axis.dictionary(state), "s": shares},
    )


def _document(spec: ReleaseSpec, facts: Facts, whole: bool) -> dict[str, Any]:
    smallest = spec.policy.report.smallest
    found = [
        one
        for number, (name, attributes) in enumerate(spec.qs_sets.items(), start=1)
        for one in candidates.document(
            candidates.counted(str(number)),
            facts,
            fewest(spec, facts),
            name,
            [attribute.published for attribute in attributes],
            "combinations",
        )
    ]
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {"release": None, "source": None},
        "sensitive": [],
        "candidates": found,
        "attributes": distributions.documents(axes(spec.attributes), facts, smallest, whole=whole),
    }


EVIDENCE = Evidence(_steps, _document, _whole)


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
_SIZE = ViewColumn(SIZE, "bigint", "Number of records of the cluster.", "count")


def _columns(spec: ReleaseSpec) -> tuple[ViewColumn, ...]:
    columns = [_NUMBER]
    for attribute in spec.attributes:
        column = ViewColumn(
            attribute.published,
            attribute.published_type,
            f"QS set {quote(str(attribute.qs_set))}. Sorted values of the cluster's records.",
            "set",
            attribute.column.stored_type,
            attribute.column.collation,
            attained=True,
        )
        columns.append(column.located(CLUSTER_NO, attribute.published))
    for item in spec.carried:
        column = ViewColumn(
            item.published,
            f"{item.column.stored_type}[]",
            "Insensitive. Values of all records of the cluster, in random order.",
            "multiset",
            item.column.stored_type,
            item.column.collation,
        )
        columns.append(column.located(CLUSTER_NO, item.published))
    return (*columns, _SIZE.located(CLUSTER_NO, SIZE))


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


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, ClusterUtility)
    return list(_told(utility, members))


def _told(utility: ClusterUtility, members: str) -> Iterator[Told]:
    yield told(
        "clusters",
        count(utility.clusters),
        " clusters of ",
        count(utility.smallest_cluster),
        " to ",
        count(utility.largest_cluster),
        f" {members} show the values of all of these together.",
    )
    for name, found in utility.supported.items():
        yield told(
            f"set {name}",
            "At least ",
            count(found.least),
            " combinations that exist remain in a cluster, ",
            number(found.median),
            " or more in half of the clusters. For who does not know which ones exist it is at"
            " least ",
            count(utility.product[name].least),
            ".",
        )
    for name, found in utility.posterior.items():
        if found.worst is None:
            yield told(
                f"chances of set {name}",
                f"How likely a combination is, was not measured: every cluster has many {members}.",
            )
            continue
        yield told(
            f"chances of set {name}",
            "Combinations need not be equally likely. In the ",
            count(found.clusters),
            " clusters that are small enough to count all that may be so, one has a chance of at"
            " most ",
            share(found.worst),
            ".",
        )
    if utility.constants:
        yield told(
            "single values",
            count(utility.constants),
            " times a column has one value in a whole cluster: who finds the cluster knows it of"
            f" all its {members}.",
        )


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """Links by cluster.

    An array has each value of the cluster once. Of n different values among m records, each occurs
    at most m - n + 1 times.
    """
    columns = []
    for attribute in spec.attributes:
        counted = query(
            "select c.cluster_no as link, :value as value,"
            " (:size - cardinality(:held) + 1)::bigint as n"
            " from clusters as c cross join lateral unnest(:held) as v(value)",
            dict(tables),
            value=text_key(col("value", "v")),
            size=col(SIZE, "c"),
            held=col(attribute.published, "c"),
        )
        columns.append(LinkedColumn(attribute.column.name, CLUSTER_NO, counted, exact=False))
    return Linked((CLUSTER_NO,), tuple(columns))


def shape(spec: ReleaseSpec, state: State) -> Shape:
    """A row of `size` records per cluster."""
    return (
        PublishedRelation(
            "clusters",
            "record",
            (CLUSTER_NO,),
            spec.attributes,
            carried=spec.carried,
            count=SIZE,
        ),
    )


CLUSTERS = PublishedForm(
    shape,
    Staging(staging.relations, staging.staging_steps),
    Verification(checks, staging.duplicate_keys, MESSAGES),
    Publication(views, "clusters", weights=(SIZE,)),
    Statistics(
        utility.measures,
        utility.utility,
        ClusterUtility,
        WHOLE,
        evidence=EVIDENCE,
        tells=tell,
        apart="no row is a person: a cluster shows the values of several people together",
    ),
    Linkage(linked, shows=lambda spec, state: "exact"),
)
