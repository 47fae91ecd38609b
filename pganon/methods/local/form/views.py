"""The views of a release. They join groups and records; values of buckets have other views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from pganon.forms.elements import exact_column
from pganon.forms.form import Tables
from pganon.identifiers import quote
from pganon.methods.common.form.flat import FlatColumn, record_views, shown_columns
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.shared_buckets import set_of
from pganon.methods.local.form.staging import RECORDS, part_of, shape
from pganon.methods.local.local_names import bucket_column, form_column, values_part
from pganon.policy.options import COUNT, GROUP_ID
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, named, query, render
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn

_GROUP = ViewColumn(GROUP_ID, "integer", "Number of the group, random per release.")


def views(layout: Layout, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    """Views of the records, also without ranges or sets, and of the values of buckets."""
    spec = layout.spec
    by_flag = {item.hidden.index: item for item in spec.sensitive if item.hidden is not None}

    def columns(flat: bool) -> Iterator[FlatColumn]:
        """The group, the attributes with buckets and forms beside them, sensitive columns, the
        rest."""
        yield FlatColumn(_GROUP, col(GROUP_ID, "r"))
        for attribute in spec.attributes:
            yield from shown_columns(spec, attribute, GROUP_ID, flat=flat)
            if attribute.hidden is not None:
                yield from _hidden(layout, by_flag[attribute.hidden.index], state, flat)
        for item in spec.sensitive:
            if item.hidden is None:
                yield from _hidden(layout, item, state, flat)
        for item in spec.carried:
            column = exact_column(item.published, item.column, "Insensitive, unchanged.")
            column = column if flat else column.located(GROUP_ID, RECORDS)
            yield FlatColumn(column, col(item.published, "r"))

    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    comment = (
        "Anonymized release: values are generalized per group, or in a bucket where they are"
        f" sensitive. Guarantee: {guarantee}."
    )
    shown = record_views(spec, shape(spec, state), tables, columns, comment)
    return (*shown, *[_values(layout, item, tables) for item in spec.sensitive])


def _hidden(layout: Layout, item: Sensitive, state: State, flat: bool) -> list[FlatColumn]:
    name = bucket_column(item.published)
    part = layout.spec.view_of(values_part(item.published))
    said = f"Number of the bucket in {part} that has the value of the record, random per release."
    others = [c for c in set_of(layout, state.facts, item) if c != item]
    if others:
        names = " and ".join(quote(bucket_column(other.published)) for other in others)
        said += f" The same number is in {names}."
    column = ViewColumn(name, "integer", said)
    if not flat:
        column = replace(column, form="bucket").located(GROUP_ID, values_part(item.published))
    columns = [FlatColumn(column, col(name, "r"))]
    if layout.has_form(item):
        name = form_column(item.published)
        said = (
            f"How {quote(item.published)} is shown: g generalized, b in a bucket because it is"
            " sensitive, w withheld."
        )
        column = ViewColumn(name, "text", said)
        if not flat:
            meant = {"kind": item.published, "collation": '"default"'}
            column = replace(column, form="display", **meant).located(GROUP_ID, RECORDS)
        columns.append(FlatColumn(column, col(name, "c")))
    return columns


def _values(layout: Layout, item: Sensitive, tables: Tables) -> PublishedView:
    spec = layout.spec
    held = "; ".join(r.label for r in spec.requirements if r.sensitive == item.index)
    part, bucket = values_part(item.published), bucket_column(item.published)
    said = "Number of records of the bucket that have this value."
    columns = (
        ViewColumn(bucket, "integer", "Number of the bucket, random per release."),
        exact_column(item.published, item.column, "Sensitive, of some of the bucket."),
        ViewColumn(COUNT, "bigint", said, "count"),
    )
    number, *others = columns
    columns = (number, *[column.located(bucket, part) for column in others])
    tree: exp.Select = query("select 1 from t", {"t": tables[part_of(item)]})
    # Where a value is hidden on a condition, its type has lost its length or scale.
    shown = [cast(col(column.name, "t"), column.type) for column in columns]
    tree = tree.select(
        *[named(value, column.name) for value, column in zip(shown, columns, strict=True)],
        append=False,
    )
    return PublishedView(
        spec.view_of(part),
        render(tree),
        columns,
        f"Values of {quote(item.published)} in every bucket of {spec.view}. Per bucket: {held}.",
    )
