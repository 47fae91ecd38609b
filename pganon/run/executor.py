"""Walks the steps of a plan, one transaction per step: where it can be, one message to the server.

In a small run steps wait until somebody needs what they give, and travel together. What the server
refuses is then taken step by step, so that the error is that of the step at fault.

Chains of a :class:`Parallel` step are walked side by side, on connections of the pool. Errors
of the server carry the step's name and never the server's DETAIL.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.catalog.citus import in_shards, seal_shards
from pganon.catalog.model import ExternalObjects
from pganon.errors import Interrupted, PganonError, StatementTimeout
from pganon.identifiers import QualifiedName
from pganon.run.pool import Piece, Pool, Wanted, perform, side_by_side
from pganon.run.tables import (
    analyze_table,
    copy_rows,
    create_at_once,
    create_placed,
    create_table,
    create_table_as,
    drop_tables,
    dropping,
    empty_table,
    fill_table,
    lost_rows,
    seal,
    stamp_of_written,
    table_as,
)
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import statement
from pganon.steps import (
    SMALL_BELOW,
    STAGE_SCHEMA,
    WORK_SCHEMA,
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
    Rows,
    Scope,
    Search,
    State,
    Statement,
    Step,
    given,
    noted,
    shared,
    stamp_of,
    taken,
)
from pganon.steps.facts import RECORDS, Fact, Facts, Later
from pganon.steps.rounds import Template

Reading = Callable[[Connection, ExternalObjects], contextlib.AbstractContextManager[object]]

_NAMES = re.compile(rf"""'(?:[^']|'')*'|"{WORK_SCHEMA}"\."([^"]+)"|"(?:[^"]|"")*\"""")
"""Names of work tables, and what is left as it is: texts and other names."""

_RELATIONS = re.compile(r'"([^"]+)"\."([^"]+)"')

_MOST_COLUMNS = 1_000
"""Of one SELECT of several checks; the server takes 1,664."""

_ROUNDS = 10_000
"""Of a loop, and four for each record. More are an internal error: rounds make no progress."""

_MANY_TABLES = 100
"""Of one message. Joins of so many without statistics take gigabytes, however few their rows."""


@dataclass(frozen=True)
class _Table:
    """A table of a small run.

    Attributes:
        within: tables made within its SELECT, each after those that it reads, by the names there.
    """

    step: CreateTable
    name: str
    target: QualifiedName
    select: str
    within: Mapping[str, _Table]

    def reads(self, table: QualifiedName) -> bool:
        """Whether it would have other rows if that table had."""
        name = table.identifier.as_string(None)
        return any(name in one.select for one in (self, *self.within.values()))


@dataclass(frozen=True)
class _Waiting:
    """A step that waits to be sent.

    Attributes:
        state: after the step.
        gives: facts that are waited for.
        changes: a statement; None: nothing changes.
        makes: the table that this makes.
        asks: a SELECT of one row.
        columns: of that row.
        within: tables that are made within the statements.
    """

    step: Alone
    name: str
    state: State
    gives: Sequence[Later]
    changes: Query | None = None
    makes: QualifiedName | None = None
    asks: str | None = None
    columns: int = 1
    within: Mapping[str, _Table] = field(default_factory=dict)


def _with(within: Mapping[str, _Table], select: Query) -> Query:
    """A SELECT with the tables that are made within it."""
    if not within:
        return select
    tables = [
        sql.SQL("{} AS MATERIALIZED ({})").format(_text(name), _text(one.select))
        for name, one in within.items()
    ]
    return sql.SQL("WITH {} ({})").format(sql.SQL(", ").join(tables), select)


def _alias(table: QualifiedName) -> str:
    return sql.Identifier(table.name).as_string(None)


def _text(text: str) -> sql.SQL:
    """What was rendered here."""
    return sql.SQL(text)  # pyright: ignore[reportArgumentType]


def _in_rows(asking: Sequence[_Waiting]) -> Iterator[list[_Waiting]]:
    """Those whose answers the server can give as one row."""
    several: list[_Waiting] = []
    for one in asking:
        if several and sum(o.columns for o in (*several, one)) > _MOST_COLUMNS:
            yield several
            several = []
        several.append(one)
    if several:
        yield several


