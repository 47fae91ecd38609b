"""What a small run asks of the server, and how its steps travel together.

Of counts no figure here may grow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from psycopg import sql
from sqlglot import exp, parse_one

from pganon import MetricsRequest, Options, run_release, steps
from pganon.errors import DatabaseError, Interrupted, PganonError, PreconditionError, PrivacyRefusal
from pganon.loading import load_policy
from pganon.methods.background import kernel
from pganon.policy.loader import LoadedPolicy
from pganon.run import executor
from pganon.run.executor import Executor
from pganon.sqltools import query
from pganon.steps import (
    Check,
    CreateTable,
    DropTables,
    Parallel,
    Search,
    State,
    Statement,
    Step,
    stamp_of,
)
from pganon.steps.facts import RECORDS, count
from tests.support.harness import faults, plans
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.work import Sent, sent

pytestmark = pytest.mark.primary_server_only

PEOPLE = """
CREATE TABLE public.person AS
SELECT n AS id, 17 + (n * 7919) % 60 AS age, 'w' || (n * 31) % 7 AS work,
    'e' || (n * 17) % 9 AS education, 'c' || (n * 13) % 11 AS country, (n * 101) % 50 AS hours,
    'd' || (n * 37) % 12 AS disease, 's' || (n * 29) % 8 AS drug
