"""Runs the phases of a release up to publication, and reads what they staged."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from sqlglot import exp

from pganon import database
from pganon.encode.people import digest, identity, population_secret
from pganon.encode.work import CODED
from pganon.errors import PganonError, PreconditionError
from pganon.forms.request import Request
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.plan.build import NOTHING_MORE, Plan, build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.publish import release_state
from pganon.run.computation import Computation
from pganon.run.context import resolve_policy
from pganon.run.options import Options, advise_planner
from pganon.run.record import RunResult
from pganon.run.release import run_release
from pganon.sqltools import query, statement
from pganon.steps import State

Connection = psycopg.Connection[Any]
_RUNS = itertools.count(1_000)


@dataclass(frozen=True)
class Staged:
    """A verified release that was not published."""

    conn: Connection
    plan: Plan
    state: State

    @property
    def facts(self) -> Any:
        """What the run observed, by name."""
        return self.state.facts.by_name()

    @property
    def utility(self) -> Any:
        return self.plan.method.form.statistics.utility(self.plan.spec, self.state.facts)

    def table(self, part: str) -> list[dict[str, Any]]:
        """Rows of a staged relation; members by their keys, as a digest does not show."""
        if part == "members" and identity(self.plan.spec) is not None:
            return self._named_members()
        return fetch(self.conn, sql.SQL("SELECT * FROM {}").format(self.name(part)))

    def _named_members(self) -> list[dict[str, Any]]:
        """Who is in which group, by the text of the key; without marks and who was left out."""
        known = identity(self.plan.spec)
        key = exp.column(known, table="c")
        people = query(
            "select distinct :key as key, :person as person from c",
            {"c": self.state.work(CODED)},
            key=key,
            person=digest(key.copy(), population_secret(self.state)),
        )
        rows = query(
            "select distinct to_jsonb(m) - 'marks' || jsonb_build_object('member', p.key) as row"
            " from m join p on p.person = m.member where m.marks is not null",
            {"m": self.state.stage("members"), "p": people},
        )
        return [found["row"] for found in fetch(self.conn, statement(rows))]

    def name(self, part: str) -> sql.Identifier:
        return self.state.stage(part).identifier

    @property
    def classes(self) -> dict[int, dict[str, Any]]:
        """Recoded quasi-identifiers by class number."""
        return {row["class_id"]: row for row in self.table("classes")}

    @property
    def members(self) -> dict[int, set[int]]:
        """Keys of the source records in every class; needs an integer primary key."""
        found: dict[int, set[int]] = {}
        for row in self.table("members"):
            found.setdefault(row["class_id"], set()).add(int(row["member"]))
        return found

    def rows(self, columns: str = "*") -> list[dict[str, Any]]:
        """What the view would show; `columns` is SQL over it."""
        text = f"SELECT {columns} FROM {{}} AS r JOIN {{}} AS c USING (class_id)"
        return fetch(self.conn, sql.SQL(text).format(self.name("records"), self.name("classes")))

    def verified(self, model: str) -> list[float]:
        """What verification measured for a model, per reference distribution."""
        checks = self.plan.stored_checks(self.state)
        return [
            self.facts[f"verified{number}_measured"]
            for number, check in enumerate(checks)
            if check.model == model
        ]


def fetch(conn: Connection, text: sql.Composable) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(text).fetchall()


def run(
    conn: Connection,
    policy: dict[str, Any],
    *,
    seed: int = 1,
    base_dir: Path | None = None,
    request: Request = NOTHING_MORE,
    described: bool = False,
) -> Staged:
    """What a run does between its beginning and its publication.

    `conn` belongs to the owner of pganon; secrets follow from `seed`.

    Args:
        described: with what a report says, which takes a third of the time of a small run. More
            random tables are all described.
    """
    computation = prepared(conn, policy, seed=seed, base_dir=base_dir, request=request)
    computation.walk(*computation.plan.reading)
    computation.walk(*computation.plan.computing)
    if described or "PGANON_TEST_EXAMPLES" in os.environ:
        computation.describe()
    return Staged(conn, computation.plan, computation.state)


def prepared(
    conn: Connection,
    policy: dict[str, Any],
    *,
    seed: int = 1,
    base_dir: Path | None = None,
    request: Request = NOTHING_MORE,
) -> Computation:
    """A run before its first phase."""
    options = Options(metrics=request)
    database.set_up(conn, database.RUN_SETTINGS)
    advise_planner(conn, options)
    spec = resolve_policy(conn, loaded(policy, base_dir))
    run_id = next(_RUNS)
    conn.execute(
        "INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)"
        " VALUES (%s, sha256(%s), %s, %s, %s)",
        [run_id, str(seed).encode(), seed, seed + 1, seed + 2],
    )
    plan = build_plan(spec, request=request)
    sources = release_state.sources_of(conn, *spec.about_people)
    return Computation(conn, _no_other, plan, run_id, options, sources)


def _no_other() -> Connection:
    """A driven run has one connection; further ones are in `integration/run/test_pool.py`."""
    raise PreconditionError("a driven run has one connection")


@contextlib.contextmanager
def refused(code: str | None = None) -> Iterator[list[PganonError]]:
    """Expects an error of pganon with this code; the list holds it afterwards."""
    caught: list[PganonError] = []
    with pytest.raises(PganonError) as raised:
        yield caught
    assert code is None or raised.value.code == code, f"{raised.value.code}: {raised.value}"
    caught.append(raised.value)


def drop_leftovers(conn: Connection) -> None:
    """Drop what driven runs left in the work and staging schemas."""
    tables = conn.execute(
        "SELECT schemaname, tablename FROM pg_tables"
        " WHERE schemaname IN ('pganon_work', 'pganon_stage')"
    ).fetchall()
    if tables:
        names = sql.SQL(", ").join(sql.Identifier(*table) for table in tables)
        conn.execute(sql.SQL("DROP TABLE {}").format(names))


def loaded(policy: dict[str, Any], base_dir: Path | None = None) -> LoadedPolicy:
    return LoadedPolicy(policy_from(policy), None, base_dir or Path.cwd())


def publish(db: Any, policy: dict[str, Any], *, seed: bytes | None = None) -> RunResult:
    """A whole run as `steward`, from the policy to the published view.

    Tests publish unrelated releases over one table and do not test disclosure between them.
    Every run makes a version.
    """
    allowed = policy_from(policy).method.admits("republication", "allow")
    policy = {"republication": "allow" if allowed else "refuse", **policy}
    with secrets(seed):
        return run_release(loaded(policy), dsn=db.dsn("steward"), options=Options(force=True))


@contextlib.contextmanager
def secrets(seed: bytes | None) -> Iterator[None]:
    """Runs of this process derive their secrets from a seed, which only dry runs can be given."""
    if seed is None:
        yield
        return
    start = ledger.start_run

    def started(*arguments: Any, **options: Any) -> int:
        return start(*arguments, **{**options, "seed": seed})

    with mock.patch.object(ledger, "start_run", started):
        yield


def leftovers(db: Any) -> list[str]:
    """Tables in the private work and staging schemas."""
    rows = db.admin.execute(
        "SELECT schemaname || '.' || tablename FROM pg_tables"
        " WHERE schemaname IN ('pganon_work', 'pganon_stage')"
    ).fetchall()
    return [row[0] for row in rows]
