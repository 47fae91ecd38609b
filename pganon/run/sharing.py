"""One snapshot of the source, for several dry runs.

It belongs to a run of its own, which publishes nothing. All of them are in the ledger from their
beginning, so that what was tried can be counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg

from pganon import locks
from pganon.error_codes import ErrorCode
from pganon.errors import (
    EXIT_REFUSED,
    EXIT_USAGE,
    PganonError,
    PolicyError,
    PrivacyRefusal,
    StatementTimeout,
    UsageError,
)
from pganon.forms.request import Request
from pganon.ledger import repository as ledger
from pganon.plan.build import build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.publish import release_state
from pganon.publish.people import people_of
from pganon.resolved.model import ReleaseSpec
from pganon.run.computation import Computation
from pganon.run.options import Options, PartOf, SharedSnapshot
from pganon.run.pipeline import Pipeline
from pganon.run.record import recorded
from pganon.run.tables import clean, drop_run
from pganon.steps import State

Connection = psycopg.Connection[Any]

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
        UsageError: the release grows.
    """
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
            sources = release_state.sources_of(conn, spec.source.oid)
            # Dry runs copy the rows: they stay where that is done.
            plan = build_plan(replace(spec, shards=None), people=people_of(conn, spec, sources))
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
