"""A plan as text or data: the same steps that a run executes, rendered with assumed sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from psycopg import sql
from sqlglot import exp

from pganon.plan.build import Plan
from pganon.sqltools import pretty
from pganon.steps import (
    Alone,
    Check,
    CreateTable,
    DropTables,
    Load,
    Parallel,
    Query,
    Repeat,
    Search,
    State,
    Statement,
    Step,
    taken,
)

ASSUMED_VALUES = 40
"""Distinct values that every column is assumed to have, since the plan looks at no data."""

PUBLISH = "views, grants and ledger in one transaction"


@dataclass(frozen=True)
class Explained:
    """One step: its SQL is what a run would send if every assumed size were true."""

    phase: str
    step: str
    purpose: str
    sql: str


class _Assumed(dict[str, Any]):
    """Sizes of nothing that was read yet; NULLs are assumed wherever the catalog allows them."""

    def __missing__(self, name: str) -> int:
        return ASSUMED_VALUES if name.startswith(("m", "sm", "records", "kept")) else 1


def explain(plan: Plan) -> list[Explained]:
    """Every step in order; the body of a repetition once, as its first round."""
    state = State(0, _Assumed(plan.method.assumed(plan.spec)))
    found: list[Explained] = []
    for phase in plan.phases:
        found += _explain(phase.name, phase.steps, state, "")
    found.append(Explained("publish", "publish", PUBLISH, _publication(plan, state)))
    return found


def _publication(plan: Plan, state: State) -> str:
    """What the publishing transaction makes readable, without grants and state."""
    moved = [
        sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(
            relation.staged.identifier, sql.Identifier(relation.stored.schema)
        )
        for relation in plan.relations(state)
    ]
    views = [
        sql.SQL("CREATE OR REPLACE VIEW {} AS {}").format(
            view.name.identifier,
            sql.SQL(view.select),  # pyright: ignore
        )
        for view in plan.stored_views(state)
    ]
    return sql.SQL(";\n").join([*moved, *views]).as_string(None)


def _explain(phase: str, steps: Sequence[Step], state: State, prefix: str) -> list[Explained]:
    found: list[Explained] = []
    for step in steps:
        name = f"{prefix}{step.name}"
        match step:
            case Repeat():
                found.append(Explained(phase, name, f"{step.purpose}; repeated", ""))
                found += _explain(phase, step.body(0), state.at_round(0), f"{name}.")
            case Parallel():
                for chain in step.chains:
                    found += _explain(phase, chain, state, prefix)
            case CreateTable() | Check() | Statement() | DropTables() | Search() | Load():
                if taken(step, state):
                    found.append(Explained(phase, name, step.purpose, _sql(step, state)))
            case unknown:
                assert_never(unknown)
    return found


def _sql(step: Alone, state: State) -> str:
    match step:
        case CreateTable():
            return f"CREATE TABLE {step.table(state)} AS\n{_pretty(step.select(state))}"
        case Check():
            return _pretty(step.select(state))
        case Statement():
            return step.render(state).as_string(None)
        case DropTables():
            return f"DROP TABLE {', '.join(str(table) for table in step.tables(state))}"
        case Search():
            columns = ", ".join(name for name, _ in step.columns)
            given, rows = _pretty(step.given(state)), _pretty(step.rows(state, 0))
            return f"{given};\n{rows};\nCOPY {step.table(state)} ({columns}) FROM STDIN"
        case Load():
            columns = ", ".join(name for name, _ in step.columns)
            return f"COPY {step.table(state)} ({columns}) FROM STDIN"
        case unknown:
            assert_never(unknown)


def _pretty(tree: exp.Expr | Query) -> str:
    if isinstance(tree, sql.SQL | sql.Composed):
        return tree.as_string(None)
    return pretty(tree)
