"""Walks the steps of a plan on a connection, one transaction per step.

After every CREATE in a private schema all foreign grants are revoked in the same transaction, so
that default privileges cannot open a table even for a moment. Errors of the server carry the
step's name and never the server's DETAIL.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from pganon.errors import Interrupted, PganonError, translate
from pganon.identifiers import QualifiedName
from pganon.plan.sqltools import statement
from pganon.plan.steps import (
    STAGE_SCHEMA,
    Check,
    CreateTable,
    DropTables,
    Load,
    Query,
    Repeat,
    Search,
    State,
    Statement,
    Step,
)
from pganon.run.workers import perform

Connection = psycopg.Connection[tuple[object, ...]]

_WORK_SAMPLE = 10
"""Statistics target for work tables: 3,000 rows are sampled."""

_ANY_ROUND = 1_000_000_000
"""Number that stands for the current round in a query that is rendered once for all."""


@dataclass
class StepTime:
    """Seconds spent in a step; the rounds of a Repeat are added up under its name."""

    name: str
    purpose: str
    seconds: float = 0.0
    times: int = 0


@dataclass
class Executor:
    """Runs steps and keeps the state of the run.

    Attributes:
        on_step: called before each step with its name and purpose, for progress displays.
        created: called after each CREATE TABLE AS with the step's name, before its transaction
            commits; may raise.
        processes: how many work on the tasks of a search.
        filled: tables that have rows. One that lost them (an unlogged table is empty after a
            crash) makes the run fail, whatever a step would make of nothing.
    """

    conn: Connection
    state: State
    on_step: Callable[[str, str], None] = lambda name, purpose: None
    created: Callable[[str], None] = lambda name: None
    times: dict[str, StepTime] = field(default_factory=dict)
    filled: set[QualifiedName] = field(default_factory=set)
    processes: int = 1
    _rendered: dict[str, str] = field(default_factory=dict)

    def run(self, steps: Sequence[Step], *, prefix: str = "") -> State:
        for step in steps:
            name = f"{prefix}{step.name}"
            self.on_step(name, step.purpose)
            started = time.perf_counter()
            try:
                self._run_one(step, name)
            except Exception as error:
                cause = self._cause(error, name)
                if cause is error:
                    raise
                raise cause from None
            if not isinstance(step, Repeat):
                spent = self.times.setdefault(name, StepTime(name, step.purpose))
                spent.seconds += time.perf_counter() - started
                spent.times += 1
        return self.state

    def _run_one(self, step: Step, name: str) -> None:
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
        """Fail if a table of the run that is still there lost its rows; to be called last."""
        lost = self._lost(self.filled, "end")
        if lost is not None:
            raise lost

    def _lost(self, tables: Iterable[QualifiedName], step: str) -> Interrupted | None:
        known = sorted(self.filled.intersection(tables))
        if not known:
            return None
        parts = [sql.SQL("EXISTS (SELECT FROM {})").format(t.identifier) for t in known]
        row = self.conn.execute(sql.SQL("SELECT {}").format(sql.SQL(", ").join(parts))).fetchone()
        empty = [str(t) for t, filled in zip(known, row or (), strict=True) if not filled]
        if not empty:
            return None
        return Interrupted(
            f"tables of the run were emptied while it went on: {', '.join(empty)}",
            step=step,
            hint="the server crashed, or somebody changed them; run the release again",
        )

    def _cause(self, error: Exception, name: str) -> Exception:
        """What to tell about an error: lost tables before what came of them."""
        known = translate(error, step=name) if isinstance(error, psycopg.Error) else error
        if not isinstance(known, Interrupted):
            with contextlib.suppress(psycopg.Error):
                return self._lost(self.filled, name) or known
        return known

    def _create(self, step: CreateTable) -> None:
        if not step.when(self.state):
            return
        target = step.table(self.state)
        with self.conn.transaction():
            rows = create_table_as(self.conn, target, self._select(step), analyze=step.analyze)
            self.created(step.name)
        if rows:
            self.filled.add(target)

    def _change(self, step: Statement) -> None:
        if not step.when(self.state):
            return
        with self.conn.transaction():
            self.conn.execute(step.render(self.state))

    def _select(self, step: CreateTable) -> Query:
        if not step.every_round:
            return statement(step.select(self.state))
        text = self._rendered.get(step.name)
        if text is None:
            text = statement(step.select(self.state.at_round(_ANY_ROUND))).as_string(None)
            self._rendered[step.name] = text
        for number, mark in ((0, _ANY_ROUND), (1, _ANY_ROUND + 1)):
            text = text.replace(f'_{mark}"', f'_{self.state.round + number}"')
        return sql.SQL(text)  # pyright: ignore[reportArgumentType]

    def _drop(self, tables: Sequence[QualifiedName], name: str) -> None:
        lost = self._lost(tables, name)
        if lost is not None:
            raise lost
        drop_tables(self.conn, tables)
        self.filled.difference_update(tables)

    def _load(self, step: Load) -> None:
        target = step.table(self.state)
        with self.conn.transaction():
            create_table(self.conn, target, step.columns)
            rows = copy_rows(self.conn, target, step.rows())
        self._copied(target, rows)

    def _search(self, step: Search) -> None:
        if not step.when(self.state):
            return
        target = step.table(self.state)
        create_table(self.conn, target, step.columns)
        with self.conn.cursor(row_factory=dict_row) as cursor:
            given = cursor.execute(statement(step.given(self.state))).fetchone() or {}
        rows = 0
        figures: Counter[str] = Counter()
        for number in range(step.batches(self.state)):
            batch = self.conn.execute(statement(step.rows(self.state, number))).fetchall()
            tasks = step.tasks(self.state, given, batch)
            for found in perform(tasks, len(batch), self.processes):
                rows += copy_rows(self.conn, target, found.rows)
                figures.update(found.figures)
        self._copied(target, rows)
        self.state = self.state.with_facts(
            {f"{step.name}_{name}": value for name, value in figures.items()}
        )

    def _copied(self, target: QualifiedName, rows: int) -> None:
        if rows:
            self.filled.add(target)
        self.conn.execute(sql.SQL("ANALYZE {}").format(target.identifier))

    def _check(self, step: Check) -> None:
        with self.conn.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(statement(step.select(self.state))).fetchone()
        if row is None:
            raise PganonError(f"the check {step.name} returned no row")
        self.state = self.state.with_facts(
            {f"{step.prefix}{name}": value for name, value in row.items()}
        )
        problem = step.problem(row, self.state)
        if problem is not None:
            raise problem

    def _repeat(self, step: Repeat, name: str) -> None:
        bound = step.bound(self.state)
        outer = self.state.round
        self._rendered = {}
        for number in range(bound):
            self.state = self.state.at_round(number)
            self.run(step.body(number), prefix=f"{name}.")
            if self.state.facts[step.until]:
                self.state = self.state.at_round(outer).with_facts(
                    {f"{step.name}_rounds": number + 1}
                )
                return
        raise PganonError(f"the step {name} made no progress in {bound} rounds")


def create_table(
    conn: Connection, target: QualifiedName, columns: Sequence[tuple[str, str]]
) -> None:
    """An empty, unlogged, private table."""
    declared = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))  # pyright: ignore
        for name, kind in columns
    )
    with conn.transaction():
        conn.execute(sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(target.identifier, declared))
        seal(conn, target)


def copy_rows(conn: Connection, target: QualifiedName, rows: Iterable[Sequence[object]]) -> int:
    """COPY rows into a table; gives their number."""
    number = 0
    with (
        conn.transaction(),
        conn.cursor() as cursor,
        cursor.copy(sql.SQL("COPY {} FROM STDIN").format(target.identifier)) as copy,
    ):
        for row in rows:
            copy.write_row(row)
            number += 1
    return number


def create_table_as(
    conn: Connection, target: QualifiedName, select: Query, *, analyze: bool = False
) -> int:
    """CREATE TABLE AS with all foreign grants revoked in the same transaction; gives the rows.

    Logged only in the staging schema: what is published later must survive a server crash.
    All statements travel in one message, which the server runs as one transaction.
    """
    staged = target.schema == STAGE_SCHEMA
    parts: list[Query] = [
        sql.SQL("CREATE {}TABLE {} AS {}").format(
            sql.SQL("" if staged else "UNLOGGED "), target.identifier, select
        ),
        sql.SQL("SELECT pganon.seal({}::regclass)").format(sql.Literal(str(target))),
    ]
    if analyze and not staged:
        # A small sample is enough for a join order, and a full one costs more than the join.
        parts.append(sql.SQL("SET LOCAL default_statistics_target = {}").format(_WORK_SAMPLE))
    if analyze:
        parts.append(sql.SQL("ANALYZE {}").format(target.identifier))
    with conn.transaction():
        return conn.execute(sql.SQL("; ").join(parts)).rowcount


def seal(conn: Connection, target: QualifiedName) -> None:
    conn.execute("SELECT pganon.seal(to_regclass(%s))", [str(target)])


def drop_tables(conn: Connection, tables: Sequence[QualifiedName]) -> None:
    if not tables:
        return
    names = sql.SQL(", ").join(table.identifier for table in tables)
    conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(names))
