"""Where the rows of a table are that Citus distributes over servers."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from pganon.identifiers import QualifiedName


@dataclass(frozen=True)
class By:
    """Where a table's rows are that Citus distributes: those with equal values are in one shard.

    Attributes:
        column: of the table, which decides the shard of a row.
        beside: a distributed table; rows with the same value as its rows are where these are.
    """

    column: str
    beside: QualifiedName | None = None


def distributed(table: QualifiedName, placement: By) -> sql.Composed:
    """Statement: spread an empty table over the servers."""
    beside = str(placement.beside) if placement.beside else "none"
    return sql.SQL(
        "SELECT pg_catalog.create_distributed_table({}, {}, colocate_with => {})"
    ).format(sql.Literal(str(table)), sql.Literal(placement.column), sql.Literal(beside))
