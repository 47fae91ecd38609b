"""A bounded part of a relation's rows, for counts that are hints."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.catalog.introspect import estimated_rows
from pganon.catalog.model import Relation
from pganon.identifiers import column as column_reference
from pganon.sqlfiles import Connection

_SEED = 1
"""The same blocks every time, so that several statements read the same rows."""


def sample(
    conn: Connection, relation: Relation, columns: Mapping[str, str], rows: int
) -> exp.Select:
    """SELECT of columns of at most `rows` rows, under the names that they are mapped to.

    Of a stored table with more rows these are of blocks drawn from all of it (SYSTEM), else the
    first that the server gives.
    """
    table = relation.name.table
    estimate = estimated_rows(conn, relation)
    if estimate is not None and estimate > rows:
        percent = exp.Literal.number(f"{100 * rows / estimate:.6f}")
        drawn = exp.TableSample(
            method=exp.var("SYSTEM"), percent=percent, seed=exp.Literal.number(_SEED)
        )
        table.set("sample", drawn)
    return (
        exp.select(
            *(
                exp.alias_(column_reference(name), alias, quoted=True)
                for name, alias in columns.items()
            )
        )
        .from_(table)
        .limit(rows)
    )
