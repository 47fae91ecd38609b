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
from pganon.guard.report import figures
from pganon.guard.staged import staged_steps, teller, version_of
from pganon.guard.steps import new_memory
from pganon.plan.build import Plan
from pganon.publish import history, memory, populations
from pganon.publish.memory import EVERYBODY, About, Judged, Remembered
from pganon.published.remembered import is_plain
from pganon.run.admitting import Admission
from pganon.run.apart import Apart, apart, will_read, with_readers
from pganon.run.cleanup import run_tables
from pganon.run.computation import Computation
from pganon.run.found import Found
from pganon.run.independent import Together, together, was_assumed
from pganon.run.rebuilding import replay
from pganon.run.tables import drop_tables
from pganon.spec.republication import Earlier, Republication, beside_people
from pganon.steps import State

Connection = psycopg.Connection[Any]

_REPLAYED = 1000
"""Numbers of memories that are made for one audience."""
_OF_COLUMNS = MOST + 1
"""What is added to the number of an audience for what versions of the same columns tell it."""
_DEFERRED = 2 * _OF_COLUMNS * _REPLAYED
"""Number of the first of those that were left for later."""
_ADMITTED = _DEFERRED + _REPLAYED
"""Number of the first of those that new readers are judged with."""


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
        self._together: dict[str, Together] = {}

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
        self._together = {}
        about, self._new_readers = with_readers(self.conn, population)
        known = memory.read(self.conn, population)
        memory.check(self.conn, known, about)
        counter = populations.counter(self.conn, population)
        self._check_partitions(population)
        self._admit(population, about)
        if self.plan.defers and not about:
            return self._deferred(population, counter)
        everybody = next((one for one in known if one.audience == EVERYBODY), None)
        before = tuple(one.run_id for one in about) if everybody is None else everybody.runs
        version = self._version(everybody.memory if everybody else self._due(population, about))
        found = apart(self.conn, self.plan, self.state, about)
        runs = {EVERYBODY: (*before, self.state.run_id)}
        if found is not None:
            versions = self._apart(population, found, version, about, known)
            runs |= {one.name: (*one.runs, self.state.run_id) for one in found.seeing}
        else:
            versions = self._beside(population, version, about)
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
        if policy.republication != "refuse" or self._repeated is not None:
            return
        plain = is_plain(plan.spec, plan.method.form)
        for version in history.earlier(self.conn, policy.release, self.sources):
            grows = plan.spec.growth is not None and version.release == policy.release
            comparable = grows or (plain and version.is_plain)
            if version.population == population and not comparable:
                raise beside_people(version, policy)

    def _admit(self, population: int, about: Sequence[About]) -> None:
        """Groups that are shown again are new to whoever did not have them."""
        repeated, growth = self._repeated, self.plan.spec.growth
        again = {repeated.run_id} if repeated else set[int]()
        again |= {one.run_id for one in growth.increments} if growth else set()
        shown = frozenset(version.run_id for version in about if version.run_id in again)
        roles = will_read(self.conn, self.plan, self.state)
        policy = self.plan.spec.policy
        admission = Admission(self.conn, population, about, shown, roles, policy)
        admission.judge(self.computation.executor, first=_ADMITTED)

    @property
    def _repeated(self) -> Earlier | None:
        """The version whose groups the run shows again; who grows compares itself apart."""
        known = self.plan.republication
        if known is None:
            return None
        return known.repeated(source_fingerprint(self.plan.spec, self.state.facts))

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
        """For every audience that will have the version; last everybody, perhaps only measured."""
        versions: list[Version] = []
        for number, one in enumerate(found.seeing, start=1):
            same = next((k.memory for k in known if set(k.runs) == set(one.runs)), None)
            wanted = [version for version in about if version.run_id in one.runs]
            if same is None:
                executor = self.computation.executor
                same = replay(executor, self.conn, population, wanted, first=number * _REPLAYED)
            versions += self._beside(population, self._version(same, number, one.name), wanted)
        if self.plan.spec.policy.audiences == "by_reader":
            last = [replace(everybody, republication="allow")]
        else:
            last = self._beside(population, everybody, about)
        rounds = max(limit(version) for version in (*versions, *last))
        return [*versions, *last[:-1], replace(last[-1], rounds=rounds)]

    def _beside(self, population: int, version: Version, about: Sequence[About]) -> list[Version]:
        """With `assume`, rules about columns beside versions of the same columns alone.

        Versions that took so for granted are held against it if this one makes it untrue.

        Args:
            version: the new one, beside all that its audience has.
            about: what that is.
        """
        policy, number = self.plan.spec.policy, version.number + _OF_COLUMNS
        if not (policy.assume or was_assumed(about)):
            return [version]
        tell = teller(self.plan.spec, self.plan.method.form)
        found = together(self.computation, tell, population, about, number)
        if found is None or not (policy.assume or found.joined):
            return [version]
        same = replay(
            self.computation.executor,
            self.conn,
            population,
            found.versions,
            first=number * _REPLAYED,
            judged=1 if found.joined and version.republication == "refuse" else None,
            name=version.audience,
            independent=True,
        )
        if not policy.assume:
            return [version]
        self._together[version.audience] = found
        own = replace(self._version(same, number, version.audience), independent=True)
        rounds = max(limit(own), limit(version))
        return [own, replace(version, independent=False, rounds=rounds)]

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
        return self._found.figures

    @property
    def warnings(self) -> tuple[str, ...]:
        """What all versions together leave of the promises, where the policy wants to know."""
        return (*self._new_readers, *self._found.warnings)

    @property
    def _found(self) -> Found:
        everybody = self.plan.spec.policy.audiences == "everybody"
        return Found(self._versions, self.state, self._together, everybody)

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
