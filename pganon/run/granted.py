"""Roles that were let read a version by hand.

Nobody asked pganon, so they may have read it already. At the next look the version is judged as new
for them, a warning tells the steward, and versions that they should not have together are void.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon import locks
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.versions import About
from pganon.identifiers import quote
from pganon.publish import history
from pganon.publish.audience import remember_readers, unknown_readers
from pganon.publish.history import History, Version
from pganon.run.admission import Admission, run_of_its_own
from pganon.run.crossed import crossings, finer_k
from pganon.run.reading import tells_apart

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class _Found:
    """Roles that can read the current version of a release, and could not before."""

    known: History
    current: Version
    roles: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"version {self.current.version} of {quote(self.known.release.name)}"

    @property
    def warning(self) -> str:
        names = ", ".join(map(quote, self.roles))
        return f"{names} can read {self.label} since it was published"


def with_readers(conn: Connection, population: int) -> tuple[tuple[About, ...], tuple[str, ...]]:
    """The versions about a population with all who could read them until now; warnings.

    Under the lock of the population.

    Raises:
        LedgerError: memory.
    """
    about = memory.versions(conn, population)
    warnings: list[str] = []
    for found in list(_unknown(conn, about)):
        warnings.append(found.warning)
        if tells_apart(None, about):
            warnings += _judge(conn, found, about)
        remember_readers(conn, found.known)
        about = memory.versions(conn, population)
    return about, tuple(warnings)


def look(conn: Connection, population: int) -> tuple[str, ...]:
    """Judge who can read versions about a population, outside of runs; warnings.

    Raises:
        LedgerError: memory.
        PreconditionError: busy, if others judge for long.
    """
    if not any(_unknown(conn, memory.versions(conn, population))):
        return ()
    with locks.population_lock(conn, population):
        return with_readers(conn, population)[1]


def look_at(conn: Connection, releases: Iterable[str]) -> tuple[str, ...]:
    """The same of the people of releases."""
    found = (populations.of_release(conn, name) for name in releases)
    numbers = dict.fromkeys(one.id for one in found if one is not None)
    return tuple(text for number in numbers for text in look(conn, number))


def _unknown(conn: Connection, about: Sequence[About]) -> Iterator[_Found]:
    for release in dict.fromkeys(version.release for version in about):
        known = history.read(conn, release)
        roles = unknown_readers(conn, known)
        if roles and known and known.current:
            yield _Found(known, known.current, roles)


def _judge(conn: Connection, found: _Found, about: Sequence[About]) -> list[str]:
    """What they have together with what they had; what it voids is said."""
    admission = Admission.to(conn, found.current, found.roles, about)
    with run_of_its_own(conn, found.known.release.name, found.current, found.roles) as executor:
        rules = admission.judge(executor.run, refuses=False)
        crossed = crossings(conn, rules, executor.state)
        for one in crossed:
            memory.cross(conn, found.current.run_id, one)
        memory.finer(conn, found.current.run_id, finer_k(conn, rules, executor.state))
    labels = {one.run_id: one.label for one in about}
    return [
        f"the guarantees of {found.label} and {labels[one.run_id]} are void for who has both"
        for one in crossed
    ]
