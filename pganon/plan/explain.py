"""A plan as text or data: the same steps that a run executes, rendered with assumed sizes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from psycopg import sql
from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.plan.build import Phase, Plan
from pganon.sqltools import pretty
from pganon.steps import (
    Alone,
    Ask,
    Check,
    CreateTable,
    Dialogue,
    DropTables,
    Load,
    Loop,
    Made,
    Parallel,
    Query,
    Scope,
    Search,
    State,
    Statement,
    Step,
    given,
    noted,
    taken,
)
from pganon.steps.facts import Fact, Facts
from pganon.steps.placement import distributed

PUBLISH = "views, grants and ledger in one transaction"


@dataclass(frozen=True)
class Explained:
    """One step: its SQL is what a run would send if every assumed size were true.

    The SQL is empty where nobody asked for it, and for a step that only repeats others.
    """

    phase: str
    step: str
    purpose: str
    sql: str


def explain(plan: Plan, *, sql: bool = True) -> list[Explained]:
    """Every step in order; the body of a repetition once, as its first round.

    Nothing was observed yet, so a step is taken to give what its facts assume.

    Args:
        sql: whether to render statements, which takes most of the time for wide tables.

    Raises:
        PganonError: a step reads a fact that no step before it gives.
    """
    steps, state = explained(plan.phases, sql=sql)
    publication = _publication(plan, state) if sql else ""
    return [*steps, Explained("publish", "publish", PUBLISH, publication)]


def explained(phases: Sequence[Phase], *, sql: bool = True) -> tuple[list[Explained], State]:
    """The steps of phases, and the state that they are assumed to end in."""
    walk = _Walk(State(0), sql)
    for phase in phases:
        walk.through(phase.name, phase.steps)
    return walk.found, walk.state


@dataclass
class _Walk:
    """Steps so far, and the state after them."""

    state: State
    sql: bool
    found: list[Explained] = field(default_factory=list)
    made: Made = field(default_factory=dict)

    def through(self, phase: str, steps: Sequence[Step], prefix: str = "") -> None:
        for step in steps:
            match step:
                case Scope():
                    before = set(self.made)
                    self.through(phase, step.body, prefix)
                    self._tidy(phase, step, before, prefix)
                case Loop():
                    self._loop(phase, step, prefix)
                case Parallel():
                    self._parallel(phase, step, prefix)
                case Dialogue():
                    self._dialogue(phase, step, prefix)
                case (
                    CreateTable() | Check() | Statement() | DropTables() | Search() | Load() | Ask()
                ):
                    if taken(step, self.state):
                        name = f"{prefix}{step.name}"
                        statement = _sql(step, self.state) if self.sql else ""
                        self.found.append(Explained(phase, name, step.purpose, statement))
                        self._observe(given(step, self.state))
                        noted(step, self.state, self.made)
                case unknown:
                    assert_never(unknown)

    def _loop(self, phase: str, step: Loop, prefix: str) -> None:
        name = f"{prefix}{step.name}"
        self.found.append(Explained(phase, name, f"{step.purpose}; repeated", ""))
        outer = self.state.current
        self.state = self.state.at_round(0)
        before = set(self.made)
        self.through(phase, step.body(0), f"{name}.")
        self._tidy(phase, step, before, f"{name}.")
        self.state = replace(self.state, current=outer)
        self._observe([step.rounds])

    def _dialogue(self, phase: str, step: Dialogue, prefix: str) -> None:
        """Each of its steps once, however often it is asked."""
        name = f"{prefix}{step.name}"
        self.found.append(Explained(phase, name, step.purpose, ""))
        talk, shown = step.talk(self.state), set[str]()
        with contextlib.suppress(StopIteration):
            asked = next(talk)
            while True:
                self.through(phase, [asked] if asked.name not in shown else [], f"{name}.")
                shown.add(asked.name)
                asked = talk.send(asked.assumed if isinstance(asked, Ask) else ())
        self._observe(step.gives)

    def _tidy(
        self, phase: str, step: Scope | Loop, before: set[QualifiedName], prefix: str
    ) -> None:
        tidied = step.tidied(self.state, before, self.made)
        self.through(phase, [tidied] if tidied.tables(self.state) else [], prefix)

    def _parallel(self, phase: str, step: Parallel, prefix: str) -> None:
        """Chains see nothing of each other, but of those that they wait for."""
        before = self.state
        after: list[Facts] = []
        for number, chain in enumerate(step.chains):
            facts = before.facts.joined(after[first] for first in step.after.get(number, ()))
            self.state = replace(before, facts=facts)
            self.through(phase, chain, prefix)
            after.append(self.state.facts)
        self.state = replace(before, facts=before.facts.joined(after))

    def _observe(self, facts: Sequence[Fact[Any]]) -> None:
        self.state = self.state.observing({fact: fact.assumed for fact in facts})


def _publication(plan: Plan, state: State) -> str:
    """SQL that makes the release readable, without grants and state."""
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


def _sql(step: Alone, state: State) -> str:
    match step:
        case CreateTable():
            return _made(step, state)
        case Check() | Ask():
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


def _made(step: CreateTable, state: State) -> str:
    table, placement, select = step.table(state), step.placement(state), _pretty(step.select(state))
    if step.beside:
        every = {one.table(state): _pretty(one.select(state)) for one in (step, *step.beside)}
        first, *others = [f"INSERT INTO {table}\n{select}" for table, select in every.items()]
        beside = ",\n".join(f"filled{n} AS ({insert})" for n, insert in enumerate(others))
        made = [f"CREATE TABLE {t} AS\n{q}\nWITH NO DATA" for t, q in every.items()]
        return ";\n".join([*made, f"WITH {beside}\n{first}"])
    if placement is None:
        return f"CREATE TABLE {table} AS\n{select}"
    made = f"CREATE TABLE {table} AS\n{select}\nWITH NO DATA"
    placed = distributed(table, placement).as_string(None)
    return ";\n".join([made, placed, f"INSERT INTO {table}\n{select}"])


def _pretty(tree: exp.Expr | Query) -> str:
    if isinstance(tree, sql.SQL | sql.Composed):
        return tree.as_string(None)
    return pretty(tree)
