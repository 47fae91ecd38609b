"""A run beside all versions about the same people, judged before it is published."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon import locks
from pganon.encode.known import nobody_forgotten, same_steps
from pganon.encode.source import prints_of, source_fingerprint
from pganon.encode.work import CODED
from pganon.history.check import Rule, rule_steps
from pganon.history.model import New, Past
from pganon.history.readers import Reader, readers_of
from pganon.history.reasons import NO_WAYS, Ways
from pganon.history.value_sets import PERSON, SETS, value_set_steps
from pganon.identifiers import QualifiedName
from pganon.plan.build import Plan, keeping_of, new_of
from pganon.policy.partition import part_hash
from pganon.publish import memory, populations, value_sets
from pganon.publish.memory import FINER, HOLDS, VOID, About, Judged, manner_as_dict
from pganon.publish.people import people_with_rows, rows_of_others
from pganon.publish.value_sets import StagedSets
from pganon.run.admission import Admission, is_finer
from pganon.run.cleanup import run_tables
from pganon.run.computation import Computation
from pganon.run.crossed import crossings
from pganon.run.granted import with_readers
from pganon.run.reading import tells_apart, will_read
from pganon.run.tables import drop_tables
from pganon.spec.model import ReleaseSpec
from pganon.spec.republication import Republication
from pganon.sqltools import query, stacked
from pganon.steps import CreateTable, State
from pganon.steps.relations import PublishedView

Connection = psycopg.Connection[Any]

FUNCTIONS = "functions"
"""Staged table (grp, of) of groups that are a function of other versions."""

_ADMITTED = 1000
"""Number of the first judgement about roles that read earlier groups anew."""


class Judging:
    """The rule over versions, for one run.

    Args:
        population: whom the run is about; None for a dry run about people who are in no version.
        sources: names of the source and of all that its rows come from.
        ways: what there is instead, if the version is refused.
    """

    def __init__(
        self,
        conn: Connection,
        computation: Computation,
        population: int | None,
        sources: tuple[str, ...],
        ways: Ways = NO_WAYS,
    ) -> None:
        self.conn = conn
        self.computation = computation
        self.plan = computation.plan
        self.population = population
        self.sources = sources
        self.ways = ways
        self.figures: dict[str, Any] = {}
        self.warnings: tuple[str, ...] = ()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else judges and publishes a version about these people meanwhile."""
        if self.population is None:
            yield
            return
        with locks.population_lock(self.conn, self.population):
            yield

    def judge(self) -> Judged | None:
        """Hold the version against all others; None of people who are in no version.

        Raises:
            PrivacyRefusal: republication, value_sets.
            LedgerError: memory, what is remembered is missing.
        """
        population, policy = self.population, self.plan.spec.policy
        if population is None:
            return None
        about, self.warnings = with_readers(self.conn, population)
        past = memory.pasts(about)
        memory.check(self.conn, tuple(past.values()))
        counter = populations.counter(self.conn, population)
        if populations.has_forgotten(self.conn, population):
            check = nobody_forgotten(population, lambda state: state.stage("members"))
            self.computation.guard((check,))
        by_reader = policy.audiences == "by_reader"
        roles = will_read(self.conn, self.plan, self.state) if tells_apart(policy, about) else ()
        finer = self._admit(about, past, roles)
        new = self._new()
        refuses = policy.republication == "refuse"
        held = [
            _Held(Rule(replace(new, number=number), earlier), reader)
            for number, (reader, earlier) in enumerate(self._readers(about, past, roles))
        ]
        found = [one for one in held if one.rule.earlier]
        for one in found:
            self.computation.guard(rule_steps(one.rule, refuses=refuses))
        self.figures = {} if refuses else self._together(found)
        crossed = crossings(self.conn, [one.rule for one in found], self.state)
        functions = self._functions(found)
        self.warnings += tuple(self._crossed(found))
        return Judged(
            population=population,
            counter=counter,
            name=policy.population.name if policy.population else None,
            sources=self.sources,
            manner=manner_as_dict(new.manner, new.tables.link, functions=functions is not None),
            over_versions=VOID if crossed else FINER if finer or functions is not None else HOLDS,
            functions=functions,
            sets=self._value_sets(population),
            readers=roles if by_reader else None,
            figures=self.figures,
            crossings=crossed,
        )

    def _readers(
        self, about: Sequence[About], past: dict[int, Past], roles: Sequence[str]
    ) -> list[tuple[Reader, list[Past]]]:
        """Those for whom the version is judged, with all that they have."""
        readers = readers_of(roles, {one.run_id: one.readers for one in about})
        if self.plan.spec.policy.audiences == "everybody":
            # Beside it roles that an earlier version was judged for apart: who has fewer versions
            # has not what a group may be a function of.
            readers = (Reader("", frozenset(past)), *readers)
        return [
            (reader, [one for run, one in past.items() if run in reader.runs]) for reader in readers
        ]

    def _admit(self, about: Sequence[About], past: dict[int, Past], roles: Sequence[str]) -> bool:
        """Groups that are shown again are new to whoever did not have them; whether he has finer
        ones."""
        growth, policy = self.plan.spec.growth, self.plan.spec.policy
        shown = {one.run_id for one in growth.increments} if growth else set[int]()
        shown &= set(past)
        if policy.republication != "refuse" or not shown or not roles:
            return False
        admission = Admission(about, past, frozenset(shown), roles)
        rules = admission.judge(self.computation.guard, first=_ADMITTED)
        return is_finer(rules, self.state)

    def _new(self) -> New:
        spec, state = self.plan.spec, self.state
        found = new_of(self.plan, state)
        drawn = None
        if spec.growth is None:
            drawn = memory.drawn(self.conn, state.run_id, source_fingerprint(spec, state.facts))
        shown = replace(
            found.manner,
            partition_hash=part_hash(spec.partition),
            drawn=drawn,
            layout=_layout(spec, self.plan.stored_views(state)),
        )
        return replace(found, manner=shown, ways=self.ways)

    def _together(self, found: Sequence[_Held]) -> dict[str, Any]:
        """Figures of the reader whom all versions tell most."""
        if not found:
            return {}
        facts = self.state.facts
        worst = min((one.rule for one in found), key=lambda rule: facts[rule.smallest])
        return {
            "guard_shared": facts[worst.shared],
            "guard_smallest": facts[worst.smallest],
            "guard_below_k": facts[worst.below],
        }

    def _crossed(self, found: Sequence[_Held]) -> Iterator[str]:
        if self.plan.spec.policy.republication != "warn":
            return
        for held in found:
            facts = self.state.facts
            refused = held.rule.role_problem(facts) or held.rule.problem(facts)
            if refused is not None:
                whom = f"for {held.reader.name}: " if held.reader.name else ""
                yield (
                    f"{whom}{refused.message}; the guarantees of both versions are void for who has"
                    " both"
                )

    def _functions(self, found: Sequence[_Held]) -> QualifiedName | None:
        """Staged, if there are any."""
        some = [held.rule for held in found if self.state.facts[held.rule.functions]]
        if not some:
            return None
        self.computation.guard(
            (
                CreateTable(
                    FUNCTIONS,
                    "groups that are a function of other versions",
                    lambda s: s.stage(FUNCTIONS),
                    lambda s: query(
                        "select distinct f.grp, f.of from f",
                        {"f": stacked([rule.functions_of(s) for rule in some])},
                    ),
                    analyze=False,
                ),
            )
        )
        return self.state.stage(FUNCTIONS)

    def _value_sets(self, population: int) -> StagedSets | None:
        spec = self.plan.spec
        if not spec.invariant:
            return None
        names = spec.kept_columns
        keeping = keeping_of(self.plan, self.state, value_sets.read(self.conn, population, names))
        self.computation.guard(value_set_steps(keeping))
        return StagedSets(names, self.state.stage(PERSON), self.state.stage(SETS))

    @property
    def state(self) -> State:
        return self.computation.state

    def again(self) -> None:
        """Take away what the last judgement made, for another one."""
        run = f"r{self.state.run_id}"
        names = ("rule", FUNCTIONS, PERSON, SETS, "completed", "value_set_of")
        tables = [
            table
            for table in run_tables(self.conn, self.state.run_id)
            if table.name.startswith(tuple(f"{run}_{name}" for name in names))
        ]
        self.computation.executor.filled.difference_update(tables)
        drop_tables(self.conn, tables)


