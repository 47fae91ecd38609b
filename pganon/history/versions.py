"""Versions about a population, as far as others are compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pganon.catalog.model import Origin
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PreconditionError
from pganon.forms.group_data import GROUPS
from pganon.history.invariance import signature_tables as stored_signatures
from pganon.history.invariance.signature_tables import StagedSignatures
from pganon.history.model import EarlierVersion, GroupTables
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.privacy.base import FINER, HOLDS, ONE_VERSION, VOID, over_finer
from pganon.resolved.presentation import Presentation
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import PRIVATE_SCHEMA


@dataclass(frozen=True)
class PastVersion:
    """A version about a population.

    Attributes:
        manner: as :func:`manner_as_dict` gives it.
        readers: roles that could ever read it.
        drawn: see :func:`drawn`; None without the secrets of the run.
        increments: runs whose groups a version that grows has, the oldest first.
        audiences: as the policy has it.
        over_versions: whether the guarantee holds beside other versions.
        sources: names of the source and of all relations that its rows came from.
        source: the source as its policy names it.
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
    sources: list[str]
    source: str

    @property
    def label(self) -> str:
        return f"version {self.version} of the release {quote(self.release)}"

    @property
    def tables(self) -> GroupTables:
        groups = next(r for r in self.relations if r["part"] == GROUPS and _is_of(r, self.run_id))
        functions = functions_table(self.run_id) if self.manner["functions"] else None
        schema, name = parse_name(self.members_table)
        return GroupTables(
            QualifiedName(schema or PRIVATE_SCHEMA, name),
            QualifiedName(groups["schema"], groups["name"]),
            self.manner["link"],
            functions,
        )

    def past(self, root: int) -> EarlierVersion:
        """Return the version for the rule.

        Args:
            root: the run of the first version of a release that grows.
        """
        shown = manner_of(self.run_id, self.manner, self.partition_hash, self.drawn)
        if not shown.origins and len(self.sources) == 1:  # a table
            (source,) = self.sources
            names = (*shown.columns, *shown.quasi)
            made = {name: Origin(frozenset({f"{source}.{quote(name)}"})) for name in names}
            shown = replace(shown, origins=made)
        return EarlierVersion(root, self.label, shown, self.tables)


def _is_of(relation: dict[str, Any], run_id: int) -> bool:
    return relation["name"] == f"r{run_id}_{GROUPS}"


def functions_table(run_id: int) -> QualifiedName:
    """The table (grp, of): groups of a version that are a function of others."""
    return QualifiedName(PRIVATE_SCHEMA, f"r{run_id}_functions")


def manner_as_dict(shown: Presentation, link: str, *, functions: bool) -> dict[str, Any]:
    """How a version shows groups, as JSON that it keeps."""
    return {
        "form": shown.form,
        "columns": list(shown.columns),
        "quasi": list(shown.quasi),
        "layout": [list(names) for names in shown.layout],
        "invariant": list(shown.invariant),
        "least": shown.least,
        "origins": {
            name: [sorted(origin.bases), origin.plain, origin.resolved, sorted(origin.chosen)]
            for name, origin in shown.origins.items()
        },
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
        {
            name: Origin(frozenset(bases), plain, resolved, frozenset().union(*chosen))
            for name, (bases, plain, resolved, *chosen) in kept.get("origins", {}).items()
        },
    )


def versions_about(conn: Connection, population: int) -> tuple[PastVersion, ...]:
    """Versions about the population that were ever readable, the oldest first."""
    rows = ask(conn, "population", "versions", population=population).fetchall()
    return tuple(PastVersion(*row) for row in rows)


def drawn(conn: Connection, run_id: int, source: bytes) -> bytes:
    """Fingerprint of a source and of the seed of a run.

    Equal fingerprints and policies make equal groups.
    """
    row = ask(conn, "population", "drawn", run_id=run_id, source=source).fetchone()
    assert row is not None
    return bytes(row[0])


def earlier_versions(about: Sequence[PastVersion]) -> dict[int, EarlierVersion]:
    """Return the versions for the rule, by run."""
    roots = {run: one.increments[0] for one in about for run in one.increments}
    return {one.run_id: one.past(roots.get(one.run_id, one.run_id)) for one in about}


