"""Counts of a relation's columns, for guesses; no value leaves the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import psycopg
from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.catalog.sample import sample
from pganon.catalog.values import as_text
from pganon.identifiers import column as column_reference
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import col, fragment, query, render

SAMPLE_ROWS = 100_000
COLUMNS_AT_ONCE = 500
"""Columns of a query, with three counts each: a target list of PostgreSQL has at most 1,664."""


@dataclass(frozen=True)
class Facts:
    """Counts over the rows that were examined.

    Attributes:
        rows: rows that were read.
        present: those without NULL in the column.
        distinct: different values among them.
        longest: characters of the longest value as text.
    """

    rows: int
    present: int
    distinct: int
    longest: int


def column_facts(
    conn: Connection, relation: Relation, columns: Sequence[Column]
) -> dict[str, Facts]:
    """Counts per column over a sample of at most about SAMPLE_ROWS rows.

    They are hints, not measurements.
    """
    out: dict[str, Facts] = {}
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        out |= _facts_of(conn, relation, columns[start : start + COLUMNS_AT_ONCE])
    return out


def all_of(
    conn: Connection,
    relation: Relation,
    column: Column,
    conditions: Mapping[str, Callable[[exp.Expr], exp.Expr]],
) -> list[str]:
    """Names of the conditions that hold for the texts of all values of a sample."""
    values = query(
        "select distinct :t as v from s where s.c0 is not null",
        {"s": sample(conn, relation, {column.name: "c0"}, SAMPLE_ROWS)},
        t=as_text(column, col("c0", "s")),
    )
    held = [
        fragment("bool_and(:c)", c=condition(col("v", "d"))) for condition in conditions.values()
    ]
    try:
        statement = render(query("select from d", {"d": values}).select(*held))
        row = conn.execute(statement.encode()).fetchone()
    except psycopg.Error as error:
        raise translate(error, reads=[str(relation.name)]) from None
    assert row is not None
    return [name for name, holds in zip(conditions, row, strict=True) if holds]


def _facts_of(conn: Connection, relation: Relation, columns: Sequence[Column]) -> dict[str, Facts]:
    names = {column.name: f"c{i}" for i, column in enumerate(columns)}
    try:
        statement = _query(sample(conn, relation, names, SAMPLE_ROWS), columns, names)
        row = conn.execute(statement.encode()).fetchone()
    except psycopg.Error as error:
        raise translate(error, reads=[str(relation.name)]) from None
    assert row is not None
    rows, *counts = row
    return {
        column.name: Facts(rows, *counts[3 * i : 3 * i + 3]) for i, column in enumerate(columns)
    }


def _query(rows: exp.Select, columns: Sequence[Column], names: Mapping[str, str]) -> str:
    counts: list[exp.Expr] = [exp.Count(this=exp.Star())]  # pyright: ignore[reportPrivateImportUsage]
    for column in columns:
        value = column_reference(names[column.name])
        longest = exp.Max(this=exp.Length(this=as_text(column, value)))
        counts += [
            exp.Count(this=value),
            exp.Count(this=exp.Distinct(expressions=[value.copy()])),
            exp.Coalesce(this=longest, expressions=[exp.Literal.number(0)]),
        ]
    query = exp.select(*counts).from_(rows.subquery("sample"))
    return query.sql(dialect="postgres", identify=True)
