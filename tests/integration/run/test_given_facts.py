"""A step gives the facts that it declares, neither more nor less; a run ends where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.run.executor import Executor
from pganon.sqltools import query
from pganon.steps import Check, CreateTable, Search, State, Step
from pganon.steps.facts import Fact, count, flag, label, measure, or_null
from pganon.steps.tasks import TaskResult
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

RUN = 6_000
ROWS, MEAN, EVEN, TEXT = count("rows"), measure("mean"), flag("even"), label("listed")


def _run(db: Database, *steps: Step) -> State:
    executor = Executor(db.owner(), State(RUN))
    return executor.run(steps)


def _check(*gives: Fact[Any]) -> Check:
    return Check(
        "looked",
        "figures of some numbers",
        lambda s: query(
            "select count(*) as rows, avg(n.x) as mean, sum(n.x) % 2 = 0 as even,"
            " array_agg(n.x)::text as listed from (select generate_series(1, 4) as x) as n"
        ),
        gives=gives,
    )


def test_columns_become_facts_of_their_types(db: Database) -> None:
    state = _run(db, _check(ROWS, MEAN, EVEN, TEXT))
    assert (state[ROWS], state[MEAN], state[EVEN], state[TEXT]) == (4, 2.5, True, "{1,2,3,4}")
    assert type(state[MEAN]) is float


@pytest.mark.parametrize(
    ("gives", "odd"),
    [([ROWS, MEAN, EVEN], "listed"), ([ROWS, MEAN, EVEN, TEXT, count("more")], "more")],
)
def test_a_query_gives_what_is_declared(db: Database, gives: list[Fact[Any]], odd: str) -> None:
    message = f"the step looked gives other facts than it declares: {odd}"
    with pytest.raises(PganonError, match=message):
        _run(db, _check(*gives))


def test_null_is_no_number(db: Database) -> None:
    def looked(fact: Fact[Any]) -> Check:
        return Check("looked", "nothing", lambda s: query("select null as rows"), gives=[fact])

    with pytest.raises(PganonError, match="the fact rows cannot be read from NoneType"):
        _run(db, looked(ROWS))
    assert _run(db, looked(or_null(ROWS)))[ROWS] is None


def test_a_refusal_sees_the_row_and_the_state(db: Database) -> None:
    seen: list[Any] = []

    def problem(row: Any, state: State) -> None:
        seen.append((row["mean"], type(row["mean"]), state[MEAN]))

    check = _check(ROWS, MEAN, EVEN, TEXT)
    _run(db, Check("looked", "figures", check.select, problem, gives=check.gives))
    assert seen == [(2.5, float, 2.5)]


@dataclass(frozen=True)
class _Task:
    figures: dict[str, float]

    def __call__(self) -> TaskResult:
        return TaskResult([(1,)], self.figures)


def _search(gives: Sequence[Fact[Any]], tasks: Callable[[], list[_Task]]) -> Search:
    return Search(
        "searched",
        "some tasks",
        lambda s: s.work("found"),
        (("x", "integer"),),
        given=lambda s: query("select 1 as nothing"),
        batches=lambda s: 1,
        rows=lambda s, batch: query("select 1 as nothing"),
        tasks=lambda s, given, rows: tasks(),
        gives=gives,
    )


def test_figures_of_tasks_are_added_up(db: Database) -> None:
    far = measure("far", "searched_")
    state = _run(db, _search([far], lambda: [_Task({"far": 0.25}), _Task({"far": 0.5})]))
    assert state[far] == 0.75
    db.owner().execute(f"DROP TABLE {State(RUN).work('found')}")  # pyright: ignore
    with pytest.raises(PganonError, match="searched gives other facts than it declares: far"):
        _run(db, _search([], lambda: [_Task({"far": 0.25})]))
    db.owner().execute(f"DROP TABLE {State(RUN).work('found')}")  # pyright: ignore


def test_a_search_without_tasks_gives_nothing_added_up(db: Database) -> None:
    far = measure("far", "searched_")
    assert _run(db, _search([far], list))[far] == 0.0
    db.owner().execute(f"DROP TABLE {State(RUN).work('found')}")  # pyright: ignore


def test_the_rows_of_a_table_are_counted(db: Database) -> None:
    made = CreateTable(
        "made", "a table", lambda s: s.work("made"), lambda s: query("select 1 as x"), counted=ROWS
    )
    assert _run(db, made)[ROWS] == 1
    db.owner().execute(f"DROP TABLE {State(RUN).work('made')}")  # pyright: ignore
