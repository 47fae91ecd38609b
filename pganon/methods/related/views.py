"""The views of related tables: groups, slices, frequent values, lookups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pganon.encode.related import lookup_table
from pganon.forms.elements import exact_column
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
    Way,
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
    period = _period(spec, *p.events)

    def held(e: Events) -> ViewColumn:
        column = ViewColumn(p.holders(e), "bigint", f"People of the group with rows in {e.name}.")
        # Of periods it has a row each, which are not estimated from.
        ways = json.dumps([_way(spec, way) for way in e.ways])
        return column if period else replace(column, form="holders", kind=ways, part=e.name)

    people = ViewColumn(PEOPLE, "bigint", "People of the group.", "people", part=spec.policy.root)
    return [_number(p), *period, people, *map(held, p.events)]


def _number(p: Partition) -> ViewColumn:
    return ViewColumn(p.number, "integer", "Number of the group, random per release.", "group")


def _way(spec: ReleaseSpec, way: Way) -> list[object]:
    """Columns, the table whose rows they name, and the key of that."""
    assert spec.related is not None
    above = None if way.table is None else spec.related.events[way.table]
    key = [c.name for c in above.key] if above else [*spec.policy.individual_key]
    return [[c.name for c in way.columns], above.name if above else spec.policy.root, key]


def _slice(spec: ReleaseSpec, related: Related, one: Slice) -> list[ViewColumn]:
    columns = [_number(related.partition_of(one.events)), *_period(spec, one.events)]
    for item in one.items:
        said = "Sensitive" if item.limit is not None else "Insensitive"
        shown = ", unchanged" if item.hierarchy is None else f", on level {item.level}"
        comment = f"{said}{shown}. NULL where rows have no value."
        column = exact_column(item.published, item.column, comment)
        if item.hierarchy is not None:
            column = replace(column, type="text", kind="text", collation='"default"')
        columns.append(replace(column, form="fact", part=one.events.name))
    said = "People of the group with such a row."
    return [*columns, ViewColumn(PERSONS, "bigint", said, "persons")]


def _rows(spec: ReleaseSpec, events: Events) -> list[ViewColumn]:
    of = "an increment" if spec.policy.refresh == "increments" else "the release"
    return [
        *_period(spec, events),
        ViewColumn("column_name", "text", "Column of the values."),
        ViewColumn("value", "text", "The value, as text."),
        ViewColumn(PERSONS, "bigint", f"People of {of} with the value."),
        ViewColumn("rows", "bigint", f"Rows of {events.name} with it.", "rows", part=events.name),
    ]


def _lookup(lookup: Lookup) -> list[ViewColumn]:
    shown = [exact_column(name, c, "As it is in the source.") for c, name in lookup.columns]
    key = [column.name for column, _ in lookup.columns].index(lookup.key.name)
    return [
        replace(column, form="lookup" if place != key else "key", part=lookup.name)
        for place, column in enumerate(shown)
    ]
