"""Views of classes: their records with generalized quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.encode.looks import unchanged
from pganon.forms.elements import attribute_columns, exact_column
from pganon.forms.form import Tables
from pganon.methods.common.form.flat import FlatColumn, flat_columns, flattens
from pganon.methods.common.form.label_values import label_views
from pganon.methods.common.form.reference import reference_views
from pganon.policy.options import CLASS_ID, FLAT
from pganon.resolved.labels import labelled
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, named, render
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn

_RECORDS = "records"
"""The columns that are published unchanged: those of a record are known together."""


def views(
    spec: ReleaseSpec, state: State, tables: Tables, owner: ViewColumn | None = None
) -> tuple[PublishedView, ...]:
    """The views over the relations in `tables`; `owner` is a column of records."""
    number, *others = view_columns(spec)
    owned = [owner.located(CLASS_ID, _RECORDS)] if owner else []
    columns = (number, *owned, *others)
    selected = [col(CLASS_ID, "c"), *([col(owner.name, "r")] if owner else [])]
    for attribute in spec.attributes:
        selected += [col(c.name, "c") for c in attribute_columns(attribute)]
    selected += [col(item.published, "r") for _, item in unchanged(spec)]
    tree = _joined(tables, selected)
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    shown = PublishedView(
        name=spec.view,
        select=render(tree),
        columns=columns,
        comment=f"Anonymized release of equivalence classes. Guarantee: {guarantee}.",
    )
    flat = [_flat(spec, tables, owner)] if flattens(spec.attributes) else []
    return (shown, *flat, *reference_views(spec, tables), *label_views(spec, tables))


def _joined(tables: Tables, columns: Sequence[exp.Expr]) -> exp.Select:
    """Columns of the records `r` with those of their classes `c`."""
    tree = exp.select(*columns).from_(aliased(tables["records"], "r"))
    return tree.join(
        aliased(tables["classes"], "c"),
        on=exp.EQ(this=col(CLASS_ID, "c"), expression=col(CLASS_ID, "r")),
    )


def _flat(spec: ReleaseSpec, tables: Tables, owner: ViewColumn | None) -> PublishedView:
    """The same rows in plain columns."""
    columns = [FlatColumn(class_column(), col(CLASS_ID, "c"))]
    columns += [FlatColumn(owner, col(owner.name, "r"))] if owner else []
    for attribute in spec.attributes:
        hierarchy = spec.policy.columns[attribute.column.name].hierarchy
        columns += flat_columns(attribute, hierarchy)
    columns += [FlatColumn(column, col(column.name, "r")) for column in _unchanged_columns(spec)]
    shown = [named(item.value, item.column.name) for item in columns]
    return PublishedView(
        name=spec.view_of(FLAT),
        select=render(_joined(tables, shown)),
        columns=tuple(item.column for item in columns),
        comment=f"The records of {spec.view}, with plain columns instead of ranges and sets.",
    )


def view_columns(spec: ReleaseSpec) -> tuple[ViewColumn, ...]:
    """Published columns in order; they depend on policy and catalog alone."""
    columns = [class_column()]
    for attribute in spec.attributes:
        found = [column.located(CLASS_ID) for column in attribute_columns(attribute)]
        if attribute in labelled(spec):
            found[0] = replace(found[0], form="listed")
        columns += found
    return (*columns, *[column.located(CLASS_ID, _RECORDS) for column in _unchanged_columns(spec)])


def class_column() -> ViewColumn:
    said = "Number of the equivalence class, random per release."
    return ViewColumn(CLASS_ID, "integer", said)


def _unchanged_columns(spec: ReleaseSpec) -> list[ViewColumn]:
    columns: list[ViewColumn] = []
    for item in spec.sensitive:
        models = [r.label for r in spec.requirements if r.sensitive == item.index]
        held = f" Per class: {'; '.join(models)}." if models else ""
        columns.append(exact_column(item.published, item.column, f"Sensitive, unchanged.{held}"))
    for item in spec.carried:
        columns.append(exact_column(item.published, item.column, "Insensitive, unchanged."))
    return columns
