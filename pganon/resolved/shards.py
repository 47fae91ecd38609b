"""Sources whose rows are on several servers, which no statement reads at one instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pganon.identifiers import first_few

if TYPE_CHECKING:
    from pganon.catalog.model import DistributedRead
    from pganon.resolved.model import ReleaseSpec

UNLOCKED = "unlocked"
"""In the measures of a version: names of such tables."""


def torn(spec: ReleaseSpec) -> Iterator[str]:
    """Warnings of tables in shards that the role of the run cannot lock against writers."""
    what = "of a transaction that writes meanwhile a part may be in the release"
    return _torn(spec.distributed_reads, what)


def people_torn(reads: Iterable[DistributedRead]) -> Iterator[str]:
    """The same of a table of people who are to be forgotten."""
    return _torn(reads, "of a transaction that adds people meanwhile a part may be forgotten")


def _torn(reads: Iterable[DistributedRead], what: str) -> Iterator[str]:
    for read in reads:
        if read.unlocked:
            names = first_few([str(name) for name in read.unlocked])
            yield (
                f"shards of {first_few([str(name) for name in read.distributed])} are read one"
                f" after the other: {what}; to lock {names} against writers while they are read,"
                " the role that runs releases needs the privilege UPDATE, DELETE or TRUNCATE"
            )
