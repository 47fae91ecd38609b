"""Forgetting people who want to be erased, and versions of which no copy remains."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql
from sqlglot import exp

from pganon.catalog.citus import distributed_reads
from pganon.catalog.code import reading
from pganon.catalog.introspect import read_relation
from pganon.catalog.keys import key_text_of
from pganon.catalog.model import ExternalObjects, Relation
from pganon.encode.people import FORGOTTEN, digest, mark_of_forgotten, secret_of
from pganon.errors import UsageError
from pganon.history import versions
from pganon.history.invariance import signature_tables as stored_signatures
from pganon.identifiers import QualifiedName, quote
from pganon.ledger.repository import as_jsonb
from pganon.publish import recording, release_state
from pganon.publish.held import stop_waiting
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import is_intact
from pganon.resolved.increments import AS_RELEASED, cohorts_table
from pganon.resolved.population import KnownPopulation
from pganon.resolved.shards import people_torn
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


def forget_people(
    conn: Connection, population: KnownPopulation, table: str
) -> tuple[int, tuple[str, ...]]:
    """Replace the digests of people by random ones, in versions, signatures and cohorts.

    In a transaction, under the lock of the population.

    Args:
        table: a relation with the columns of the key, as SQL writes its name.

    Returns:
        How many people, and warnings.

    Raises:
        UsageError: the relation lacks these columns.
    """
    relation = read_relation(conn, table)
    reads = distributed_reads(conn, [(relation.name,)])
    with reading(conn, ExternalObjects((relation.name,)), (), at_once=True):
        conn.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS {}").format(
                sql.Identifier(_GONE), statement(_others(population, relation))
            )
        )
    about = versions.versions_about(conn, population.id)
    names = dict.fromkeys(version.release for version in about)
    histories = [release_state.read(conn, name) for name in names]
    intact = [v for one in histories if one for v in one.versions if _whole(conn, v)]
    for version in about:
        _forget_groups(conn, version)
    stored = stored_signatures.all_of(conn, population.id)
    cohorts = ask(conn, "population", "cohorts", population=population.id).fetchall()
    tables = [(version.tables.members, "member") for version in about]
    tables += [(signatures.people, "person") for signatures, _, _ in stored]
    tables += [(cohorts_table(run_id), "person") for (run_id,) in cohorts]
    tables += [(t, "person") for t in {t for version in about for t in _as_released(version)}]
    people = sum(_exchange(conn, population.id, *table) for table in tables)
    for signatures, columns, run_id in stored:
        stored_signatures.remember_fingerprint(conn, population.id, columns, run_id, signatures)
    for version in intact:
        ask(
            conn,
            "population",
            "fingerprint_again",
            run_id=version.run_id,
            relations=[str(table) for table in version.all_tables],
        )
    versions.count(conn, population.id)
    stop_waiting(conn, population.id)
    return people, tuple(people_torn(reads))


def _as_released(version: versions.PastVersion) -> list[QualifiedName]:
    return [
        QualifiedName(item["schema"], item["name"])
        for item in version.relations
        if item["part"] == AS_RELEASED
    ]


def _whole(conn: Connection, version: Version) -> bool:
    return version.stored and is_intact(conn, version)


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


def forget_version(conn: Connection, history: History, number: int, reason: str) -> None:
    """Drop the members and histograms of a version, and its remaining tables.

    In a transaction, under the lock of the population.

    Raises:
        LedgerError: unknown_version; UsageError: the version is shown.
    """
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
        manner=as_jsonb({"forgotten": reason}),
    )
