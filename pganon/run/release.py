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
from pganon.encode.source import prints_of
from pganon.errors import PrivacyRefusal, UsageError
from pganon.history import populations
from pganon.history.increments.steps import DUE
from pganon.history.versions import HistoryChanged
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.loading import load_policy
from pganon.metrics.reasons import reasons
from pganon.plan.build import Plan, build_plan
from pganon.plan.explain import PUBLISH
from pganon.policy.loader import LoadedPolicy
from pganon.publish import listing, recording, release_state, sessions
from pganon.publish.listing import ReleaseInfo
from pganon.publish.privileges import check_closed, unexpected_readers
from pganon.publish.release_state import Version
from pganon.publish.renewal import Renewal
from pganon.publish.staged import Staged
from pganon.publish.target import check_target
from pganon.publish.views import built_upon
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec
from pganon.run import increments, invariance, staged
from pganon.run.computation import Computation
from pganon.run.context import RunContext, decided
from pganon.run.judgement import Judging, alternatives_of, population_of
from pganon.run.options import Options, connect_run
from pganon.run.probe import with_costs
from pganon.run.publication import Ending
from pganon.run.record import recorded
from pganon.run.resolution import check_trusted, resolve_policy
from pganon.run.result import RunResult, StepSeconds, Totals, result_of
from pganon.run.tables import clean, drop_run
from pganon.run.unchanged import renew, up_to_date
from pganon.run.warnings import warnings_of
from pganon.steps import State
from pganon.steps.facts import RECORDS

Connection = psycopg.Connection[Any]

_JUDGED_AGAIN = 3
"""How often a version is judged that others change the memory for meanwhile."""


def releases(dsn: str | None = None, *, owner: str | None = None) -> list[ReleaseInfo]:
    """Releases that the connecting role may know of: the steward all, others what they read."""
    with contextlib.closing(database.connect(dsn)) as conn, sessions.translated():
        sessions.become_steward(conn, named=owner)
        return listing.releases(conn)


