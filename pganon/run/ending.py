"""How a run ends: published at once, held for approval, or found to be what there is.

What a request becomes is written in the transaction that ends the run, so a worker that lost its
request meanwhile publishes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon.applied.check import check
from pganon.applied.store import read, store
from pganon.ledger import repository as ledger
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.policy.requests import Approval, duration
from pganon.publish import renewal
from pganon.publish.held import Holding, hold
from pganon.publish.renewal import Renewal
from pganon.publish.staged import Staged
from pganon.publish.transaction import PublishedVersion, publish
from pganon.requests.claim import Claim, finish, still_mine, superseded
from pganon.run.options import Options
from pganon.run.result import RunResult

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Ending:
    """What a run is for.

    Attributes:
        revision: of the policy in the database; None for a dry run, which stores nothing.
        claim: the request that it serves.
        approval: whose agreement publication needs.
    """

    revision: int | None = None
    claim: Claim | None = None
    approval: Approval | None = None

    @classmethod
    def of(cls, conn: Connection, loaded: LoadedPolicy, options: Options) -> Ending:
        """Stores the policy of a command."""
        if options.dry_run:
            return cls()
        revision = options.claim.revision if options.claim else options.revision
        if revision is None:
            revision = _kept(conn, loaded)
        return cls(revision, options.claim, loaded.policy.publish.approval)

    def begin(self, conn: Connection, run_id: int) -> None:
        """Note the run in its request.

        Raises:
            Lost: the request is not this worker's any more.
        """
        if self.claim:
            still_mine(conn, self.claim, run_id=run_id)

    def publish(
        self, conn: Connection, staged: Staged, result: RunResult, *, cascade: bool
    ) -> RunResult:
        """Publish a verified release, or hold it for approval."""
        if self.approval is None:
            done = publish(
                conn,
                staged,
                cascade=cascade,
                last=lambda version: end_published(conn, version, self.claim),
            )
            return replace(result, version=done.version)
        assert self.revision is not None
        expires = duration(self.approval.expires)
        holding = Holding(self.revision, self.approval.by, expires, self.claim)
        request = hold(conn, staged, holding)
        return replace(result, outcome="awaiting_approval", request=request)

    def renew(self, conn: Connection, renewed: Renewal, *, cascade: bool) -> tuple[str, ...]:
        """Leave the version that there is."""

        def last(version: int) -> None:
            if self.claim:
                finish(conn, self.claim, "unchanged", version=version)

        return renewal.renew(conn, renewed, cascade=cascade, last=last)


def _kept(conn: Connection, loaded: LoadedPolicy) -> int:
    """Store the policy of a command; gives its revision."""
    stored = read(conn, loaded.policy.release, store(conn, loaded))
    if stored.checked_at is None:
        check(conn, stored.release, stored.revision)
    return stored.revision


def end_published(conn: Connection, version: PublishedVersion, claim: Claim | None) -> None:
    """What publication means for requests; in its transaction.

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


def needs_approval(policy: Policy, readers: Sequence[str]) -> bool:
    """Whether more people would see the version that there is, which somebody must approve."""
    return policy.publish.approval is not None and bool(set(policy.publish.readers) - set(readers))
