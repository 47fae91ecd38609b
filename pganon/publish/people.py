"""The people of a source, as earlier versions identify them, and the version that a run adds to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pganon.catalog.introspect import read_relation, source_name
from pganon.encode.earlier_people import same_steps
from pganon.encode.people import identity
from pganon.encode.source import prints_of
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PreconditionError, PrivacyRefusal
from pganon.forms.group_data import HISTOGRAM
from pganon.history import populations, versions
from pganon.history.increments.continuity import (
    check_compared,
    check_ranges,
    check_regions,
    increment_size,
    numbered,
)
from pganon.history.judgement import Walk
from pganon.history.versions import PastVersion
from pganon.identifiers import QualifiedName, quote
from pganon.policy.options import REFERENCE
from pganon.privacy.likeness import ReferenceModel
from pganon.publish import release_state
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import is_intact
from pganon.resolved.increments import CUTS, Cohorts, First, Growth, Increment, cohorts_table
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import Members, People, refused
from pganon.resolved.republication import Earlier, Republication
from pganon.resolved.warnings import UNLOCKED
from pganon.sqlfiles import Connection, ask
from pganon.steps.facts import Facts
from pganon.steps.relations import CheckQuery


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


# -- releases that grow ---------------------------------------------------------------------------


def growth_of(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], run_id: int | None = None
) -> Growth | None:
    """The version that a run adds to; None for a policy that makes every version anew.

    Args:
        run_id: the run, whose digests become those of its population; None for a plan.

    Raises:
        PreconditionError: no_identity, other_regions, other_reference, population, partitions.
        LedgerError: not_stored.
        PrivacyRefusal: changed_after_verification.
    """
    if spec.policy.refresh != "increments":
        return None
    if identity(spec) is None:
        raise PreconditionError(
            f"{spec.source.name} has no key, so nobody can tell who is new",
            hint="declare `individual`, or give the table a primary key",
            code=ErrorCode.NO_IDENTITY,
        )
    population = populations.find(conn, spec, sources)
    if run_id is not None:
        if population is None:
            population = populations.make(conn, spec, sources)
        populations.set_of_run(conn, run_id, population)
    found = growth(
        conn,
        spec.policy.release,
        population,
        increment_size(spec),
        divides=spec.policy.regions == "leaves",
    )
    check_ranges(spec, found)
    check_regions(spec, found)
    check_compared(spec, found)
    return numbered(spec, found)


def growth(
    conn: Connection, release: str, population: int | None, size: int, *, divides: bool
) -> Growth:
    """Return the version and cohorts that a run of the release adds to.

    Args:
        population: id of the population of the release; None if nothing was released of them.
        size: fewest people of a cohort.
        divides: whether the cuts of the first version, if it kept them, divide new individuals.

    Raises:
        LedgerError: not_stored, the newest version has no tables any more.
        PreconditionError: no_identity, people of the first version cannot be identified.
        PrivacyRefusal: changed_after_verification.
    """
    history = release_state.read(conn, release)
    newest = history.versions[0] if history and history.versions else None
    values = {"release": release, "population": population}
    cohorts = ask(conn, "publish", "cohorts", **values).fetchall()
    unfinished = [Cohorts(run_id, number, cut) for run_id, number, mine, _, cut in cohorts if mine]
    growth = Growth(
        size=size,
        population=population,
        unfinished=unfinished[0] if unfinished else None,
        taken=tuple(cohorts_table(run_id) for run_id, *_ in cohorts),
        records_out=sum(out for *_, out, _ in cohorts),
    )
    if newest is None:
        return growth
    members = ask(conn, "publish", "members_tables", **values).fetchall()
    growth = replace(growth, members=tuple(QualifiedName.of(name) for (name,) in members))
    assert history is not None
    return _from(history, _upon(conn, release, newest, growth), divides=divides)


def _from(history: History, growth: Growth, *, divides: bool) -> Growth:
    """Add what later versions take from the first one: cuts, distributions, losses."""
    first = next(v for v in history.versions if v.run_id == growth.increments[0].run_id)
    kept = {r["part"]: QualifiedName(r["schema"], r["name"]) for r in first.relations}
    if HISTOGRAM not in kept:
        raise PreconditionError(
            f"version {first.version} of the release {quote(history.release.name)}, which"
            " increments would be added to, has no key, so new individuals cannot be identified",
            hint="use refresh: recompute, or another name for the release",
            code=ErrorCode.NO_IDENTITY,
        )
    source = kept.get(REFERENCE)
    compared = (g["column"] for g in growth.increments[0].guarantee if _compares(g))
    losses = {version.run_id: version.lost for version in history.versions}
    return replace(
        growth,
        lost=tuple(losses.get(one.run_id, {}) for one in growth.increments),
        cuts=kept.get(CUTS) if divides else None,
        first=First(kept[HISTOGRAM], source, frozenset(compared if source else ())),
        partition=first.partition,
        unlocked=tuple(history.versions[0].measures.get(UNLOCKED, ())),
    )


def _compares(stated: Mapping[str, Any]) -> bool:
    """Whether a requirement, as a guarantee states it, is about the distribution of the source."""
    return any(stated["model"] == model.name for model in ReferenceModel.__subclasses__())


def _upon(conn: Connection, release: str, newest: Version, growth: Growth) -> Growth:
    if not newest.stored:
        raise LedgerError(
            f"version {newest.version} of the release {quote(release)}, which increments would be"
            " added to, is no longer stored",
            hint="use refresh: recompute, or another name for the release",
            code=ErrorCode.NOT_STORED,
        )
    if not is_intact(conn, newest):
        raise PrivacyRefusal(
            f"the tables of version {newest.version} of the release {quote(release)}, which"
            " increments would be added to, were changed",
            hint="use refresh: recompute",
            code=ErrorCode.CHANGED_AFTER_VERIFICATION,
        )
    growth = replace(
        growth,
        version=newest.version,
        views=newest.views,
        increments=newest.increments or (at_once(newest),),
        relations=tuple(newest.relations),
        shown=newest.row_count,
    )
    if growth.withdrawn is not None and not growth.standing:
        raise LedgerError(
            f"version {newest.version} of the release {quote(release)} was made by an earlier"
            " pganon, which left withdrawn groups in the tables that views read",
            hint="use refresh: recompute, or another name for the release, and drop this one",
            code=ErrorCode.NOT_STORED,
        )
    return growth


def at_once(version: Version) -> Increment:
    """A version that was made at once, as the first increment of those to come."""
    return Increment(
        version.run_id,
        tuple(view.select for view in version.views),
        tuple(CheckQuery(**item) for item in version.checks),
        version.row_count,
        version.suppressed,
        version.row_count,  # no group is without a record
        tuple(version.guarantee),
    )
