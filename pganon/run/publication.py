"""How a run ends: published at once, held for approval, or found to be what there is.

What a request becomes is written in the transaction that ends the run, so a worker that lost its
request meanwhile publishes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon import locks
from pganon.applied.check import check
from pganon.applied.store import read, store
from pganon.catalog.roles import unchanged as unchanged_roles
from pganon.encode.earlier_people import nobody_forgotten
from pganon.encode.source import averaged_print, source_fingerprint
from pganon.encode.weights import OF_RELEASE
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.group_data import GROUPS
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.increments.steps import NEW_INDIVIDUALS
from pganon.history.invariance import signature_tables as signatures
from pganon.history.invariance.signature_tables import StagedSignatures
from pganon.history.invariance.signatures import SIGNATURE_VALUES, SIGNATURES, signature_steps
from pganon.history.judgement import FUNCTIONS, Verdict, judge, tells_apart
from pganon.history.model import GroupTables, NewVersion
from pganon.history.reasons import NO_ALTERNATIVES, Alternatives
from pganon.history.versions import (
    HistoryChanged,
    Judgement,
    PastVersion,
    manner_as_dict,
    manner_of,
)
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.plan.build import Plan, invariant_version, new_version
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.policy.partition import part_hash, shown_part
from pganon.policy.requests import Approval
from pganon.publish import held, recording, release_state, views
from pganon.publish.listing import find
from pganon.publish.privileges import granted, new_readers, roles_of
from pganon.publish.readers import reader_change, set_readers
from pganon.publish.release_state import History, Version
from pganon.publish.staging import Staged
from pganon.publish.transaction import (
    PublishedVersion,
    is_intact,
    publish,
    publishing,
    retire,
    show_version,
)
from pganon.requests.claim import Claim, finish, still_mine, superseded
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import same_source
from pganon.run.computation import Computation
from pganon.run.executor import Executor
from pganon.run.grants import admitted, with_readers
from pganon.run.options import Ended, OnEnd, Options
from pganon.run.record import RunResult, unchanged_result
from pganon.run.tables import drop_run, drop_tables, run_tables
from pganon.sqlfiles import Connection, ask
from pganon.steps import State
from pganon.steps.relations import PublishedView


@dataclass(frozen=True)
class Ending:
    """How a run ends: under which policy, and for which request.

    Attributes:
        loaded: its policy; None for a dry run, which stores nothing.
        revision: of the policy in the database; None: it is stored when the run ends well.
        claim: the request that it serves.
    """

    loaded: LoadedPolicy | None = None
    revision: int | None = None
    claim: Claim | None = None
    on_end: OnEnd = lambda ended: None

    @classmethod
    def of(cls, loaded: LoadedPolicy, options: Options) -> Ending:
        if options.dry_run:
            return cls()
        revision = options.claim.revision if options.claim else options.revision
        return cls(loaded, revision, options.claim, options.on_end)

    @property
    def approval(self) -> Approval | None:
        """Whose agreement publication needs."""
        return self.loaded.policy.publish.approval if self.loaded else None

    def begin(self, conn: Connection, run_id: int) -> None:
        """Note the run in its request.

        Raises:
            Lost: the request is not this worker's any more.
        """
        if self.claim:
            still_mine(conn, self.claim, run_id=run_id)

    def publish(self, conn: Connection, staged: Staged, result: RunResult) -> RunResult:
        """Publish a verified release, or hold it for approval."""
        if self.approval is None:

            def published(version: PublishedVersion) -> None:
                end_published(conn, version, self.claim)
                self._kept(conn)
                self.on_end(Ended(conn, version.version, made=True))

            done = publish(conn, staged, last=published)
            return replace(result, version=done.version, dependents=done.dependents)
        request = held.hold(
            conn,
            staged,
            self.approval,
            self.claim,
            lambda: self._kept(conn),
            lambda request: self.on_end(Ended(conn, None, made=True, request=request)),
        )
        return replace(result, outcome="awaiting_approval", request=request)

    def left(self, conn: Connection, version: int) -> None:
        """The version that there is stays; in the transaction that says so."""
        if self.claim:
            finish(conn, self.claim, "unchanged", version=version)
        self._kept(conn)
        self.on_end(Ended(conn, version, made=False))

    def _kept(self, conn: Connection) -> int:
        """The revision of the policy, which is stored if it came from a file."""
        if self.revision is not None:
            return self.revision
        assert self.loaded is not None  # a dry run publishes nothing
        release = self.loaded.policy.release
        stored = read(conn, release, store(conn, self.loaded))
        if stored.checked_at is None:
            check(conn, stored.release, stored.revision, stored=stored)
        return stored.revision


def end_published(conn: Connection, version: PublishedVersion, claim: Claim | None) -> None:
    """End the requests that a publication serves or supersedes; in its transaction.

    Raises:
        Lost: the request is not this worker's any more.
    """
    if claim:
        finish(conn, claim, "released", version=version.version)
    for request, run_id in superseded(conn, version.release, version.run_id):
        note_superseded(conn, version.release, request, run_id, version.version)


def note_superseded(
    conn: Connection, release: str, request: int, run_id: int, version: int
) -> None:
    """A release that waited for approval was overtaken by a version."""
    ledger.append(
        conn,
        "superseded",
        run_id=run_id,
        release=release,
        details={"request": request, "by_version": version},
    )


def judged_again(conn: Connection, staged: Staged) -> Staged:
    """The same version with what it tells beside all others now; under the population's lock.

    What a version that grows or is m-invariant adds to may be another one by now, so it is made
    again.

    Raises:
        PrivacyRefusal: republication; the ledger has the reason.
        HistoryChanged: see above.
        LedgerError: memory.
    """
    judged = staged.judged
    if judged is None or populations.counter(conn, judged.population)[0] == judged.counter:
        return staged
    if staged.increments or judged.signatures is not None:
        raise HistoryChanged
    drop_tables(conn, judged.tables)
    try:
        return replace(staged, judged=_judged_now(conn, staged, judged))
    except PrivacyRefusal as refusal:
        ledger.append(
            conn,
            "refused",
            run_id=staged.run_id,
            release=staged.release,
            policy_hash=staged.policy_hash,
            details=ledger.error_details(refusal),
        )
        raise
    finally:
        drop_tables(conn, run_tables(conn, staged.run_id))


def _judged_now(conn: Connection, staged: Staged, judged: Judgement) -> Judgement:
    policy = policy_from(staged.policy)
    counter, _ = populations.counter(conn, judged.population)
    about, _ = with_readers(conn, judged.population)
    roles = _will_read(conn, policy, about, staged.readers, staged.views)
    drawn = memory.drawn(conn, staged.run_id, staged.prints.source)
    manner = manner_of(staged.run_id, judged.manner, part_hash(staged.partition), drawn)
    state = State(staged.run_id)
    tables = GroupTables(state.stage("members"), state.stage(GROUPS), judged.manner["link"])
    walk = Executor(conn, state).run
    verdict = judge(conn, walk, policy, NewVersion(manner, tables), about, roles)
    return replace(
        judged,
        counter=counter,
        manner={**judged.manner, "functions": verdict.functions is not None},
        **_found(policy, verdict, roles),
    )


def _found(policy: Policy, verdict: Verdict, roles: tuple[str, ...]) -> dict[str, Any]:
    """What the verdict says in a :class:`Judgement`."""
    return {
        "over_versions": verdict.over_versions,
        "finer_k": verdict.finer_k,
        "functions": verdict.functions,
        "readers": roles if policy.audiences == "by_reader" else None,
        "figures": verdict.figures,
        "crossings": verdict.crossings,
    }


def _will_read(
    conn: Connection,
    policy: Policy,
    about: Sequence[PastVersion],
    readers: Iterable[str],
    views: Sequence[PublishedView],
) -> tuple[str, ...]:
    """Roles that will be able to read a version with these views, where they are told apart."""
    if not tells_apart(policy, about):
        return ()
    return roles_of(conn, {*readers, *granted(conn, [view.name for view in views])})


_ATTEMPTS = 3
"""How often a version is checked again because others published about the same people."""


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
        conn, plan, walk = self.conn, self.plan, self.computation.guard
        about, self.warnings = with_readers(conn, population)
        counter, forgotten = populations.counter(conn, population)
        if forgotten:
            walk((nobody_forgotten(population, lambda state: state.stage("members")),))
        roles = _will_read(conn, policy, about, plan.spec.readers, plan.stored_views(self.state))
        growth, new = plan.spec.growth, self._new()
        again = [one.run_id for one in growth.increments] if growth else ()
        verdict = judge(conn, walk, policy, new, about, roles, again)
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
            signatures=self._signatures(population),
            **_found(policy, verdict, roles),
        )

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
        run_id = self.state.run_id
        names = ("rule", FUNCTIONS, SIGNATURES, SIGNATURE_VALUES, "completed", "value_set_of")
        made = tuple(f"r{run_id}_{name}" for name in names)
        gone = [table for table in run_tables(self.conn, run_id) if table.name.startswith(made)]
        drop_tables(self.conn, gone)
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
    shown = (*spec.attributes, *spec.sensitive, *spec.carried, *spec.microaggregated)
    sources = {item.published: item.column.name for item in shown}
    return tuple(
        tuple(sources[column.name] for column in view.columns if column.name in sources)
        for view in views
    )


# -- runs that make nothing new, as readers see already what they would make ----------------------


def up_to_date(
    conn: Connection, plan: Plan, state: State, options: Options
) -> tuple[Version, tuple[PublishedView, ...]] | None:
    """The version that readers see, if source and policy are those that it was made from.

    And its views, as this program would make them.
    """
    spec, republication = plan.spec, plan.republication
    if options.force or options.dry_run or republication is None:
        return None
    history = release_state.read(conn, spec.policy.release)
    current = history.current if history else None
    if history is None or current is None or not current.stored:
        return None
    fingerprint = source_fingerprint(spec, state.facts)
    same = any(
        candidate.run_id == current.run_id
        and same_source(candidate.source_fingerprint, fingerprint)
        for candidate in republication.candidates
    )
    if not same or shown_part(current.policy) != shown_part(spec.policy.document()):
        return None
    if not is_intact(conn, current):
        return None
    judged = spec.policy.publish.approval is not None or spec.policy.audiences == "by_reader"
    if judged and reader_change(history, spec.reading).added:
        return None  # by who must approve, or with what these have read
    settled = plan.method.form.publication.settled(spec)
    if not settled:  # its columns follow from the data, and these are the same
        return current, current.views
    weights = current.measures.get("weights", {})
    if spec.shows_means and current.measures.get("means") != averaged_print(spec, state.facts):
        return None  # the same groups show other means
    facts = {fact: weights[fact.column] for fact in OF_RELEASE if fact.column in weights}
    made = State(current.run_id).observing(facts)
    views, checks = plan.stored_views(made), plan.stored_checks(made)

    def shown(views: Sequence[PublishedView]) -> list[Any]:
        return [(v.name, v.select, [(c.name, c.type) for c in v.columns]) for v in views]

    verified = [check.as_dict() for check in checks]
    if shown(views) != shown(current.views) or verified != current.checks:
        return None
    return current, views


def renew(
    conn: Connection,
    ending: Ending,
    plan: Plan,
    run_id: int,
    current: Version,
    shown: tuple[PublishedView, ...],
) -> RunResult:
    """Apply the parts of a policy that do not need a new version to the one that there is.

    Readers, the number of versions kept, and comments are those of the policy afterwards, and
    views that somebody changed or dropped are made again. The session must hold the locks of the
    release and the run.

    Args:
        shown: views of the current version, as this program would make them.

    Raises:
        PreconditionError: lock_lost, name_taken, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    spec, name = plan.spec, plan.spec.policy.release
    history = find(conn, name)
    added = new_readers(conn, history, spec.reading)
    judged = admitted(conn, name, current, added, spec.policy, run_id)
    with judged as warnings, publishing(conn):
        locks.assert_held(conn, release=name, run_id=run_id)
        history = find(conn, name)
        current = history.version(None)
        done = _views(conn, spec, shown, history, current)
        done += set_readers(conn, history, spec.reading).texts
        kept = spec.policy.publish.keep
        old = [v for v in history.versions[kept:] if v.version != current.version]
        retired = retire(conn, name, old)
        if retired:
            done.append(f"versions no longer stored: {', '.join(map(str, sorted(retired)))}")
        ledger.append(
            conn,
            "unchanged",
            run_id=run_id,
            release=name,
            version=current.version,
            policy_hash=spec.policy_hash,
            details={"applied": done},
        )
        ending.left(conn, current.version)
    with contextlib.suppress(psycopg.Error):
        drop_run(conn, run_id)
    result = unchanged_result(plan, current, run_id, tuple(done))
    return replace(result, warnings=(*warnings, *result.warnings))


