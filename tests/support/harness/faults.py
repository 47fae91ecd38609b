"""A tiny release for tests of faults: runs that stop, die or fail at a chosen step.

The source is `public.patient`, 24 rows; its policy exercises every phase (numbers, a set of values,
a hierarchy, NULLs, three models, members, reference). `stable=True` fixes the secrets of a run, so
that two runs over equal data publish the same rows.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import psycopg
from psycopg import sql

from pganon import database, locks, steps
from pganon.attacks.findings import Attacked
from pganon.attacks.measure import Settings, attack
from pganon.candidates.compare import compare
from pganon.candidates.figures import Compared
from pganon.candidates.policies import candidates_of
from pganon.candidates.settings import Method, varied_in
from pganon.forms.request import Request, Workload
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.run import release
from pganon.run.options import Options
from pganon.run.record import RunResult
from tests.support.harness import driver
from tests.support.harness.cluster import Database

Connection = psycopg.Connection[Any]
Hook = Callable[[str], None]
"""Called with `<phase>.<step>` before each step."""

SEED = b"a seed of a test"
LONG = 120.0
"""Seconds after which what is waited for will not come about, however busy the machine is."""

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

SOURCE = """
CREATE TABLE public.patient (
    id integer PRIMARY KEY,
    age integer,
    sex text NOT NULL,
    city text NOT NULL,
    disease text NOT NULL,
    days integer NOT NULL
);
INSERT INTO public.patient
SELECT n, CASE WHEN n % 12 = 0 THEN NULL ELSE 20 + n END, CASE WHEN n % 3 = 0 THEN 'm' ELSE 'f' END,
    (ARRAY['Rome', 'Oslo', 'Bern', 'Kyiv'])[1 + n % 4],
    (ARRAY['flu', 'cold', 'Zanzibar-7319'])[1 + n % 3], n % 5
