"""Partitions of the records that Python finds, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from pganon.forms.buckets.staging import bucket
from pganon.identifiers import QualifiedName
from pganon.methods.pairs import pair
from pganon.privacy.rows import Relation
from pganon.sqltools import col, num, query


def partition_columns(place: int) -> tuple[tuple[str, str], ...]:
    """Columns of the work table of a partition, by its place in the arrangement."""
    return (("rid", "bigint"), (bucket(place), "bigint"))


def rows_of_blocks(blocked: Relation, names: Sequence[str], batch: int, at_once: int) -> exp.Select:
    """SELECT block, rid, names.. of the blocks of a batch, in order.

    Args:
        blocked: relation (block, rid, names..); blocks are numbered from 0.
        at_once: blocks of a batch.
    """
    tree = query(
        "select b.block, b.rid from b where b.block >= :first and b.block < :next"
        " order by b.block, b.rid",
        {"b": blocked},
        first=num(batch * at_once),
        next=num((batch + 1) * at_once),
    )
    return tree.select(*[col(name, "b") for name in names])


def labelled(block: int, rids: Sequence[int], labels: Iterable[int]) -> list[tuple[int, int]]:
    """Rows of such a table from the labels of a block's records, which other blocks have, too."""
    return [(rid, pair(block, int(label))) for rid, label in zip(rids, labels, strict=True)]


def grouped_rows(
    block: int, rids: Sequence[int], groups: Iterable[Sequence[int]]
) -> list[tuple[int, int]]:
    """The same from groups of a block's records; those in none are left out."""
    placed = [(rids[row], label) for label, rows in enumerate(groups) for row in rows]
    return labelled(block, [rid for rid, _ in placed], [label for _, label in placed])


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
                exp.alias_(table.table, alias, table=True, quoted=True),
                on=exp.EQ(this=col("rid", alias), expression=col("rid", "p0")),
            )
    return tree
