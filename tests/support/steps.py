"""A plain walk over the steps of a plan, for tests of the modules that make steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from pganon.identifiers import QualifiedName
from pganon.plan.sqltools import statement
from pganon.plan.steps import (
    Check,
    CreateTable,
    DropTables,
    Load,
    Repeat,
    State,
    Statement,
    Step,
)


def run_steps(conn: psycopg.Connection[Any], steps: Iterable[Step], state: State) -> State:
    """Run the steps one after the other; raises what a Check refuses with."""
    for step in steps:
        state = _run(conn, step, state)
    return state


def _run(conn: psycopg.Connection[Any], step: Step, state: State) -> State:
    match step:
        case CreateTable():
            query = sql.SQL("create unlogged table {} as {}")
            table = step.table(state).identifier
            conn.execute(query.format(table, statement(step.select(state))))
        case Statement():
            conn.execute(step.render(state))
        case DropTables():
            for table in step.tables(state):
                conn.execute(sql.SQL("drop table {}").format(table.identifier))
        case Load():
            load(conn, step.table(state), step.columns, step.rows())
        case Check():
            return _check(conn, step, state)
        case Repeat():
            return _repeat(conn, step, state)
    return state


def load(
    conn: psycopg.Connection[Any],
    table: QualifiedName,
    columns: Iterable[tuple[str, str]],
    rows: Iterable[Any],
) -> None:
    """Create an unlogged table and copy rows into it."""
    parts = [sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(t)) for n, t in columns]  # pyright: ignore
    create = sql.SQL("create unlogged table {} ({})")
    conn.execute(create.format(table.identifier, sql.SQL(", ").join(parts)))
    with conn.cursor().copy(sql.SQL("copy {} from stdin").format(table.identifier)) as copy:
        for row in rows:
            copy.write_row(row)


def _check(conn: psycopg.Connection[Any], step: Check, state: State) -> State:
    cursor = conn.cursor(row_factory=dict_row)
    rows = cursor.execute(statement(step.select(state))).fetchall()
    assert len(rows) == 1, f"{step.name} must give one row, not {len(rows)}"
    problem = step.problem(rows[0], state)
    if problem is not None:
        raise problem
    return state.with_facts({step.prefix + name: value for name, value in rows[0].items()})


def _repeat(conn: psycopg.Connection[Any], step: Repeat, state: State) -> State:
    for number in range(step.bound(state)):
        state = run_steps(conn, step.body(number), state.at_round(number))
        if state.facts[step.until]:
            return state.with_facts({f"{step.name}_rounds": number + 1})
    raise AssertionError(f"{step.name} does not end")
