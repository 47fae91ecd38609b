"""Dry runs: a look at a source, several of one snapshot, and what every column costs.

All of them are in the ledger from their beginning, so that what was tried can be counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg

from pganon import locks
from pganon.encode.source import source_fingerprint
from pganon.error_codes import ErrorCode
from pganon.errors import (
    EXIT_REFUSED,
    EXIT_USAGE,
    DatabaseError,
    PganonError,
    PolicyError,
    PrivacyRefusal,
    StatementTimeout,
    UsageError,
)
from pganon.forms.request import Request
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.methods.related.links import others_in_lookups
from pganon.plan.build import build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.policy.partition import part_hash
from pganon.publish import release_state
from pganon.publish.people import growth_of, people_of
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import same_source
from pganon.run.computation import Computation
from pganon.run.context import resolve_policy
from pganon.run.options import Options, PartOf, SharedSnapshot, connect_run
from pganon.run.pipeline import Pipeline
from pganon.run.record import RunResult, recorded
from pganon.run.tables import clean, drop_run
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import statement
from pganon.steps import State

_OF_ALL = {ErrorCode.BUSY, ErrorCode.LOCK_LOST, ErrorCode.SOURCE_CHANGED}
"""Refusals that are not one dry run's."""


@dataclass(frozen=True)
class Sharing:
    """A snapshot, and the run that keeps it.

    Attributes:
        state: of that run, which has read the source.
        snapshot: for the options of the dry runs.
        details: of the run, for the ledger, when it ends.
    """

    state: State
    snapshot: SharedSnapshot
    details: dict[str, Any] = field(default_factory=dict)


def refuse_growing(loaded: LoadedPolicy, verb: str) -> None:
    """Refuse a policy whose dry runs make no groups.

    Raises:
        UsageError: the release grows, or is of several tables.
    """
    if loaded.policy.tables:
        raise UsageError(
            f"nothing is measured of related tables by `pganon {verb}` in this version",
            hint=f"{verb} a policy about the table {loaded.policy.root} alone",
        )
    refresh = loaded.policy.refresh
    if refresh != "recompute":
        raise UsageError(
            f"a dry run measures nothing of a release with refresh: {refresh}, as its people are"
            " tested once",
            hint=f"{verb} a policy without refresh, under another name of the release",
        )


@contextlib.contextmanager
def sharing(
    conn: Connection,
    connect: Callable[[], Connection],
    loaded: LoadedPolicy,
    spec: ReleaseSpec,
    options: Options,
    part_of: PartOf,
    details: Mapping[str, Any] | None = None,
) -> Iterator[Sharing]:
    """Read the source of a policy once, and hold its release until the dry runs have ended.

    Args:
        part_of: what the dry runs are parts of, for the ledger.
        details: of the run that keeps the snapshot.

    Raises:
        PganonError: what is refused before a run, or while it reads the source.
    """
    release = spec.policy.release
    # What is measured is each dry run's own.
    options = replace(options, metrics=Request())
    with locks.hold(conn, release=release):
        Pipeline(conn, connect, loaded, options).check(spec)
        clean(conn)
        with recorded(
            conn,
            release,
            spec.policy_hash,
            seed=options.seed,
            details=dict(details or {}),
            connect=connect,
        ) as run_id:
            sources = release_state.sources_of(conn, *spec.about_people)
            # Dry runs copy the rows: they stay where that is done.
            spec = replace(spec, shards=None, counted=False)
            plan = build_plan(spec, people=people_of(conn, spec, sources))
            computation = Computation(conn, connect, plan, run_id, options, sources)
            snapshot = SharedSnapshot(run_id, computation.share(), part_of)
            shared = Sharing(computation.state, snapshot, dict(details or {}))
            yield shared
            ledger.finish(conn, run_id, "dry_run", shared.details or None)
            # What cannot be removed now is left to the next run.
            with contextlib.suppress(psycopg.Error):
                drop_run(conn, run_id)


def is_of_one(error: PganonError) -> bool:
    """Whether other dry runs of the same snapshot may do better."""
    if isinstance(error, PolicyError | PrivacyRefusal | StatementTimeout):
        return True
    return error.exit_code in (EXIT_REFUSED, EXIT_USAGE) and error.code not in _OF_ALL


@dataclass(frozen=True)
class Probed:
    """The result of a look at a source.

    Attributes:
        changed: whether the source is not what the version that is shown was made from; None where
            that cannot be told: there is none, it grows and no table without people changed, or its
            policy read other columns.
        problem: why a run would fail, such as values that a hierarchy lacks; None: so far it would
            not. `changed` is None then.
    """

    changed: bool | None
    problem: str | None = None


def look(loaded: LoadedPolicy, *, dsn: str | None = None, owner: str | None = None) -> Probed:
    """Read and encode the source of a policy; nothing is grouped, staged or published.

    Raises:
        PolicyError, PreconditionError: the policy does not fit the catalog.
        DatabaseError: the server failed.
    """

    def connect() -> Connection:
        return connect_run(dsn, owner=owner)

    with contextlib.closing(connect()) as conn:
        try:
            spec = resolve_policy(conn, loaded)
            with recorded(conn, spec.policy.release, spec.policy_hash) as run_id:
                probed = _read(conn, connect, spec, run_id)
                ledger.finish(conn, run_id, "dry_run")
                drop_run(conn, run_id)
        except psycopg.Error as error:
            raise translate(error) from None
    return probed


def _read(conn: Connection, connect: Any, spec: ReleaseSpec, run_id: int) -> Probed:
    sources = release_state.sources_of(conn, *spec.about_people)
    versions = release_state.read(conn, spec.policy.release)
    current = versions.current if versions else None
    try:
        plan = build_plan(spec, people=people_of(conn, spec, sources))
        computation = Computation(conn, connect, plan, run_id, Options(), sources)
        state = computation.walk(*plan.reading)
        if current is not None and current.increments is not None:
            growing = replace(spec, growth=growth_of(conn, spec, sources, run_id))
            found = conn.execute(statement(others_in_lookups(growing, state))).fetchone()
            return Probed(True if found and found[0] else None)
    except PganonError as error:
        if isinstance(error, DatabaseError):
            raise
        return Probed(None, error.message)
    if current is None or current.partition_hash != part_hash(spec.partition):
        return Probed(None)
    fingerprint = source_fingerprint(spec, state.facts)
    return Probed(not same_source(current.source_fingerprint, fingerprint))


Run = Callable[[LoadedPolicy, Options], RunResult]


def with_costs(result: RunResult, loaded: LoadedPolicy, options: Options, run: Run) -> RunResult:
    """The result of a dry run with what GCP would be without each column of `reasons`."""
    how = replace(options, costs=False, metrics=Request())
    names = {column.published_as or name: name for name, column in loaded.policy.columns.items()}
    costs = (
        replace(reason, gcp_without=_without(loaded, names[reason.column], how, run))
        for reason in result.reasons
    )
    return replace(result, reasons=tuple(costs))


def _without(loaded: LoadedPolicy, column: str, how: Options, run: Run) -> float | None:
    """None where the policy needs the column, or no release can be made without it."""
    document = loaded.policy.document()
    del document["columns"][column]
    try:
        policy = policy_from(document)
        utility = run(replace(loaded, policy=policy), how).utility
        return utility.gcp if utility else None
    except PganonError as error:
        if error.exit_code not in (EXIT_REFUSED, EXIT_USAGE):
            raise
        return None
