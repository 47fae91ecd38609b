"""The views of a release of clusters."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.form import Tables
from pganon.identifiers import quote
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
