"""What a run tells beside all versions about the same people, judged before it is published."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import LedgerError
from pganon.guard.model import Memory, Version
from pganon.guard.report import figures
from pganon.guard.staged import staged_steps, teller, version_of
from pganon.guard.steps import new_memory
from pganon.guard.words import sentences
from pganon.plan.build import Plan
from pganon.publish import memory, populations
from pganon.publish.memory import EVERYBODY, Judged
from pganon.run.cleanup import run_tables
from pganon.run.computation import Computation
from pganon.run.tables import drop_tables
from pganon.spec.republication import Republication
from pganon.steps import State

Connection = psycopg.Connection[Any]


class Judging:
    """The guard of one run.

    Args:
        population: whom the run is about; None for a dry run about people who are in no version.
        sources: names of the source and of all that its rows come from.
    """

    def __init__(
        self,
        conn: Connection,
        computation: Computation,
        population: int | None,
        sources: tuple[str, ...],
    ) -> None:
        self.conn = conn
        self.computation = computation
        self.plan = computation.plan
        self.population = population
        self.sources = sources
        self._version: Version | None = None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else judges and publishes a version about these people meanwhile."""
        if self.population is None:
            yield
            return
        with locks.population_lock(self.conn, self.population):
            yield

    def judge(self) -> Judged | None:
        """Make the new memory, staged; None for a dry run about people who are in no version.

        Raises:
            PrivacyRefusal: republication, all versions together tell too much.
            LedgerError: memory, what is remembered is missing or was changed.
        """
        population = self.population
        about = memory.versions(self.conn, population) if population is not None else ()
        known = memory.read(self.conn, population) if population is not None else ()
        memory.check(self.conn, known, about)
        before = next((one for one in known if one.audience == EVERYBODY), None)
        counter = populations.counter(self.conn, population) if population is not None else 0
        spec, form = self.plan.spec, self.plan.method.form
        version = version_of(spec, form, before.memory if before else None)
        self._version = version
        self.computation.guard(staged_steps(spec, form, version))
        if population is None:
            return None
        declared = spec.policy.population
        return Judged(
            population=population,
            counter=counter,
            name=declared.name if declared else None,
            sources=self.sources,
            memories={EVERYBODY: new_memory(version, self.state)},
            runs={EVERYBODY: (*(before.runs if before else ()), self.state.run_id)},
            guard=self._entered(version),
        )

    @property
    def state(self) -> State:
        return self.computation.state

    @property
    def figures(self) -> dict[str, Any]:
        """What all versions tell together, as far as it was measured."""
        return figures(self._version, self.state.facts) if self._version else {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What all versions together leave of the promises, where the policy wants to know."""
        if self._version is None or self._version.republication != "warn":
            return ()
        return tuple(sentences(self.figures))

    def again(self) -> None:
        """Take away what the last judgement made, for another one."""
        run = f"r{self.state.run_id}"
        tables = [
            table
            for table in run_tables(self.conn, self.state.run_id)
            if table.name.startswith((f"{run}_guard", f"{run}_told"))
        ]
        self.computation.executor.filled.difference_update(tables)
        drop_tables(self.conn, tables)

    def _entered(self, version: Version) -> dict[str, Any]:
        """How the version enters the memory, for who makes it again."""
        told = teller(self.plan.spec, self.plan.method.form)(self.state)
        return {
            "links": list(told.links),
            "columns": [list(column) for column in told.columns],
            "several": told.several,
            "bounded": sorted(version.bounded),
            "invariant": version.invariant,
            "rules": [rule.to_json() for rule in version.rules],
            "rounds": self.figures["guard_rounds"],
            "strongest": version.strongest,
            "figures": self.figures,
        }


def population_of(
    conn: Connection,
    plan: Plan,
    republication: Republication,
    sources: tuple[str, ...],
    source_fingerprint: bytes,
) -> int | None:
    """Whom the run is about; None for a dry run about people who are in no version.

    Raises:
        PreconditionError: population, the policy has to say which one it is.
        LedgerError: memory, a version over the source was published by an earlier pganon.
    """
    older = next((v for v in republication.earlier if not v.is_known), None)
    if older is not None:
        raise LedgerError(
            f"{older.label} was published by an earlier pganon and is not in what is remembered of"
            " its people",
            hint="make that with `pganon guard POLICY --rebuild`",
            code=memory.CODE,
        )
    copied = republication.copied(source_fingerprint)
    found = populations.find(conn, plan.spec, sources, copied.population if copied else None)
    if found is None and republication.publishes:
        found = populations.make(conn, plan.spec, sources)
    return found


def remembered(conn: Connection, plan: Plan, sources: tuple[str, ...]) -> Memory | None:
    """What is remembered of the people of a plan now."""
    if not plan.is_remembered:
        return None
    population = populations.find(conn, plan.spec, sources)
    known = memory.read(conn, population) if population is not None else ()
    return next((one.memory for one in known if one.audience == EVERYBODY), None)
