"""Walks the steps of a plan, one transaction per step: where it can be, one message to the server.

Chains of a :class:`Parallel` step are walked side by side, on the connections of the crew. Errors
of the server carry the step's name and never the server's DETAIL.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.catalog.citus import in_shards, seal_shards
from pganon.catalog.model import ExternalObjects
from pganon.errors import Interrupted, PganonError
from pganon.identifiers import QualifiedName
from pganon.run.filled import lost_rows
from pganon.run.pool import Piece, Pool, Wanted, perform, side_by_side
from pganon.run.steptime import StepTime
from pganon.run.tables import (
    analyze_table,
    copy_rows,
    create_placed,
    create_table,
    create_table_as,
    drop_tables,
    fill_table,
    stamp_of_written,
)
from pganon.server_errors import translate
from pganon.sqltools import statement
from pganon.steps import (
    STAGE_SCHEMA,
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
    shared,
    stamp_of,
    taken,
)
from pganon.steps.facts import Fact
from pganon.steps.rounds import Template

Connection = psycopg.Connection[tuple[object, ...]]

Reading = Callable[[Connection, ExternalObjects], contextlib.AbstractContextManager[object]]


@dataclass
class Executor:
    """Runs steps and keeps the state of the run.

    Attributes:
        on_step: called before each step with its name and purpose, for progress displays.
        reading: wraps a statement that reads or calls what is not pganon's own, in a transaction.
        created: called with the step's name after a CREATE TABLE AS that reads what is not
            pganon's own, before its transaction commits; may raise.
        processes: how many work on the tasks of a search.
        pool: connections for chains of steps that may run side by side. None: only `conn`.
        wanted: whether what the steps make is of use still.
        filled: tables that have rows. One that lost them (an unlogged table is empty after a
            crash) makes the run fail, whatever a step would make of nothing.
        begun: those of a chain of several when it began.
        placed: tables in shards, and how many rows each has; chains side by side share it.
    """

    conn: Connection
    state: State
    on_step: Callable[[str, str], None] = lambda name, purpose: None
    created: Callable[[str], None] = lambda name: None
    reading: Reading = lambda conn, external: conn.transaction()
    times: dict[str, StepTime] = field(default_factory=dict)
    filled: set[QualifiedName] = field(default_factory=set)
    begun: frozenset[QualifiedName] = frozenset()
    placed: dict[QualifiedName, int] = field(default_factory=dict)
    processes: int = 1
    pool: Pool | None = None
    wanted: Wanted = lambda: True
    _rendered: dict[str, Template] = field(default_factory=dict)

    def run(self, steps: Sequence[Step], *, prefix: str = "") -> State:
        for step in steps:
            if not self.wanted():
                raise Interrupted("the run was given up", step=step.name)
            if isinstance(step, Parallel):
                self._parallel(step, prefix)  # what has a name and takes time are its steps
                continue
            if not taken(step, self.state):
                continue  # nor is it shown by a plan of these sizes
            name = f"{prefix}{step.name}"
            self.on_step(name, step.purpose)
            started = time.perf_counter()
            try:
                self._run_one(step, name)
            except Exception as error:
                cause = self._cause(error, name, step)
                if cause is error:
                    raise
                raise cause from None
            if not isinstance(step, Repeat):
                spent = StepTime(name, step.purpose, time.perf_counter() - started, 1)
                self.times.setdefault(name, StepTime(name, step.purpose)).add(spent)
        return self.state

    def _run_one(self, step: Alone | Repeat, name: str) -> None:
        match step:
            case CreateTable():
                self._create(step)
            case Statement():
                self._change(step)
            case DropTables():
                self._drop(step.tables(self.state), name)
            case Load():
                self._load(step)
            case Check():
                self._check(step)
            case Search():
                self._search(step)
            case Repeat():
                self._repeat(step, name)

    def assert_filled(self) -> None:
        """Fail if a table of the run that is still there lost rows; to be called last."""
        lost = lost_rows(self.conn, self.filled, self.placed, "end")
        if lost is not None:
            raise lost

    def _cause(self, error: Exception, name: str, step: Alone | Repeat) -> Exception:
        """The error to report: lost tables before errors that they caused."""
        cause = error
        if isinstance(error, psycopg.Error):
            external = step.external if isinstance(step, CreateTable) else None
            reads = [str(one) for one in external.named] if external else []
            makes = str(step.table(self.state)) if isinstance(step, CreateTable) else None
            cause = translate(error, step=name, reads=reads, makes=makes)
        if not isinstance(cause, Interrupted):
            with contextlib.suppress(psycopg.Error):
                return lost_rows(self.conn, self.filled, self.placed, name) or cause
        return cause

    def _create(self, step: CreateTable) -> None:
        target, select = step.table(self.state), self._select(step)
        staged, placement = target.schema == STAGE_SCHEMA, step.placement(self.state)
        if placement is not None:
            with self._together(step.external, staged):
                create_placed(self.conn, target, select, placement)
            seal_shards(self.conn, target)
        with self._together(step.external, staged):
            if placement is not None:
                rows = fill_table(self.conn, target, select)
            else:
                rows = create_table_as(
                    self.conn, target, select, analyze=step.analyze, sampled=step.sampled
                )
            if step.external is not None:
                self.created(step.name)
            if staged:
                stamp = stamp_of_written(self.conn, target, rows)
                self.state = self.state.observing({stamp_of(target): stamp})
        if step.counted is not None:
            self.state = self.state.observing({step.counted: rows})
        if placement is not None:
            self.placed[target] = rows
            if step.analyze:
                analyze_table(self.conn, target)
        elif rows:
            self.filled.add(target)

    def _together(
        self, external: ExternalObjects | None, staged: bool
    ) -> contextlib.AbstractContextManager[object]:
        """A transaction, if the making of a table takes more than the one message."""
        if external is not None:
            return self.reading(self.conn, external)
        return self._in_shards() if self.placed or not staged else self.conn.transaction()

    def _in_shards(self) -> contextlib.AbstractContextManager[object]:
        return in_shards(self.conn) if self.placed else contextlib.nullcontext()

    def _change(self, step: Statement) -> None:
        with self._in_shards():
            self.conn.execute(step.render(self.state))

    def _select(self, step: CreateTable) -> Query:
        if not step.every_round:
            return statement(step.select(self.state))
        if step.name not in self._rendered:
            tree = step.select(self.state.in_every_round())
            if not isinstance(tree, exp.Expr):
                raise PganonError(f"the query of {step.name} is no tree to serve every round")
            self._rendered[step.name] = Template.of(tree)
        return self._rendered[step.name].at(self.state.round)

    def _drop(self, tables: Sequence[QualifiedName], name: str) -> None:
        placed = {table: self.placed[table] for table in tables if table in self.placed}
        lost = lost_rows(self.conn, self.filled.intersection(tables), placed, name)
        if lost is not None:
            raise lost
        drop_tables(self.conn, tables)
        self.filled.difference_update(tables)
        for table in tables:
            self.placed.pop(table, None)

    def _load(self, step: Load) -> None:
        target = step.table(self.state)
        with self.conn.transaction():
            create_table(self.conn, target, step.columns)
            rows = copy_rows(self.conn, target, step.rows())
        self._copied(target, rows)

    def _search(self, step: Search) -> None:
        target = step.table(self.state)
        create_table(self.conn, target, step.columns)
        with self._in_shards(), self.conn.cursor(row_factory=dict_row) as cursor:
            given = cursor.execute(statement(step.given(self.state))).fetchone() or {}
        rows = 0
        totals: Counter[str] = Counter()
        for number in range(step.batches(self.state)):
            with self._in_shards():
                batch = self.conn.execute(statement(step.rows(self.state, number))).fetchall()
            tasks = step.tasks(self.state, given, batch)
            for result in perform(tasks, step.units(batch), self.processes):
                rows += copy_rows(self.conn, target, result.rows)
                totals.update(result.figures)
        self._copied(target, rows)
        self._observe(step.name, step.gives, {f.column: 0 for f in step.gives} | totals)

    def _observe(
        self, step: str, facts: Sequence[Fact[Any]], values: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Keeps what a step found as the facts that it gives, which are neither more nor less.

        Returns:
            What was found by column, each of the type of its fact.
        """
        declared = {fact.column for fact in facts}
        if declared != values.keys():
            odd = ", ".join(sorted(declared ^ values.keys()))
            raise PganonError(f"the step {step} gives other facts than it declares: {odd}")
        self.state = self.state.observing({fact: values[fact.column] for fact in facts})
        return {fact.column: self.state[fact] for fact in facts}

    def _copied(self, target: QualifiedName, rows: int) -> None:
        if rows:
            self.filled.add(target)
        analyze_table(self.conn, target)

    def _check(self, step: Check) -> None:
        with self._in_shards(), self.conn.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(statement(step.select(self.state))).fetchone()
        if row is None:
            raise PganonError(f"the check {step.name} returned no row")
        problem = step.problem(self._observe(step.name, step.gives, row), self.state)
        if problem is not None:
            raise problem

    def _repeat(self, step: Repeat, name: str) -> None:
        bound = step.bound(self.state)
        outer = self.state.round
        self._rendered = {}
        for number in range(bound):
            self.state = self.state.at_round(number)
            self.run(step.body(number), prefix=f"{name}.")
            if self.state[step.until]:
                self.state = self.state.at_round(outer).observing({step.rounds: number + 1})
                return
        raise PganonError(f"the step {name} made no progress in {bound} rounds")

    def _parallel(self, step: Parallel, prefix: str) -> None:
        done: dict[int, Executor] = {}
        pieces = [self._piece(step, number, prefix, done) for number in range(len(step.chains))]
        if self.pool is None or not shared(self.state):
            parts = side_by_side(pieces, [self.conn])
        else:
            with self.pool.sharing(sum(map(bool, step.chains))) as connections:
                parts = side_by_side(pieces, connections, step.early, step.after)
        self.state = replace(
            self.state, facts=self.state.facts.joined(part.state.facts for part in parts)
        )
        for part in parts:
            self.filled |= part.filled - part.begun
        for part in parts:
            self.filled -= part.begun - part.filled
            for name, spent in part.times.items():
                self.times.setdefault(name, StepTime(name, spent.purpose)).add(spent)

    def _piece(
        self, step: Parallel, number: int, prefix: str, done: dict[int, Executor]
    ) -> Piece[Executor]:
        """A chain, walked by an executor of its own that starts with what is known here, and to
        those before it that are `done`, among which it will be."""

        def walk(conn: Connection, wanted: Wanted) -> Executor:
            before = [done[first] for first in step.after.get(number, ())]
            facts = self.state.facts.joined(part.state.facts for part in before)
            filled = frozenset(self.filled).union(*(part.filled for part in before))
            part = replace(
                self,
                conn=conn,
                state=replace(self.state, facts=facts),
                pool=None,
                wanted=lambda: wanted() and self.wanted(),
                times={},
                filled=set(filled),
                begun=filled,
            )
            part.run(step.chains[number], prefix=prefix)
            done[number] = part
            return part

        return walk
