"""The rule about groups, checked before a version is published beside others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from pganon import locks
from pganon.encode.known import nobody_forgotten, same_steps
from pganon.encode.source import prints_of, source_fingerprint
from pganon.encode.work import CODED
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.invariance import stored as signatures
from pganon.history.invariance.signatures import SIGNATURE_VALUES, SIGNATURES, signature_steps
from pganon.history.invariance.stored import StagedSignatures
from pganon.history.model import EarlierVersion, NewVersion
from pganon.history.reasons import NO_ALTERNATIVES, Alternatives
from pganon.history.versions import HistoryChanged, Judgement, PastVersion, manner_as_dict
from pganon.plan.build import Plan
from pganon.plan.compared import invariant_version, new_version
from pganon.policy.model import Policy
from pganon.policy.over_time import over_time_refusals
from pganon.policy.partition import part_hash
from pganon.publish.people import people_with_rows, rows_of_others
from pganon.publish.staged import Staged
from pganon.resolved.growth import increment_refusals
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.run.admission import Admission, tells_apart, will_read
from pganon.run.computation import Computation
from pganon.run.grants import with_readers
from pganon.run.record import RunResult
from pganon.run.verdict import finer_k, forget_judgement, held_for, hold
from pganon.steps import State
from pganon.steps.relations import PublishedView

Connection = psycopg.Connection[Any]

_ATTEMPTS = 3
"""How often a version is checked again because others published about the same people."""

_ADMITTED = 1000
"""Number of the first judgement about roles that read earlier groups anew."""


class Judging:
    """The rule over versions, for one run.

    Args:
        population: whom the run is about; None for a dry run about people who are in no version.
        sources: names of the source and of all that its rows come from.
        alternatives: possible releases instead, if the version is refused.
    """

    def __init__(
        self,
        conn: Connection,
        computation: Computation,
        population: int | None,
        sources: tuple[str, ...],
        alternatives: Alternatives = NO_ALTERNATIVES,
    ) -> None:
        self.conn = conn
        self.computation = computation
        self.plan = computation.plan
        self.population = population
        self.sources = sources
        self.alternatives = alternatives
        self.figures: dict[str, Any] = {}
        self.warnings: tuple[str, ...] = ()

    def judge(self) -> Judgement | None:
        """Hold the version against all others; None of people who are in no version.

        Raises:
            PrivacyRefusal: republication, value_sets.
            LedgerError: memory, what is remembered is missing.
        """
        population, policy = self.population, self.plan.spec.policy
        if population is None:
            return None
        about, self.warnings = with_readers(self.conn, population)
        past = memory.earlier_versions(about)
        memory.check_tables(self.conn, tuple(past.values()))
        counter = populations.counter(self.conn, population)
        if populations.has_forgotten(self.conn, population):
            check = nobody_forgotten(population, lambda state: state.stage("members"))
            self.computation.guard((check,))
        by_reader = policy.audiences == "by_reader"
        roles = will_read(self.conn, self.plan, self.state) if tells_apart(policy, about) else ()
        gained = self._admit(about, past, roles)
        new = self._new()
        verdict = hold(
            self.conn,
            self.computation.guard,
            lambda: self.state,
            held_for(policy, new, about, past, roles),
            policy,
        )
        promised = [k for k in (gained, verdict.finer_k) if k is not None]
        verdict = replace(verdict, finer_k=min(promised, default=None))
        self.figures = verdict.figures
        self.warnings += verdict.warnings
        return Judgement(
            population=population,
            counter=counter,
            name=policy.population.name if policy.population else None,
            sources=self.sources,
            manner=manner_as_dict(
                new.manner, new.tables.link, functions=verdict.functions is not None
            ),
            over_versions=verdict.over_versions,
            finer_k=verdict.finer_k,
            functions=verdict.functions,
            signatures=self._signatures(population),
            readers=roles if by_reader else None,
            figures=verdict.figures,
            crossings=verdict.crossings,
        )

    def _admit(
        self,
        about: Sequence[PastVersion],
        past: dict[int, EarlierVersion],
        roles: Sequence[str],
    ) -> int | None:
        """Groups that are shown again are new to whoever did not have them; what finer ones that
        he has promise."""
        growth, policy = self.plan.spec.growth, self.plan.spec.policy
        shown = {one.run_id for one in growth.increments} if growth else set[int]()
        shown &= set(past)
        if policy.republication != "refuse" or not shown or not roles:
            return None
        admission = Admission(about, past, frozenset(shown), roles)
        rules = admission.judge(self.computation.guard, first=_ADMITTED)
        return finer_k(self.conn, rules, self.state)

    def _new(self) -> NewVersion:
        spec, state = self.plan.spec, self.state
        version = new_version(spec, self.plan.method.form, state)
        drawn = None
        if spec.growth is None:
            drawn = memory.drawn(self.conn, state.run_id, source_fingerprint(spec, state.facts))
        shown = replace(
            version.manner,
            partition_hash=part_hash(spec.partition),
            drawn=drawn,
            layout=_layout(spec, self.plan.stored_views(state)),
        )
        return replace(version, manner=shown, alternatives=self.alternatives)

    def _signatures(self, population: int) -> StagedSignatures | None:
        spec = self.plan.spec
        if not spec.invariant:
            return None
        names = spec.invariant_columns
        before = signatures.read(self.conn, population, names)
        keeping = invariant_version(spec, self.plan.method.form, self.state, before)
        self.computation.guard(signature_steps(keeping))
        return StagedSignatures(
            names, self.state.stage(SIGNATURES), self.state.stage(SIGNATURE_VALUES)
        )

    @property
    def state(self) -> State:
        return self.computation.state

    def again(self) -> None:
        """Take away what the last judgement made, for another one."""
        gone = forget_judgement(self.conn, self.state.run_id)
        self.computation.executor.filled.difference_update(gone)


def publish_judged(
    judging: Judging, staged: Staged, publish: Callable[[Staged], RunResult]
) -> RunResult:
    """Publish what the rule about groups allows, under the lock of the population.

    Raises:
        PrivacyRefusal, LedgerError: see :meth:`Judging.judge`.
        MemoryMoved: others changed the history of the people each time.
    """
    with locks.hold(judging.conn, population=judging.population):
        for _ in range(_ATTEMPTS):
            judgement = judging.judge()
            try:
                result = publish(replace(staged, judged=judgement))
            except HistoryChanged:
                judging.again()
                continue
            warnings = (*judging.warnings, *result.warnings)
            return replace(result, guard=judging.figures, warnings=warnings)
    raise HistoryChanged


def _layout(spec: ReleaseSpec, views: Sequence[PublishedView]) -> tuple[tuple[str, ...], ...]:
    """Columns of the source by view; what else a view has follows from the policy."""
    shown = (*spec.attributes, *spec.sensitive, *spec.carried)
    sources = {item.published: item.column.name for item in shown}
    return tuple(
        tuple(sources[column.name] for column in view.columns if column.name in sources)
        for view in views
    )


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
    prints, grows = prints_of(spec, computation.state.facts), spec.growth is not None
    # An increment reads new individuals, who may have rows like those of others before.
    twin = republication.copied(prints) if grows else republication.same_rows(prints)
    population = populations.find(conn, spec, sources, twin.population if twin else None)
    if twin is not None and twin.population is not None:
        if population is None or population != twin.population:
            raise rows_of_others(spec, twin)
        if not grows:
            expected = people_with_rows(conn, population, twin.label)
            computation.guard(
                same_steps(spec, expected, lambda state: state.work(CODED), "twin_people")
            )
    if population is None and republication.publishes:
        population = populations.make(conn, spec, sources)
    return population


def pasts_of(conn: Connection, plan: Plan, sources: tuple[str, ...]) -> tuple[EarlierVersion, ...]:
    """All versions about the people of a plan."""
    if not plan.is_remembered:
        return ()
    population = populations.find(conn, plan.spec, sources)
    if population is None:
        return ()
    return tuple(memory.earlier_versions(memory.versions_about(conn, population)).values())


def alternatives_of(spec: ReleaseSpec, republication: Republication) -> Alternatives:
    """Of a release of people who can be told apart."""
    policy = spec.policy
    return Alternatives(
        increments=policy.refresh != "increments" and _can_grow(spec),
        invariant=policy.refresh != "invariant" and _can_keep(policy),
        same=_under_another_policy(republication),
        accepts=policy.method.admits("republication", "allow"),
    )


def _can_grow(spec: ReleaseSpec) -> bool:
    """But for the size of an increment, which can be given."""
    policy = spec.policy.model_copy(
        update={"refresh": "increments", "increment_size": spec.minimum_size}
    )
    return not any(increment_refusals(replace(spec, policy=policy)))


def _can_keep(policy: Policy) -> bool:
    given = {**dict(policy), "refresh": "invariant"}
    # A refusal names the methods that can, which imports all of them.
    supported = "invariant" in policy.method.supports
    return supported and not any(over_time_refusals(policy.registry, given, policy.method))


def _under_another_policy(republication: Republication) -> str | None:
    """Beside a version under the same policy the source has changed, or it would be repeated."""
    comparable = (one for one in republication.earlier if one.partition_hash is not None)
    nearest = next(comparable, None)
    return nearest.label if nearest and not republication.candidates else None
