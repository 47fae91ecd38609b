"""Facts: keys with a type, given by the steps that name them and read by nobody else."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from psycopg import sql

from pganon.errors import PganonError
from pganon.plan.build import Phase
from pganon.plan.explain import explained
from pganon.sqltools import num, query
from pganon.steps import Check, CreateTable, DropTables, Loop, Parallel, State, Statement, Step
from pganon.steps.facts import Fact, Facts, count, digest, flag, label, measure, or_null

ROWS = count("rows", assumed=7)
DONE = flag("done")
ROUNDS = count("rounds", assumed=3)


def _observed(fact: Fact[Any], value: Any) -> Any:
    return Facts().observing({fact: value})[fact]


@pytest.mark.parametrize(
    ("fact", "given", "read"),
    [
        (ROWS, Decimal(12), 12),
        (ROWS, np.int64(12), 12),
        (measure("share"), Decimal("0.25"), 0.25),
        (measure("share"), np.float64(0.25), 0.25),
        (DONE, np.bool_(False), False),
        (label("matrix"), "[]", "[]"),
        (digest("hash"), memoryview(b"\x00\x01"), b"\x00\x01"),
        (or_null(ROWS), None, None),
        (or_null(ROWS), Decimal(3), 3),
    ],
)
def test_a_value_gets_the_type_of_its_fact(fact: Fact[Any], given: Any, read: Any) -> None:
    found = _observed(fact, given)
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(("fact", "given"), [(ROWS, None), (ROWS, "some"), (measure("x"), "y")])
def test_a_value_of_another_type_is_an_error_without_the_value(fact: Fact[Any], given: Any) -> None:
    with pytest.raises(PganonError, match=f"the fact {fact.name} cannot be read from") as caught:
        _observed(fact, given)
    assert str(given) not in caught.value.message.replace("NoneType", "")


def test_what_was_not_given_is_not_read() -> None:
    assert Facts().get(ROWS) is None
    with pytest.raises(PganonError, match="the fact rows is read, and no step before gives it"):
        print(State(1)[ROWS])


def test_facts_of_one_column_are_told_apart_by_what_they_are_of() -> None:
    one, other = count("rows", "tree_1_"), count("rows", "tree_2_")
    facts = Facts().observing({one: 1, other: 2})
    assert (facts[one], facts[other], one.column, other.column) == (1, 2, "rows", "rows")


def test_parts_are_joined_in_their_order() -> None:
    """What a chain saw of before is not what it observed."""
    before = Facts().observing({ROWS: 1})
    parts = [before.observing({ROUNDS: 5}), before.observing({ROWS: 2}), before]
    assert before.joined(parts).by_name() == {"rows": 2, "rounds": 5}


# -- explain ------------------------------------------------------------------------------------


def _check(*gives: Fact[Any], reads: Fact[int] | None = None) -> Check:
    def select(state: State):
        return query("select :n as n", n=num(0 if reads is None else state[reads]))

    return Check("check", "a check", select, gives=gives)


def _sql(*steps: Step) -> list[str]:
    found, _ = explained([Phase("some", "steps", steps)])
    return [" ".join(step.sql.split()) for step in found if step.sql]


def test_explain_assumes_what_a_fact_declares() -> None:
    assert _sql(_check(ROWS), _check(reads=ROWS))[1] == 'SELECT 7 AS "n"'


def test_explain_refuses_a_fact_that_nobody_gives() -> None:
    with pytest.raises(PganonError, match="the fact rows is read"):
        _sql(_check(DONE), _check(reads=ROWS))


def test_explain_refuses_a_fact_of_another_chain() -> None:
    chains = [[_check(ROWS)], [_check(reads=ROWS)]]
    with pytest.raises(PganonError, match="the fact rows is read"):
        _sql(Parallel("both", "two chains", chains))
    assert _sql(Parallel("both", "two chains", chains[:1]), _check(reads=ROWS))[1].endswith(
        '7 AS "n"'
    )


def test_explain_takes_the_facts_of_a_chain_that_another_waits_for() -> None:
    chains = [[_check(ROWS)], [_check(reads=ROWS)]]
    found = _sql(Parallel("both", "two chains", chains, after={1: [0]}))
    assert found[1].endswith('7 AS "n"')


def test_explain_takes_the_facts_of_a_table_and_of_rounds() -> None:
    made = CreateTable(
        "t", "a table", lambda s: s.work("t"), lambda s: query("select 1 as n"), counted=ROWS
    )
    rounds = Loop("again", "rounds", lambda n: [_check(DONE)], DONE, ROUNDS)
    assert _sql(made, rounds, _check(reads=ROWS), _check(reads=ROUNDS))[-2:] == [
        'SELECT 7 AS "n"',
        'SELECT 3 AS "n"',
    ]


def test_explain_does_not_take_facts_of_what_is_left_out() -> None:
    left = CreateTable(
        "t",
        "a table",
        lambda s: s.work("t"),
        lambda s: query("select 1 as n"),
        when=lambda s: False,
        counted=ROWS,
    )
    with pytest.raises(PganonError, match="the fact rows is read"):
        _sql(left, _check(reads=ROWS))


def test_explain_refuses_an_unknown_step() -> None:
    unknown: Any = object()
    with pytest.raises(AssertionError):
        _sql(unknown)


def test_steps_that_change_tables_give_no_facts() -> None:
    steps = (
        Statement("s", "an index", lambda s: sql.SQL("SELECT 1")),
        DropTables("d", "a table", lambda s: [s.work("t")]),
    )
    assert len(_sql(*steps)) == 2
