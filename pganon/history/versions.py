"""What is remembered of versions about a population, as far as others are compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PreconditionError
from pganon.forms.groups import GROUPS
from pganon.history import populations
from pganon.history.invariance import stored as value_sets
from pganon.history.invariance.stored import StagedSets
from pganon.history.model import Past, Tables
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.privacy.judged import ONE_VERSION, over_finer
from pganon.resolved.presentation import Presentation
from pganon.steps.relations import PRIVATE_SCHEMA

Connection = psycopg.Connection[Any]

HOLDS, FINER, VOID = "holds", "finer", "void"
"""Whether a guarantee holds beside other versions: as it is, only for who has no finer one, or not
at all."""


@dataclass(frozen=True)
class About:
    """A version about a population.

    Attributes:
        manner: as :func:`manner_as_dict` gives it.
        readers: roles that could ever read it.
        drawn: see :func:`drawn`; None without its secrets.
        increments: runs that a version that grows is made of, the oldest first.
        audiences: of the policy.
    """

    release: str
    version: int
    run_id: int
    members_table: str
    relations: list[dict[str, Any]]
    manner: dict[str, Any]
    partition_hash: str | None
    drawn: bytes | None
    increments: list[int]
    readers: list[str]
    audiences: str | None
    over_versions: str | None

    @property
    def label(self) -> str:
        return f"version {self.version} of the release {quote(self.release)}"

    @property
    def tables(self) -> Tables:
        groups = next(r for r in self.relations if r["part"] == GROUPS and _is_of(r, self.run_id))
        functions = functions_table(self.run_id) if self.manner["functions"] else None
        return Tables(
            _named(self.members_table),
            QualifiedName(groups["schema"], groups["name"]),
            self.manner["link"],
            functions,
        )

    def past(self, root: int) -> Past:
        """The version for the rule.

        Args:
            root: the run of the first version that it grew from.
        """
        shown = manner_of(self.run_id, self.manner, self.partition_hash, self.drawn)
        return Past(root, self.label, shown, self.tables)


def _is_of(relation: dict[str, Any], run_id: int) -> bool:
    return relation["name"] == f"r{run_id}_{GROUPS}"


def functions_table(run_id: int) -> QualifiedName:
    """(grp, of): groups of a version that are a function of others."""
    return QualifiedName(PRIVATE_SCHEMA, f"r{run_id}_functions")


def manner_as_dict(shown: Presentation, link: str, *, functions: bool) -> dict[str, Any]:
    """What a version keeps of how it shows groups."""
    return {
        "form": shown.form,
        "columns": list(shown.columns),
        "quasi": list(shown.quasi),
        "layout": [list(names) for names in shown.layout],
        "invariant": list(shown.invariant),
        "least": shown.least,
        "link": link,
        "functions": functions,
    }


def manner_of(
    run_id: int, kept: dict[str, Any], partition_hash: str | None, drawn: bytes | None
) -> Presentation:
    """Inverse of :func:`manner_as_dict`."""
    return Presentation(
        run_id,
        kept["form"],
        tuple(kept["columns"]),
        tuple(kept["quasi"]),
        partition_hash,
        drawn,
        tuple(map(tuple, kept["layout"])),
        tuple(kept["invariant"]),
        kept["least"],
    )


def versions(conn: Connection, population: int) -> tuple[About, ...]:
    """Versions about the population that were ever readable, the oldest first."""
    rows = conn.execute(
        sqlfiles.query("population", "versions"), {"population": population}
    ).fetchall()
    return tuple(About(*row) for row in rows)


def drawn(conn: Connection, run_id: int, source: bytes) -> bytes:
    """Fingerprint of a source and of the seed of a run: with the same policy both make the same
    groups."""
    values = {"run_id": run_id, "source": source}
    row = conn.execute(sqlfiles.query("population", "drawn"), values).fetchone()
    assert row is not None
    return bytes(row[0])


def pasts(about: Sequence[About]) -> dict[int, Past]:
    """By run."""
    roots = {run: one.increments[0] for one in about for run in one.increments}
    return {one.run_id: one.past(roots.get(one.run_id, one.run_id)) for one in about}


def check(conn: Connection, found: Sequence[Past]) -> None:
    """Refuse to judge where it is not known who was in which group.

    Raises:
        LedgerError: memory.
    """
    for past in found:
        for name in missing(conn, past.tables):
            raise LedgerError(
                f"{name}, who was in which group of {past.label}, is missing",
                hint="restore it from a backup; if no copy of the version is left,"
                " `pganon forget NAME --version N`",
                code=ErrorCode.MEMORY,
            )


def missing(conn: Connection, tables: Tables) -> list[QualifiedName]:
    """Those that are gone."""
    names = [tables.members, tables.groups, *([tables.functions] if tables.functions else [])]
    found = (conn.execute("SELECT to_regclass(%s)", [str(name)]).fetchone() for name in names)
    return [name for name, row in zip(names, found, strict=True) if row == (None,)]


def _named(text: str) -> QualifiedName:
    schema, name = parse_name(text)
    return QualifiedName(schema or PRIVATE_SCHEMA, name)


@dataclass(frozen=True)
class Crossing:
    """Another version with which the guarantees of both are void."""

    run_id: int
    reason: str
    people: int


@dataclass(frozen=True)
class Judgement:
    """A version that the rule was held against, for publication.

    Attributes:
        population: whom it is about.
        counter: of the population, when the version was judged.
        name: of the population as the policy has it.
        sources: of the version, which become those of the population.
        manner: see :func:`manner_as_dict`.
        over_versions: whether its guarantee holds beside others.
        finer_k: what finer versions promise of which it is a function.
        functions: staged table, of groups that are a function of other versions.
        sets: staged tables of who has which value set.
        readers: roles that it was judged for; None for everybody.
        figures: of all versions together.
        crossings: versions beside which the policy accepts it all the same.
    """

    population: int
    counter: int
    name: str | None
    sources: tuple[str, ...]
    manner: dict[str, Any]
    over_versions: str = HOLDS
    finer_k: int | None = None
    functions: QualifiedName | None = None
    sets: StagedSets | None = None
    readers: tuple[str, ...] | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()

    @property
    def tables(self) -> tuple[QualifiedName, ...]:
        """Staged ones, which are no part of the release."""
        found = [] if self.functions is None else [self.functions]
        found += [] if self.sets is None else [self.sets.person, self.sets.sets]
        return tuple(found)


class MemoryMoved(PreconditionError):
    """What a version was judged beside is not what it would be published beside."""

    def __init__(
        self,
        what: str = "another version about the same people was published while this one was made",
    ) -> None:
        super().__init__(
            what,
            hint="run the release again",
            code=ErrorCode.POPULATION_MOVED,
        )


def remember(conn: Connection, judged: Judgement, run_id: int) -> None:
    """What others are compared with from now on; in the publishing transaction.

    Raises:
        MemoryMoved: what it was judged beside are not all versions any more.
    """
    if populations.counter(conn, judged.population) != judged.counter:
        raise MemoryMoved
    if judged.functions is not None:
        value_sets.moved(conn, judged.functions)
    if judged.sets is not None:
        value_sets.replace(conn, judged.population, judged.sets, run_id)
    for crossing in judged.crossings:
        cross(conn, run_id, crossing)
    count(conn, judged.population, judged.name, judged.sources)


def cross(conn: Connection, run_id: int, crossing: Crossing) -> None:
    """The guarantees of the version of a run and of another one are void for who has both."""
    values = {**crossing.__dict__, "run_id": run_id, "other_run": crossing.run_id}
    conn.execute(sqlfiles.query("population", "cross"), values)
    for one in (run_id, crossing.run_id):
        _promise(conn, one, VOID, ONE_VERSION)


def finer(conn: Connection, run_id: int, k: int | None) -> None:
    """Who can read a version has one of which it is a function, which promises k; None: nobody."""
    if k is not None:
        _promise(conn, run_id, FINER, over_finer(k))


def _promise(conn: Connection, run_id: int, state: str, said: str) -> None:
    values = {"run_id": run_id, "state": state, "said": said}
    conn.execute(sqlfiles.query("population", "promise"), values)


def check_readers(judged: Judgement, readers: Sequence[str]) -> None:
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
    """What is known of the population changed; a version may have brought a name, and sources."""
    conn.execute(
        sqlfiles.query("population", "count"),
        {"population": population, "name": name, "sources": list(sources)},
    )
