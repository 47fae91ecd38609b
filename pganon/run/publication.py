"""How a run ends: published at once, held for approval, or found to be what there is.

What a request becomes is written in the transaction that ends the run, so a worker that lost its
request meanwhile publishes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon.applied.check import check
from pganon.applied.store import read, store
from pganon.errors import PrivacyRefusal
from pganon.forms.groups import GROUPS
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.model import GroupTables, NewVersion
from pganon.history.versions import HistoryChanged, Judgement, manner_of
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.policy.partition import part_hash
from pganon.policy.requests import Approval, duration
from pganon.publish import held, renewal
from pganon.publish.held import ApprovalRequest
from pganon.publish.reader_roles import granted, roles_of
from pganon.publish.readers import reader_change
from pganon.publish.release_state import History
from pganon.publish.renewal import Renewal
from pganon.publish.staged import Staged
from pganon.publish.transaction import PublishedVersion, publish
from pganon.requests.claim import Claim, finish, still_mine, superseded
from pganon.resolved.model import ReleaseSpec
from pganon.run.admission import tells_apart
from pganon.run.executor import Executor
from pganon.run.grants import with_readers
from pganon.run.options import Ended, OnEnd, Options
from pganon.run.record import RunResult
from pganon.run.tables import drop_tables, run_tables
from pganon.run.verdict import held_for, hold
from pganon.steps import State

Connection = psycopg.Connection[Any]


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
        expires = duration(self.approval.expires)
        holding = ApprovalRequest(
            lambda: self._kept(conn),
            self.approval.by,
            expires,
            self.claim,
            lambda request: self.on_end(Ended(conn, None, made=True, request=request)),
        )
        request = held.hold(conn, staged, holding)
        return replace(result, outcome="awaiting_approval", request=request)

    def renew(self, conn: Connection, renewed: Renewal) -> tuple[str, ...]:
        """Leave the version that there is."""

        def last(version: int) -> None:
            if self.claim:
                finish(conn, self.claim, "unchanged", version=version)
            self._kept(conn)
            self.on_end(Ended(conn, version, made=False))

        return renewal.renew(conn, renewed, last=last)

    def _kept(self, conn: Connection) -> int:
        """The revision of the policy, which is stored if it came from a file."""
        if self.revision is not None:
            return self.revision
        assert self.loaded is not None  # a dry run publishes nothing
        release = self.loaded.policy.release
        stored = read(conn, release, store(conn, self.loaded))
        if stored.checked_at is None:
            check(conn, stored.release, stored.revision)
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


def needs_approval(spec: ReleaseSpec, versions: History) -> bool:
    """Whether more people would see the version that there is, which somebody must approve."""
    approval = spec.policy.publish.approval
    return approval is not None and bool(reader_change(versions, spec.reading).added)


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
    if judged is None or populations.counter(conn, judged.population) == judged.counter:
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
    counter = populations.counter(conn, judged.population)
    about, _ = with_readers(conn, judged.population)
    past = memory.earlier_versions(about)
    memory.check_tables(conn, tuple(past.values()))
    names = {*staged.readers, *granted(conn, [view.name for view in staged.views])}
    roles = roles_of(conn, names) if tells_apart(policy, about) else ()
    drawn = memory.drawn(conn, staged.run_id, staged.prints.source)
    manner = manner_of(staged.run_id, judged.manner, part_hash(staged.partition), drawn)
    executor = Executor(conn, State(staged.run_id))
    stage = executor.state.stage
    new = NewVersion(manner, GroupTables(stage("members"), stage(GROUPS), judged.manner["link"]))
    verdict = hold(
        conn,
        executor.run,
        lambda: executor.state,
        held_for(policy, new, about, past, roles),
        policy,
    )
    return replace(
        judged,
        counter=counter,
        manner={**judged.manner, "functions": verdict.functions is not None},
        over_versions=verdict.over_versions,
        finer_k=verdict.finer_k,
        functions=verdict.functions,
        readers=roles if policy.audiences == "by_reader" else None,
        figures=verdict.figures,
        crossings=verdict.crossings,
    )
