"""Work tables of partitions that are computed in Python, block by block."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.methods.common.form.grouping import bucket
from pganon.sqltools import aliased, col, query


def partition_columns(place: int) -> tuple[tuple[str, str], ...]:
    """Columns of the work table of a partition, by its place in the arrangement."""
    return (("rid", "bigint"), (bucket(place), "bigint"))


def joined(tables: Sequence[QualifiedName], first: int = 0) -> exp.Select:
    """SELECT rid, b<i>: the records that are in all of these partitions.

    Args:
        tables: their work tables, in the order of the arrangement.
        first: place of the first of them.
    """
    tree = query("select p0.rid from p0", {"p0": tables[0]})
    for number, table in enumerate(tables):
        alias = f"p{number}"
        tree = tree.select(col(bucket(first + number), alias))
        if number:
            tree = tree.join(
                aliased(table, alias),
                on=exp.EQ(this=col("rid", alias), expression=col("rid", "p0")),
            )
    return tree