FROM generate_series(1, 400) AS n;
ALTER TABLE public.person ADD PRIMARY KEY (id)
"""


def people() -> LoadedPolicy:
    """Five quasi-identifiers, and two sensitive columns."""
    named = ("age", "hours", "work", "education", "country")
    quasi = {name: {"role": "quasi_identifying"} for name in named}
    sensitive = {name: {"role": "sensitive"} for name in ("disease", "drug")}
    return load_policy(
        json.dumps(
            {
                "release": "people",
                "source": "public.person",
                "columns": {"id": {"role": "identifying"}, **quasi, **sensitive},
                "privacy": [
                    {"model": "k_anonymity", "k": 5},
                    {"model": "distinct_l_diversity", "column": "disease", "l": 2},
                    {"model": "distinct_l_diversity", "column": "drug", "l": 2},
                ],
                "method": {"name": "mondrian"},
                "trust": ["source_owner"],
            }
        )
    )


@pytest.mark.parametrize(
    ("source", "loaded", "most"),
    [
        # Figures go down only.
        (plans.SOURCE, plans.policy_of("one_dimensional"), Sent(120, 160, 27)),
        (PEOPLE, people(), Sent(118, 191, 55)),
    ],
    ids=["60 records, one_dimensional", "400 records, mondrian"],
)
def test_what_a_small_run_asks_of_the_server(
    db: Database, source: str, loaded: LoadedPolicy, most: Sent
) -> None:
    db.source(source)
    result, asked = sent(lambda: faults.run(db.dsn(), loaded))
    assert result.version == 1
    assert asked.messages <= most.messages
    assert asked.statements <= most.statements
    assert asked.tables <= most.tables


# -- steps that travel together ---------------------------------------------------------------

_SUM, _MOST, _ROWS = count("sum"), count("most"), count("rows")


def table(name: str, text: str, *reads: str, **options: Any) -> CreateTable:
    return CreateTable(
        name,
        name,
        lambda s: s.work(name),
        lambda s: query(text, {read: s.work(read) for read in reads}),
        **options,
    )


def asked(text: str, *reads: str, gives: Any = _SUM, **options: Any) -> Check:
    return Check(
        f"check of {', '.join(reads)}",
        "",
        lambda s: query(text, {read: s.work(read) for read in reads}),
        gives=[gives],
        **options,
    )


NUMBERS = "select n from generate_series(1, 9) as g(n)"
FAILING = "select 1 / (n - 5) as n from numbers"


class Looking(Executor):
    """Keeps the statements of every message."""

    def _take(self, waiting: Sequence[Any]) -> None:
        self.__dict__.setdefault("messages", []).append([one.name for one in waiting])
        super()._take(waiting)


def small(db: Database, records: int = 9) -> Any:
    return Looking(db.owner(), State(1).observing({RECORDS: records}))


def tables(conn: Connection) -> set[str]:
    return {name.removeprefix("pganon_work.r1_") for name in faults.run_tables(conn)}


def test_steps_wait_until_a_fact_is_read(db: Database) -> None:
    run = small(db)
    read: list[int] = []
    later = CreateTable(
        "later",
        "",
        lambda s: s.work("later"),
        lambda s: query("select n from numbers", {"numbers": s.work("numbers")}),
        when=lambda s: bool(read.append(s[_SUM]) or True),
    )
    run.run(
        [
            table("numbers", NUMBERS, counted=_ROWS),
            asked("select sum(n)::int as sum from numbers", "numbers"),
            asked("select max(n) as most from numbers", "numbers", gives=_MOST),
            later,
        ]
    )
    assert run.messages == [["numbers", "check of numbers", "check of numbers"], ["later"]]
    assert (read, run.state[_MOST], run.state[_ROWS]) == ([45], 9, 9)
    assert run.filled == {run.state.work("numbers"), run.state.work("later")}


@pytest.mark.parametrize("records", [9, steps.SMALL_BELOW])
def test_a_table_with_one_reader_is_made_within_it(db: Database, records: int) -> None:
    run, inline = small(db, records), ("numbers", "squares")
    run.run(
        [
            table("numbers", NUMBERS, inline=True),
            table("squares", "select n * n as n from numbers", "numbers", inline=True),
            table("both", "select s.n from squares as s join numbers using (n)", *inline),
            asked("select sum(n)::int as sum from both", "both"),
        ]
    )
    assert run.state[_SUM] == 1 + 4 + 9
    assert tables(run.conn) == ({"both"} if records == 9 else {"numbers", "squares", "both"})


def test_several_readers_read_the_same(db: Database) -> None:
    """What is made within a statement is made again within another."""
    run = small(db)
    run.run(
        [
            table("numbers", NUMBERS, inline=True),
            asked("select sum(n)::int as sum from numbers", "numbers"),
            Statement("nothing", "", lambda s: sql.SQL("SET LOCAL work_mem TO DEFAULT")),
            asked("select max(n) as most from numbers", "numbers", gives=_MOST),
        ]
    )
    assert (run.state[_SUM], run.state[_MOST]) == (45, 9)
    assert run.messages == [["check of numbers"], ["nothing", "check of numbers"]]
    assert tables(run.conn) == set()


@pytest.mark.parametrize("inline", [False, True])
def test_an_error_is_that_of_the_step_at_fault(db: Database, inline: bool) -> None:
    run = small(db)
    with pytest.raises(DatabaseError) as caught:
        run.run(
            [
                table("numbers", NUMBERS),
                table("wrong", FAILING, "numbers", inline=inline),
                table("right", "select n from wrong", "wrong"),
                asked("select sum(n)::int as sum from right", "right"),
            ]
        )
    assert caught.value.step == "wrong"
    assert tables(run.conn) == {"numbers"}


def test_who_refuses_first_is_heard(db: Database) -> None:
    """Whatever fails after it, in the same message."""
    refusal = PrivacyRefusal("too many")
    refusing = asked(
        "select max(n)::int as sum from numbers", "numbers", problem=lambda row, state: refusal
    )
    for after in (
        table("wrong", FAILING, "numbers"),
        asked("select 1 / (max(n) - 9) as most from numbers", "numbers", gives=_MOST),
        asked("select 1 as most", gives=_MOST, problem=lambda row, state: PganonError("late")),
    ):
        run = small(db)
        with pytest.raises(PrivacyRefusal) as caught:
            run.run([table("numbers", NUMBERS), refusing, after])
        assert caught.value is refusal
        with pytest.raises(PganonError, match=r"failed|no step before"):
            _ = run.state[_MOST]
        run.conn.execute("DROP TABLE pganon_work.r1_numbers")


def test_who_guards_is_heard_before_the_work_begins(db: Database) -> None:
    """Nobody waits for what is refused: the server is not asked for it."""
    refusal = PrivacyRefusal("too many")
    guard = asked(
        "select max(n)::int as sum from numbers",
        "numbers",
        problem=lambda row, state: refusal,
        guards=True,
    )
    endless = table("endless", "select pg_sleep(3600)", "numbers")
    run = small(db)
    with pytest.raises(PrivacyRefusal) as caught:
        run.run([table("numbers", NUMBERS), guard, endless])
    assert caught.value is refusal
    assert run.messages == [["numbers", "check of numbers"]]


def test_a_kernel_is_refused_before_it_adds_up(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same error in a small run as step by step, and after as many attributes."""
    db.source(plans.SOURCE)
    declared = plans.policy_of("kinc_mic").policy.document()
    knows = next(one for one in declared["privacy"] if one["model"] == "background_knowledge")
    knows["knowledge"] = {"kernel": {"bandwidth": 1.5}}
    loaded = load_policy(json.dumps(declared))
    monkeypatch.setattr(kernel, "MOST_SUMS", 500)
    said = []
    for below in (steps.SMALL_BELOW, 0):
        monkeypatch.setattr(executor, "SMALL_BELOW", below)
        begun: list[str] = []

        def began(phase: str, step: str, purpose: str, begun: list[str] = begun) -> None:
            begun.append(step)

        with pytest.raises(PreconditionError) as caught:
            run_release(loaded, dsn=db.dsn(), options=Options(on_step=began))
        said.append((str(caught.value), begun[-1]))
    assert said[0] == said[1]
    assert said[0][1].startswith("joined")