def _asked(several: Sequence[_Waiting]) -> Query:
    """A SELECT of all their columns, one after the other."""
    within = {name: table for one in several for name, table in one.within.items()}
    rows = [
        sql.SQL("({}) AS {}").format(_text(one.asks or ""), sql.Identifier(f"row{number}"))
        for number, one in enumerate(several)
    ]
    return _with(within, sql.SQL("SELECT * FROM {}").format(sql.SQL(" CROSS JOIN ").join(rows)))


def _answers(
    several: Sequence[_Waiting], cursor: psycopg.Cursor[Any]
) -> Iterator[tuple[_Waiting, dict[str, Any]]]:
    """Each with its part of the row, by column."""
    names = [column.name for column in cursor.description or ()]
    row = cursor.fetchone()
    if row is None:
        steps = ", ".join(one.name for one in several)
        raise PganonError(f"the check {steps} returned no row")
    start = 0
    for one in several:
        end = len(names) if one is several[-1] else start + one.columns
        yield one, dict(zip(names[start:end], row[start:end], strict=True))
        start = end


def _assert_declared(step: str, gives: Collection[Fact[Any]], found: Collection[str]) -> None:
    """A step gives neither more nor less facts than it declares."""
    if odd := sorted({fact.column for fact in gives} ^ {*found}):
        raise PganonError(f"the step {step} gives other facts than it declares: {', '.join(odd)}")


