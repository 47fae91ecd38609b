"""What scopes, loops and dialogues leave behind, however many records there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pganon.errors import DatabaseError, PganonError
from pganon.plan.build import Phase
from pganon.plan.explain import explained
from pganon.run import executor
from pganon.run.executor import Executor
from pganon.sqltools import num, query
from pganon.steps import (
    SMALL_BELOW,
    Ask,
    Check,
    CreateTable,
    Dialogue,
    Loop,
    Parallel,
    Scope,
    State,
    Step,
    Talk,
    WorkTable,
    table,
)
from pganon.steps.facts import RECORDS, count, flag
from tests.support.harness import faults
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

ENDED, ROUNDS, SUM = flag("ended"), count("again_rounds"), count("sum")
HANDED = WorkTable[None]("handed", lambda spec, state: ["n"])


@pytest.fixture(params=[9, SMALL_BELOW], ids=["small", "large"])
def run(request: pytest.FixtureRequest, db: Database) -> Executor:
    return Executor(db.owner(), State(1).observing({RECORDS: request.param}))


def made(name: str, *reads: str, **options: Any) -> CreateTable:
    def select(state: State) -> Any:
        text = (
            f"select n from {reads[0]}" if reads else "select n from generate_series(1, 9) as g(n)"
        )
        return query(text, {read: state.work(read) for read in reads})

    return table(name, f"makes {name}", select, **options)


def left(run: Executor, steps: Sequence[Step]) -> set[str]:
    """Work tables that there are after the steps; those of a small run go with it."""
    run.run(steps)
    found = {one.name.removeprefix("r1_") for one in run.made}
    if not run.small:
        run.assert_filled()
        on_server = faults.run_tables(run.conn)
        assert found == {name.removeprefix("pganon_work.r1_") for name in on_server}
    return found


def test_a_scope_hands_on_what_it_keeps(run: Executor) -> None:
    inner = Scope("inner", [made("a"), made("b", "a"), made("kept", "b")], keeps=["kept"])
    steps = [
        made("before"),
        Scope("outer", [made("c"), inner, table(HANDED, "", lambda s: query("select 1 as n"))]),
    ]
    assert left(run, steps) == {"before"}


def test_a_scope_keeps_a_declared_table_and_those_of_its_chains(run: Executor) -> None:
    chains = [[made("a"), made("kept_a", "a")], [made("b"), made("kept_b", "b")]]
    handed = table(HANDED, "", lambda s: query("select a.n from a", {"a": s.work("a")}))
    body = [Parallel("both", "", chains), handed]
    assert left(run, [Scope("", body, keeps=["kept_a", HANDED])]) == {"kept_a", "handed"}


def rounds(ends: int = 3, *, makes_last: bool = True) -> Loop:
    """Of which each makes the next one's input, one table of its own, and one to keep."""

    def last(state: State) -> bool:
        return state.round + 1 == ends

    def read(name: str) -> Any:
        return lambda s: query("select t.n from t", {"t": s.in_round(name)})

    return Loop(
        "again",
        "rounds",
        lambda number: [
            table("own", "", read("input"), later=0),
            table("all", "", read("own"), later=0),
            Check(
                "ended",
                "",
                lambda s: query("select :last as ended", last=num(int(last(s)))),
                gives=[ENDED],
            ),
            table(
                "input",
                "",
                read("own"),
                later=1,
                when=lambda s: makes_last or not last(s),
            ),
        ],
        ENDED,
        ROUNDS,
        carries=["input"],
        keeps=["all"],
    )


@pytest.mark.parametrize(("makes_last", "newest"), [(True, 3), (False, 2)])
def test_a_loop_leaves_the_newest_and_what_it_keeps(
    run: Executor, makes_last: bool, newest: int
) -> None:
    first = made("input", later=0)
    found = left(run, [first, rounds(makes_last=makes_last)])
    assert found == {f"input_{newest}", "all_0", "all_1", "all_2"}
    assert run.state[ROUNDS] == 3


def test_a_scope_drops_what_a_loop_leaves(run: Executor) -> None:
    assert left(run, [Scope("", [made("input", later=0), rounds()])]) == set()


def test_rounds_without_an_end(run: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_ROUNDS", -4 * run.state[RECORDS] + 5)
    with pytest.raises(PganonError, match="the step again made no progress in 5 rounds"):
        run.run([made("input", later=0), rounds(6)])


def talking(state: State) -> Talk:
    yield made("numbers", inline=True)
    ((total,),) = yield Ask("total", "", asking("select sum(n)::int as n from numbers"), [(1,)])
    yield table("next", "", lambda s: query("select :n as n", n=num(total)))
    rows = yield Ask("each", "", asking("select n from next", "next"), [(1,)])
    ((again,),) = yield Ask("total", "", asking("select count(*) from numbers"), [(1,)])
    return {"sum": rows[0][0] + again}


def asking(text: str, *reads: str) -> Any:
    return lambda s: query(text, {read: s.work(read) for read in reads or ("numbers",)})


def test_a_dialogue_asks_what_rows_lead_it_to(run: Executor) -> None:
    steps = [Dialogue("talk", "a talk", talking, [SUM]), made("later", "next")]
    assert left(run, [Scope("", steps, keeps=["later"])]) == {"later"}
    assert run.state[SUM] == 45 + 9
    assert {"talk.numbers", "talk.total", "talk.each", "talk.next"} <= run.times.keys()


def test_the_plan_shows_each_statement_of_a_dialogue_once() -> None:
    found, state = explained([Phase("some", "", (Dialogue("talk", "", talking, [SUM]),))])
    names = ["talk", "talk.numbers", "talk.total", "talk.next", "talk.each"]
    assert [one.step for one in found] == names
    assert state[SUM] == SUM.assumed


def test_a_dialogue_gives_the_facts_that_it_declares(run: Executor) -> None:
    with pytest.raises(PganonError, match="talk gives other facts than it declares: rounds"):
        run.run([Dialogue("talk", "", talking, [SUM, count("rounds")])])


def test_an_error_is_that_of_what_was_asked(run: Executor) -> None:
    def failing(state: State) -> Talk:
        yield Ask("wrong", "", lambda s: query("select 1 / 0 as n"))
        return {}

    with pytest.raises(DatabaseError) as caught:
        run.run([Dialogue("talk", "", failing, [])])
    assert caught.value.step == "talk.wrong"
