"""One run: from a policy to a published version, or to a refusal that changes nothing.

The order is what makes it safe: names and privileges are checked and the release is locked
before any work; every table is private until the publishing transaction, which comes after
verification; whatever happens is in the ledger, and leftovers are removed here, by the next run
or by `pganon clean`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace

import psycopg

from pganon import locks
from pganon.encode.source import others_of, prints_of
from pganon.encode.weights import weighted_risk
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.confidential import WARNINGS
from pganon.forms.facts import LEAVING
from pganon.history import populations
from pganon.history.increments.continuity import check_columns, check_invariant, check_population
from pganon.history.increments.invariant import WAITING
from pganon.history.increments.steps import COHORTS, DUE
from pganon.history.invariance import signature_tables as signatures
from pganon.history.reasons import alternatives_of
from pganon.history.versions import HistoryChanged
from pganon.ledger import repository as ledger
from pganon.metrics.reasons import reasons
from pganon.plan.build import Plan, build_plan
from pganon.plan.explain import PUBLISH
from pganon.plan.withdrawal import closing, withdrawal
from pganon.policy.loader import LoadedPolicy
from pganon.publish import recording, release_state
from pganon.publish.figures import figures, totals
from pganon.publish.people import population_of
from pganon.publish.privileges import beside, beyond_policy, check_closed, opened
from pganon.publish.release_state import Version
from pganon.publish.staging import Staged, staged_release
from pganon.publish.views import built_upon, check_target
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.periods import closes
from pganon.run.causes import warnings_of
from pganon.run.computation import Computation
from pganon.run.context import RunContext, check_deciders, decided, resolve_policy
from pganon.run.options import Options
from pganon.run.publication import Ending, Judging, publish_judged, renew, standing, up_to_date
from pganon.run.record import Added, RunResult, StepSeconds, Totals, recorded, result_of
from pganon.run.tables import clean, drop_run
from pganon.sqlfiles import Connection
from pganon.steps import State
from pganon.steps.facts import RECORDS


class Pipeline:
    """One run on one connection, which opens further ones by `connect`."""

    def __init__(
        self,
        conn: Connection,
        connect: Callable[[], Connection],
        loaded: LoadedPolicy,
        options: Options,
    ) -> None:
        self.conn = conn
        self.connect = connect
        self.loaded = loaded
        self.options = options
        self.started = time.perf_counter()
        self.steps: list[StepSeconds] = []
        self.context: RunContext
        self.ending = Ending()
        self.opened: tuple[str, ...] = ()

    def run(self) -> RunResult:
        spec = resolve_policy(self.conn, self.loaded)
        with locks.hold(self.conn, release=spec.policy.release):
            return self.run_locked(spec)

    def run_locked(self, spec: ReleaseSpec) -> RunResult:
        """The run of a policy whose release this session holds."""
        self.opened = self.check(spec)
        clean(self.conn)
        self.ending = Ending.of(self.loaded, self.options)
        shared = self.options.snapshot
        with recorded(
            self.conn,
            spec.policy.release,
            spec.policy_hash,
            seed=self.options.seed,
            details={shared.part_of: shared.run_id} if shared else None,
            connect=self.connect,
        ) as run_id:
            self.ending.begin(self.conn, run_id)
            result = self._compute(spec, run_id)
            return replace(result, warnings=(*self.opened, *result.warnings))

    def check(self, spec: ReleaseSpec) -> tuple[str, ...]:
        """Refuse what could not be published; gives warnings."""
        plan = build_plan(spec, request=self.options.metrics)
        views = plan.stored_views(State(0))
        check_deciders(self.conn, self.loaded)
        names, source = [spec.view, *[v.name for v in views[1:]]], str(spec.source.name)
        history = check_target(
            self.conn, spec.policy.release, source, names, spec.readers, spec.roles, spec.trusted
        )
        rights = beyond_policy(self.conn)
        check_closed(rights)
        # What others may do with views and schemas though no policy says so is a warning.
        readers = {*spec.readers, *(history.release.readers if history else ())}
        return (*opened(rights, names, readers), *beside(rights))

    def _compute(self, spec: ReleaseSpec, run_id: int) -> RunResult:
        check_invariant(spec)
        sources = release_state.sources_of(self.conn, *spec.about_people)
        population = populations.that_grows(self.conn, spec, sources)
        with locks.hold(self.conn, population=population):
            context = self.context = decided(self.conn, spec, sources, run_id, self.options)
            plan = context.plan
            computation = Computation(
                self.conn, self.connect, plan, run_id, self.options, context.sources
            )
            self.steps = computation.steps
            growth = context.spec.growth
            if growth is not None:
                ended = self._gather(plan, growth, computation.walk(plan.gathering))
                if ended is not None:
                    return ended
        if growth is not None and closes(computation.state):
            return self._withdraw(computation, closing(computation.plan))
        if growth is not None and _only_withdraws(computation.state):
            return self._withdraw(computation, withdrawal(computation.plan))
        try:
            ended = self._unchanged(computation)
            if ended is not None:
                return ended
            judging = self._judging(computation)
            ended = self._committed(computation, judging)
            if ended is not None:
                return ended
            computation.walk(*computation.plan.computing)
        except PrivacyRefusal as refused:
            refusal = _remembered(self.conn, plan, computation, refused)
            # Groups of removed individuals need not wait for new ones, of whom a cohort may be
            # refused again and again.
            if refusal.code not in _FAILED or not computation.state.facts.get(LEAVING):
                raise refusal from None
            plan = withdrawal(computation.plan)
            return self._withdraw(computation, plan, (f"nobody was added: {refusal}",))
        return self._ended(computation, judging)

    def _unchanged(self, computation: Computation) -> RunResult | None:
        """The end of a run whose source and policy are those of the version that is shown."""
        plan = computation.plan
        state = computation.walk(*plan.reading)
        if self.options.snapshot is not None:
            self.options.snapshot.check(others_of(plan.spec, state.facts))
        current = up_to_date(self.conn, plan, state, self.options)
        if current is None:
            return None
        if plan.resumed is not None and plan.resumed.cohort is not None:
            # Nobody of it remains; later individuals wait no longer.
            recording.finish_cohorts(self.conn, plan.spec.policy.release, state.run_id)
        return self._finished(renew(self.conn, self.ending, plan, state.run_id, *current))

    def _committed(self, computation: Computation, judging: Judging | None) -> RunResult | None:
        """Of an m-invariant version, keep whom the run tests; the end of a dry run that would.

        To look at their values without committing to them would let a steward wait for others.

        Raises:
            HistoryChanged: another run about these people published a version, or committed to
                newcomers.
        """
        plan, conn = computation.plan, self.conn
        spec, resumed = plan.spec, plan.resumed
        if spec.signatures is None:
            return None
        if not self.options.dry_run:
            if judging is None or judging.population is None:
                return None
            with locks.hold(conn, population=judging.population):
                now = signatures.signatures_of(conn, spec, judging.population)
                sources, run_id = self.context.sources, computation.state.run_id
                if (
                    now != spec.signatures
                    or signatures.resumed(conn, spec, sources, run_id) != resumed
                ):
                    raise HistoryChanged
                computation.walk(plan.committing)
            return None
        state = computation.walk(plan.committing)
        if state[DUE] == 0:
            return None  # all else can be tried
        waiting = state[WAITING] if resumed is not None else 0
        added = Added(
            newcomers=state[DUE] + waiting,
            cohorts=state[COHORTS],
            tested=state[DUE],
            released=0,
            suppressed=0,
            waiting=waiting,
        )
        return self._looked(plan, state, Totals(state[RECORDS], 0, 0), added)

    def _ended(
        self,
        computation: Computation,
        judging: Judging | None,
        newest: Version | None = None,
        warnings: tuple[str, ...] | None = None,
    ) -> RunResult:
        """Publish what was computed and verified, or say what would be.

        Args:
            newest: of which nothing but withdrawn groups goes, or to which a period is added.
            warnings: of the run; None: those of its plan.
        """
        plan = computation.plan
        check_columns(plan.spec, computation.state, plan.stored_views(computation.state))
        state = computation.describe()
        statistics, whole = figures(plan, state), totals(plan, state)
        growth = plan.spec.growth
        result = replace(
            result_of(plan, state.run_id, whole),
            verified=statistics.verified,
            utility=statistics.utility,
            metrics=statistics.metrics,
            warnings=warnings_of(plan, state) if warnings is None else warnings,
            added=Added.of(growth, state) if growth else None,
            increment=statistics.increment,
            weighted=None if growth else weighted_risk(state.facts),
        )
        if self.options.dry_run:
            self.options.on_measured(plan, state)
            drawn = self.options.seed is not None
            result = end_dry_run(self.conn, plan, state, result, None if drawn else judging)
        else:
            prints = prints_of(plan.spec, state.facts) if newest is None else newest.prints
            sources, mark = self.context.sources, self.context.source_mark
            release = staged_release(plan, state, statistics, prints, sources, mark)
            if newest is not None and not plan.spec.closes:
                release = replace(release, guarantee=newest.guarantee)
            result = self._publish(judging, release, result)
        # What cannot be removed now is left to the next run.
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, state.run_id)
        return self._finished(result)

    def _gather(self, plan: Plan, growth: Growth, state: State) -> RunResult | None:
        """The end of a run that adds nobody, and of a dry run; None: the run goes on."""
        if self.options.dry_run:
            return self._looked(plan, state, totals(plan, state), Added.of(growth, state))
        if state[DUE] > 0 or _only_withdraws(state) or closes(state):
            return None
        if growth.unfinished is not None:
            # None of them remain to be tested; later individuals wait no longer.
            recording.finish_cohorts(self.conn, plan.spec.policy.release, state.run_id)
        current = standing(self.conn, plan, growth, state)
        run_id, ending = state.run_id, self.ending
        result = renew(self.conn, ending, plan, run_id, current, current.views)
        return self._finished(replace(result, added=Added.of(growth, state)))

    def _looked(self, plan: Plan, state: State, totals: Totals, added: Added) -> RunResult:
        """The end of a dry run that tests nobody, since nobody may be tested twice: who would."""
        result = result_of(plan, state.run_id, totals)
        result = replace(result, outcome="dry_run", added=added)
        ledger.finish(self.conn, result.run_id, "dry_run")
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, result.run_id)
        return self._finished(result)

    def _withdraw(
        self, computation: Computation, plan: Plan, warnings: tuple[str, ...] = ()
    ) -> RunResult:
        """Publish the newest version without the groups of removed individuals, or with a period
        more."""
        before = release_state.read(self.conn, computation.plan.spec.policy.release)
        growth = computation.plan.spec.growth
        assert before is not None  # an individual that was removed was released
        assert growth is not None
        computation.plan = plan
        computation.walk(*plan.computing)
        judging = Judging(self.conn, computation, growth.population, self.context.sources)
        return self._ended(computation, judging, before.versions[0], warnings)

    def _judging(self, computation: Computation) -> Judging | None:
        """The rule about groups, for a run about people who can be told apart."""
        if not computation.plan.is_remembered:
            return None
        versions, sources = self.context.beside, self.context.sources
        spec, facts, walk = computation.plan.spec, computation.state.facts, computation.guard
        people = computation.plan.people
        population = population_of(self.conn, spec, facts, walk, people, versions, sources)
        if spec.growth is not None:
            check_population(spec.growth.population, population)
        elif population is not None:
            populations.set_of_run(self.conn, computation.state.run_id, population)
        if (kept := signatures.signatures_of(self.conn, spec, population)) is not None:
            spec = replace(spec, signatures=kept)
            computation.plan = replace(computation.plan, spec=spec)
        alternatives = alternatives_of(spec, versions)
        return Judging(self.conn, computation, population, sources, alternatives)

    def _publish(self, judging: Judging | None, staged: Staged, result: RunResult) -> RunResult:
        """Publish what may stand beside all versions about the same people."""

        def publish(version: Staged) -> RunResult:
            self.options.on_step("publish", "publish", PUBLISH)
            began = time.perf_counter()
            judged = judging.warnings if judging else ()
            said = {WARNINGS: [*self.opened, *judged, *result.warnings]}
            version = replace(version, measures={**version.measures, **said})
            published = self.ending.publish(self.conn, version, result)
            self.steps.append(StepSeconds("publish", "publish", time.perf_counter() - began, 1))
            return published

        return publish(staged) if judging is None else publish_judged(judging, staged, publish)

    def _finished(self, result: RunResult) -> RunResult:
        seconds = time.perf_counter() - self.started
        return replace(result, seconds=seconds, steps=tuple(self.steps))


def end_dry_run(
    conn: Connection, plan: Plan, state: State, result: RunResult, judging: Judging | None
) -> RunResult:
    """The result of a dry run that computed and verified a release; it is in the ledger then.

    Args:
        judging: the rule about groups; None where nothing is compared with earlier versions.
    """
    dependents = built_upon(conn, result.release, plan.stored_views(state))
    refusal = _refusal(plan, state, judging)
    details = ledger.error_details(refusal) if refusal else {}
    ledger.finish(conn, result.run_id, "dry_run", details)
    utility = plan.method.form.statistics.utility(plan.spec, state.facts)
    return replace(
        result,
        outcome="dry_run",
        dependents=tuple(dependents),
        reasons=reasons(plan.spec, state, utility),
        refusal=refusal.message if refusal else None,
        refusal_hint=refusal.hint if refusal else None,
        guard=judging.figures if judging and refusal is None else {},
    )


def _refusal(plan: Plan, state: State, judging: Judging | None) -> PrivacyRefusal | None:
    """The refusal by which publication of the release would end."""
    republication = plan.republication
    refusal = republication and republication.if_published(prints_of(plan.spec, state.facts))
    if refusal is not None or judging is None:
        return refusal
    try:
        with locks.hold(judging.conn, population=judging.population):
            judging.judge()
    except PrivacyRefusal as refused:
        return refused
    return None


def _only_withdraws(state: State) -> bool:
    """Whether groups go, and nobody is tested."""
    return state[DUE] == 0 and bool(state.facts.get(LEAVING))


_FAILED = (
    *(ErrorCode.INFEASIBLE, ErrorCode.ALL_SUPPRESSED, ErrorCode.TOO_FEW_RECORDS),
    *(ErrorCode.TOO_FEW_HOLDERS, ErrorCode.EVENT_SHARE),
)
"""Codes of refusals that say that the people of all cohorts, as a whole, miss a requirement."""


def _remembered(
    conn: Connection, plan: Plan, computation: Computation, refusal: PrivacyRefusal
) -> PrivacyRefusal:
    """Where all cohorts of a run fail and the limit allows it, people are permanently suppressed.

    Otherwise they stay cohorts, which the next run tests.
    """
    growth, tested = plan.spec.growth, computation.state.facts.get(RECORDS)
    if growth is None or refusal.code not in _FAILED or not tested:
        return refusal
    suppressed = growth.suppressed + tested
    if suppressed > plan.spec.suppression_limit * (growth.released + suppressed):
        return refusal
    release = plan.spec.policy.release
    recording.finish_cohorts(conn, release, computation.state.run_id, tested)
    return PrivacyRefusal(
        f"{refusal}; the {tested} records of these people are permanently suppressed",
        model=refusal.model,
        required=refusal.required,
        observed=refusal.observed,
        hint="later newcomers are tested by the next run",
        code=refusal.code,
    )
