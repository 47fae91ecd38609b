"""One run: from a policy to a published version, or to a refusal that changes nothing.

The order is what makes it safe: names and privileges are checked and the release is locked
before any work; every table is private until the publishing transaction, which comes after
verification; whatever happens is in the ledger, and leftovers are removed here, by the next run
or by `pganon clean`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from pganon import database, locks
from pganon.encode.source import prints_of, source_fingerprint
from pganon.errors import PganonError, PrivacyRefusal, UsageError, translate
from pganon.history import populations
from pganon.history.increments.steps import DUE
from pganon.history.versions import MemoryMoved
from pganon.identifiers import QualifiedName
from pganon.install.owner import become_owner
from pganon.ledger import repository as ledger
from pganon.loading import load_policy
from pganon.metrics.reasons import reasons
from pganon.plan.build import Plan, build_plan
from pganon.plan.explain import PUBLISH
from pganon.policy.loader import LoadedPolicy
from pganon.publish import history, lifecycle, renewal
from pganon.publish.audience import let_in
from pganon.publish.history import Version
from pganon.publish.lifecycle import ReleaseInfo
from pganon.publish.people import people_of
from pganon.publish.privileges import check_closed, unexpected_readers
from pganon.publish.readers import access
from pganon.publish.renewal import Renewal
from pganon.publish.staged import Staged
from pganon.publish.target import check_target
from pganon.publish.transaction import is_intact
from pganon.publish.views import built_upon
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.run import growing, handover, keeping, withdrawing
from pganon.run.admitting import admitted
from pganon.run.cleanup import clean, drop_run, end_dead
from pganon.run.computation import Computation
from pganon.run.costs import with_costs
from pganon.run.ending import Ending, needs_approval
from pganon.run.judging import Judging, population_of
from pganon.run.options import RUN_SETTINGS, Options, advise_planner
from pganon.run.planning import beside
from pganon.run.resolving import check_trusted, resolve_policy
from pganon.run.result import RunResult, StepSeconds, standing_result
from pganon.run.warnings import warnings_of
from pganon.run.ways import ways_of
from pganon.steps import State
from pganon.steps.facts import RECORDS

Connection = psycopg.Connection[Any]

_JUDGED_AGAIN = 3
"""How often a version is judged that others change the memory for meanwhile."""


def releases(dsn: str | None = None, *, owner: str | None = None) -> list[ReleaseInfo]:
    """Releases that the connecting role may know of: the steward all, others what they read."""
    with contextlib.closing(database.connect(dsn)) as conn, lifecycle.translated():
        lifecycle.become_steward(conn, named=owner)
        return lifecycle.releases(conn)


def run_release(
    policy: str | Path | LoadedPolicy,
    *,
    dsn: str | None = None,
    connection: Connection | None = None,
    owner: str | None = None,
    settings: database.Settings = RUN_SETTINGS,
    options: Options | None = None,
) -> RunResult:
    """Compute, verify and publish one release.

    Args:
        connection: says which server, database and login, instead of `dsn`. The run opens
            connections of its own, so this one must not be inside a transaction.
        owner: whose pganon, where it is not the role that logs in.

    Raises:
        UsageError: in_transaction; no_metrics; a seed without a dry run.
        PolicyError: the policy does not fit itself or the source; all problems at once.
        PrivacyRefusal: the guarantee cannot be given; the published version is untouched.
        DatabaseError: the server failed; the published version is untouched.
    """
    loaded = policy if isinstance(policy, LoadedPolicy) else load_policy(policy)
    options = options or Options()
    if options.seed is not None and not options.dry_run:
        raise UsageError(
            "a seed is for dry runs: who knows that of a release knows who is in which group",
            hint="--dry-run",
        )
    if connection is not None:
        dsn = database.dsn_like(connection)

    def connect() -> Connection:
        conn = database.connect(dsn, settings=settings)
        try:
            become_owner(conn, named=owner)
            advise_planner(conn, options)
        except BaseException:
            conn.close()
            raise
        return conn

    def run(asked: LoadedPolicy, how: Options) -> RunResult:
        return _Run(conn, connect, asked, how).go()

    with contextlib.closing(connect()) as conn, lifecycle.translated():
        result = run(loaded, options)
        return with_costs(result, loaded, options, run) if options.costs else result


class _Run:
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
        self.sources: tuple[str, ...] = ()
        self.source_mark: str | None = None
        self.ending = Ending()

    def go(self) -> RunResult:
        spec = resolve_policy(self.conn, self.loaded)
        plan = build_plan(spec, request=self.options.metrics)
        views = plan.stored_views(State(0))
        check_trusted(self.conn, spec.policy.trust)
        with locks.release_lock(self.conn, spec.policy.release):
            check_target(
                self.conn,
                release=spec.policy.release,
                source=str(spec.source.name),
                view=spec.view,
                readers=spec.readers,
                parts=[view.name for view in views[1:]],
                trusted=spec.policy.trust,
            )
            check_closed(self.conn)
            opened = self._opened(spec, [view.name for view in views])
            clean(self.conn)
            self.ending = Ending.of(self.loaded, self.options)
            run_id = ledger.start_run(
                self.conn, spec.policy.release, spec.policy_hash, seed=self.options.seed
            )
            with locks.run_lock(self.conn, run_id):
                try:
                    self.ending.begin(self.conn, run_id)
                    result = self._compute(spec, run_id)
                    return replace(result, warnings=(*opened, *result.warnings))
                except BaseException as error:
                    self._record(run_id, error)
                    raise

    def _opened(self, spec: ReleaseSpec, views: Sequence[QualifiedName]) -> tuple[str, ...]:
        """Warnings of roles that may use the release's views though no policy named them."""
        known = history.read(self.conn, spec.policy.release)
        readers = {*spec.readers, *(known.release.readers if known else ())}
        return tuple(
            f"{name} can be used by roles that the policy does not name: {', '.join(roles)}"
            for name, roles in unexpected_readers(self.conn, views, readers)
        )

    def _record(self, run_id: int, error: BaseException) -> None:
        """Ledger row and clean-up of a failed run, as far as the server can be asked."""
        known = translate(error) if isinstance(error, psycopg.Error) else error
        with contextlib.suppress(psycopg.Error, PganonError):
            if not locks.usable(self.conn):
                # Gone, or an interrupt came between sending a statement and waiting for it.
                self.conn.close()
                with contextlib.closing(self.connect()) as another:
                    end_dead(another, run_id, known)
                return
            # What made the run fail must not keep its end from being recorded.
            self.conn.execute("SET statement_timeout = 0")
            ledger.finish_with(self.conn, run_id, known)
            drop_run(self.conn, run_id)

    def _compute(self, spec: ReleaseSpec, run_id: int) -> RunResult:
        keeping.check_keeping(spec)
        self.sources = history.sources_of(self.conn, spec.source.oid)
        self.source_mark = history.source_mark(self.conn, self.sources)
        with growing.alone(self.conn, spec, self.sources):
            growth = growing.growth_of(self.conn, spec, self.sources, run_id)
            resumed = keeping.resumed(self.conn, spec, self.sources, run_id)
            people = people_of(self.conn, spec, self.sources)
            spec = replace(spec, growth=growth, resumed=resumed, people=people)
            dry = self.options.dry_run
            found = beside(self.conn, spec, self.sources, publishes=not dry)
            apart = self.options.seed is not None or (
                growth is not None and growth.version is not None
            )
            republication = None if apart else found
            refusal = republication and republication.before_work()
            if refusal is not None:
                raise refusal
            plan = build_plan(spec, republication, self.options.metrics, reasoned=dry)
            growing.check_columns(plan, State(0))
            computation = Computation(
                self.conn, self.connect, plan, run_id, self.options, self.sources
            )
            self.steps = computation.steps
            if growth is not None:
                ended = self._gather(plan, growth, computation.gather())
                if ended is not None:
                    return ended
        if growth is not None and growing.only_withdraws(computation.state):
            return self._withdraw(computation)
        try:
            with growing.remembering_failure(self.conn, plan, computation):
                standing = self._standing(plan, computation.decide())
                if standing is not None:
                    keeping.end_unless_there(self.conn, spec, run_id)
                    return self._renew(plan, *standing)
                judging = self._judging(computation, found)
                if judging is not None and not dry:
                    keeping.commit(self.conn, computation, judging.population, self.sources)
                plan = computation.plan
                if dry and (tested := keeping.tested(computation)):
                    totals = handover.Totals(computation.state[RECORDS], 0, 0)
                    return self._looked(growing.looked(plan, computation.state, totals, tested))
                state = computation.complete()
        except PrivacyRefusal as refusal:
            if not growing.withdraws_alone(refusal, computation.state):
                raise
            return self._withdraw(computation, (f"nobody was added: {refusal}",))
        growing.check_columns(plan, state)
        warnings = warnings_of(plan, state)
        figures = handover.figures(plan, state)
        totals = handover.totals(plan, state)
        result = RunResult(
            release=spec.policy.release,
            version=None,
            run_id=run_id,
            view=str(spec.view),
            method=plan.method.name,
            records=totals.records,
            released=totals.released,
            suppressed=totals.suppressed,
            verified=figures.verified,
            utility=figures.utility,
            metrics=figures.metrics,
            unreleased_columns=spec.unreleased,
            warnings=warnings,
            seconds=0.0,
            added=growing.added(growth, state) if growth else None,
            increment=figures.increment,
        )
        if self.options.dry_run:
            drawn = self.options.seed is not None
            result = self._tried(plan, state, result, None if drawn else judging)
        else:
            release = handover.staged(
                plan,
                state,
                plan.stored_checks(state),
                {**figures.as_dict(totals.records), **handover.left_out(state)},
                prints_of(spec, state.facts),
                self.sources,
                self.source_mark,
            )
            result = self._judged(judging, release, result)
        # What cannot be removed now is left to the next run.
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, run_id)
        return self._finished(result)

    def _gather(self, plan: Plan, growth: Growth, state: State) -> RunResult | None:
        """The end of a run that changes nothing, or only looks."""
        if self.options.dry_run:
            totals = handover.totals(plan, state)
            return self._looked(growing.looked(plan, state, totals, growing.added(growth, state)))
        if state[DUE] > 0 or growing.only_withdraws(state):
            return None
        if growth.unfinished is not None:
            # Nobody of them is left to test; later newcomers wait no longer.
            history.finish_cohorts(self.conn, plan.spec.policy.release, state.run_id)
        current = growing.standing(self.conn, plan, growth, state)
        renewed = Renewal(state.run_id, plan.spec.policy, plan.spec.policy_hash, current.views)
        result = self._renew(plan, current, renewed)
        return replace(result, added=growing.added(growth, state))

    def _looked(self, result: RunResult) -> RunResult:
        """The end of a dry run that tests nobody, since nobody may be tested twice."""
        ledger.finish(self.conn, result.run_id, "dry_run")
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, result.run_id)
        return self._finished(result)

    def _withdraw(self, computation: Computation, warnings: tuple[str, ...] = ()) -> RunResult:
        """Publish the newest version without the groups of people who left."""
        staged, result = withdrawing.withdraw(
            self.conn, computation, self.sources, self.source_mark
        )
        growth = computation.plan.spec.growth
        judging = Judging(
            self.conn, computation, growth.population if growth else None, self.sources
        )
        result = self._judged(judging, staged, replace(result, warnings=warnings))
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, result.run_id)
        return self._finished(result)

    def _judging(self, computation: Computation, known: Republication) -> Judging | None:
        """The rule about groups, for a run about people who can be told apart."""
        if not computation.plan.is_remembered:
            return None
        population = population_of(self.conn, computation, known, self.sources)
        if computation.plan.spec.growth is not None:
            growing.check_population(computation.plan.spec.growth.population, population)
        elif population is not None:
            populations.set_of_run(self.conn, computation.state.run_id, population)
        computation.keep(keeping.value_sets_of(self.conn, computation.plan.spec, population))
        ways = ways_of(computation.plan.spec, known)
        return Judging(self.conn, computation, population, self.sources, ways)

    def _judged(self, judging: Judging | None, staged: Staged, result: RunResult) -> RunResult:
        """Publish what may stand beside all versions about the same people."""
        if judging is None:
            return self._publish(staged, result)
        with judging.alone():
            for _ in range(_JUDGED_AGAIN):
                judged = judging.judge()
                told = replace(staged, judged=judged)
                try:
                    done = self._publish(told, result)
                except MemoryMoved:
                    judging.again()
                    continue
                return replace(
                    done,
                    guard=judging.figures,
                    warnings=(*judging.warnings, *done.warnings),
                )
        raise MemoryMoved

    def _publish(self, staged: Staged, result: RunResult) -> RunResult:
        self.options.on_step("publish", "publish", PUBLISH)
        began = time.perf_counter()
        result = self.ending.publish(self.conn, staged, result)
        self.steps.append(StepSeconds("publish", "publish", time.perf_counter() - began, 1))
        return result

    def _tried(
        self, plan: Plan, state: State, result: RunResult, judging: Judging | None
    ) -> RunResult:
        """A dry run ends here, with what publication would refuse."""
        built = built_upon(self.conn, result.release, plan.stored_views(state))
        republication = plan.republication
        refusal = republication and republication.if_published(prints_of(plan.spec, state.facts))
        if judging is not None and refusal is None:
            try:
                with judging.alone():
                    judging.judge()
            except PrivacyRefusal as refused:
                refusal = refused
        details = ledger.error_details(refusal) if refusal else {}
        ledger.finish(self.conn, result.run_id, "dry_run", details)
        return replace(
            result,
            outcome="dry_run",
            dependents=tuple(built),
            reasons=reasons(
                plan.spec, state, plan.method.form.statistics.utility(plan.spec, state.facts)
            ),
            refusal=refusal.message if refusal else None,
            refusal_hint=refusal.hint if refusal else None,
            guard=judging.figures if judging and refusal is None else {},
        )

    def _finished(self, result: RunResult) -> RunResult:
        seconds = time.perf_counter() - self.started
        return replace(result, seconds=seconds, steps=tuple(self.steps))

    def _standing(self, plan: Plan, state: State) -> tuple[Version, Renewal] | None:
        """The version that readers see, if source and policy are those that it was made from."""
        spec, republication = plan.spec, plan.republication
        if self.options.force or self.options.dry_run or republication is None:
            return None
        known = history.read(self.conn, spec.policy.release)
        current = renewal.standing(known, republication, source_fingerprint(spec, state.facts))
        if current is None or not is_intact(self.conn, current):
            return None
        if known and needs_approval(spec.policy, known.release.readers):
            return None
        if known and spec.policy.audiences == "by_reader" and access(known, spec.readers).added:
            return None  # judged with what these have read
        settled = plan.method.form.publication.settled(spec)
        if not settled:  # its columns follow from the data, and these are the same
            return current, Renewal(state.run_id, spec.policy, spec.policy_hash, current.views)
        made = State(current.run_id)
        views, checks = plan.stored_views(made), plan.stored_checks(made)
        if not renewal.says_the_same(views, checks, current):
            return None
        return current, Renewal(state.run_id, spec.policy, spec.policy_hash, views)

    def _renew(self, plan: Plan, current: Version, renewed: Renewal) -> RunResult:
        """Nothing new is published; what the policy says of readers and such is applied."""
        known = history.read(self.conn, plan.spec.policy.release)
        added = let_in(self.conn, known, plan.spec.readers) if known else ()
        with admitted(self.conn, plan.spec.policy, renewed.run_id, current, added) as warnings:
            applied = self.ending.renew(self.conn, renewed)
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, renewed.run_id)
        result = standing_result(plan, current, renewed.run_id, applied)
        return self._finished(replace(result, warnings=(*warnings, *result.warnings)))
