"""What a run tells beside all versions about the same people, judged before it is published."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from pganon import locks
from pganon.encode.source import source_fingerprint
from pganon.errors import LedgerError
from pganon.guard.audiences import MOST
from pganon.guard.model import Memory, Version
from pganon.guard.propagation import limit
from pganon.guard.report import OF_VALUES, figures
from pganon.guard.staged import staged_steps, teller, version_of
from pganon.guard.steps import new_memory
from pganon.guard.words import assumption, sentences
from pganon.plan.build import Plan
from pganon.publish import history, memory, populations
from pganon.publish.memory import EVERYBODY, About, Judged, Remembered
from pganon.published.remembered import is_plain
from pganon.run.apart import Apart, apart, new_readers
from pganon.run.cleanup import run_tables
from pganon.run.computation import Computation
from pganon.run.independent import Together, together
from pganon.run.rebuilding import replay
from pganon.run.tables import drop_tables
from pganon.spec.republication import Republication, beside_people
from pganon.steps import State

Connection = psycopg.Connection[Any]

_REPLAYED = 1000
"""Numbers of memories that are made for one audience."""
_DEFERRED = (MOST + 1) * _REPLAYED
"""Number of the first of those that were left for later."""


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
        self._versions: list[Version] = []
        self._new_readers: tuple[str, ...] = ()
        self._together: Together | None = None

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
        if population is None:
            self._judge([] if self.plan.defers else [self._version(None)])
            return None
        about = self._about(population)
        known = memory.read(self.conn, population)
        memory.check(self.conn, known, about)
        counter = populations.counter(self.conn, population)
        self._check_partitions(population)
        if self.plan.defers and not about:
            return self._deferred(population, counter)
        everybody = next((one for one in known if one.audience == EVERYBODY), None)
        before = tuple(one.run_id for one in about) if everybody is None else everybody.runs
        version = self._version(everybody.memory if everybody else self._due(population, about))
        found = apart(self.conn, self.plan, self.state, about)
        runs = {EVERYBODY: (*before, self.state.run_id)}
        versions = [version]
        if found is not None:
            versions = self._apart(population, found, version, about, known)
            runs |= {one.name: (*one.runs, self.state.run_id) for one in found.seeing}
        elif self.plan.spec.policy.assume:
            versions = self._independent(population, version, about)
        self._judge(versions)
        return Judged(
            population=population,
            counter=counter,
            name=self._name,
            sources=self.sources,
            memories={v.audience: new_memory(v, self.state) for v in versions if not v.independent},
            runs=runs,
            guard=self._entered(version, self._rounds),
            kept=found.kept(known) if found else (),
            readers=found.readers if found else None,
        )

    def _check_partitions(self, population: int) -> None:
        """Refuse what the guard would find no fault with, as versions are not comparable."""
        plan, policy = self.plan, self.plan.spec.policy
        if policy.republication != "refuse" or self._repeats:
            return
        plain = is_plain(plan.spec, plan.method.form)
        for version in history.earlier(self.conn, policy.release, self.sources):
            grows = plan.spec.growth is not None and version.release == policy.release
            comparable = grows or (plain and version.is_plain)
            if version.population == population and not comparable:
                raise beside_people(version, policy)

    @property
    def _repeats(self) -> bool:
        """Whether the run shows the groups of a version again; who grows compares itself apart."""
        known = self.plan.republication
        if known is None:
            return False
        return known.repeated(source_fingerprint(self.plan.spec, self.state.facts)) is not None

    def _deferred(self, population: int, counter: int) -> Judged:
        """Of a first version that is remembered when it has to be."""
        self._judge([])
        entered = {**self._entered(self._version(None), 0), "deferred": True}
        return Judged(population, counter, self._name, self.sources, {}, {}, entered)

    def _due(self, population: int, about: Sequence[About]) -> Memory | None:
        """The memory of versions of which it was left for later; None of no version."""
        executor = self.computation.executor
        return replay(executor, self.conn, population, about, first=_DEFERRED)

    @property
    def _name(self) -> str | None:
        declared = self.plan.spec.policy.population
        return declared.name if declared else None

    @property
    def _rounds(self) -> int:
        """The most that an audience took."""
        return max(figures(one, self.state.facts)["guard_rounds"] for one in self._versions)

    def _about(self, population: int) -> tuple[About, ...]:
        """The versions about the population, with all who could read them until now."""
        about = memory.versions(self.conn, population)
        self._new_readers = new_readers(self.conn, about)
        return memory.versions(self.conn, population) if self._new_readers else about

    def _version(self, before: Memory | None, number: int = 0, audience: str = "") -> Version:
        found = version_of(self.plan.spec, self.plan.method.form, before, number)
        return replace(found, audience=audience)

    def _apart(
        self,
        population: int,
        found: Apart,
        everybody: Version,
        about: Sequence[About],
        known: Sequence[Remembered],
    ) -> list[Version]:
        """For every audience that will have the version; last everybody, who is only measured."""
        versions: list[Version] = []
        for number, one in enumerate(found.seeing, start=1):
            same = next((k.memory for k in known if set(k.runs) == set(one.runs)), None)
            if same is None:
                wanted = [version for version in about if version.run_id in one.runs]
                executor = self.computation.executor
                same = replay(executor, self.conn, population, wanted, first=number * _REPLAYED)
            versions.append(self._version(same, number, one.name))
        rounds = max((limit(version) for version in versions), default=0)
        return [*versions, replace(everybody, republication="allow", rounds=rounds)]

    def _independent(
        self, population: int, everybody: Version, about: Sequence[About]
    ) -> list[Version]:
        """Rules about columns beside versions of the same columns; the others beside all."""
        tell = teller(self.plan.spec, self.plan.method.form)
        found = together(self.computation, tell, population, about)
        self._together = found
        if found is None:
            return [everybody]
        same = replay(
            self.computation.executor, self.conn, population, found.versions, first=_REPLAYED
        )
        own = replace(self._version(same, 1), independent=True)
        rounds = max(limit(own), limit(everybody))
        return [own, replace(everybody, independent=False, rounds=rounds)]

    def _judge(self, versions: Sequence[Version]) -> None:
        self._versions = []
        for version in versions:
            self._versions.append(version)
            self.computation.guard(staged_steps(self.plan.spec, self.plan.method.form, version))

    @property
    def state(self) -> State:
        return self.computation.state

    @property
    def figures(self) -> dict[str, Any]:
        """What all versions together tell the audience whom they tell most."""
        judged = self._judged
        if not judged:
            return {}
        found = [(figures(version, self.state.facts), version.audience) for version in judged]
        worst, audience = max(found, key=lambda one: _told(one[0]))
        if audience != EVERYBODY:
            return {**worst, "guard_audience": audience}
        return worst | self._of_independent

    @property
    def _of_independent(self) -> dict[str, Any]:
        """What versions of the same columns tell, where others are taken to be independent."""
        if self._together is None:
            return {}
        found = figures(self._versions[0], self.state.facts)
        told = {name: found[f"guard_{name}"] for name in OF_VALUES}
        columns = {"columns": self._together.columns, "others": self._together.others}
        return {"guard_independent": {name: list(n) for name, n in columns.items()} | told}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What all versions together leave of the promises, where the policy wants to know."""
        judged = [*self._judged, *(v for v in self._versions if v.independent)]
        warned = [version for version in judged if version.republication == "warn"]
        return (
            *self._new_readers,
            *self._assumed,
            *(
                sentence
                for version in warned
                for sentence in sentences(figures(version, self.state.facts), version.audience)
            ),
        )

    @property
    def _assumed(self) -> Iterator[str]:
        if self._together is not None:
            worst = figures(self._versions[-1], self.state.facts)["guard_worst_probability"]
            yield assumption(self._together.columns, self._together.others, worst)

    @property
    def _judged(self) -> list[Version]:
        """Everybody only where no audience has the version."""
        apart = [version for version in self._versions if version.audience]
        return apart or [version for version in self._versions if not version.independent]

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

    def _entered(self, version: Version, rounds: int) -> dict[str, Any]:
        """How the version enters the memory, for who makes it again."""
        told = teller(self.plan.spec, self.plan.method.form)(self.state)
        return {
            "links": list(told.links),
            "columns": [list(column) for column in told.columns],
            "several": told.several,
            "bounded": sorted(version.bounded),
            "invariant": list(version.invariant),
            "rules": [rule.to_json() for rule in version.rules],
            "rounds": rounds,
            "strongest": version.strongest,
            "figures": self.figures,
        }


def _told(found: dict[str, Any]) -> tuple[float, ...]:
    """By how much more a version tells than another."""
    missed = found["guard_below_k"] + found["guard_above"]
    return (missed, found["guard_worst_probability"] or 0, -(found["guard_smallest_cell"] or 0))


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
