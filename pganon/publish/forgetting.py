"""What the owner forgets: people who want to be erased, and versions of which no copy is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from sqlglot import exp

from pganon import sqlfiles
from pganon.catalog.code import reading
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import ExternalObjects, Relation
from pganon.encode.keys import key_text_of
from pganon.encode.people import FORGOTTEN, digest, mark_of_forgotten, secret_of
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, UsageError
from pganon.history import versions as memory
from pganon.history.invariance import stored as stored_signatures
from pganon.identifiers import QualifiedName, quote
from pganon.ledger.repository import as_jsonb
from pganon.publish import recording, release_state
from pganon.publish.held import stop_waiting
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import is_intact
from pganon.resolved.increments import AS_RELEASED, cohorts_table
from pganon.resolved.population import KnownPopulation
from pganon.sqltools import col, computed_once, fragment, named, query, statement
from pganon.steps.relations import PRIVATE_SCHEMA

Connection = psycopg.Connection[Any]

_GONE = "pganon_forgotten"
"""Temporary table (person, key, other, mark): digests of people, instead of these random keys with
theirs, and what is kept to know by that they were forgotten."""


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten.

    Attributes:
        people: who are known by a random digest from now on.
        version: whose members and histograms are gone.
    """

    release: str
    people: int | None = None
    version: int | None = None


def forget_people(conn: Connection, population: KnownPopulation, table: str) -> int:
    """Random digests instead of those of people: in the memory, versions about them, and cohorts.

    In a transaction, under the lock of the population.

    Args:
        table: a relation with the columns of the key, as SQL writes its name.

    Raises:
        UsageError: it has not these columns.
    """
    relation = read_relation(conn, table)
    with reading(conn, ExternalObjects((relation.name,)), ()):
        conn.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS {}").format(
                sql.Identifier(_GONE), statement(_others(population, relation))
            )
        )
    about = memory.versions_about(conn, population.id)
    names = dict.fromkeys(version.release for version in about)
    histories = [release_state.read(conn, name) for name in names]
    intact = [v for one in histories if one for v in one.versions if _whole(conn, v)]
    for version in about:
        _forget_groups(conn, version)
    kept = stored_signatures.all_of(conn, population.id)
    cohorts = conn.execute(
        sqlfiles.query("population", "cohorts"), {"population": population.id}
    ).fetchall()
    tables = [(version.tables.members, "member") for version in about]
    tables += [(signatures.people, "person") for signatures, _, _ in kept]
    tables += [(cohorts_table(run_id), "person") for (run_id,) in cohorts]
    tables += [(t, "person") for t in {t for version in about for t in _as_released(version)}]
    people = sum(_exchange(conn, population.id, *table) for table in tables)
    for signatures, columns, run_id in kept:
        stored_signatures.remember_fingerprint(conn, population.id, columns, run_id, signatures)
    for version in intact:
        conn.execute(
            sqlfiles.query("population", "fingerprint_again"),
            {
                "run_id": version.run_id,
                "relations": [str(table) for table in version.all_tables],
            },
        )
    memory.count(conn, population.id)
    stop_waiting(conn, population.id)
    return people


def _as_released(version: memory.PastVersion) -> list[QualifiedName]:
    return [
        QualifiedName(item["schema"], item["name"])
        for item in version.relations
        if item["part"] == AS_RELEASED
    ]


def _whole(conn: Connection, version: Version) -> bool:
    return version.stored and is_intact(conn, version)


def _others(population: KnownPopulation, relation: Relation) -> exp.Select:
    """SELECT person, key, other: a random key for each, and its digest."""
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
            f"{relation.name} has not the columns that tell people apart:"
            f" {', '.join(map(quote, population.key))}",
            hint="name a table with these columns",
        )
    key = key_text_of([column for column in columns if column is not None], "e")
    person = named(digest(key, secret_of(population.id)), "person")
    return query("select 1 from e", {"e": relation.name}).select(person, append=False).distinct()


def _exchange(conn: Connection, population: int, table: QualifiedName, column: str) -> int:
    """Random digests in a table; how many people of it were in no other so far."""
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


def _forget_groups(conn: Connection, version: memory.PastVersion) -> None:
    """Their groups in a version are no other groups from now on."""
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


def _still_shown(known: History, found: Version) -> int | None:
    """A later version that shows the groups of one, too."""
    return next(
        (
            later.version
            for later in known.versions
            if later.version > found.version
            and later.relations  # those of a forgotten version are gone
            and any(increment.run_id == found.run_id for increment in later.increments or ())
        ),
        None,
    )


def forget_version(conn: Connection, known: History, number: int, reason: str) -> None:
    """Members and histograms of a version go, and what is left of its tables.

    In a transaction, under the lock of the population.

    Raises:
        LedgerError: unknown_version; UsageError: it is shown.
    """
    found = next((v for v in known.versions if v.version == number), None)
    name = known.release.name
    if found is None:
        raise LedgerError(
            f"the release {quote(name)} has no version {number}", code=ErrorCode.UNKNOWN_VERSION
        )
    if known.release.current == number:
        raise UsageError(
            f"version {number} of the release {quote(name)} is shown",
            hint="roll back or drop the release first",
        )
    later = _still_shown(known, found)
    if later is not None:
        raise UsageError(
            f"version {later} of the release {quote(name)} has the groups of version {number}, too",
            hint="forget the later version first",
        )
    recording.drop_stored(conn, name, [found])
    kept = {table for v in known.versions if v is not found for table in v.all_tables}
    for table in found.all_tables:
        if table.schema == PRIVATE_SCHEMA and table not in kept:
            recording.drop_table(conn, table)
    conn.execute(
        sqlfiles.query("population", "forget_version"),
        {
            "release": name,
            "version": number,
            "manner": as_jsonb({"forgotten": reason}),
        },
    )
