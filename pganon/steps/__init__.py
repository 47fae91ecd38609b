"""The steps of a run: plain data, walked by both the executor and `pganon plan`.

A plan is a list of steps. A step says what it does (`purpose`) and renders its SQL from the
:class:`State` of the run: the names of its work tables, the round of the innermost
:class:`Loop`, and facts, which are counts and sizes that earlier steps observed. Rendering is
pure: the same state gives the same SQL. Values of source rows never enter a state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from psycopg import sql
from sqlglot import exp

from pganon.catalog.model import ExternalObjects
from pganon.errors import PganonError
from pganon.identifiers import QualifiedName
from pganon.sqltools import query
from pganon.steps.facts import RECORDS, Fact, Facts, label
from pganon.steps.placement import By
from pganon.steps.rounds import placeholder
from pganon.steps.tasks import Task

T = TypeVar("T")

WORK_SCHEMA = "pganon_work"
STAGE_SCHEMA = "pganon_stage"

SHARED_FROM = 50_000
"""Records of a run from which on further connections pay."""

SMALL_BELOW = 1_000
"""Records of a run below which a table costs more than what is in it: statements travel together,
no table has statistics or is dropped before the end, and inline ones are made within others."""


S = TypeVar("S")


@dataclass(frozen=True)
class WorkTable(Generic[S]):
    """A work table that one package makes and others read.

    It is declared where both may import it. Tables of one module need no declaration.

    Attributes:
        name: in a run; see :meth:`State.work`.
        columns: from a specification, and the state of the run when it is made.
        numbered: what the names of further columns begin with, numbered from 0, of which there are
            as many as whoever makes the table decides.
    """

    name: str
    columns: Callable[[S, State], Sequence[str]]
    numbered: str | None = None


@dataclass(frozen=True)
class State:
    """The state of a run that steps are rendered from.

    Attributes:
        run_id: number of the run; part of every work table's name.
        facts: what was observed so far. `explain` renders with assumed ones.
        current: number of the current round of the innermost Loop, from 0; None while a query is
            rendered that serves all rounds.
        prefix: what the names of work tables begin with; see :mod:`pganon.metrics.whole`.
    """

    run_id: int
    facts: Facts = field(default_factory=Facts)
    current: int | None = 0
    prefix: str = ""

    @property
    def round(self) -> int:
        """Number of the current round.

        PganonError for a query of `every_round`: its text cannot depend on it.
        """
        if self.current is None:
            raise PganonError("a query that is to serve every round asks for the round's number")
        return self.current

    def work(self, table: str | WorkTable[Any], *, round: int | None = None) -> QualifiedName:
        """A private unlogged table of this run; with `round`, the one of that round."""
        name = table if isinstance(table, str) else table.name
        suffix = "" if round is None else f"_{round}"
        return QualifiedName(WORK_SCHEMA, f"r{self.run_id}_{self.prefix}{name}{suffix}")

    def in_round(self, table: str | WorkTable[Any], later: int = 0) -> QualifiedName:
        """The work table of the current round, or of one that is so many rounds later."""
        if self.current is not None:
            return self.work(table, round=self.current + later)
        every = self.work(table)
        return QualifiedName(every.schema, f"{every.name}_{placeholder(later)}")

    @property
    def outer(self) -> State:
        """The state of what is not taken again."""
        return replace(self, prefix="")

    def stage(self, name: str) -> QualifiedName:
        """A private, logged table of this run that becomes part of the release."""
        return QualifiedName(STAGE_SCHEMA, f"r{self.run_id}_{name}")

    def __getitem__(self, fact: Fact[T]) -> T:
        """The value of a fact; PganonError where no step has given it."""
        return self.facts[fact]

    def observing(self, values: Mapping[Fact[Any], Any]) -> State:
        """With these values, as the driver gave them."""
        return replace(self, facts=self.facts.observing(values))

    def at_round(self, number: int) -> State:
        return replace(self, current=number)

    def in_every_round(self) -> State:
        """The state for a query that serves all rounds."""
        return replace(self, current=None)


def shared(state: State) -> bool:
    """Whether chains of steps over the records of the run go on several connections."""
    return (state.facts.get(RECORDS) or 0) >= SHARED_FROM


def stamp_of(relation: QualifiedName) -> Fact[str]:
    """Which rows a staged relation had when it was made."""
    return label(f"stamp_{relation.name}")


Query = sql.SQL | sql.Composed
Select = Callable[[State], exp.Expr | Query]
Name = Callable[[State], QualifiedName]


@dataclass(frozen=True)
class CreateTable:
    """Statement: create a private table from a query, revoke foreign grants, analyze it.

    Work tables are unlogged; tables in the staging schema are logged, because they are moved
    to their final place and an unlogged table is empty after a server crash. What rows these have
    becomes the fact :func:`stamp_of`.

    Attributes:
        when: the step is left out unless this holds.
        counted: the fact that the number of rows becomes.
        external: what the query reads and calls that is not pganon's own.
        sampled: a small sample is enough for the statistics, also of a staged table: only pganon
            reads it, to join it as a whole.
        every_round: in a Loop, the queries of all rounds differ in the work tables that
            :meth:`State.in_round` gives and in nothing else, so that one rendering serves them all.
        placement: how its rows are distributed; None: they are on this server.
        inline: a small run makes it within each statement that reads it, best one alone. So its
            query gives the same rows whenever it is asked: no numbers without an order.
        beside: tables that the same statement fills, with rows of the same instant.
    """

    name: str
    purpose: str
    table: Name
    select: Select
    analyze: bool = True
    sampled: bool = False
    when: Callable[[State], bool] = lambda state: True
    every_round: bool = False
    counted: Fact[int] | None = None
    external: ExternalObjects | None = None
    placement: Callable[[State], By | None] = lambda state: None
    inline: bool = False
    beside: Sequence[CreateTable] = ()


def table(
    name: str | WorkTable[Any],
    purpose: str,
    select: Select,
    *,
    later: int | None = None,
    into: str | WorkTable[Any] | None = None,
    **options: Any,
) -> CreateTable:
    """A step that makes the work table of its name.

    Args:
        later: it is the table of the current round, or of one that is so many rounds later; before
            a Loop, 0 is its first round.
        into: name of the table, where the step has another.
        options: see :class:`CreateTable`.
    """
    made = into or name

    def target(state: State) -> QualifiedName:
        return state.work(made) if later is None else state.in_round(made, later)

    called = name if isinstance(name, str) else name.name
    return CreateTable(called, purpose, target, select, **options)


def staged(
    name: str, purpose: str, select: Select, *, into: str | None = None, **options: Any
) -> CreateTable:
    """The same of a table that becomes part of the release."""
    return CreateTable(name, purpose, lambda state: state.stage(into or name), select, **options)


@dataclass(frozen=True)
class Statement:
    """Statement: anything else that changes something, e.g. an index or a DROP.

    Attributes:
        when: the step is left out unless this holds.
    """

    name: str
    purpose: str
    render: Callable[[State], Query]
    when: Callable[[State], bool] = lambda state: True


@dataclass(frozen=True)
class DropTables:
    """Statement: drop work tables that no later step reads, in one go."""

    name: str
    purpose: str
    tables: Callable[[State], Sequence[QualifiedName]]


@dataclass(frozen=True)
class Check:
    """Run a query of one row; its columns become facts; `problem` may refuse the run.

    The query returns counts and measures only, so nothing of a row can reach a message.

    Attributes:
        gives: a fact for every column of the query, neither more nor less.
        problem: what refuses the run, given the row by column, with values of the types of the
            facts, and the state with these.
        guards: whether what follows may be more work than anybody would wait for, so that not even
            a small run begins it before this is judged.
    """

    name: str
    purpose: str
    select: Select
    problem: Callable[[Mapping[str, Any], State], PganonError | None] = lambda row, state: None
    gives: Sequence[Fact[Any]] = field(kw_only=True)
    guards: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Load:
    """Copy rows that the policy brings along (a hierarchy file) into a work table."""

    name: str
    purpose: str
    table: Name
    columns: Sequence[tuple[str, str]]
    rows: Callable[[], Iterable[Sequence[Any]]]


def nothing_given(state: State) -> exp.Select:
    """For tasks that need nothing but their rows."""
    return query("select 1 as nothing")


@dataclass(frozen=True)
class Search:
    """Let Python decide what SQL decides poorly; what comes back is copied into a work table.

    Python gets codes and positions of blocks, never values. Rows are read in batches, so that
    neither memory nor transactions grow with the table.

    Attributes:
        given: SELECT one row that all tasks need, such as a seed; it does not enter the state.
        batches: how many there are.
        rows: SELECT the rows of a batch, by its number from 0.
        tasks: what to do with them, given the row of `given`, by column.
        when: the step is left out unless this holds.
        gives: a fact for every figure of the tasks; figures are added up over all of them.
        units: how many units of work the rows of a batch are, which decides whether several
            processes pay.
    """

    name: str
    purpose: str
    table: Name
    columns: Sequence[tuple[str, str]]
    rows: Callable[[State, int], exp.Expr]
    tasks: Callable[[State, Mapping[str, Any], Sequence[tuple[Any, ...]]], Sequence[Task]]
    given: Select = nothing_given
    batches: Callable[[State], int] = lambda state: 1
    when: Callable[[State], bool] = lambda state: True
    gives: Sequence[Fact[Any]] = ()
    units: Callable[[Sequence[tuple[Any, ...]]], int] = len


Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Ask:
    """A SELECT of counts and measures, whose rows a :class:`Dialogue` goes on with.

    Attributes:
        assumed: rows that `explain` answers with.
    """

    name: str
    purpose: str
    select: Select
    assumed: Rows = ()


@dataclass(frozen=True)
class Dialogue:
    """Let Python decide what is asked of the server next, from what it answered.

    Attributes:
        talk: gives tables to make and to drop, and SELECTs, to which it is sent the rows; in the
            end the facts by column. It is to be pure but for that.
    """

    name: str
    purpose: str
    talk: Callable[[State], Talk]
    gives: Sequence[Fact[Any]]


@dataclass(frozen=True)
class Scope:
    """Steps whose work tables are dropped at their end, but for the tables that they hand on.

    Attributes:
        keeps: names of the tables that later steps read.
    """

    purpose: str
    body: Sequence[Step]
    keeps: Sequence[str | WorkTable[Any]] = ()
    name: str = "tidy"

    def tidied(self, state: State, before: Collection[QualifiedName], made: Made) -> DropTables:
        """What is dropped at the end.

        Args:
            before: tables that were there at the beginning.
            made: those, and the tables that the steps made.
        """
        kept = {state.work(name) for name in self.keeps}
        gone = [table for table in made if table not in before and table not in kept]
        return DropTables(self.name, self.purpose, lambda state: gone)


@dataclass(frozen=True)
class Loop:
    """Run `body(round)` for round 0, 1, ... until the fact `until` is true.

    Facts of the body are visible to later rounds and, after the end, to later steps; the fact
    `rounds` holds the number of rounds. At the end of each the tables that it made are dropped.

    Attributes:
        carries: names of tables of which the newest is read by the next round or after the end.
        keeps: names of those of which all are, until a :class:`Scope` drops them.
    """

    name: str
    purpose: str
    body: Callable[[int], Sequence[Step]]
    until: Fact[bool]
    rounds: Fact[int]
    carries: Sequence[str] = ()
    keeps: Sequence[str] = ()

    def tidied(self, state: State, before: Collection[QualifiedName], made: Made) -> DropTables:
        """What is dropped at the end of a round; see :meth:`Scope.tidied`."""
        kept = {state.in_round(name, later) for name in self.keeps for later in (0, 1)}
        older: list[QualifiedName] = []
        for name in self.carries:
            there = [t for later in (1, 0, -1) if (t := state.in_round(name, later)) in made]
            kept.update(there)
            older += there[1:]
        new = [table for table in made if table not in before and table not in kept]
        return DropTables("tidy", "drop the work tables of this round", lambda s: [*new, *older])


@dataclass(frozen=True)
class Parallel:
    """Chains of steps that need nothing of each other, in tables or facts, unless they say so.

    They may run on several connections at a time. All start with the facts that were there before,
    and those of all chains, in their order, are there for later steps. If several fail, the error
    is that of the first of them in this order.

    Attributes:
        early: numbers of chains that start before the others, because they take long.
        after: by the number of a chain those of earlier ones, at whose end it starts, with their
            facts.
    """

    name: str
    purpose: str
    chains: Chains
    early: Sequence[int] = ()
    after: Mapping[int, Sequence[int]] = field(default_factory=dict)


Talk = Generator[CreateTable | DropTables | Ask, Rows, Mapping[str, Any]]

Alone = CreateTable | Statement | DropTables | Check | Load | Search | Ask
"""Steps that are not made of others."""

Step = Alone | Scope | Loop | Parallel | Dialogue

Made = dict[QualifiedName, None]
"""Work tables that are there, in the order in which they were made."""

Chains = Sequence[Sequence[Step]]


def given(step: Alone, state: State) -> Sequence[Fact[Any]]:
    """The facts that a step gives."""
    match step:
        case Check() | Search():
            return step.gives
        case CreateTable():
            target = step.table(state)
            stamp = [stamp_of(target)] if target.schema == STAGE_SCHEMA else []
            counted = [one.counted for one in (step, *step.beside) if one.counted is not None]
            return [*stamp, *counted]
        case Statement() | DropTables() | Load() | Ask():
            return ()


def noted(step: Alone, state: State, made: Made) -> None:
    """Note what a step that was taken did to the work tables that are there."""
    match step:
        case CreateTable() | Search() | Load():
            target = step.table(state)
            if target.schema == WORK_SCHEMA:
                made[target] = None
            for other in step.beside if isinstance(step, CreateTable) else ():
                made[other.table(state)] = None
        case DropTables():
            for table in step.tables(state):
                made.pop(table, None)
        case Check() | Statement() | Ask():
            pass


def taken(step: Step, state: State) -> bool:
    """Whether a run in this state takes a step; others are left out of it and of its plan."""
    return not isinstance(step, CreateTable | Statement | Search) or step.when(state)
