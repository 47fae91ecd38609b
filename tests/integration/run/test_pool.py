"""Runs on several connections: what they may use, what they publish, and how they end."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest
from sqlglot import exp

from pganon import locks, steps
from pganon.errors import DatabaseError, PganonError, PrivacyRefusal
from pganon.run.executor import Executor
from pganon.run.pool import Piece, Pool
from pganon.sqltools import num, query, statement
from pganon.steps import CreateTable, DropTables, Parallel, State
from pganon.steps.facts import count
from tests.support.harness import faults, plans
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import conformance, visits

ROWS = visits.rows(300)
DECIDED = {
    **visits.document()["columns"],
    "ward": {"role": "semi_sensitive", "sensitive_when": {"predicate": "nights > 6"}},
}
METHODS: list[dict[str, Any]] = [
    {"method": {"name": "anatomy", "block_size": 16}},
    {"method": {"name": "anatomy", "block_size": 1000}},  # all in one part
    {
        "method": {"name": "mondrian"},
        "privacy": [{"model": "k_anonymity", "k": 5}],
    },
    {
        "columns": DECIDED,
        "method": {"name": "lgb_mdp"},
        "privacy": [
            {"model": "k_anonymity", "k": 5},
            {"model": "local_bucket_diversity", "column": "disease", "l": 2},
            {"model": "local_bucket_diversity", "column": "ward", "l": 2},
        ],
    },
    {
        "columns": DECIDED,
        "method": {"name": "local_generalization"},
        "privacy": [{"model": "k_anonymity", "k": 5}],
    },
]

PARTS = {
    "anatomy": ["qit", "st"],
    "mondrian": ["records", "classes"],
    "lgb_mdp": ["groups", "records", "values0", "values1"],
    "local_generalization": ["groups", "records", "values0", "values1"],
}


def _sessions(conn: Connection) -> list[int]:
    rows = conn.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'pganon' AND usename = 'steward' ORDER BY 1"
    )
    return [row[0] for row in rows.fetchall()]


def _all_gone(db: Database) -> None:
    faults.wait_until(lambda: not _sessions(db.admin))


class _Watch:
    """Counts the sessions of a run before every step."""

    def __init__(self, db: Database) -> None:
        self._conn = db.admin
        self._lock = threading.Lock()
        self.most = 0

    def __call__(self, step: str) -> None:
        with self._lock:
            self.most = max(self.most, len(_sessions(self._conn)))


@pytest.fixture
def visit(db: Database) -> Database:
    visits.build(db, ROWS)
    return db


def _allow(db: Database, processes: int) -> None:
    """What a run's role may use for one statement."""
    db.admin.execute(
        f"ALTER ROLE steward SET max_parallel_workers_per_gather = {processes - 1}".encode()
    )


