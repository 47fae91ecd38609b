"""What is remembered of a population: tables that only the owner can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.errors import LedgerError, PreconditionError
from pganon.guard.model import Memory, floors_of, floors_to_json
from pganon.identifiers import QualifiedName, parse_name
from pganon.ledger.repository import as_jsonb
from pganon.publish import populations
from pganon.steps.relations import PRIVATE_SCHEMA

Connection = psycopg.Connection[Any]

EVERYBODY = ""
"""The audience that has every version."""

CODE = "memory"


@dataclass(frozen=True)
class Remembered:
    """A memory and the versions that it is about.

    Attributes:
        runs: of these versions, the oldest first.
        fingerprint: keyed, under the secrets of the run `run_id`.
    """

    audience: str
    memory: Memory
    runs: tuple[int, ...]
    fingerprint: bytes
    run_id: int


@dataclass(frozen=True)
class About:
    """A version about a population, as it enters the memory.

    Attributes:
        guard: links, columns, rules and rounds; see :mod:`pganon.guard.replayed`.
        readers: roles that could ever read it; None where everybody may have.
        columns: of the policy, by name.
        audiences: of the policy.
    """

    release: str
    version: int
    run_id: int
    method: str
    members_table: str | None
    relations: list[dict[str, Any]]
    guard: dict[str, Any] | None
    published_at: Any
    dropped_at: Any
    readers: list[str] | None
    columns: dict[str, dict[str, Any]]
    audiences: str | None

    @property
    def is_deferred(self) -> bool:
        """Whether it was to be remembered when another one is judged beside it."""
        return bool(self.guard and self.guard.get("deferred"))


def is_due(known: Sequence[Remembered], about: Sequence[About]) -> bool:
    """Whether the memory of these versions was left for later, and is not made yet."""
    return bool(about) and not known and all(version.is_deferred for version in about)


def versions(conn: Connection, population: int) -> tuple[About, ...]:
    """Versions about the population that were ever readable, the oldest first."""
    rows = conn.execute(
        sqlfiles.query("population", "versions"), {"population": population}
    ).fetchall()
    return tuple(About(*row) for row in rows)


def read(conn: Connection, population: int) -> tuple[Remembered, ...]:
    """All memories of a population, by audience."""
    rows = conn.execute(
        sqlfiles.query("population", "memories"), {"population": population}
    ).fetchall()
    found: list[Remembered] = []
    for row in rows:
        audience, columns, floors, *tables, own, runs, fingerprint, run_id, kept, sets = row[:-2]
        apart, packed = row[-2:]
        person, cell, value = map(_named, tables)
        memory = Memory(
            tuple(columns),
            floors_of(floors),
            *(person, cell, value),
            own=tuple(map(_named, own)),
            kept=None if kept is None else tuple(kept),
            sets=None if sets is None else _named(sets),
            marked_apart=apart,
            packed=packed,
        )
        found.append(Remembered(audience, memory, tuple(runs), bytes(fingerprint), run_id))
    return tuple(found)


def _named(text: str) -> QualifiedName:
    schema, name = parse_name(text)
    return QualifiedName(schema or PRIVATE_SCHEMA, name)


def check(conn: Connection, known: Sequence[Remembered], about: Sequence[About]) -> None:
    """Refuse to judge with a memory that is not that of the versions.

    Raises:
        LedgerError: memory.
    """
    if not about or is_due(known, about):
        return
    if not known:
        raise _unusable("what is remembered of these people is missing")
    wanted = {version.run_id for version in about}
    seen = {run for one in known for run in one.runs}
    if seen != wanted:
        missing = [f"version {v.version} of {v.release}" for v in about if v.run_id not in seen]
        found = f"lacks {', '.join(missing)}" if missing else "is of versions about others, too"
        raise _unusable(f"what is remembered of these people {found}")
    for one in known:
        if fingerprint(conn, one.run_id, one.memory) != one.fingerprint:
            raise _unusable("what is remembered of these people was changed or is missing")


def remember_fingerprint(conn: Connection, population: int, one: Remembered) -> None:
    """The tables were changed by the owner, who stands by it."""
    conn.execute(
        sqlfiles.query("population", "memory_fingerprint"),
        {
            "population": population,
            "audience": one.audience,
            "fingerprint": fingerprint(conn, one.run_id, one.memory),
        },
    )


def _unusable(what: str) -> LedgerError:
    return LedgerError(what, hint="make it again with `pganon guard POLICY --rebuild`", code=CODE)


def fingerprint(conn: Connection, run_id: int, memory: Memory) -> bytes | None:
    """Keyed fingerprint of the tables; None if one of them or the secret is missing."""
    names = [str(table) for table in memory.tables]
    try:
        with conn.transaction():
            row = conn.execute(
                sqlfiles.query("publish", "fingerprint"), {"run_id": run_id, "relations": names}
            ).fetchone()
    except psycopg.Error as error:
        if error.sqlstate in ("PA302", "PA303"):
            return None
        raise
    assert row is not None
    return bytes(row[0])


@dataclass(frozen=True)
class Judged:
    """A memory that a run staged, for publication to swap in.

    Attributes:
        population: whom it is about.
        counter: of the population, when the version was judged.
        name: of the population as the policy has it.
        sources: of the version, which become those of the population.
        memories: by audience.
        runs: of the versions that each is about, without the new one.
        guard: how the version enters the memory; see :class:`About`.
        kept: audiences who have not the version, and whose memories stay as they are.
        readers: roles that it was judged for; None for everybody.
    """

    population: int
    counter: int
    name: str | None
    sources: tuple[str, ...]
    memories: dict[str, Memory]
    runs: dict[str, tuple[int, ...]]
    guard: dict[str, Any]
    kept: tuple[str, ...] = ()
    readers: tuple[str, ...] | None = None


class MemoryMoved(PreconditionError):
    """What a version was judged beside is not what it would be published beside."""

    def __init__(
        self,
        what: str = "another version about the same people was published while this one was made",
    ) -> None:
        super().__init__(
            what,
            hint="run the release again",
            code="population_moved",
        )


def swap(conn: Connection, judged: Judged, run_id: int) -> None:
    """Put staged memories in the place of those before; in the publishing transaction.

    Raises:
        MemoryMoved: what was judged with is not the memory any more.
    """
    if populations.counter(conn, judged.population) != judged.counter:
        raise MemoryMoved
    replace_all(conn, judged.population, judged.memories, judged.runs, run_id, judged.kept)
    count(conn, judged.population, judged.name, judged.sources)


def check_readers(judged: Judged, readers: Sequence[str]) -> None:
    """Whether these are some of the roles that a version was judged for.

    Raises:
        MemoryMoved: others can read it now.
    """
    others = set() if judged.readers is None else set(readers) - set(judged.readers)
    if others:
        raise MemoryMoved(f"{', '.join(sorted(others))} became readers while the version was made")


def count(
    conn: Connection, population: int, name: str | None = None, sources: Sequence[str] = ()
) -> None:
    """The memory changed; a version may have brought a name, and sources."""
    conn.execute(
        sqlfiles.query("population", "count"),
        {"population": population, "name": name, "sources": list(sources)},
    )


def replace_all(
    conn: Connection,
    population: int,
    memories: dict[str, Memory],
    runs: dict[str, tuple[int, ...]],
    run_id: int,
    kept: Sequence[str] = (),
) -> None:
    """Staged memories instead of all but the kept; `run_id` has the secrets of fingerprints."""
    gone = conn.execute(
        sqlfiles.query("population", "forget_memories"),
        {"population": population, "kept": list(kept)},
    ).fetchall()
    for *tables, own in gone:
        for name in filter(None, [*tables, *own]):
            drop = sql.SQL("DROP TABLE IF EXISTS {}").format(_named(name).identifier)
            conn.execute(drop)
    for audience, staged in memories.items():
        stored = Memory(
            staged.columns,
            staged.floors,
            *(_moved(conn, staged.person), _moved(conn, staged.cell), _moved(conn, staged.value)),
            own=tuple(_moved(conn, table) for table in staged.own),
            kept=staged.kept,
            sets=None if staged.sets is None else _moved(conn, staged.sets),
        )
        found = fingerprint(conn, run_id, stored)
        assert found is not None
        conn.execute(
            sqlfiles.query("population", "add_memory"),
            {
                "population": population,
                "audience": audience,
                "columns": list(stored.columns),
                "floors": as_jsonb(floors_to_json(stored.floors)),
                "person": str(stored.person),
                "cell": str(stored.cell),
                "value": str(stored.value),
                "own": list(map(str, stored.own)),
                "runs": list(runs[audience]),
                "fingerprint": found,
                "run_id": run_id,
                "value_sets_of": None if stored.kept is None else list(stored.kept),
                "value_set": None if stored.sets is None else str(stored.sets),
            },
        )


def _moved(conn: Connection, staged: QualifiedName) -> QualifiedName:
    stored = QualifiedName(PRIVATE_SCHEMA, staged.name)
    conn.execute(
        sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(
            staged.identifier, sql.Identifier(PRIVATE_SCHEMA)
        )
    )
    conn.execute("SELECT pganon.seal(to_regclass(%s))", [str(stored)])
    return stored
