"""How the people of an anatomized release are linked to sensitive values: by buckets.

Where quasi-identifiers stand beside sensitive values, who knows those of a person knows more than
the bucket: the rows of it that show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.lookups import joined
from pganon.forms.buckets.verification import histogram, histogram_of
from pganon.policy.options import GROUP_ID
from pganon.privacy.rows import Relation
from pganon.published.arrangement import Arrangement, SensitiveTable
from pganon.published.elements import element
from pganon.published.form import Tables
from pganon.published.linked import Linked, LinkedRows, linked_column, part_number
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import col, named, query
from pganon.steps import State


def linked(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> Linked:
    columns = []
    for item in spec.sensitive:
        table = arrangement.table_of(item.index)
        _, found = histogram_of(arrangement, tables, item)
        group = col(GROUP_ID, "h")
        shown = [col(attribute.published, "h") for attribute in table.quasi]
        number = part_number(group, shown) if shown else group
        column = linked_column(item.column.name, link_of(table), found, number)
        rows = tuple(other.column.name for other in table.sensitive)
        columns.append(replace(column, exact=not arrangement.counterfeits, rows=rows))
    parts = [link_of(table) for table in arrangement.sensitive if table.quasi]
    rows = _rows(arrangement, tables) if arrangement.counterfeits else ()
    return Linked((*arrangement.partitions, *parts), tuple(columns), tuple(rows))


def _rows(arrangement: Arrangement, tables: Tables) -> Iterator[LinkedRows]:
    for table in arrangement.sensitive:
        if len(table.sensitive) == 1:
            continue
        found = histogram(tables, table, [GROUP_ID], table.sensitive)
        rows = query("select :link as link, h.value from h", {"h": found}, link=col(GROUP_ID, "h"))
        yield LinkedRows(tuple(item.column.name for item in table.sensitive), rows)


def link_of(table: SensitiveTable) -> str:
    """Column of the members with the number of the group that its values are of."""
    return f"{table.part}_rows" if table.quasi else table.partition


def with_rows(arrangement: Arrangement, records: Relation, group: str, state: State) -> exp.Select:
    """The records with :func:`link_of` the tables that have quasi-identifiers, too.

    Args:
        group: column of the records with the bucket.
    """
    tree = query("select r.* from r", {"r": records})
    for table in arrangement.sensitive:
        if not table.quasi:
            continue
        shown: list[exp.Expr] = []
        for lookup in joined(axes(table.quasi), state):
            tree = lookup.decode(tree, state, "r")
            shown += [element(axis.attribute, lookup.column(axis, "value")) for axis in lookup.axes]
        number = part_number(col(group, "r"), shown)
        tree = tree.select(named(number, link_of(table)))
    return tree
