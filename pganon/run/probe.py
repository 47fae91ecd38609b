"""A look at the source of a policy: whether it could be encoded, and whether it changed.

It is the beginning of a dry run, so it is in the ledger, as whatever reads the source is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon.encode.source import source_fingerprint
from pganon.errors import EXIT_REFUSED, EXIT_USAGE, DatabaseError, PganonError
from pganon.forms.request import Request
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.plan.build import build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.policy.partition import part_hash
from pganon.publish import release_state
from pganon.publish.people import people_of
from pganon.resolved.model import ReleaseSpec
from pganon.run.computation import Computation
from pganon.run.options import Options, connect_run
from pganon.run.record import recorded
from pganon.run.resolution import resolve_policy
from pganon.run.result import RunResult
from pganon.run.tables import drop_run
from pganon.server_errors import translate

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Probed:
    """The result of a look at a source.

    Attributes:
        changed: whether the source is not what the version that is shown was made from; None where
            that cannot be told: there is none, it grows, or its policy read other columns.
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
    sources = release_state.sources_of(conn, spec.source.oid)
    try:
        plan = build_plan(spec, people=people_of(conn, spec, sources))
        computation = Computation(conn, connect, plan, run_id, Options(), sources)
        state = computation.decide()
    except PganonError as error:
        if isinstance(error, DatabaseError):
            raise
        return Probed(None, error.message)
    return Probed(_changed(conn, spec, source_fingerprint(spec, state.facts)))


def _changed(conn: Connection, spec: ReleaseSpec, fingerprint: bytes) -> bool | None:
    versions = release_state.read(conn, spec.policy.release)
    current = versions.current if versions else None
    if current is None or current.increments is not None:
        return None
    if current.partition_hash != part_hash(spec.partition):
        return None
    return current.source_fingerprint != fingerprint


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
