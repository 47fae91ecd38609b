"""The people of the source of a run, as earlier versions identify them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pganon.catalog.introspect import read_relation, source_name
from pganon.encode.earlier_people import same_steps
from pganon.encode.people import identity
from pganon.encode.source import prints_of
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.history import populations, versions
from pganon.history.judgement import Walk
from pganon.history.versions import PastVersion
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import Members, People, refused
from pganon.resolved.republication import Earlier, Republication
from pganon.sqlfiles import Connection
from pganon.steps.facts import Facts


def people_of(conn: Connection, spec: ReleaseSpec, sources: Sequence[str]) -> People | None:
    """Return the people of a source; None without a key, or without a version about them.

    Raises:
        PreconditionError: population.
        LedgerError: memory, tables about them are missing.
    """
    if identity(spec) is None:
        return None
    population = populations.choose(conn, spec, sources)
    if population is None:
        return None
    about, declared = versions.versions_about(conn, population.id), spec.policy.population
    newest = _newest(conn, spec, about)
    people = People(population.id, populations.has_forgotten(conn, population.id), newest)
    doubtful = (
        bool(about) and population.near and population.key != (spec.individual or spec.record_key)
    )
    if doubtful:
        return replace(people, same=_members(conn, population.label, about))
    if newest is not None or (declared is not None and declared.renewed):
        return people
    reading = [one for one in about if not set(sources).isdisjoint(one.sources)]
    if not reading:
        return people
    people = replace(people, others=_members(conn, reading[-1].label, reading))
    return _beside(conn, spec, people, {source_name(one.source) for one in reading})


def _beside(
    conn: Connection, spec: ReleaseSpec, people: People, sources: Collection[QualifiedName]
) -> People:
    """With other sources of versions, such as views of other rows of one table: who is in these
    under the same key has no new one."""
    beside, closed = {}, []
    for name in sorted(set(sources) - {spec.source.name}, key=str):
        try:
            found = read_relation(conn, str(name))
        except PreconditionError as problem:
            closed += [name] if problem.code is ErrorCode.SOURCE_PRIVILEGE else []
            continue
        key = [found.column(column) for column in spec.individual or spec.record_key]
        known = tuple(column for column in key if column is not None)
        if len(known) < len(key):
            continue
        if found.row_security or not all(column.readable for column in known):
            closed.append(name)
        else:
            beside[name] = known
    return replace(people, beside=beside, closed=tuple(closed))


def people_with_rows(conn: Connection, population: int, label: str) -> People:
    """Return the people of a version with the same rows, which has another source.

    Raises:
        LedgerError: memory.
    """
    return People(population, same=_members(conn, label, versions.versions_about(conn, population)))


def rows_of_others(spec: ReleaseSpec, twin: Earlier) -> PreconditionError:
    """The error for rows of a version about another population, where the policy names one."""
    return refused(
        f"{twin.label} was made from the rows of {spec.source.name}, and the policy says that"
        " its people are others",
        "write the `population` of that release",
    )


def _newest(conn: Connection, spec: ReleaseSpec, about: Sequence[PastVersion]) -> Members | None:
    """Members of the newest version of the release."""
    declared = spec.policy.population
    mine = [one for one in about if one.release == spec.policy.release]
    if not mine or (declared is not None and declared.renewed):
        return None
    newest = max(mine, key=lambda one: one.version)
    runs = {newest.run_id, *newest.increments}
    return _members(conn, newest.label, [one for one in mine if one.run_id in runs])


def _members(conn: Connection, label: str, about: Sequence[PastVersion]) -> Members:
    past = tuple(versions.earlier_versions(about).values())
    versions.check_tables(conn, past)
    return Members(tuple(one.tables.members for one in past), label)


def population_of(
    conn: Connection,
    spec: ReleaseSpec,
    facts: Facts,
    walk: Walk,
    people: People | None,
    republication: Republication,
    sources: tuple[str, ...],
) -> int | None:
    """Whom the run is about; None for a dry run about people who are in no version.

    Args:
        people: of the source, as versions knew them when the run began.

    Raises:
        PreconditionError: population, the policy has to say which one it is.
    """
    prints, grows = prints_of(spec, facts), spec.growth is not None
    # An increment reads new individuals, who may have rows like those of others before.
    twin = republication.copied(prints) if grows else republication.same_rows(prints)
    population = None
    # Where there was none when the run began, who makes one looks again.
    if people is not None or twin is not None or grows or not republication.publishes:
        population = populations.find(conn, spec, sources, twin.population if twin else None)
    if twin is not None and twin.population is not None:
        if population is None or population != twin.population:
            raise rows_of_others(spec, twin)
        if not grows:
            expected = people_with_rows(conn, population, twin.label)
            walk(same_steps(spec, expected, lambda state: state.work(CODED), "twin_people"))
    if population is None and republication.publishes:
        population = populations.make(conn, spec, sources)
    return population
