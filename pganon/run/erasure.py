"""`pganon forget`: erasure of people, and the end of a version of which no copy remains."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql
from sqlglot import exp

from pganon import locks
from pganon.catalog.citus import distributed_reads
from pganon.catalog.code import reading
from pganon.catalog.introspect import read_relation
from pganon.catalog.keys import key_text_of
from pganon.catalog.model import ExternalObjects, Relation
from pganon.encode.people import FORGOTTEN, digest, mark_of_forgotten, secret_of
from pganon.error_codes import ErrorCode
from pganon.errors import Interrupted, LedgerError, UsageError
from pganon.history import populations, versions
from pganon.history.invariance import signature_tables as stored_signatures
from pganon.identifiers import QualifiedName, first_few, quote
from pganon.ledger import repository as ledger
from pganon.publish import recording, release_state
from pganon.publish.held import stop_waiting
from pganon.publish.listing import find
from pganon.publish.release_state import History
from pganon.publish.sessions import translated
from pganon.publish.transaction import is_intact, publishing
from pganon.resolved.increments import AS_RELEASED, cohorts_table
from pganon.resolved.population import KnownPopulation
from pganon.resolved.warnings import people_torn
from pganon.run.tables import clean
from pganon.sqlfiles import Connection, ask
from pganon.sqltools import col, computed_once, fragment, named, query, statement
from pganon.steps.relations import PRIVATE_SCHEMA

_GONE = "pganon_forgotten"
"""Temporary table (person, key, other, mark): digests of people; random keys and their digests, to
replace them; and the marks by which forgotten people are recognized."""


@dataclass(frozen=True)
class Forgotten:
    """Result of forgetting.

    Attributes:
        people: number of people whose digests were replaced by random ones.
        version: version whose members and histograms were dropped.
        warnings: about the reading of the table of people.
    """

    release: str
    people: int | None = None
    version: int | None = None
    warnings: tuple[str, ...] = ()


def forget_people(conn: Connection, name: str, table: str) -> Forgotten:
    """Know people by random digests from now on; `name` is a release about their population.

    What was published stays as it is. Who returns is left out of later versions.

    Args:
        table: a relation with the columns of the key, as SQL writes its name.

    Raises:
        LedgerError: unknown_release, no_population.
        UsageError: the table has not the columns of the key.
        Interrupted: they are forgotten, but a table that another server keeps may have them.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        population = populations.of_release(conn, name)
        if population is None:
            raise LedgerError(
                f"nothing is remembered of the people of the release {quote(name)}",
                code=ErrorCode.NO_POPULATION,
            )
        with locks.hold(conn, population=population.id), publishing(conn):
            relation = read_relation(conn, table)
            reads = distributed_reads(conn, [(relation.name,)])
            people = _replace_digests(conn, population, relation)
            _note(conn, history, {"people": people})
        # Tables of what waited for approval, or was interrupted, have them still.
        remaining = clean(conn).remaining
    if remaining:
        raise Interrupted(
            "the people are forgotten, but tables of ended runs may have them:"
            f" {first_few(remaining, 5)}; another server of the cluster does not answer",
            hint="run `pganon clean` when it does",
        )
    return Forgotten(name, people=people, warnings=tuple(people_torn(reads)))


def _note(conn: Connection, history: History, details: dict[str, object]) -> None:
    run_id, name = history.versions[0].run_id, history.release.name
    ledger.append(conn, "forgotten", run_id=run_id, release=name, details=details)


def _replace_digests(conn: Connection, population: KnownPopulation, relation: Relation) -> int:
    """Replace the digests of people by random ones, in versions, signatures and cohorts.

    Returns how many people.
    """
    with reading(conn, ExternalObjects((relation.name,)), (), at_once=True):
        conn.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS {}").format(
                sql.Identifier(_GONE), statement(_others(population, relation))
            )
        )
    about = versions.versions_about(conn, population.id)
    histories = [
        release_state.read(conn, name)
        for name in dict.fromkeys(version.release for version in about)
    ]
    every = [version for one in histories if one for version in one.versions]
    intact = [version for version in every if version.stored and is_intact(conn, version)]
    for version in about:
        _forget_groups(conn, version)
    stored = stored_signatures.all_of(conn, population.id)
    cohorts = ask(conn, "population", "cohorts", population=population.id).fetchall()
    released = {
        QualifiedName(item["schema"], item["name"])
        for version in about
        for item in version.relations
        if item["part"] == AS_RELEASED
    }
    tables = [(version.tables.members, "member") for version in about]
    tables += [(signatures.people, "person") for signatures, _, _ in stored]
    tables += [(cohorts_table(run_id), "person") for (run_id,) in cohorts]
    tables += [(table, "person") for table in released]
    people = sum(_exchange(conn, population.id, *table) for table in tables)
    for signatures, columns, run_id in stored:
        stored_signatures.remember_fingerprint(conn, population.id, columns, run_id, signatures)
    for version in intact:
        relations = [str(table) for table in version.all_tables]
        ask(conn, "population", "fingerprint_again", run_id=version.run_id, relations=relations)
    versions.count(conn, population.id)
    stop_waiting(conn, population.id)
    return people


