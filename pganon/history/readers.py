"""Readers and their versions, where a policy does not assume that everybody has all of them.

Readers who exchange versions are not considered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

PUBLIC = "public"
"""Everybody who can log in, as privileges name them."""

Readers = Mapping[int, Collection[str]]
"""By run: the roles that may have its version."""


@dataclass(frozen=True)
class Reader:
    """Roles with the same versions.

    Attributes:
        name: the first of them by name; empty for a reader of everything.
        runs: of the versions that they could ever read.
    """

    name: str
    runs: frozenset[int]


def reader_of(role: str, readers: Readers) -> Reader:
    runs = (run for run, roles in readers.items() if _has(role, roles))
    return Reader(role, frozenset(runs))


def readers_of(roles: Iterable[str], readers: Readers) -> tuple[Reader, ...]:
    """One reader for every set of versions that some of the roles have.

    A reader of fewer versions is not easier to satisfy. A group that is a function of a version
    discloses nothing to readers of that version, but may do so to others. Everybody who has any
    version is one of the public.
    """
    every = set(roles)
    if PUBLIC in every:
        every |= {role for named in readers.values() for role in named}
    sets = {one.runs: one for one in (reader_of(role, readers) for role in sorted(every)[::-1])}
    return tuple(sorted(sets.values(), key=lambda one: one.name))


def gaining(roles: Iterable[str], before: Readers, shown: Collection[int]) -> tuple[Reader, ...]:
    """Readers who lack some of the runs that they are about to read."""
    readers = readers_of(roles, before)
    return tuple(one for one in readers if not one.runs.issuperset(shown))


def _has(role: str, roles: Collection[str]) -> bool:
    return role in roles or PUBLIC in roles
