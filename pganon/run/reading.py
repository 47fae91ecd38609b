"""Who can read versions about the same people, and who will."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from pganon.history.versions import About
from pganon.plan.build import Plan
from pganon.policy.model import Policy
from pganon.publish.audience import granted, roles_of
from pganon.steps import State

Connection = psycopg.Connection[Any]


def will_read(conn: Connection, plan: Plan, state: State) -> tuple[str, ...]:
    """Roles that will be able to read the version of the run."""
    names = [view.name for view in plan.stored_views(state)]
    return roles_of(conn, {*plan.spec.readers, *granted(conn, names)})


def tells_apart(policy: Policy | None, about: Sequence[About]) -> bool:
    """Whether readers are told apart: by the policy, or by one of these versions."""
    given = policy.audiences if policy is not None else None
    return "by_reader" in (given, *(version.audiences for version in about))
