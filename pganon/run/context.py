"""The context of a run, decided before its first step: people, earlier versions, and the plan."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg

from pganon.encode.source import assumed_fingerprint
from pganon.forms.remembered import is_remembered
from pganon.history import populations
from pganon.install.owner import connect_as_owner
from pganon.loading import load_policy
from pganon.methods.registry import method_of
from pganon.plan.build import Plan, build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.publish import release_state, sessions
from pganon.publish.people import people_of
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.run import increments, invariance
from pganon.run.judgement import pasts_of
from pganon.run.options import Options
from pganon.run.resolution import resolve_policy
from pganon.steps import State

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class RunContext:
    """The plan of a run, and the versions beside which it is published.

    Which signatures its people have is known when their rows were read, as they may be those of
    another table.

    Attributes:
        plan: beside the versions that groups may be taken over from; none where they are drawn
            apart.
        beside: all versions that were ever readable.
        sources: names of the source and of all that its rows come from.
        source_mark: of these, from before they were read.
    """

    plan: Plan
    beside: Republication
    sources: tuple[str, ...]
    source_mark: str | None

    @property
    def spec(self) -> ReleaseSpec:
        return self.plan.spec


def decided(
    conn: Connection, spec: ReleaseSpec, sources: tuple[str, ...], run_id: int, options: Options
) -> RunContext:
    """Decide what a run does; what it may not do is refused.

    Raises:
        PreconditionError, PrivacyRefusal, LedgerError: see :mod:`pganon.run.increments`,
            :mod:`pganon.run.invariance` and :class:`~pganon.resolved.republication.Republication`.
    """
    mark = release_state.source_mark(conn, sources)
    growth = increments.growth_of(conn, spec, sources, run_id)
    resumed = invariance.resumed(conn, spec, sources, run_id)
    people = people_of(conn, spec, sources)
    spec = replace(spec, growth=growth)
    versions = beside(conn, spec, sources, publishes=not options.dry_run)
    compared = None if options.seed is not None else versions
    # A version that grows may have nobody to add: then nothing new is shown beside others.
    grows = growth is not None and growth.version is not None
    refusal = compared.before_work() if compared is not None and not grows else None
    if refusal is not None:
        raise refusal
    plan = build_plan(
        spec,
        compared,
        options.metrics,
        reasoned=options.dry_run,
        people=people,
        resumed=resumed,
        snapshot=options.snapshot.table if options.snapshot else None,
    )
    increments.check_columns(plan, State(0))
    return RunContext(plan, versions, sources, mark)


def plan_release(
    policy: str | Path | LoadedPolicy, *, dsn: str | None = None, owner: str | None = None
) -> Plan:
    """The plan of a policy beside the versions that there are; nothing is run, no data is read.

    Beside versions of the same policy the source is assumed to be that of the nearest.
    """
    loaded = policy if isinstance(policy, LoadedPolicy) else load_policy(policy)
    with contextlib.closing(connect_as_owner(dsn, owner=owner)) as conn, sessions.translated():
        spec = resolve_policy(conn, loaded)
        sources = release_state.sources_of(conn, spec.source.oid)
        growth, people = increments.growth_of(conn, spec, sources), people_of(conn, spec, sources)
        spec = replace(spec, growth=growth)
        versions = beside(conn, spec, sources, publishes=True)
        plan = build_plan(spec, versions.unchanged(assumed_fingerprint(spec)), people=people)
        spec = plan.spec
        if spec.invariant:
            population = populations.find(conn, spec, sources)
            spec = replace(spec, signatures=invariance.signatures_of(conn, spec, population))
        return replace(plan, spec=spec, past=pasts_of(conn, plan, sources))


def beside(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], *, publishes: bool
) -> Republication:
    """The run beside the versions that were ever readable."""
    earlier = release_state.earlier(conn, spec.policy.release, sources)
    form = method_of(spec).form
    keyed = is_remembered(spec, form)
    return Republication(spec.policy, spec.partition, earlier, publishes, keyed)
