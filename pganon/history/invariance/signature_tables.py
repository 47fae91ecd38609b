"""Signatures as the state tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pganon.error_codes import ErrorCode, SqlState
from pganon.errors import LedgerError
from pganon.history import populations
from pganon.identifiers import QualifiedName, parse_name
from pganon.resolved.increments import cohorts_table
from pganon.resolved.invariance import Resumed, Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import PRIVATE_SCHEMA


@dataclass(frozen=True)
class StagedSignatures:
    """Tables of a run that replace the earlier signatures.

    Attributes:
        columns: names of the columns, sorted.
    """

    columns: tuple[str, ...]
    people: QualifiedName
    values: QualifiedName


def read(conn: Connection, population: int, columns: Sequence[str]) -> Signatures | None:
    """The signatures of these columns; None if nobody was released with any.

    Raises:
        LedgerError: memory, the tables were changed or are missing.
    """
    row = ask(
        conn, "population", "value_sets", population=population, columns=list(columns)
    ).fetchone()
    if row is None:
        return None
    people, values_of, made, run_id = row
    signatures = Signatures(_named(people), _named(values_of), len(columns))
    if fingerprint(conn, run_id, signatures, bytes(made)) != bytes(made):
        raise LedgerError(
            "the table of signatures (m-invariance) was changed or is missing",
            hint="restore the tables from a backup, or release under another name for other people",
            code=ErrorCode.MEMORY,
        )
    return signatures


def fingerprint(
    conn: Connection, run_id: int, signatures: Signatures, compared: bytes | None = None
) -> bytes | None:
    """Keyed fingerprint of the tables; None if one of them or the secret is missing.

    Args:
        compared: one with which it is compared, made by this or an earlier program.
    """
    try:
        with conn.transaction():
            row = ask(
                conn,
                "publish",
                "fingerprint",
                run_id=run_id,
                relations=[str(signatures.people), str(signatures.values)],
                compared=compared,
            ).fetchone()
    except psycopg.Error as error:
        if error.sqlstate in (SqlState.NO_SECRET, SqlState.RELATION_MISSING):
            return None
        raise
    assert row is not None
    return bytes(row[0])


def replace(conn: Connection, population: int, staged: StagedSignatures, run_id: int) -> None:
    """Replace the earlier signatures, in the publishing transaction.

    Args:
        run_id: the run with the secrets of the fingerprint.
    """
    values = {"population": population, "columns": list(staged.columns)}
    gone = ask(conn, "population", "forget_value_sets", **values).fetchall()
    for name in (name for row in gone for name in row):
        conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_named(name).identifier))
    stored = Signatures(moved(conn, staged.people), moved(conn, staged.values), len(staged.columns))
    ask(
        conn,
        "population",
        "add_value_sets",
        **values,
        person=str(stored.people),
        sets=str(stored.values),
        fingerprint=fingerprint(conn, run_id, stored),
        run_id=run_id,
    )


def all_of(conn: Connection, population: int) -> list[tuple[Signatures, tuple[str, ...], int]]:
    """Signatures of a population: tables, columns, and the run of the fingerprint."""
    rows = ask(conn, "population", "all_value_sets", population=population).fetchall()
    return [
        (Signatures(_named(person), _named(sets), len(columns)), tuple(columns), run_id)
        for columns, person, sets, run_id in rows
    ]


def remember_fingerprint(
    conn: Connection, population: int, columns: Sequence[str], run_id: int, signatures: Signatures
) -> None:
    """Keep the fingerprint of tables that the owner changed."""
    ask(
        conn,
        "population",
        "value_sets_fingerprint",
        population=population,
        columns=list(columns),
        fingerprint=fingerprint(conn, run_id, signatures),
    )


def _named(text: str) -> QualifiedName:
    schema, name = parse_name(text)
    return QualifiedName(schema or PRIVATE_SCHEMA, name)


def moved(conn: Connection, staged: QualifiedName) -> QualifiedName:
    """Move a staged table to the private schema; return its new name."""
    stored = QualifiedName(PRIVATE_SCHEMA, staged.name)
    conn.execute(
        sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(
            staged.identifier, sql.Identifier(PRIVATE_SCHEMA)
        )
    )
    conn.execute("SELECT pganon.seal(to_regclass(%s))", [str(stored)])
    return stored


def signatures_of(conn: Connection, spec: ReleaseSpec, population: int | None) -> Signatures | None:
    """The signatures that people of a population were released with.

    Raises:
        LedgerError: memory.
    """
    if not spec.invariant or population is None:
        return None
    return read(conn, population, spec.invariant_columns)


def resumed(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], run_id: int
) -> Resumed | None:
    """New individuals of cohorts on which no version decided; None without any.

    The digests of the run become those of its population.

    Raises:
        PreconditionError: population.
        LedgerError: memory.
    """
    population = populations.find(conn, spec, sources) if spec.invariant else None
    if population is None:
        return None
    rows = ask(
        conn, "publish", "unfinished_cohorts", release=spec.policy.release, population=population
    ).fetchall()
    signatures = signatures_of(conn, spec, population) if rows else None
    if signatures is None:
        return None
    populations.set_of_run(conn, run_id, population)
    mine = [cohorts_table(run) for run, is_mine in rows if is_mine]
    others = tuple(cohorts_table(run) for run, is_mine in rows if not is_mine)
    return Resumed(signatures, mine[0] if mine else None, others)