def _views(
    conn: Connection,
    spec: ReleaseSpec,
    shown: tuple[PublishedView, ...],
    history: History,
    current: Version,
) -> list[str]:
    done: list[str] = []
    name = history.release.name
    standing = ask(conn, "publish", "view_stands", release=name, version=current.version)
    if not all(stands for (stands,) in standing):
        dependents = show_version(
            conn,
            name,
            history,
            current.version,
            shown,
            unchanged_roles(conn, history.release.roles),
            trusted=spec.trusted,
        )
        done.append("the views were made again")
        done += views.dependent_texts(dependents)
    if shown != current.views:
        views.describe(conn, shown)
        recording.set_views(conn, name, current.version, shown)
        recording.remember_views(conn, name, current.version)
        done.append("comments")
    return done


def standing(conn: Connection, plan: Plan, growth: Growth, state: State) -> Version:
    """The version that readers go on seeing, as there are too few new individuals.

    Raises:
        PrivacyRefusal: too_few_records, there is no version yet.
        LedgerError: not_stored.
    """
    shown = release_state.read(conn, plan.spec.policy.release)
    if shown is None or not shown.versions:
        new = state[NEW_INDIVIDUALS]
        said, hint = f"{new} people, a cohort needs {growth.size}", "run again when there are more"
        if growth.unfinished is not None and new >= growth.size:
            said = f"{new} new people, and nobody whom an earlier run was to test is left"
            hint = "run again: the next run tests the new ones"
        raise PrivacyRefusal(
            f"{plan.spec.source.name} has {said}",
            required=growth.size,
            observed=new,
            hint=hint,
            code=ErrorCode.TOO_FEW_RECORDS,
        )
    return shown.stored()