def _others(population: KnownPopulation, relation: Relation) -> exp.Select:
    """SELECT person, key, other, mark: a random key for each person, and its digest."""
    key = "gen_random_uuid()::text" if len(population.key) == 1 else _KEY_OF_PARTS
    keys = query(
        "select d.person, :key as key from d",
        {"d": _digests(population, relation)},
        key=fragment(key),
    )
    return query(
        "select k.person, k.key, :other as other from k",
        {"k": computed_once(keys)},
        other=digest(col("key", "k"), secret_of(population.id)),
    ).select(named(mark_of_forgotten(col("person", "k"), population.id), "mark"))


_KEY_OF_PARTS = "jsonb_build_array(gen_random_uuid())::text"


def _digests(population: KnownPopulation, relation: Relation) -> exp.Select:
    columns = [relation.column(name) for name in population.key]
    if any(column is None for column in columns):
        raise UsageError(
            f"{relation.name} lacks the columns that identify people:"
            f" {', '.join(map(quote, population.key))}",
            hint="name a table with these columns",
        )
    key = key_text_of([column for column in columns if column is not None], "e")
    person = named(digest(key, secret_of(population.id)), "person")
    return query("select 1 from e", {"e": relation.name}).select(person, append=False).distinct()


def _exchange(conn: Connection, population: int, table: QualifiedName, column: str) -> int:
    """Replace digests in a table; return the number of people who were in no other table so far."""
    text = sql.SQL(
        "WITH done AS (UPDATE {table} AS t SET {column} = g.other FROM {gone} AS g"
        " WHERE g.person = t.{column} RETURNING g.mark)"
        " INSERT INTO {forgotten} (population, mark) SELECT DISTINCT {id}::bigint, d.mark"
        " FROM done AS d ON CONFLICT DO NOTHING"
    )
    done = conn.execute(
        text.format(
            table=table.identifier,
            column=sql.Identifier(column),
            gone=sql.Identifier(_GONE),
            forgotten=FORGOTTEN.identifier,
            id=sql.Literal(population),
        )
    )
    return done.rowcount


def _forget_groups(conn: Connection, version: versions.PastVersion) -> None:
    """Have no later group count as one of the groups of these people."""
    tables = version.tables
    groups = sql.SQL(
        "UPDATE {groups} AS g SET who1 = NULL, who2 = NULL, held = NULL WHERE g.grp IN ("
        "SELECT m.{link} FROM {members} AS m JOIN {gone} AS d ON d.person = m.member)"
    )
    conn.execute(
        groups.format(
            groups=tables.groups.identifier,
            link=sql.Identifier(tables.link),
            members=tables.members.identifier,
            gone=sql.Identifier(_GONE),
        )
    )


def forget_version(conn: Connection, name: str, number: int, reason: str) -> Forgotten:
    """Forget who was in a version of which no copy is left; nothing is judged beside it any more.

    Raises:
        LedgerError: unknown_release, unknown_version.
        UsageError: the version is shown.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        population = populations.of_release(conn, name)
        people = population.id if population else None
        with locks.hold(conn, population=people), publishing(conn):
            _drop_version(conn, history, number, reason)
            if population:
                versions.count(conn, population.id)
            _note(conn, history, {"version": number, "reason": reason})
    return Forgotten(name, version=number)


def _drop_version(conn: Connection, history: History, number: int, reason: str) -> None:
    """Drop the members and histograms of a version, and its remaining tables."""
    version, name = history.version(number), history.release.name
    if history.release.current == number:
        raise UsageError(
            f"version {number} of the release {quote(name)} is shown",
            hint="roll back or drop the release first",
        )
    later = next(
        (
            later.version
            for later in history.versions
            if later.version > version.version
            and later.relations  # those of a forgotten version are gone
            and any(increment.run_id == version.run_id for increment in later.increments or ())
        ),
        None,
    )
    if later is not None:
        raise UsageError(
            f"version {later} of the release {quote(name)} has the groups of version {number}, too",
            hint="forget the later version first",
        )
    recording.drop_stored(conn, name, [version])
    kept = {table for v in history.versions if v is not version for table in v.all_tables}
    for table in version.all_tables:
        if table.schema == PRIVATE_SCHEMA and table not in kept:
            recording.drop_table(conn, table)
    ask(
        conn,
        "population",
        "forget_version",
        release=name,
        version=number,
        manner=ledger.as_jsonb({"forgotten": reason}),
    )