FROM generate_series(1, 24) AS n;
"""

POLICY: dict[str, Any] = {
    "release": "patients",
    "source": "public.patient",
    "columns": {
        "age": {"role": "quasi_identifying"},
        "sex": {"role": "quasi_identifying"},
        "city": {
            "role": "quasi_identifying",
            "hierarchy": {
                "inline": {"any": {"south": ["Rome", "Bern"], "north": ["Oslo", "Kyiv"]}}
            },
        },
        "disease": {"role": "sensitive"},
        "days": {"role": "insensitive"},
    },
    "privacy": [
        {"model": "k_anonymity", "k": 8},
        {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        {"model": "t_closeness", "column": "disease", "t": 0.6},
    ],
    "method": {"name": "mondrian"},
    "publish": {"readers": ["analyst"]},
}


def policy(**changes: Any) -> LoadedPolicy:
    """The policy with other top-level keys."""
    return load_policy(json.dumps({**POLICY, **changes}))


def run(
    dsn: str,
    loaded: LoadedPolicy | None = None,
    *,
    before: Hook = lambda step: None,
    stable: bool = False,
    jobs: int | None = None,
    force: bool = True,
    **settings: str,
) -> RunResult:
    """One run; `before` is called with `<phase>.<step>` before each step.

    Tests of faults want a version of every run, so it makes one of an unchanged source, too.
    """
    with driver.secrets(SEED if stable else None):
        return release.run_release(
            loaded or policy(),
            dsn=dsn,
            settings=database.Settings(**settings),
            options=Options(
                jobs=jobs,
                force=force,
                on_step=lambda phase, step, purpose: before(f"{phase}.{step}"),
            ),
        )


def compared(
    dsn: str,
    *varied: str,
    loaded: LoadedPolicy | None = None,
    methods: Sequence[Method] = (),
    before: Hook = lambda step: None,
    workload: Workload | None = None,
    settings: database.Settings | None = None,
) -> Compared:
    """Candidates of a policy, side by side.

    `before` is called with `candidate <n> of <m>: <phase>.<step>` before each step, and without
    the first part while the source is read.
    """
    loaded = loaded or policy()
    return compare(
        loaded,
        candidates_of(loaded, methods, [varied_in(text) for text in varied]),
        dsn=dsn,
        settings=settings or database.RUN_SETTINGS,
        options=Options(
            metrics=Request(workload=workload or Workload(queries=50)),
            on_step=lambda phase, step, purpose: before(f"{phase}.{step}"),
        ),
    )


def attacked(
    dsn: str, loaded: LoadedPolicy, *, before: Hook = lambda step: None, **settings: Any
) -> Attacked:
    """Attacks on a policy. `before` is called with `release: <phase>.<step>`, `shadow release: ..`
    and, of the attacks themselves, `attack.<table>` before each step."""
    return attack(
        loaded,
        Settings(**{"targets": 100, "control": 0.25, **settings}),
        dsn=dsn,
        options=Options(on_step=lambda phase, step, purpose: before(f"{phase}.{step}")),
    )


def published(db: Database) -> RunResult:
    """The source and its release, for tests of what comes later; to be given to `db_after`."""
    db.source(SOURCE)
    return run(db.dsn())


def steps_of(dsn: str, loaded: LoadedPolicy | None = None, **options: Any) -> list[str]:
    """Every step of one run, rounds included, in order; publishes a version."""
    found: list[str] = []
    run(dsn, loaded, before=found.append, **options)
    return found


def at(step: str, act: Callable[[], object]) -> Hook:
    """Act once, before that step; the returned hook has the attribute `reached`."""

    def hook(current: str) -> None:
        if current == step and not hook.reached:  # type: ignore[attr-defined]
            hook.reached = True  # type: ignore[attr-defined]
            act()

    hook.reached = False  # type: ignore[attr-defined]
    return hook


# -- what must hold after a fault ---------------------------------------------------------------


def content(conn: Connection, view: str = "published.patients") -> list[str] | None:
    """Rows of a view as texts, sorted; None if there is no such view."""
    found = conn.execute("SELECT to_regclass(%s)", [view]).fetchone()
    if found is None or found[0] is None:
        return None
    text = sql.SQL('SELECT v::text FROM {} AS v ORDER BY v::text COLLATE "C"').format(
        sql.Identifier(*view.split("."))
    )
    return [row[0] for row in conn.execute(text).fetchall()]


def version(conn: Connection, release: str = "patients") -> int | None:
    row = conn.execute(
        "SELECT current_version FROM pganon_private.release WHERE name = %s", [release]
    ).fetchone()
    return row[0] if row else None


def run_tables(conn: Connection) -> list[str]:
    """Tables of runs that no stored version owns."""
    rows = conn.execute(
        """
        SELECT format('%s.%s', n.nspname, c.relname)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND c.relname ~ '^r[0-9]+_'
            AND (n.nspname IN ('pganon_work', 'pganon_stage')
                OR NOT EXISTS (
                    SELECT FROM pganon_private.version AS v
                    WHERE c.relname ~ format('^r%s_', v.run_id)))
        ORDER BY 1
        """
    ).fetchall()
    return [row[0] for row in rows]


def exposed(conn: Connection, schemas: str = "^pganon_", *, tables_only: bool = False) -> list[str]:
    """Relations in private schemas that `analyst` or everybody has any privilege on.

    Args:
        tables_only: leave out relations for whose schema alone there is one.
    """
    rows = conn.execute(
        """
        SELECT format('%%s.%%s', n.nspname, c.relname)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname ~ %s AND c.relkind IN ('r', 'v', 'm', 'p', 'S')
            AND (CASE WHEN c.relkind = 'S'
                THEN has_sequence_privilege('analyst', c.oid, 'USAGE, SELECT, UPDATE')
                ELSE has_any_column_privilege('analyst', c.oid, 'SELECT, INSERT, UPDATE')
                    OR has_table_privilege('analyst', c.oid,
                        'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') END
            OR NOT %s AND has_schema_privilege('analyst', n.oid, 'USAGE, CREATE'))
        ORDER BY 1
        """,
        [schemas, tables_only],
    ).fetchall()
    return [row[0] for row in rows]


def events(conn: Connection, release: str = "patients") -> list[str]:
    """The ledger of a release in short: event and, where there is one, reason or code."""
    rows = conn.execute(
        "SELECT event, coalesce(details ->> 'reason', details ->> 'code')"
        " FROM pganon_private.ledger WHERE release = %s ORDER BY id",
        [release],
    ).fetchall()
    return [event if note is None else f"{event}: {note}" for event, note in rows]


def last_details(conn: Connection, release: str = "patients") -> dict[str, Any]:
    """Details of the release's newest ledger row."""
    row = conn.execute(
        "SELECT details FROM pganon_private.ledger WHERE release = %s ORDER BY id DESC LIMIT 1",
        [release],
    ).fetchone()
    assert row is not None
    return row[0]


def guarantee_holds(conn: Connection, view: str = "published.patients", k: int = 8) -> None:
    """Every class of the view has at least k records and two diseases; no record is missing."""
    row = conn.execute(
        sql.SQL(
            "SELECT min(n), min(l), sum(n) FROM"
            " (SELECT count(*) AS n, count(DISTINCT disease) AS l FROM {} GROUP BY class_id) AS g"
        ).format(sql.Identifier(*view.split(".")))
    ).fetchone()
    assert row is not None
    assert row[0] is not None, "the view is empty"
    assert row[0] >= k
    assert row[1] >= 2
    assert row[2] == 24


