"""Runs of releases under m-invariance: signatures of people, and cohorts of new individuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from pganon import locks, sqlfiles
from pganon.encode.people import identity
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.history import populations
from pganon.history.increments.invariant import WAITING
from pganon.history.increments.steps import COHORTS, DUE
from pganon.history.invariance import stored as stored_signatures
from pganon.history.versions import HistoryChanged
from pganon.plan.build import Plan
from pganon.publish import recording
from pganon.resolved.increments import cohorts_table
from pganon.resolved.invariance import Resumed, Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.run.computation import Computation
from pganon.run.record import Added

Connection = psycopg.Connection[Any]


def check_invariant(spec: ReleaseSpec) -> None:
    """Refuse to keep signatures of people whom nothing tells apart.

    Raises:
        PreconditionError: no_identity.
    """
    if spec.invariant and identity(spec) is None:
        raise PreconditionError(
            f"{spec.source.name} has no key, so nobody can tell who was released before",
            hint="declare `individual`, or give the table a primary key",
            code=ErrorCode.NO_IDENTITY,
        )


def signatures_of(conn: Connection, spec: ReleaseSpec, population: int | None) -> Signatures | None:
    """The signatures that people of a population were released with.

    Raises:
        LedgerError: memory.
    """
    if not spec.invariant or population is None:
        return None
    return stored_signatures.read(conn, population, spec.invariant_columns)


def resumed(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], run_id: int
) -> Resumed | None:
    """New individuals of cohorts on which no version decided; None without any.

    The digests of the run become those of its population.

    Raises:
        PreconditionError: population.
        LedgerError: memory.
    """
    population = populations.find(conn, spec, sources) if spec.invariant else None
    if population is None:
        return None
    values = {"release": spec.policy.release, "population": population}
    rows = conn.execute(sqlfiles.query("publish", "unfinished_cohorts"), values).fetchall()
    signatures = signatures_of(conn, spec, population) if rows else None
    if signatures is None:
        return None
    populations.set_of_run(conn, run_id, population)
    mine = [cohorts_table(run) for run, is_mine in rows if is_mine]
    others = tuple(cohorts_table(run) for run, is_mine in rows if not is_mine)
    return Resumed(signatures, mine[0] if mine else None, others)


def commit(
    conn: Connection, computation: Computation, population: int | None, sources: Sequence[str]
) -> None:
    """Keep whom the run tests, unless another run about these people was quicker.

    Raises:
        HistoryChanged: it published a version, or committed to newcomers.
    """
    spec, run_id = computation.plan.spec, computation.state.run_id
    if spec.signatures is None or population is None:
        return
    with locks.hold(conn, population=population):
        same = signatures_of(conn, spec, population) == spec.signatures
        if not same or resumed(conn, spec, sources, run_id) != computation.plan.resumed:
            raise HistoryChanged
        computation.commit()


def tested(computation: Computation) -> Added | None:
    """Whom a dry run would test; None if nobody, so that all else can be tried.

    To look at their values without committing to them would let a steward wait for others.
    """
    spec = computation.plan.spec
    if spec.signatures is None:
        return None
    state = computation.commit()
    if state[DUE] == 0:
        return None
    waiting = state[WAITING] if computation.plan.resumed is not None else 0
    return Added(
        newcomers=state[DUE] + waiting,
        cohorts=state[COHORTS],
        tested=state[DUE],
        released=0,
        suppressed=0,
        waiting=waiting,
    )


def end_unless_there(conn: Connection, plan: Plan, run_id: int) -> None:
    """End the cohort of a run whose source is that of a version: nobody of it remains, and later
    individuals wait no longer."""
    if plan.resumed is not None and plan.resumed.cohort is not None:
        recording.finish_cohorts(conn, plan.spec.policy.release, run_id)