def _judge(step: Check, state: State) -> None:
    problem = step.problem({fact.column: state[fact] for fact in step.gives}, state)
    if problem is not None:
        raise problem


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
        seconds, times: that steps took, and how often; rounds of a Loop are added up.
        begun: those of a chain of several when it began.
        made: work tables that a scope will drop; of a chain of several those that it made.
        placed: tables in shards, and how many rows each has; chains side by side share it.
        small: whether steps wait and travel together; None: the records are not counted yet.
    """

    conn: Connection
    state: State
    on_step: Callable[[str, str], None] = lambda name, purpose: None
    created: Callable[[str], None] = lambda name: None
    reading: Reading = lambda conn, external: conn.transaction()
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    times: Counter[str] = field(default_factory=Counter)
    filled: set[QualifiedName] = field(default_factory=set)
    begun: frozenset[QualifiedName] = frozenset()
    made: Made = field(default_factory=dict)
    placed: dict[QualifiedName, int] = field(default_factory=dict)
    processes: int = 1
    pool: Pool | None = None
    wanted: Wanted = lambda: True
    small: bool | None = None
    _rendered: dict[str, Template] = field(default_factory=dict)
    _waiting: list[_Waiting] = field(default_factory=list)
    _inline: dict[QualifiedName, _Table] = field(default_factory=dict)
    _reading: Mapping[str, _Table] = field(default_factory=dict)
    _dropped: set[QualifiedName] = field(default_factory=set)
    _answer: Rows = ()

    def run(self, steps: Sequence[Step]) -> State:
        try:
            self._walk(steps)
            self._send()
        except Interrupted:
            raise
        except Exception:
            try:
                self._send()  # a check that waits may refuse, and what comes after it leans on it
            finally:
                # Who goes on after a refusal, as without new people, has what was found before it.
                self.state = replace(self.state, facts=self.state.facts.arrived())
            raise
        return self.state

    def _walk(self, steps: Sequence[Step], prefix: str = "") -> None:
        for step in steps:
            if not self.wanted():
                raise Interrupted("the run was given up", step=step.name)
            if self.small is None and (records := self.state.facts.get(RECORDS)) is not None:
                few = records < SMALL_BELOW and not shared(self.state)
                self.small = few and not self.placed
            if isinstance(step, Parallel):
                self._parallel(step, prefix)  # what has a name and takes time are its steps
                continue
            if not taken(step, self.state):
                continue  # nor is it shown by a plan of these sizes
            if isinstance(step, Scope):
                before = set(self.made)
                self._walk(step.body, prefix)
                self._tidy(step, before, prefix)
                continue
            name = f"{prefix}{step.name}"
            self.on_step(name, step.purpose)
            started = time.perf_counter()
            self._reading = {}
            try:
                self._run_one(step, name)
            except Exception as error:
                cause = self._cause(error, name, step, self._reading)
                if cause is error:
                    raise
                raise cause from None
            if not isinstance(step, Loop | Dialogue):
                noted(step, self.state, self.made)
                self.seconds[name] += time.perf_counter() - started
                self.times[name] += 1

    def _run_one(self, step: Alone | Loop | Dialogue, name: str) -> None:
        if self.small and not isinstance(step, Loop | Dialogue) and self._waits(step, name):
            return
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
            case Loop():
                self._loop(step, name)
            case Dialogue():
                self._dialogue(step, name)
            case Ask():
                with self._in_shards():
                    asked = self.conn.execute(self._query(step.select(self.state)))
                    self._answer = asked.fetchall()

    def _waits(self, step: Alone, name: str) -> bool:
        """Let a step of a small run wait; False: it is to be taken now."""
        match step:
            case DropTables():
                for table in step.tables(self.state):
                    self._inline.pop(table, None)
                    self._dropped.add(table)  # it goes with the run
            case Check():
                asks, within = self._named(statement(step.select(self.state)))
                self._wait(
                    *(step, name, step.gives), asks=asks, columns=len(step.gives), within=within
                )
                if step.guards:
                    self._send()
            case CreateTable() if step.external is None and step.placement(self.state) is None:
                target = step.table(self.state)
                table = _Table(step, name, target, *self._named(self._select(step)))
                if step.inline:
                    self._release(target, changes=False)
                    self._inline[target] = table
                else:
                    self._make(table)
            case Statement():
                changes = step.render(self.state)
                for table in _RELATIONS.findall(changes.as_string(self.conn)):
                    self._release(QualifiedName(*table), changes=True)
                self._wait_to_change(step, name, changes)
            case Search() | Load():
                target = step.table(self.state)
                self._replace(step, name, target)
                self._wait(step, name, changes=empty_table(target, step.columns), makes=target)
                self._send()
                return False
            case _:
                self._send()
                return False
        return True

    def _make(self, table: _Table) -> None:
        """Let it be a table of its own."""
        step, name, target = table.step, table.name, table.target
        self._replace(step, name, target)
        stamp = None
        if target.schema == STAGE_SCHEMA:
            text = sql.SQL("SELECT s.stamp AS {} FROM pganon.stamp({}::regclass) AS s").format(
                sql.Identifier(stamp_of(target).column), str(target)
            )
            stamp = text.as_string(self.conn)
        changes = table_as(target, _with(table.within, _text(table.select)))
        gives = given(step, self.state)
        self._wait(
            *(step, name, gives), changes=changes, makes=target, asks=stamp, within=table.within
        )

    def _release(self, target: QualifiedName, *, changes: bool) -> None:
        """Let nothing that is to come take another table of that name for the one before.

        Args:
            changes: whether a table of the server gets other rows, or goes.
        """
        alias = _alias(target)
        if any(alias in one.within for one in self._waiting if one.asks):
            self._send()
        for one in list(self._inline.values()):
            if alias in one.within or (changes and one.reads(target)):
                self._make(self._inline.pop(one.target))

    def _replace(self, step: Alone, name: str, target: QualifiedName) -> None:
        """Drop a table of that name that nothing reads any more."""
        self._release(target, changes=target in self._dropped)
        if target in self._dropped:
            if any(one.makes == target for one in self._waiting):
                self._send()
            self._wait_to_change(step, name, dropping([target]))
            self.filled.discard(target)
            self._dropped.discard(target)

    def _wait_to_change(self, step: Alone, name: str, changes: Query) -> None:
        if any(one.asks for one in self._waiting):
            self._send()  # what is asked is asked after all changes
        self._wait(step, name, changes=changes)

    def _wait(self, step: Alone, name: str, gives: Sequence[Fact[Any]] = (), **parts: Any) -> None:
        later = [Later(fact, self._send) for fact in gives]
        self.state = self.state.observing({one.fact: one for one in later})
        self._waiting.append(_Waiting(step, name, self.state, later, **parts))

    def _named(self, select: Query) -> tuple[str, dict[str, _Table]]:
        """The text of a query, and the tables made within it, each after those that it reads."""
        found: dict[str, _Table] = {}

        def name(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            table = QualifiedName(WORK_SCHEMA, match[1])
            inline = self._inline.get(table)
            if inline is None:
                return match[0]
            found.update({**inline.within, _alias(table): inline})
            return _alias(table)

        text = select.as_string(self.conn)
        return _NAMES.sub(name, text) if self._inline else text, found

    def _send(self) -> None:
        """Send what waits, as one message, which is one transaction."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            self._take(waiting)
        except psycopg.Error as error:
            cause = self._cause(error, waiting[-1].name, waiting[-1].step)
            if isinstance(cause, Interrupted) and not isinstance(cause, StatementTimeout):
                raise cause from None
            for one in waiting:
                try:
                    self._take([one])
                except psycopg.Error as again:
                    raise self._cause(again, one.name, one.step, one.within) from None
        except Exception as error:
            cause = self._cause(error, waiting[-1].name, waiting[-1].step)
            if cause is error:
                raise
            raise cause from None

    def _take(self, waiting: Sequence[_Waiting]) -> None:
        """Have the server do all of them in one transaction, and keep what it gives.

        Raises:
            psycopg.Error: nothing was done.
            PganonError: of the first check that refuses the run.
        """
        changing = [one for one in waiting if one.changes is not None]
        together = list(_in_rows([one for one in waiting if one.asks is not None]))
        texts = [one.changes for one in changing if one.changes is not None]
        if made := [one.makes for one in changing if one.makes is not None]:
            texts.append(seal(made))
        if wide := len(made) > _MANY_TABLES:
            names = sql.SQL(", ").join(table.identifier for table in made)
            texts.append(sql.SQL("ANALYZE {}").format(names))
        cursor = self.conn.execute(sql.SQL("; ").join([*texts, *map(_asked, together)]))
        rows: dict[int, int] = {}
        for one in changing:
            rows[id(one)] = cursor.rowcount
            cursor.nextset()
        if made:
            cursor.nextset()
        if wide:
            cursor.nextset()
        found: dict[int, dict[str, Any]] = {}
        for several in together:
            found.update((id(one), answer) for one, answer in _answers(several, cursor))
            cursor.nextset()
        for one in waiting:
            self._took(one, rows.get(id(one), 0), found.get(id(one), {}))

    def _took(self, one: _Waiting, rows: int, found: dict[str, Any]) -> None:
        step = one.step
        if isinstance(step, CreateTable) and step.counted is not None:
            found = {**found, step.counted.column: rows}
        _assert_declared(step.name, [later.fact for later in one.gives], found)
        for later in one.gives:
            later.arrive(found[later.fact.column])
        if one.makes is not None and rows > 0:
            self.filled.add(one.makes)
        if isinstance(step, Check):
            _judge(step, one.state)

    def assert_filled(self) -> None:
        """Fail if a table of the run that is still there lost rows; to be called last."""
        lost = lost_rows(self.conn, self.filled, self.placed, "end")
        if lost is not None:
            raise lost

    def _cause(
        self,
        error: Exception,
        name: str,
        step: Alone | Loop | Dialogue,
        within: Mapping[str, _Table] = MappingProxyType({}),
    ) -> Exception:
        """The error to report: lost tables before errors that they caused.

        Args:
            within: tables made within the statement that failed, of which one may be at fault.
        """
        cause = error
        if isinstance(error, psycopg.Error):
            for one in within.values():
                try:
                    self.conn.execute(_with(one.within, _text(one.select)))
                except psycopg.Error as inner:
                    return self._cause(inner, one.name, one.step)
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
            if step.beside:
                rows = self._create_at_once(step)
            elif placement is not None:
                rows = fill_table(self.conn, target, select)
            else:
                analyze = step.analyze and not self.small
                rows = create_table_as(
                    self.conn, target, select, analyze=analyze, sampled=step.sampled
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

    def _create_at_once(self, step: CreateTable) -> int:
        """The rows of a table, which is made with those beside it."""
        every = {one.table(self.state): one for one in (step, *step.beside)}
        selects = {target: self._select(one) for target, one in every.items()}
        rows = create_at_once(self.conn, selects)
        for (target, one), number in zip(every.items(), rows, strict=True):
            analyze_table(self.conn, target)
            if one.counted is not None:
                self.state = self.state.observing({one.counted: number})
            if number:
                self.filled.add(target)
        return rows[0]

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
            if not self.small:
                create_table(self.conn, target, step.columns)
            rows = copy_rows(self.conn, target, step.rows())
        self._copied(target, rows)

    def _search(self, step: Search) -> None:
        target = step.table(self.state)
        if not self.small:
            create_table(self.conn, target, step.columns)
        with self._in_shards(), self.conn.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(self._query(step.given(self.state))).fetchone() or {}
        rows = 0
        totals: Counter[str] = Counter()
        for number in range(step.batches(self.state)):
            with self._in_shards():
                batch = self.conn.execute(self._query(step.rows(self.state, number))).fetchall()
            tasks = step.tasks(self.state, found, batch)
            results = perform(tasks, step.units(batch), self.processes)
            for some in [list(results)] if self.small else ([result] for result in results):
                rows += copy_rows(self.conn, target, chain(*(result.rows for result in some)))
                for result in some:
                    totals.update(result.figures)
        self._copied(target, rows)
        self._observe(step.name, step.gives, {f.column: 0 for f in step.gives} | totals)

    def _query(self, select: exp.Expr | Query) -> Query:
        if not self.small:
            return statement(select)
        text, self._reading = self._named(statement(select))
        return _with(self._reading, _text(text))

    def _observe(self, step: str, gives: Sequence[Fact[Any]], found: Mapping[str, Any]) -> None:
        """Keeps what a step found as the facts that it gives, each of its type."""
        _assert_declared(step, gives, found)
        self.state = self.state.observing({fact: found[fact.column] for fact in gives})

    def _copied(self, target: QualifiedName, rows: int) -> None:
        if rows:
            self.filled.add(target)
        if not self.small:
            analyze_table(self.conn, target)

    def _check(self, step: Check) -> None:
        with self._in_shards(), self.conn.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(statement(step.select(self.state))).fetchone()
        if row is None:
            raise PganonError(f"the check {step.name} returned no row")
        self._observe(step.name, step.gives, row)
        _judge(step, self.state)

    def _loop(self, step: Loop, name: str) -> None:
        most = _ROUNDS + 4 * (self.state.facts.get(RECORDS) or 0)
        outer = self.state.round
        self._rendered = {}
        for number in range(most):
            self.state = self.state.at_round(number)
            before = set(self.made)
            self._walk(step.body(number), f"{name}.")
            self._tidy(step, before, f"{name}.")
            if self.state[step.until]:
                self.state = self.state.at_round(outer).observing({step.rounds: number + 1})
                return
        raise PganonError(f"the step {name} made no progress in {most} rounds")

    def _dialogue(self, step: Dialogue, name: str) -> None:
        talk = step.talk(self.state)
        try:
            asked = next(talk)
            while True:
                self._answer = ()
                self._walk([asked], f"{name}.")
                asked = talk.send(self._answer)
        except StopIteration as end:
            self._observe(step.name, step.gives, end.value)

    def _tidy(self, step: Scope | Loop, before: set[QualifiedName], prefix: str) -> None:
        tidied = step.tidied(self.state, before, self.made)
        self._walk([tidied] if tidied.tables(self.state) else [], prefix)

    def _parallel(self, step: Parallel, prefix: str) -> None:
        if self.small:
            self._one_after_the_other(step, prefix)
            return
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
            self.made |= part.made
            self.filled |= part.filled - part.begun
        for part in parts:
            self.filled -= part.begun - part.filled
            self.times.update(part.times)
            for name, spent in part.seconds.items():
                self.seconds[name] += spent

    def _one_after_the_other(self, step: Parallel, prefix: str) -> None:
        before, ends = self.state, list[Facts]()
        for number, steps in enumerate(step.chains):
            facts = before.facts.joined(ends[first] for first in step.after.get(number, ()))
            self.state = replace(before, facts=facts)
            self._walk(steps, prefix)
            ends.append(self.state.facts)
        self.state = replace(before, facts=before.facts.joined(ends))

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
                small=False,
                wanted=lambda: wanted() and self.wanted(),
                seconds=defaultdict(float),
                times=Counter(),
                made={},
                filled=set(filled),
                begun=filled,
            )
            part._walk(step.chains[number], prefix)
            done[number] = part
            return part

        return walk
