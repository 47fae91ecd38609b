"""Rows of exact quasi-identifiers in buckets: which of them people are linked to."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.lookups import joined
from pganon.forms.elements import element
from pganon.forms.linked import part_number
from pganon.methods.common.arrangement import Arrangement, SensitiveTable
from pganon.privacy.rows import Relation
from pganon.sqltools import col, named, query
from pganon.steps import State


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
