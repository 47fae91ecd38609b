"""Releases: run one, list those that there are."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from pganon import database
from pganon.errors import UsageError
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import listing, sessions
from pganon.publish.listing import ReleaseInfo
from pganon.run import lineage
from pganon.run.dry_run import with_costs
from pganon.run.options import Options, connect_run
from pganon.run.pipeline import Pipeline
from pganon.run.record import RunResult
from pganon.sqlfiles import Connection
from pganon.steps import State


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
        pipeline = Pipeline(conn, connect, asked, how)
        result = pipeline.run()
        if how.lineage is None or result.outcome != "released":
            return result
        plan = pipeline.context.plan
        views = plan.stored_views(State(result.run_id))
        told = lineage.sent(conn, plan.spec, views, result.run_id, how.lineage)
        return replace(result, warnings=(*result.warnings, *told))

    with contextlib.closing(connect()) as conn, sessions.translated():
        result = run(loaded, options)
        return with_costs(result, loaded, options, run) if options.costs else result
