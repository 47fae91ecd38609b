"""What a run is about, decided before its first step: people, versions before it, and the plan."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from pganon.forms.remembered import is_remembered
from pganon.history import populations
from pganon.install.owner import connect_as_owner
from pganon.loading import load_policy
from pganon.methods.registry import method_of
from pganon.plan.build import Plan, build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.publish import history, lifecycle
from pganon.publish.people import people_of
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.run import increments, invariance
from pganon.run.judgement import pasts_of
from pganon.run.resolution import resolve_policy

Connection = psycopg.Connection[Any]


def plan_release(
    policy: str | Path | LoadedPolicy, *, dsn: str | None = None, owner: str | None = None
) -> Plan:
    """The plan of a policy beside the versions that there are; nothing is run, no data is read."""
    loaded = policy if isinstance(policy, LoadedPolicy) else load_policy(policy)
    with contextlib.closing(connect_as_owner(dsn, owner=owner)) as conn, lifecycle.translated():
        spec = resolve_policy(conn, loaded)
        sources = history.sources_of(conn, spec.source.oid)
        growth, people = increments.growth_of(conn, spec, sources), people_of(conn, spec, sources)
        spec = replace(spec, growth=growth, people=people)
        plan = build_plan(spec, beside(conn, spec, sources, publishes=True))
        if spec.invariant:
            population = populations.find(conn, spec, sources)
            spec = replace(spec, value_sets=invariance.value_sets_of(conn, spec, population))
        return replace(plan, spec=spec, past=pasts_of(conn, plan, sources))


def beside(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], *, publishes: bool
) -> Republication:
    """The run beside the versions that were ever readable."""
    earlier = history.earlier(conn, spec.policy.release, sources)
    form = method_of(spec).form
    keyed = is_remembered(spec, form)
    return Republication(spec.policy, spec.partition, earlier, publishes, keyed)
