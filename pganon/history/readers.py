"""Who has which versions, where the policy does not take everybody to have all of them.

Readers who give each other what they have are not told apart from others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

PUBLIC = "public"
"""Whoever can log in, as privileges name it."""

Readers = Mapping[int, Collection[str]]
"""Roles by run, of those who may have its version."""


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
    """One for every set of versions that some of the roles have.

    Who has fewer versions is no easier to satisfy: a group that is a function of one of them is no
    news to who has that, and is to others. Whoever has any version is one of the public.
    """
    every = set(roles)
    if PUBLIC in every:
        every |= {role for named in readers.values() for role in named}
    sets = {one.runs: one for one in (reader_of(role, readers) for role in sorted(every)[::-1])}
    return tuple(sorted(sets.values(), key=lambda one: one.name))


def gaining(roles: Iterable[str], before: Readers, shown: Collection[int]) -> tuple[Reader, ...]:
    """Those of the roles who lack some of the runs that they are about to read."""
    found = readers_of(roles, before)
    return tuple(one for one in found if not one.runs.issuperset(shown))


def _has(role: str, roles: Collection[str]) -> bool:
    return role in roles or PUBLIC in roles