def test_who_refuses_is_heard_before_what_leans_on_it(db: Database) -> None:
    """What comes after a check may not even have a query, unless the check lets it pass."""
    refusal = PrivacyRefusal("none is left")
    refusing = asked(
        "select max(n)::int as sum from numbers", "numbers", problem=lambda row, state: refusal
    )

    def fails(state: State) -> Any:
        return [][0]

    wrong = CreateTable("wrong", "", lambda s: s.work("wrong"), fails)
    seldom = table("seldom", NUMBERS, when=fails)
    for after in (wrong, seldom):
        for before, error in (([refusing], PrivacyRefusal), ([], IndexError)):
            run = small(db)
            with pytest.raises(error):
                run.run([table("numbers", NUMBERS), *before, after])
            run.conn.execute("DROP TABLE pganon_work.r1_numbers")


def test_a_run_that_is_given_up_sends_nothing_more(db: Database) -> None:
    run = small(db)
    wanted = iter([True, True, False])
    run.wanted = lambda: next(wanted)
    with pytest.raises(Interrupted):
        run.run([table(name, NUMBERS) for name in ("a", "b", "c")])
    assert tables(run.conn) == set()


def test_a_name_has_another_table_later(db: Database) -> None:
    """Tables go with the run, unless their names are needed; who read the first one has it."""
    run = small(db)
    copied = table("copied", "select n from numbers", "numbers", inline=True)
    run.run(
        [
            table("numbers", NUMBERS),
            copied,
            DropTables("tidy", "", lambda s: [s.work("numbers")]),
            table("numbers", "select 100 as n"),
            asked("select sum(n)::int as sum from copied", "copied"),
            asked("select max(n) as most from numbers", "numbers", gives=_MOST),
        ]
    )
    assert (run.state[_SUM], run.state[_MOST]) == (45, 100)
    assert tables(run.conn) == {"numbers", "copied"}
    run.assert_filled()


def test_checks_come_before_what_changes_rows(db: Database) -> None:
    run = small(db)
    emptied = Statement(
        "emptied", "", lambda s: sql.SQL("DELETE FROM {}").format(s.work("numbers").identifier)
    )
    run.run(
        [
            table("numbers", NUMBERS),
            table("copied", "select n from numbers", "numbers", inline=True),
            asked("select sum(n)::int as sum from numbers", "numbers"),
            emptied,
            asked("select count(*) as most from numbers", "numbers", gives=_MOST),
            asked("select count(*) as rows from copied", "copied", gives=_ROWS),
        ]
    )
    assert (run.state[_SUM], run.state[_MOST], run.state[_ROWS]) == (45, 0, 9)


def test_a_name_has_another_inline_table_later(db: Database) -> None:
    """Of three that read it, each has the one that there was."""
    run = small(db)
    run.run(
        [
            table("numbers", NUMBERS, inline=True),
            table("copied", "select n from numbers", "numbers", inline=True),
            asked("select min(n)::int as rows from numbers", "numbers", gives=_ROWS),
            table("numbers", "select 100 as n", inline=True),
            asked(
                "select sum(c.n + m.n)::int as sum from copied as c cross join numbers as m",
                *("copied", "numbers"),
            ),
            asked("select max(n) as most from numbers", "numbers", gives=_MOST),
        ]
    )
    assert (run.state[_ROWS], run.state[_SUM], run.state[_MOST]) == (1, 945, 100)


def test_the_error_of_what_a_search_reads(db: Database) -> None:
    run = small(db)
    search = Search(
        "search",
        "",
        lambda s: s.work("found"),
        [("n", "integer")],
        given=lambda s: query("select 1 as nothing"),
        batches=lambda s: 1,
        rows=lambda s, batch: query("select n from wrong", {"wrong": s.work("wrong")}),
        tasks=lambda s, given, rows: [],
    )
    with pytest.raises(DatabaseError) as caught:
        run.run(
            [table("numbers", NUMBERS), table("wrong", FAILING, "numbers", inline=True), search]
        )
    assert caught.value.step == "wrong"