def check_tables(conn: Connection, earlier: Sequence[EarlierVersion]) -> None:
    """Check that the tables of all versions exist.

    Raises:
        LedgerError: memory, one is missing.
    """
    for version in earlier:
        for name in missing(conn, version.tables):
            raise LedgerError(
                f"{name}, who was in which group of {version.label}, is missing",
                hint="restore it from a backup; if no copy of the version is left,"
                " `pganon forget NAME --version N`",
                code=ErrorCode.MEMORY,
            )


def missing(conn: Connection, tables: GroupTables) -> list[QualifiedName]:
    """Return the tables that do not exist."""
    names = [tables.members, tables.groups, *([tables.functions] if tables.functions else [])]
    rows = (conn.execute("SELECT to_regclass(%s)", [str(name)]).fetchone() for name in names)
    return [name for name, row in zip(names, rows, strict=True) if row == (None,)]


@dataclass(frozen=True)
class Crossing:
    """Another version with which the guarantees of both are void."""

    run_id: int
    reason: str
    people: int
    label: str = ""


@dataclass(frozen=True)
class Judgement:
    """A version for which the rule was checked, for publication.

    Attributes:
        population: the id of its population.
        counter: see :func:`pganon.history.populations.counter`, when the rule was checked.
        name: the population as the policy has it.
        sources: sources of the version, which become sources of the population.
        manner: see :func:`manner_as_dict`.
        over_versions: whether its guarantee holds beside other versions.
        finer_k: the k of finer versions of which it is a function.
        functions: staged table of groups that are a function of other versions.
        signatures: staged tables of an m-invariant version.
        readers: roles for which the rule was checked; None for everybody.
        figures: statistics of all versions together, for the ledger.
        crossings: versions that it conflicts with, as the policy accepts.
    """

    population: int
    counter: int
    name: str | None
    sources: tuple[str, ...]
    manner: dict[str, Any]
    over_versions: str = HOLDS
    finer_k: int | None = None
    functions: QualifiedName | None = None
    signatures: StagedSignatures | None = None
    readers: tuple[str, ...] | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()

    @property
    def tables(self) -> tuple[QualifiedName, ...]:
        """Staged tables that are not part of the release."""
        tables = [] if self.functions is None else [self.functions]
        tables += (
            [] if self.signatures is None else [self.signatures.people, self.signatures.values]
        )
        return tuple(tables)


class HistoryChanged(PreconditionError):
    """Other versions about the same people changed after the rule was checked."""

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
    """Keep what later versions are compared with, in the publishing transaction.

    Raises:
        HistoryChanged: the rule was not checked against all versions that there are now.
    """
    if not count(conn, judged.population, judged.name, judged.sources, known=judged.counter):
        raise HistoryChanged
    if judged.functions is not None:
        stored_signatures.moved(conn, judged.functions)
    if judged.signatures is not None:
        stored_signatures.replace(conn, judged.population, judged.signatures, run_id)
    for crossing in judged.crossings:
        cross(conn, run_id, crossing)


def cross(conn: Connection, run_id: int, crossing: Crossing) -> None:
    """Mark the guarantees of a version and of another one as void for readers of both."""
    other, reason, people = crossing.run_id, crossing.reason, crossing.people
    ask(conn, "population", "cross", run_id=run_id, other_run=other, reason=reason, people=people)
    for one in (run_id, crossing.run_id):
        _promise(conn, one, VOID, ONE_VERSION)


def finer(conn: Connection, run_id: int, k: int | None) -> None:
    """Note that readers of a version have a finer one, which guarantees k; None: none has."""
    if k is not None:
        _promise(conn, run_id, FINER, over_finer(k))


def _promise(conn: Connection, run_id: int, state: str, said: str) -> None:
    ask(conn, "population", "promise", run_id=run_id, state=state, said=said)


def check_readers(judged: Judgement, readers: Sequence[str]) -> None:
    """Check that the rule was checked for all of these roles.

    Raises:
        HistoryChanged: other roles can read the version now.
    """
    others = set() if judged.readers is None else set(readers) - set(judged.readers)
    if others:
        raise HistoryChanged(
            f"{', '.join(sorted(others))} became readers while the version was made"
        )


def count(
    conn: Connection,
    population: int,
    name: str | None = None,
    sources: Sequence[str] = (),
    *,
    known: int | None = None,
) -> bool:
    """Note that the history of a population changed; a version may add a name and sources.

    Args:
        known: how often it had changed; False if it did since, and nothing is noted.
    """
    return (
        ask(
            conn,
            "population",
            "count",
            population=population,
            name=name,
            sources=list(sources),
            known=known,
        ).rowcount
        > 0
    )
