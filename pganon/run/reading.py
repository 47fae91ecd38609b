"""Who can read versions about the same people, and who will."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from pganon.identifiers import quote
from pganon.plan.build import Plan
from pganon.policy.model import Policy
from pganon.publish import history, memory
from pganon.publish.audience import granted, remember_readers, roles_of
from pganon.publish.memory import About
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


def with_readers(conn: Connection, population: int) -> tuple[tuple[About, ...], tuple[str, ...]]:
    """The versions about a population with all who could read them until now; warnings."""
    about = memory.versions(conn, population)
    new = new_readers(conn, about)
    return (memory.versions(conn, population) if new else about), new


def new_readers(conn: Connection, about: Sequence[About]) -> tuple[str, ...]:
    """Remember who can read what is shown of these versions; warnings of who could not before."""
    found: list[str] = []
    for release in dict.fromkeys(version.release for version in about):
        known = history.read(conn, release)
        roles = remember_readers(conn, known)
        if roles and known and known.current:
            names = ", ".join(map(quote, roles))
            found.append(
                f"{names} can read version {known.current.version} of {quote(release)} since it was"
                " published"
            )
    return tuple(found)