def _layout(spec: ReleaseSpec, views: Sequence[PublishedView]) -> tuple[tuple[str, ...], ...]:
    """Columns of the source by view; what else a view has follows from the policy."""
    shown = (*spec.attributes, *spec.sensitive, *spec.carried)
    sources = {item.published: item.column.name for item in shown}
    return tuple(
        tuple(sources[column.name] for column in view.columns if column.name in sources)
        for view in views
    )


@dataclass(frozen=True)
class _Held:
    """The rule for a reader."""

    rule: Rule
    reader: Reader


def population_of(
    conn: Connection,
    computation: Computation,
    republication: Republication,
    sources: tuple[str, ...],
) -> int | None:
    """Whom the run is about; None for a dry run about people who are in no version.

    Raises:
        PreconditionError: population, the policy has to say which one it is.
    """
    spec = computation.plan.spec
    twin = republication.same_rows(prints_of(spec, computation.state.facts))
    found = populations.find(conn, spec, sources, twin.population if twin else None)
    if twin is not None and twin.population is not None:
        if found is None or found != twin.population:
            raise rows_of_others(spec, twin)
        held = people_with_rows(conn, found, twin.label)
        computation.guard(same_steps(spec, held, lambda state: state.work(CODED), "twin_people"))
    if found is None and republication.publishes:
        found = populations.make(conn, spec, sources)
    return found


def pasts_of(conn: Connection, plan: Plan, sources: tuple[str, ...]) -> tuple[Past, ...]:
    """All versions about the people of a plan."""
    if not plan.is_remembered:
        return ()
    population = populations.find(conn, plan.spec, sources)
    if population is None:
        return ()
    return tuple(memory.pasts(memory.versions(conn, population)).values())