def run_release(
    policy: str | Path | LoadedPolicy,
    *,
    dsn: str | None = None,
    connection: Connection | None = None,
    owner: str | None = None,
    settings: database.Settings = database.RUN_SETTINGS,
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
        return connect_run(dsn, owner=owner, settings=settings, options=options)

    def run(asked: LoadedPolicy, how: Options) -> RunResult:
        return _Run(conn, connect, asked, how).go()

    with contextlib.closing(connect()) as conn, sessions.translated():
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
        self.context: RunContext
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
            release, seed = spec.policy.release, self.options.seed
            with recorded(
                self.conn, release, spec.policy_hash, seed=seed, connect=self.connect
            ) as run_id:
                self.ending.begin(self.conn, run_id)
                result = self._compute(spec, run_id)
                return replace(result, warnings=(*opened, *result.warnings))

    def _opened(self, spec: ReleaseSpec, views: Sequence[QualifiedName]) -> tuple[str, ...]:
        """Warnings of roles that may use the release's views though no policy named them."""
        known = release_state.read(self.conn, spec.policy.release)
        readers = {*spec.readers, *(known.release.readers if known else ())}
        return tuple(
            f"{name} can be used by roles that the policy does not name: {', '.join(roles)}"
            for name, roles in unexpected_readers(self.conn, views, readers)
        )

    def _compute(self, spec: ReleaseSpec, run_id: int) -> RunResult:
        invariance.check_invariant(spec)
        sources = release_state.sources_of(self.conn, spec.source.oid)
        with increments.alone(self.conn, spec, sources):
            context = self.context = decided(self.conn, spec, sources, run_id, self.options)
            plan = context.plan
            computation = Computation(
                self.conn, self.connect, plan, run_id, self.options, context.sources
            )
            self.steps = computation.steps
            growth = context.spec.growth
            if growth is not None:
                ended = self._gather(plan, growth, computation.gather())
                if ended is not None:
                    return ended
        if growth is not None and increments.only_withdraws(computation.state):
            return self._withdraw(computation)
        try:
            with increments.remembering_failure(self.conn, plan, computation):
                ended = self._unchanged(computation)
                if ended is not None:
                    return ended
                judging = self._judging(computation)
                ended = self._committed(computation, judging)
                if ended is not None:
                    return ended
                computation.complete()
        except PrivacyRefusal as refusal:
            if not increments.withdraws_alone(refusal, computation.state):
                raise
            return self._withdraw(computation, (f"nobody was added: {refusal}",))
        return self._ended(computation, judging)

    def _unchanged(self, computation: Computation) -> RunResult | None:
        """The end of a run whose source and policy are those of the version that is shown."""
        plan, state = computation.plan, computation.decide()
        current = up_to_date(self.conn, plan, state, self.options)
        if current is None:
            return None
        invariance.end_unless_there(self.conn, plan.spec, state.run_id)
        return self._renew(plan, *current)

    def _committed(self, computation: Computation, judging: Judging | None) -> RunResult | None:
        """The end of a dry run that would test people; else whom the run tests is kept."""
        if not self.options.dry_run:
            if judging is not None:
                sources = self.context.sources
                invariance.commit(self.conn, computation, judging.population, sources)
            return None
        tested = invariance.tested(computation)
        if not tested:
            return None
        plan, state = computation.plan, computation.state
        totals = Totals(state[RECORDS], 0, 0)
        return self._looked(increments.looked(plan, state, totals, tested))

    def _ended(self, computation: Computation, judging: Judging | None) -> RunResult:
        """Publish what was computed and verified, or say what would be."""
        plan, state = computation.plan, computation.state
        increments.check_columns(plan, state)
        figures, totals = staged.figures(plan, state), staged.totals(plan, state)
        growth = plan.spec.growth
        result = replace(
            result_of(plan, state.run_id, totals),
            verified=figures.verified,
            utility=figures.utility,
            metrics=figures.metrics,
            warnings=warnings_of(plan, state),
            added=increments.added(growth, state) if growth else None,
            increment=figures.increment,
        )
        if self.options.dry_run:
            drawn = self.options.seed is not None
            result = self._tried(plan, state, result, None if drawn else judging)
        else:
            release = staged.staged_release(
                plan,
                state,
                plan.stored_checks(state),
                {**figures.as_dict(totals.records), **staged.left_out(state)},
                prints_of(plan.spec, state.facts),
                self.context.sources,
                self.context.source_mark,
            )
            result = self._judged(judging, release, result)
        # What cannot be removed now is left to the next run.
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, state.run_id)
        return self._finished(result)

    def _gather(self, plan: Plan, growth: Growth, state: State) -> RunResult | None:
        """The end of a run that changes nothing, or only looks."""
        if self.options.dry_run:
            totals = staged.totals(plan, state)
            return self._looked(
                increments.looked(plan, state, totals, increments.added(growth, state))
            )
        if state[DUE] > 0 or increments.only_withdraws(state):
            return None
        if growth.unfinished is not None:
            # Nobody of them is left to test; later newcomers wait no longer.
            recording.finish_cohorts(self.conn, plan.spec.policy.release, state.run_id)
        current = increments.standing(self.conn, plan, growth, state)
        renewed = Renewal(state.run_id, plan.spec.policy, plan.spec.policy_hash, current.views)
        result = self._renew(plan, current, renewed)
        return replace(result, added=increments.added(growth, state))

    def _looked(self, result: RunResult) -> RunResult:
        """The end of a dry run that tests nobody, since nobody may be tested twice."""
        ledger.finish(self.conn, result.run_id, "dry_run")
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, result.run_id)
        return self._finished(result)

    def _withdraw(self, computation: Computation, warnings: tuple[str, ...] = ()) -> RunResult:
        """Publish the newest version without the groups of people who left."""
        sources = self.context.sources
        release, result = staged.withdraw(self.conn, computation, sources, self.context.source_mark)
        growth = computation.plan.spec.growth
        judging = Judging(self.conn, computation, growth.population if growth else None, sources)
        result = self._judged(judging, release, replace(result, warnings=warnings))
        with contextlib.suppress(psycopg.Error):
            drop_run(self.conn, result.run_id)
        return self._finished(result)

    def _judging(self, computation: Computation) -> Judging | None:
        """The rule about groups, for a run about people who can be told apart."""
        if not computation.plan.is_remembered:
            return None
        known, sources = self.context.beside, self.context.sources
        population = population_of(self.conn, computation, known, sources)
        if computation.plan.spec.growth is not None:
            increments.check_population(computation.plan.spec.growth.population, population)
        elif population is not None:
            populations.set_of_run(self.conn, computation.state.run_id, population)
        computation.keep(invariance.signatures_of(self.conn, computation.plan.spec, population))
        alternatives = alternatives_of(computation.plan.spec, known)
        return Judging(self.conn, computation, population, sources, alternatives)

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
                except HistoryChanged:
                    judging.again()
                    continue
                return replace(
                    done,
                    guard=judging.figures,
                    warnings=(*judging.warnings, *done.warnings),
                )
        raise HistoryChanged

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

    def _renew(self, plan: Plan, current: Version, renewed: Renewal) -> RunResult:
        return self._finished(renew(self.conn, self.ending, plan, current, renewed))
