"""The views of related tables: groups, slices, frequent values, lookups."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.encode.related import lookup_table
from pganon.forms.form import Tables
from pganon.identifiers import QualifiedName, quote
from pganon.methods.related.staging import (
    FREQUENT,
    Slice,
    frequent_part,
    group_part,
    paired,
    singles,
    whole_partition,
)
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import (
    PEOPLE,
    PERIOD,
    PERSONS,
    Events,
    Lookup,
    Partition,
    Related,
    rows_part,
)
from pganon.sqltools import col, query, render
from pganon.steps.relations import PublishedView, ViewColumn


def views(spec: ReleaseSpec, related: Related, tables: Tables) -> Iterator[PublishedView]:
    for p in related.partitions:
        name = spec.view_of(p.part)
        comment = f"Groups of classes of {spec.view}, in which values of other tables are."
        yield _view(name, tables[group_part(p)], _groups(spec, p), comment)
    for one in (*singles(related), *paired(related)):
        name = spec.view_of(one.view)
        held = " and ".join(quote(item.published) for item in one.items)
        comment = f"Values of {held} in {one.events.name}, each once for every group of people."
        yield _view(name, tables[one.part], _slice(spec, related, one), comment)
    for events in related.events:
        comment = (
            f"Values of {events.name} that at least {FREQUENT} people have, with all their rows."
        )
        yield _view(
            spec.view_of(rows_part(events)),
            tables[frequent_part(events)],
            _rows(spec, events),
            comment,
        )
    for lookup in related.lookups:
        comment = f"Rows of {lookup.name}, a table without people, as they are."
        yield _view(
            spec.view_of(lookup.name), tables[lookup_table(lookup)], _lookup(lookup), comment
        )


def _view(
    name: QualifiedName, table: QualifiedName, columns: list[ViewColumn], comment: str
) -> PublishedView:
    tree = query("select 1 from t", {"t": table})
    shown = [col(column.name, "t") for column in columns]
    return PublishedView(name, render(tree.select(*shown, append=False)), tuple(columns), comment)


def _period(spec: ReleaseSpec, *events: Events) -> list[ViewColumn]:
    assert spec.related is not None
    if spec.related.timed.isdisjoint(one.index for one in events):
        return []
    return [ViewColumn(PERIOD, "text", "When the rows are from.")]


def _groups(spec: ReleaseSpec, partition: Partition) -> list[ViewColumn]:
    p = whole_partition(spec, partition)
    counted = [
        ViewColumn(p.holders(e), "bigint", f"People of the group with rows in {e.name}.")
        for e in p.events
    ]
    number = ViewColumn(p.number, "integer", "Number of the group, random per release.")
    people = ViewColumn(PEOPLE, "bigint", "People of the group.")
    return [number, *_period(spec, *p.events), people, *counted]


def _slice(spec: ReleaseSpec, related: Related, one: Slice) -> list[ViewColumn]:
    columns = [
        ViewColumn(related.partition_of(one.events).number, "integer", "Number of the group."),
        *_period(spec, one.events),
    ]
    for item in one.items:
        said = "Sensitive" if item.limit is not None else "Insensitive"
        shown = ", unchanged" if item.hierarchy is None else f", on level {item.level}"
        comment = f"{said}{shown}. NULL where rows have no value."
        columns.append(ViewColumn(item.published, item.published_type, comment))
    return [*columns, ViewColumn(PERSONS, "bigint", "People of the group with such a row.")]


def _rows(spec: ReleaseSpec, events: Events) -> list[ViewColumn]:
    of = "an increment" if spec.policy.refresh == "increments" else "the release"
    return [
        *_period(spec, events),
        ViewColumn("column_name", "text", "Column of the values."),
        ViewColumn("value", "text", "The value, as text."),
        ViewColumn(PERSONS, "bigint", f"People of {of} with the value."),
        ViewColumn("rows", "bigint", f"Rows of {events.name} with it."),
    ]


def _lookup(lookup: Lookup) -> list[ViewColumn]:
    return [
        ViewColumn(name, column.stored_type, "As it is in the source.")
        for column, name in lookup.columns
    ]
