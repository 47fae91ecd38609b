"""A sample of a relation with a hash in place of every value, to count combinations of values.

Texts are sorted and compared by a collation, which takes far longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql
from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.catalog.sample import sample
from pganon.catalog.values import as_text
from pganon.identifiers import QualifiedName
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask
from pganon.sqltools import col, fragment, named, query, statement

SAMPLE_ROWS = 10_000

MOST_KEPT = 900
"""Columns of a table in which hashes are kept; its rows must fit into a page."""

_KEPT = QualifiedName("pg_temp", "pganon_hashes")


@dataclass(frozen=True)
class HashedRows:
    """A sample of at most about SAMPLE_ROWS rows.

    Attributes:
        kept: whether the session holds the hashes, so that the relation is not read again.
    """

    conn: Connection
    relation: Relation
    position: Mapping[str, str]
    kept: bool

    def select(self, names: Sequence[str]) -> exp.Select:
        """The hashes of some columns, under the names of `position`."""
        if self.kept:
            aliases = [col(self.position[name], "s") for name in names]
            return query("select from s", {"s": _KEPT}).select(*aliases)
        return _hashes(self.conn, self.relation, {name: self.position[name] for name in names})


@contextmanager
def hashed_rows(
    conn: Connection, relation: Relation, columns: Sequence[Column]
) -> Iterator[HashedRows]:
    """Hashes of the columns, in a transaction that is undone.

    The relation is read once, where the session may have a temporary table (not on a replica) and
    there are at most MOST_KEPT columns; else whenever hashes are selected.

    Raises:
        DatabaseError: the relation could not be read.
    """
    position = {column.name: f"c{i}" for i, column in enumerate(columns)}
    with conn.transaction(force_rollback=True):
        kept = 0 < len(columns) <= MOST_KEPT and _may_keep(conn)
        if kept:
            try:
                hashes = statement(_hashes(conn, relation, position))
                conn.execute(sql.SQL("CREATE TABLE {} AS {}").format(_KEPT.identifier, hashes))
            except psycopg.Error as error:
                raise translate(error, reads=[str(relation.name)]) from None
        yield HashedRows(conn, relation, position, kept)


def _may_keep(conn: Connection) -> bool:
    row = ask(conn, "catalog", "may_make_temporary").fetchone()
    return row is not None and bool(row[0])


def _hashes(conn: Connection, relation: Relation, position: Mapping[str, str]) -> exp.Select:
    hashes = [
        named(
            fragment("hashtextextended(:value, 0)", value=as_text(column, col(c, "s"))),
            c,
        )
        for column in relation.columns
        if (c := position.get(column.name))
    ]
    read = sample(conn, relation, position, SAMPLE_ROWS)
    return query("select from s", {"s": read}).select(*hashes)
