"""Whom the source of a run is about, as versions know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg

from pganon.encode.people import identity
from pganon.errors import PreconditionError
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.versions import PastVersion
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import Members, People, refused
from pganon.resolved.republication import Earlier

Connection = psycopg.Connection[Any]


def people_of(conn: Connection, spec: ReleaseSpec, sources: Sequence[str]) -> People | None:
    """None without a key, and where no version is about these people.

    Raises:
        PreconditionError: population.
        LedgerError: memory, what is remembered of them is missing.
    """
    if identity(spec) is None:
        return None
    found = populations.choose(conn, spec, sources)
    if found is None:
        return None
    about = memory.versions_about(conn, found.id)
    newest = _newest(conn, spec, about)
    known = People(found.id, populations.has_forgotten(conn, found.id), newest)
    doubtful = bool(about) and found.near and found.key != (spec.individual or spec.record_key)
    return replace(known, same=_members(conn, found.label, about)) if doubtful else known


def people_with_rows(conn: Connection, population: int, label: str) -> People:
    """Who has to be the same, if the rows are those of a version of another source.

    Raises:
        LedgerError: memory.
    """
    return People(population, same=_members(conn, label, memory.versions_about(conn, population)))


def rows_of_others(spec: ReleaseSpec, twin: Earlier) -> PreconditionError:
    """For the rows of a version about another population, which the policy names."""
    return refused(
        f"{twin.label} was made from the rows of {spec.source.name}, and the policy says that"
        " its people are others",
        "write the `population` of that release",
    )


def _newest(conn: Connection, spec: ReleaseSpec, about: Sequence[PastVersion]) -> Members | None:
    """Of the newest version of the release that anything is remembered of."""
    declared = spec.policy.population
    mine = [one for one in about if one.release == spec.policy.release]
    if not mine or (declared is not None and declared.renewed):
        return None
    newest = max(mine, key=lambda one: one.version)
    runs = {newest.run_id, *newest.increments}
    return _members(conn, newest.label, [one for one in mine if one.run_id in runs])


def _members(conn: Connection, label: str, about: Sequence[PastVersion]) -> Members:
    past = tuple(memory.earlier_versions(about).values())
    memory.check_tables(conn, past)
    return Members(tuple(one.tables.members for one in past), label)
