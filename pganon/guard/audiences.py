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


@dataclass(frozen=True)
class Audience:
    """Roles with the same versions.

    Attributes:
        name: the first of them by name.
        runs: of the versions that they could ever read.
    """

    name: str
    runs: frozenset[int]


def audiences(readers: Mapping[int, Collection[str] | None]) -> tuple[Audience, ...]:
    """The largest sets of versions that one role could ever read.

    Args:
        readers: by run, roles that could ever read its version; None where that is not known,
            so that everybody may have it.
    """
    roles = {PUBLIC}.union(*(found for found in readers.values() if found is not None))
    sets: dict[frozenset[int], str] = {}
    for role in sorted(roles):
        runs = frozenset(run for run, found in readers.items() if _has(role, found))
        sets.setdefault(runs, role)
    largest = [runs for runs in sets if runs and not any(runs < other for other in sets)]
    return tuple(Audience(sets[runs], runs) for runs in sorted(largest, key=lambda r: sets[r]))


def _has(role: str, readers: Collection[str] | None) -> bool:
    return readers is None or role in readers or PUBLIC in readers