class Onlooker:
    """Looks for exposed relations all the time, in a thread and a session of its own."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.looks = 0
        self.found: set[str] = set()

    def _look(self) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            while not self._stop.is_set():
                self.found.update(exposed(conn))
                self.looks += 1

    def looked(self, step: str) -> None:
        """Wait for a look; before each step of a run, so that no step goes unseen."""
        seen = self.looks
        wait_until(lambda: self.looks > seen)

    def __enter__(self) -> Onlooker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def run_connection(take: Callable[[Connection], None]) -> Iterator[None]:
    """Give the connection of the next run to a test."""
    original = locks.hold

    def hold(conn: Connection, **what: Any) -> AbstractContextManager[None]:
        if "release" in what:
            take(conn)
        return original(conn, **what)

    with mock.patch.object(locks, "hold", hold):
        yield


# -- processes that die -------------------------------------------------------------------------


_FORKS = "from tests.support.harness import faults; faults.serve_forks()"


class ForkServer:
    """Runs in processes of their own that may be killed; pganon is imported once for all."""

    def __enter__(self) -> ForkServer:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=LONG)
        self._process.stdout.close()

    @contextmanager
    def stopped(
        self, dsn: str, stop: str, where: str = "step", loaded: LoadedPolicy | None = None
    ) -> Iterator[None]:
        """A run that waits before the step `stop`; killed with SIGKILL when the block ends.

        With `where` "before" or "after", `stop` is a function `module.name` of pganon instead.
        With "comparison" it is a step of one, of candidates with a k of 8 and 12; with "attack"
        one of attacks on a policy.
        """
        pid = self._start(dsn, stop, where, *([loaded.policy.document()] if loaded else []))
        try:
            told = self._read()
            assert told == "reached", f"{stop}: {told}"
            yield
        finally:
            self._kill(pid)

    @contextmanager
    def busy(self, dsn: str, source: str) -> Iterator[None]:
        """A run of the release `slow` from another source; killed when the block ends."""
        pid = self._start(dsn, source, "source")
        try:
            yield
        finally:
            self._kill(pid)

    def _start(self, *words: Any) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return int(self._read())

    def _kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        assert self._read() == "gone"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def serve_forks() -> None:
    """The process behind :class:`ForkServer`: forks once per line on stdin."""
    for line in sys.stdin:
        gate, opened = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(gate, 1)  # the parent has written our number
            _run_child(*json.loads(line))
        _tell(str(pid))
        os.write(opened, b".")
        os.waitpid(pid, 0)
        os.close(gate)
        os.close(opened)
        _tell("gone")


def _run_child(dsn: str, stop: str, where: str, document: dict[str, Any] | None = None) -> None:
    steps.SHARED_FROM = 0  # side by side, however few the records
    try:
        if where == "source":
            slow = policy(
                release="slow", source=stop, trust=["source_owner"], republication="allow"
            )
            run(dsn, slow)
        elif where == "comparison":
            compared(dsn, "k=8,12", before=at(stop, _halt))
        elif where == "attack":
            attacked(dsn, load_policy(json.dumps(document)), before=at(stop, _halt))
        elif where == "step":
            run(dsn, load_policy(json.dumps(document or POLICY)), before=at(stop, _halt))
        else:
            _halt_around(stop, where)
            run(dsn)
        _tell("never reached")
    except BaseException as error:
        _tell(f"{type(error).__name__}: {error}")
    finally:
        time.sleep(LONG)
        os._exit(1)


def _halt_around(function: str, where: str) -> None:
    module_name, name = function.rsplit(".", 1)
    module = importlib.import_module(module_name)
    original = getattr(module, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if where == "before":
            _halt()
        result = original(*args, **kwargs)
        if where == "after":
            _halt()
        return result

    setattr(module, name, wrapped)


def _halt() -> None:
    _tell("reached")
    time.sleep(LONG)


def _tell(text: str) -> None:
    os.write(1, (" ".join(text.split()) + "\n").encode())


def wait_for_statement(conn: Connection, *parts: str) -> None:
    """Wait until another session of pganon is busy with a statement like one of the parts."""

    def busy() -> bool:
        row = conn.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'pganon' AND state = 'active' AND pid <> pg_backend_pid()"
            " AND query LIKE ANY (%s)",
            [[f"%{part}%" for part in parts]],
        ).fetchone()
        return row != (0,)

    wait_until(busy)


def wait_for_backends(conn: Connection) -> None:
    """Wait until no session of pganon is left in the database but this one."""

    def alone() -> bool:
        row = conn.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'pganon' AND pid <> pg_backend_pid()"
        ).fetchone()
        return row == (0,)

    wait_until(alone)


def end(session: Connection, other: Connection) -> None:
    """Close a session, and wait until the server has ended it, which is a while later."""
    gone = "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = %s"
    pid = session.info.backend_pid
    session.close()
    wait_until(lambda: other.execute(gone, [pid]).fetchone() == (True,))


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it does not in a long time."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