def test_texts_are_no_names(db: Database) -> None:
    """A value that reads like a table which is made within the statement stays as it is."""
    run = small(db)
    odd = """select 1 as "it's" """
    reading = """select o."it's" + n.n as sum from odd as o, numbers as n where o."it's" = n.n"""
    run.run(
        [
            table("odd", odd, inline=True),
            table("numbers", NUMBERS, inline=True),
            asked(reading, "odd", "numbers"),
        ]
    )
    assert run.state[_SUM] == 2
    said = """select length('"pganon_work"."r1_numbers" it''s') as sum"""
    run.run(
        [table("numbers", NUMBERS, inline=True), asked(said + " from numbers limit 1", "numbers")]
    )
    assert run.state[_SUM] == len('"pganon_work"."r1_numbers" it\'s')


def test_more_columns_than_a_row_can_have(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_MOST_COLUMNS", 1)
    run = small(db)
    run.run(
        [
            table("numbers", NUMBERS),
            asked("select sum(n)::int as sum from numbers", "numbers"),
            asked("select max(n) as most from numbers", "numbers", gives=_MOST),
        ]
    )
    assert (len(run.messages), run.state[_SUM], run.state[_MOST]) == (1, 45, 9)


def test_facts_are_those_that_were_declared(db: Database) -> None:
    run = small(db)
    with pytest.raises(PganonError, match="gives other facts than it declares: most, sum"):
        run.run([asked("select 1 as most")])
    with pytest.raises(PganonError, match="returned no row"):
        run.run([asked("select 1 as sum where false"), asked("select 1 as most", gives=_MOST)])


def test_chains_see_nothing_of_each_other(db: Database) -> None:
    run = small(db)
    seen: list[Any] = []

    def chain(number: int) -> list[Step]:
        def noted(state: State) -> bool:
            return bool(seen.append(state.facts.get(_SUM)) or True)

        return [
            table(f"t{number}", f"select {number} as n", when=noted),
            asked(f"select n as sum from t{number}", f"t{number}"),
        ]

    run.run([Parallel("both", "", [chain(1), chain(2)])])
    assert (seen, run.state[_SUM]) == ([None, None], 2)
    assert len(run.messages) == 1


@pytest.mark.parametrize("reads", [False, True])
def test_stamps_are_taken_in_the_transaction_that_makes_a_table(db: Database, reads: bool) -> None:
    run = small(db)
    staged = CreateTable(
        "staged", "", lambda s: s.stage("staged"), lambda s: query(NUMBERS), counted=_ROWS
    )
    run.run([staged, *([asked("select 1 as sum")] if reads else [])])
    found = run.conn.execute("SELECT s.stamp FROM pganon.stamp('pganon_stage.r1_staged', 9) AS s")
    assert found.fetchone() == (run.state[stamp_of(run.state.stage("staged"))],)
    assert run.state[_ROWS] == 9
    assert len(run.messages) == 1


def test_tables_are_closed_in_the_message_that_makes_them(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: default privileges open every table, and an error comes before it is closed."""
    conn = db.owner()
    conn.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC, analyst")
    conn.execute("ALTER DEFAULT PRIVILEGES IN SCHEMA pganon_work GRANT SELECT ON TABLES TO analyst")
    made: list[Step] = [table("a", NUMBERS), table("b", "select n from a", "a")]
    run = small(db)
    run.run(made)
    assert tables(conn) == {"a", "b"}
    assert faults.exposed(conn, tables_only=True) == []
    conn.execute("DROP TABLE pganon_work.r1_a, pganon_work.r1_b")
    monkeypatch.setattr(executor, "seal", lambda made: sql.SQL("SELECT 1 / 0"))
    with pytest.raises(DatabaseError):
        small(db).run(made)
    assert tables(conn) == set()


@pytest.mark.slow
@pytest.mark.parametrize("method", plans.METHODS)
def test_what_is_made_again_is_the_same(
    db: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A table within several statements is asked several times: by no number without an order."""
    waits, found = Executor._waits, dict[str, str]()

    def looked(self: Any, step: Any, name: str) -> bool:
        if isinstance(step, CreateTable) and step.inline:
            found[name] = self._select(step).as_string(self.conn)
        return waits(self, step, name)

    monkeypatch.setattr(Executor, "_waits", looked)
    db.source(plans.SOURCE)
    metrics = MetricsRequest(everything=not method.startswith("qs_"))
    options = Options(dry_run=True, metrics=metrics)
    run_release(plans.policy_of(method), dsn=db.dsn(), options=options)
    assert found
    unordered = {
        step: [w for w in parse_one(text, dialect="postgres").find_all(exp.Window)
               if isinstance(w.this, exp.RowNumber) and not w.args.get("order")]
        for step, text in found.items()
    }  # fmt: skip
    assert {step: numbers for step, numbers in unordered.items() if numbers} == {}
    assert not [step for step, text in found.items() if re.search(r"\bRANDOM\(|CTID", text)]
