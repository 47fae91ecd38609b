"""The audiences that a version is judged for, where the policy tells readers apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon.guard.audiences import MOST, Audience, audiences, gained
from pganon.identifiers import quote
from pganon.plan.build import Plan
from pganon.publish import history, memory
from pganon.publish.audience import granted, remember_readers, roles_of
from pganon.publish.memory import EVERYBODY, About, Remembered
from pganon.steps import State

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Seeing:
    """An audience that will have the version, and the versions that it has."""

    name: str
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Apart:
    """Audiences after a version.

    Attributes:
        readers: roles that will be able to read it.
        seeing: the audiences with it.
        others: the versions of those without it.
    """

    readers: tuple[str, ...]
    seeing: tuple[Seeing, ...]
    others: tuple[frozenset[int], ...]

    def kept(self, known: Sequence[Remembered]) -> tuple[str, ...]:
        """Audiences whose memories the version does not change."""
        taken = {EVERYBODY, *(one.name for one in self.seeing)}
        return tuple(
            one.audience
            for one in known
            if one.audience not in taken and frozenset(one.runs) in self.others
        )


def apart(conn: Connection, plan: Plan, state: State, about: Sequence[About]) -> Apart | None:
    """Whom the version is judged for; None: for everybody, who has all versions."""
    if not about or not tells_apart(plan.spec.policy.audiences, about):
        return None
    readers = will_read(conn, plan, state)
    found = largest(about, {state.run_id: readers})
    if found is None:
        return None
    order = [version.run_id for version in about]
    return Apart(
        readers,
        tuple(
            Seeing(one.name, tuple(run for run in order if run in one.runs))
            for one in found
            if state.run_id in one.runs
        ),
        tuple(one.runs for one in found if state.run_id not in one.runs),
    )


def will_read(conn: Connection, plan: Plan, state: State) -> tuple[str, ...]:
    """Roles that will be able to read the version of the run."""
    names = [view.name for view in plan.stored_views(state)]
    return roles_of(conn, {*plan.spec.readers, *granted(conn, names)})


def largest(
    about: Sequence[About], changes: Mapping[int, Sequence[str]]
) -> tuple[Audience, ...] | None:
    """Audiences of these versions; None where they are too many, or one has all versions.

    Args:
        changes: by run, roles that can read its version, too.
    """
    found = audiences(_readers(about, changes))
    every = frozenset([*(version.run_id for version in about), *changes])
    return None if len(found) > MOST or any(one.runs == every for one in found) else found


def _readers(
    about: Sequence[About], changes: Mapping[int, Sequence[str]]
) -> dict[int, Collection[str] | None]:
    readers: dict[int, Collection[str] | None] = {one.run_id: one.readers for one in about}
    for run, roles in changes.items():
        known = readers.get(run, [])
        readers[run] = None if known is None else [*known, *roles]
    return readers


def tells_apart(audiences: str | None, about: Sequence[About]) -> bool:
    """Whether readers are told apart: by the policy, or by one of these versions.

    A version that was judged for its readers alone makes cells of which the others know nothing,
    so that no later one seems to tell these anything new.
    """
    return "by_reader" in (audiences, *(version.audiences for version in about))


def new_audiences(
    about: Sequence[About], runs: Collection[int], roles: Sequence[str]
) -> tuple[Audience, ...]:
    """What roles have that get more, if these can read the versions of these runs, too."""
    return gained(_readers(about, {}), _readers(about, dict.fromkeys(runs, roles)))


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
