"""Warnings about a specification that a run may follow all the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pganon.catalog.model import DistributedRead
from pganon.error_codes import ErrorCode
from pganon.identifiers import first_few, quote
from pganon.policy.safe_harbor import hints
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.resolved.republication import KEY

UNLOCKED = "unlocked"
"""In the measures of a version: names of tables that the role of its run could not lock."""


def without_key(spec: ReleaseSpec) -> list[str]:
    """A warning of a source in which nothing tells people apart."""
    if spec.has_identity:
        return []
    return [
        f"{spec.source.name} has no key, so this version can never be compared with another: once"
        f" source or policy change, the next one is refused ({ErrorCode.NO_IDENTITY}); {KEY}"
    ]


def unchanged_identifiers(spec: ReleaseSpec) -> list[str]:
    """A warning about these columns, by their names and types alone."""
    columns = [item.column for item in (*spec.sensitive, *spec.carried)]
    columns += [a.column for a in spec.attributes if a.form is Shown.EXACT]
    kinds: dict[str, str] = {}
    for hint in hints({column.name: column for column in columns}.values()):
        kinds.setdefault(hint.column, hint.label)
    if not kinds:
        return []
    named = first_few([f"{quote(name)} ({kind})" for name, kind in kinds.items()])
    return [
        f"published as they are, and may be identifiers by HIPAA Safe Harbor: {named}; see"
        f" `pganon quasi {spec.source.name} --identifiers us`"
    ]


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
