"""How the people of an anatomized release are linked to sensitive values: by buckets.

Where quasi-identifiers stand beside sensitive values, who knows those of a person knows more than
the bucket: the rows of it that show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pganon.forms.form import Tables
from pganon.forms.linked import Linked, LinkedRows, linked_column, part_number
from pganon.methods.buckets.form.verification import histogram, histogram_of
from pganon.methods.common.arrangement import Arrangement
from pganon.methods.common.form.bucket_rows import link_of
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query


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
