"""The published form of QS k-anonymity: one row per cluster with the values of every attribute.

Stored are `clusters` (cluster_no, an array per attribute, a bag per insensitive column, size), the
steward's `members` and, where supported combinations count, `reference`: the combinations that
exist. A view expands the arrays to their product. Cluster numbers are a random permutation
under the run's secret key, arrays are sorted and bags shuffled, so none discloses the order of the
source or of the computation.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pganon.forms.elements import text_key
from pganon.forms.form import (
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
from pganon.forms.shape import PublishedRelation, Shape
from pganon.forms.utility import ClusterUtility, Utility
from pganon.identifiers import quote
from pganon.methods.clusters.form import staging, utility, verification
from pganon.methods.clusters.form.evidence import EVIDENCE
from pganon.methods.clusters.form.utility import WHOLE
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, named, query, render
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn


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
    Verification(verification.checks, staging.duplicate_keys, verification.MESSAGES),
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
