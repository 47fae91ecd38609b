"""Who has which versions, where the policy does not take everybody to have all of them.

Roles that could ever read the same versions share an *audience*; one that has all versions of
another, and more, stands for both. Readers who give each other what they have are no audience.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

PUBLIC = "public"
"""Whoever can log in, as privileges name it."""

MOST = 8
"""Audiences that are judged apart. With more of them, everybody is taken to have every version."""


Readers = Mapping[int, Collection[str] | None]
"""Roles by run; None where everybody may have its version."""


@dataclass(frozen=True)
class Audience:
    """Roles with the same versions.

    Attributes:
        name: the first of them by name.
        runs: of the versions that they could ever read.
    """

    name: str
    runs: frozenset[int]


def audiences(readers: Readers) -> tuple[Audience, ...]:
    """The largest sets of versions that one role could ever read.

    Args:
        readers: by run, roles that could ever read its version; None where that is not known,
            so that everybody may have it.
    """
    sets = {_runs(role, readers): role for role in reversed(_roles(readers))}
    return _largest(sets)


def gained(before: Readers, after: Readers) -> tuple[Audience, ...]:
    """The largest sets of versions that roles have after, of those who have more than before.

    That somebody else had as much says nothing: nobody judges grants by hand and memberships.
    """
    roles = sorted({*_roles(before), *_roles(after)})
    sets = {
        _runs(role, after): role
        for role in reversed(roles)
        if _runs(role, after) != _runs(role, before)
    }
    return _largest(sets)


def _roles(readers: Readers) -> list[str]:
    return sorted({PUBLIC}.union(*(found for found in readers.values() if found is not None)))


def _runs(role: str, readers: Readers) -> frozenset[int]:
    return frozenset(run for run, found in readers.items() if _has(role, found))


def _largest(sets: Mapping[frozenset[int], str]) -> tuple[Audience, ...]:
    """Those that are no part of another, each with a role."""
    largest = [runs for runs in sets if runs and not any(runs < other for other in sets)]
    return tuple(Audience(sets[runs], runs) for runs in sorted(largest, key=lambda r: sets[r]))


def _has(role: str, readers: Collection[str] | None) -> bool:
    return readers is None or role in readers or PUBLIC in readers