@pytest.fixture(autouse=True)
def _any_size(db: Database, monkeypatch: pytest.MonkeyPatch):
    """Side by side even where it does not pay, on a machine of many cores."""
    monkeypatch.setattr(steps, "SHARED_FROM", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    yield
    db.admin.execute("ALTER ROLE steward RESET ALL")
    db.admin.execute("ALTER ROLE steward CONNECTION LIMIT -1")


@pytest.mark.parametrize(
    ("allowed", "jobs", "most"), [(3, None, 3), (1, None, 1), (3, 1, 1), (1, 2, 2)]
)
def test_as_many_sessions_as_processes_per_statement(
    visit: Database, allowed: int, jobs: int | None, most: int
) -> None:
    _allow(visit, allowed)
    watch = _Watch(visit)
    faults.run(visit.dsn(), visits.policy(), before=watch, jobs=jobs)
    assert watch.most == most
    _all_gone(visit)


@pytest.mark.parametrize(
    ("cores", "jobs", "most"),
    [(1, None, 1), (2, None, 2), (3, None, 3), (1, 3, 3), (None, None, 1)],
)
def test_a_server_on_this_machine_starts_no_more_than_it_has_cores(
    visit: Database,
    monkeypatch: pytest.MonkeyPatch,
    cores: int | None,
    jobs: int | None,
    most: int,
) -> None:
    _allow(visit, 3)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    watch = _Watch(visit)
    faults.run(visit.dsn(), visits.policy(), before=watch, jobs=jobs)
    assert watch.most == most


def _step(name: str, table: str, select: Callable[[State], exp.Select]) -> CreateTable:
    return CreateTable(name, name, lambda s: s.work(table), select, counted=count("rows", name))


@pytest.mark.parametrize("processes", [1, 3])
def test_a_chain_goes_on_with_what_others_left(db: Database, processes: int) -> None:
    """Their tables, also to drop them, and their facts."""
    conn = db.owner()
    conn.execute("SELECT set_config('max_parallel_workers_per_gather', %s, false)", ["2"])
    one = _step("one", "one", lambda s: query("select 1 as n"))
    two = _step(
        "two",
        "two",
        lambda s: query(
            "select o.n + :rows as n from o", {"o": s.work("one")}, rows=num(s[one.counted])
        ),
    )
    gone = DropTables("gone", "gone", lambda s: [s.work("one")])
    steps_ = Parallel("all", "all", [[one], [], [two, gone]], after={2: [0]})
    with locks.hold(conn, run_id=1):
        pool = Pool(conn, 1, db.owner) if processes > 1 else None
        executor = Executor(conn, State(1), pool=pool)
        state = executor.run([steps_])
        assert state[two.counted] == 1
        executor.assert_filled()  # what is gone is not looked for
        assert executor.filled == {state.work("two")}
        found = query("select t.n from t", {"t": state.work("two")})
        assert conn.execute(statement(found)).fetchall() == [(2,)]
        executor.run([DropTables("end", "end", lambda s: [s.work("two")])])


def test_chains_without_steps_need_no_connection(db: Database) -> None:
    conn = db.owner()
    conn.execute("SELECT set_config('max_parallel_workers_per_gather', %s, false)", ["2"])
    asked: list[int] = []

    def connect() -> Connection:
        asked.append(1)
        return db.owner()

    one = _step("one", "one", lambda s: query("select 1 as n"))
    two = _step("two", "two", lambda s: query("select 1 as n"))
    with locks.hold(conn, run_id=1):
        executor = Executor(conn, State(1), pool=Pool(conn, 1, connect))
        executor.run([Parallel("all", "all", [[one], []])])
        assert not asked
        executor.run([Parallel("both", "both", [[], [two], [_dropped(one)]])])
        assert asked
        executor.run([_dropped(two)])


def _dropped(step: CreateTable) -> DropTables:
    return DropTables(f"drop {step.name}", step.name, lambda s: [step.table(s)])


@pytest.mark.parametrize(("worth", "most"), [(len(ROWS), 3), (len(ROWS) + 1, 1)])
def test_few_records_are_not_worth_connections(
    visit: Database, monkeypatch: pytest.MonkeyPatch, worth: int, most: int
) -> None:
    monkeypatch.setattr(steps, "SHARED_FROM", worth)
    watch = _Watch(visit)
    faults.run(visit.dsn(), visits.policy(), before=watch, jobs=3)
    assert watch.most == most


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes", METHODS, ids=["anatomy", "one block", "mondrian", "lgb_mdp", "groups alone"]
)
def test_a_release_does_not_depend_on_the_connections(
    visit: Database, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """Nor on the parts that records are read in, where they are many."""
    shown: list[list[Any]] = []
    for jobs, worth in ((1, 0), (None, 0), (5, 0), (None, len(ROWS) + 1)):
        monkeypatch.setattr(steps, "SHARED_FROM", worth)
        allowed = {} if "columns" in changes else {"republication": "allow"}
        policy = visits.policy(**changes, **allowed)
        found = faults.run(visit.dsn(), policy, stable=True, jobs=jobs)
        parts = PARTS[found.method]
        lying = [visits.stored(visit, found.run_id, part) for part in parts]
        shown.append([*lying, sorted(visits.stored(visit, found.run_id, "members"))])
    assert all(one == shown[0] for one in shown[1:])


Next = Callable[[set[int], set[int], Mapping[int, Collection[int]]], int]
"""Which piece is next, given those that are left, those that may start, and who waits for whom."""


def _last(left: set[int], ready: set[int], after: Mapping[int, Collection[int]]) -> int:
    return max(ready)


def _needed_by_the_last(
    left: set[int], ready: set[int], after: Mapping[int, Collection[int]]
) -> int:
    wanted = max(left)
    while wanted not in ready:
        wanted = max(left & set(after[wanted]))
    return wanted


def _in_turn(choose: Next) -> Callable[..., list[Any]]:
    """Instead of `side_by_side`: pieces one after the other, in another order than theirs."""

    def perform(
        pieces: Sequence[Piece[Any]],
        connections: Sequence[Connection],
        *waiting: Any,
    ) -> list[Any]:
        after: Mapping[int, Collection[int]] = waiting[1] if waiting else {}
        done: dict[int, Any] = {}
        while left := set(range(len(pieces))) - done.keys():
            ready = {number for number in left if done.keys() >= set(after.get(number, ()))}
            number = choose(left, ready, after)
            done[number] = pieces[number](connections[0], lambda: True)
        return [done[number] for number in range(len(pieces))]

    return perform


@pytest.mark.parametrize("method", plans.METHODS)
@pytest.mark.slow
def test_chains_wait_for_what_they_read(
    db: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """In a second version, too, which is judged alike whatever the method."""
    monkeypatch.setattr("pganon.run.executor.side_by_side", _in_turn(_last))
    db.source(plans.SOURCE)
    for number in (1, 2) if method in conformance.FIRST else (1,):
        assert faults.run(db.dsn(), plans.policy_of(method), jobs=3).version == number


@pytest.mark.parametrize("choose", [_last, _needed_by_the_last])
@pytest.mark.parametrize("changes", METHODS[1:3], ids=["anatomy", "mondrian"])
@pytest.mark.slow
def test_chains_of_the_guard_wait_for_what_they_read(
    visit: Database, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], choose: Next
) -> None:
    monkeypatch.setattr("pganon.run.executor.side_by_side", _in_turn(choose))
    policy = visits.policy(**changes, republication="allow")
    for number in (1, 2):
        assert faults.run(visit.dsn(), policy, jobs=3).version == number
        visit.source("DELETE FROM public.visit WHERE id % 7 = 0")


def test_a_server_without_free_connections(visit: Database) -> None:
    """More connections make a run faster; none of them is needed."""
    visit.admin.execute("ALTER ROLE steward CONNECTION LIMIT 1")
    watch = _Watch(visit)
    assert faults.run(visit.dsn(), visits.policy(), before=watch).version == 1
    assert watch.most == 1


@pytest.mark.slow
def test_every_session_is_set_up_alike(visit: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the leader: owner, search_path, time limits; or a chain would mean something else."""
    names = ("row_security", "search_path", "statement_timeout", "work_mem", "TimeZone")
    shown = ", ".join(f"current_setting('{name}')" for name in (*names, "enable_nestloop"))
    seen: dict[int, tuple[Any, ...]] = {}
    original = Executor._create

    def create(self: Any, step: Any) -> None:
        row = self.conn.execute(f"SELECT pg_backend_pid(), current_user, {shown}").fetchone()
        seen[row[0]] = row[1:]
        original(self, step)

    monkeypatch.setattr(Executor, "_create", create)
    faults.run(visit.dsn(), visits.policy(), work_mem="48MB", statement_timeout="9min", jobs=3)
    assert len(seen) >= 2
    (only,) = set(seen.values())
    assert only[0] == visit.owner().execute("SELECT current_user").fetchone()[0]  # type: ignore
    assert only[3:5] == ("9min", "48MB")


def test_errors_of_figures_hide_no_refusal(visit: Database) -> None:
    """A group with a count of 0 is refused, though a figure divides by it."""
    conn = visit.owner()

    def spoil(step: str) -> None:
        if step == "recode.st1_key":
            conn.execute(
                "DO $$ BEGIN EXECUTE (SELECT format('UPDATE %s SET count = 0', c.oid::regclass)"
                " FROM pg_class AS c WHERE c.relname ~ '_st$' AND c.relkind = 'r'"
                " AND c.relnamespace = 'pganon_stage'::regnamespace); END $$"
            )

    with pytest.raises(PrivacyRefusal) as caught:
        faults.run(visit.dsn(), visits.policy(), before=spoil)
    assert caught.value.code == "verification"


def test_the_leader_has_its_processes_back(db: Database) -> None:
    conn = db.owner()
    conn.execute("SET max_parallel_workers_per_gather = 5")
    show = "SHOW max_parallel_workers_per_gather"
    with locks.hold(conn, run_id=1):
        pool = Pool(conn, 1, db.owner)
        with pool.sharing(2) as connections:
            assert [one.execute(show).fetchone() for one in connections] == [("2",)] * 2
        assert connections[0] == conn
        assert connections[1].closed
        with contextlib.suppress(ZeroDivisionError), pool.sharing(9) as connections:
            assert [one.execute(show).fetchone() for one in connections] == [("0",)] * 6
            raise ZeroDivisionError
        assert all(one.closed for one in connections[1:])
        assert conn.execute(show).fetchone() == ("5",)
        with pool.sharing(1) as connections:
            assert connections == [conn]
            assert conn.execute(show).fetchone() == ("5",)


def _fails(db: Database) -> Connection:
    raise DatabaseError("too many connections")


def _breaks(db: Database) -> Connection:
    conn = db.owner()
    db.admin.execute("SELECT pg_terminate_backend(%s, 5000)", [conn.info.backend_pid])
    return conn


@pytest.mark.parametrize("connect", [_fails, _breaks])
def test_workers_that_cannot_be_had(db: Database, connect: Any) -> None:
    conn = db.owner()
    with locks.hold(conn, run_id=1), Pool(conn, 1, lambda: connect(db)).sharing(3) as connections:
        assert connections == [conn]


def test_a_worker_on_another_server(db: Database) -> None:
    """Nobody leads the run there, as far as its locks can tell."""
    conn = db.owner()
    opened: list[Connection] = []

    def elsewhere() -> Connection:
        opened.append(db.owner())
        return opened[-1]

    with Pool(conn, 7, elsewhere).sharing(3) as connections:
        assert connections == [conn]
    assert [one.closed for one in opened] == [True]


def test_a_worker_of_a_run_that_is_cleaned_up(db: Database) -> None:
    conn, cleaner = db.owner(), db.owner()
    with locks.dead_run(cleaner, 7) as dead:
        assert dead
        assert not locks.take_worker(conn, 7)


@pytest.mark.slow
def test_a_session_that_the_administrator_ends(visit: Database) -> None:
    """Whichever of the run's sessions it is, nothing is published and nothing stays."""
    conn = visit.owner()
    lock = threading.Lock()
    for number in range(3):
        ended: list[int] = []

        def end_one(step: str, number: int = number, ended: list[int] = ended) -> None:
            with lock:
                sessions = [p for p in _sessions(visit.admin) if p != conn.info.backend_pid]
                if step == "recode.members" and not ended:
                    ended.append(sessions[number])
                    visit.admin.execute("SELECT pg_terminate_backend(%s)", ended)

        with pytest.raises(PganonError):
            faults.run(visit.dsn(), visits.policy(), before=end_one)
        assert ended
        assert visit.admin.execute("SELECT to_regclass('published.visits')").fetchone() == (None,)
    assert faults.run(visit.dsn(), visits.policy()).version == 1
    assert faults.run_tables(conn) == []


def test_an_error_is_the_one_of_the_plan_s_order(
    visit: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two chains fail: the ledger names the first of them, however fast the second was."""
    original = Executor._run_one
    later = threading.Event()

    def run_one(self: Any, step: Any, name: str) -> None:
        if name == "qit1":
            assert later.wait(faults.LONG)
            self.conn.execute("SELECT 1/0")
        if name == "members":
            try:
                self.conn.execute("SELECT 'x'::integer")
            finally:
                later.set()
        original(self, step, name)

    monkeypatch.setattr(Executor, "_run_one", run_one)
    with pytest.raises(DatabaseError) as caught:
        faults.run(visit.dsn(), visits.policy(), jobs=3)
    assert (caught.value.step, caught.value.sqlstate) == ("qit1", "22012")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """As in the foreground: jobs in the background of a script ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_all_sessions(visit: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches the main thread alone; statements of all sessions are cancelled."""
    conn = visit.owner()
    busy = threading.Barrier(3, timeout=faults.LONG)

    original = Executor._create
    cancelled: list[str] = []

    def create(self: Any, step: Any) -> None:
        original(self, step)
        if step.name not in ("qit1", "members", "st1"):
            return
        busy.wait()
        if step.name == "qit1":
            _thread.interrupt_main()
        try:
            self.conn.execute("SELECT pg_sleep(60)")
        except psycopg.errors.QueryCanceled:
            cancelled.append(step.name)
            raise

    monkeypatch.setattr(Executor, "_create", create)
    with pytest.raises(KeyboardInterrupt):
        faults.run(visit.dsn(), visits.policy(), jobs=3)
    assert sorted(cancelled) == ["members", "qit1", "st1"]
    assert faults.last_details(conn, "visits")["code"] == "interrupted"
    assert faults.run_tables(conn) == []
    conn.close()
    _all_gone(visit)
