"""The memory of a population made again from its versions, and what there is to say of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import psycopg
from psycopg import sql

from pganon import locks, sqlfiles
from pganon.errors import LedgerError, PganonError
from pganon.guard.model import Memory
from pganon.guard.replayed import Entered, population_by_id, replay_steps, replayed
from pganon.guard.steps import new_memory
from pganon.identifiers import QualifiedName, parse_name, quote
from pganon.ledger import repository as ledger
from pganon.ledger.repository import as_jsonb
from pganon.policy.loader import LoadedPolicy
from pganon.publish import history, memory, populations
from pganon.publish.memory import EVERYBODY, About
from pganon.publish.transaction import publishing
from pganon.run.cleanup import drop_run, run_tables
from pganon.run.executor import Executor
from pganon.run.resolving import resolve_policy
from pganon.run.tables import drop_tables
from pganon.spec.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.relations import PRIVATE_SCHEMA

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Audience:
    """What is remembered for who has the same versions.

    Attributes:
        name: empty for everybody.
        versions: texts such as `stays 3`.
        floors: what people were promised, one text for each set of promises.
        state: "complete", or what is wrong with it.
    """

    name: str
    versions: tuple[str, ...]
    people: int | None
    cells: int | None
    smallest_cell: int | None
    floors: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class Guarded:
    """A population and what is remembered of it.

    Attributes:
        population: its name, or None if no policy gave it one.
        key: columns that tell people apart.
        changes: how often the memory changed.
    """

    population: str | None
    key: tuple[str, ...]
    sources: tuple[str, ...]
    changes: int
    audiences: tuple[Audience, ...]
    rebuilt: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def guarded(conn: Connection, loaded: LoadedPolicy, *, rebuild: bool = False) -> Guarded:
    """What is remembered of the people of a policy; with `rebuild`, after making it again.

    Raises:
        LedgerError: no_population, no version is about these people.
        PreconditionError: population, busy.
    """
    spec = resolve_policy(conn, loaded)
    sources = history.sources_of(conn, spec.source.oid)
    population = _population(conn, spec, sources, rebuild=rebuild)
    if rebuild:
        with locks.population_lock(conn, population):
            rebuild_memory(conn, population, spec.policy.release, spec.policy_hash)
    return replace(_told(conn, population), rebuilt=rebuild)


def _population(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], *, rebuild: bool
) -> int:
    if not (spec.individual or spec.record_key):
        raise LedgerError(
            f"nothing tells the people of {spec.source.name} apart, so nothing is remembered of"
            " them",
            hint="give the source a primary key, or the policy `individual`",
            code="no_identity",
        )
    older = [v for v in history.earlier(conn, "", sources) if v.is_over_source and not v.is_known]
    found = populations.find(conn, spec, sources)
    if rebuild and older:
        found = found or populations.make(conn, spec, sources)
        for version in older:
            _enter(conn, spec, version.release, version.version, version.run_id, found)
    if found is None:
        raise LedgerError(
            f"no version is about the people of {spec.source.name}", code="no_population"
        )
    return found


def _enter(
    conn: Connection, spec: ReleaseSpec, release: str, version: int, run_id: int, population: int
) -> None:
    """A version of an earlier pganon: its members are known by keys, and no values."""
    table = f"{PRIVATE_SCHEMA}.r{run_id}_members"
    columns = dict(
        conn.execute(sqlfiles.query("population", "columns"), {"table": table}).fetchall()
    )
    kind = columns.pop("member", None)
    known = kind == "text"
    guard: dict[str, Any] = {}
    if known:
        guard = {
            "plain": True,
            "parts": len(spec.individual or spec.record_key),
            "links": list(columns),
            "columns": [],
            "several": _repeats(conn, table),
            "bounded": [],
            "rules": [],
            "rounds": 0,
            "strongest": True,
        }
    values = {
        "population": population if known else None,
        "guard": as_jsonb(guard),
        "release": release,
        "version": version,
    }
    conn.execute(sqlfiles.query("population", "enter"), values)


def _repeats(conn: Connection, table: str) -> bool:
    schema, name = parse_name(table)
    text = sql.SQL("SELECT count(*) > count(DISTINCT m.member) FROM {} AS m")
    row = conn.execute(text.format(QualifiedName(schema or "", name).identifier)).fetchone()
    return bool(row and row[0])


def rebuild_memory(
    conn: Connection,
    population: int,
    release: str,
    policy_hash: str,
    change: Callable[[], Mapping[str, Any]] | None = None,
) -> None:
    """Replay all versions in their order; the session holds the population.

    Args:
        change: what is done to versions before, in a transaction of its own; gives details for the
            ledger.
    """
    event: ledger.Ended = "rebuilt" if change is None else "forgotten"
    details = {}
    run_id = ledger.start_run(conn, release, policy_hash)
    with locks.run_lock(conn, run_id):
        try:
            if change is not None:
                with publishing(conn):
                    details = change()
            about = memory.versions(conn, population)
            found = replay(Executor(conn, State(run_id)), conn, population, about)
            with publishing(conn):
                memory.replace_all(
                    conn,
                    population,
                    {EVERYBODY: found} if found else {},
                    {EVERYBODY: tuple(version.run_id for version in about)},
                    run_id,
                )
                memory.count(conn, population)
                ledger.finish(conn, run_id, event, {"versions": len(about), **details})
        except BaseException as error:
            with contextlib.suppress(psycopg.Error, PganonError):
                ledger.finish_with(conn, run_id, error)
                drop_run(conn, run_id)
            raise
        drop_run(conn, run_id)


def replay(
    executor: Executor,
    conn: Connection,
    population: int,
    about: Sequence[About],
    *,
    first: int = 0,
    judged: int | None = None,
    name: str = EVERYBODY,
    independent: bool | None = None,
) -> Memory | None:
    """The memory of these versions, staged by the run; None if there are none.

    Args:
        first: number of the first of the memories on the way; others have none from there on.
        judged: place of the first version that is held against what was promised; None for none.
        name: of the audience that has the versions.
        independent: which rules they are held against; see :class:`pganon.guard.model.Version`.

    Raises:
        PrivacyRefusal: republication.
    """
    found: Memory | None = None
    for number, version in enumerate(about, start=first):
        own = entered(version)
        step = replace(replayed(own, found, number), audience=name)
        if judged is not None and number - first >= judged:
            step = replace(step, republication="refuse", independent=independent)
        executor.run(replay_steps(own, step, population_by_id(population)))
        found = new_memory(step, executor.state)
        made = [t for n in (number - 1, number) if n >= first for t in _made(conn, executor, n)]
        tables = [table for table in made if table not in found.tables]
        executor.filled.difference_update(tables)
        drop_tables(conn, tables)
    return found


def judge_again(
    executor: Executor,
    conn: Connection,
    population: int,
    about: Sequence[About],
    *,
    first: int,
    judged: int,
    name: str,
    independent: bool | None = None,
) -> None:
    """The same for whoever has these versions; no memory of it stays.

    Raises:
        PrivacyRefusal: republication.
    """
    how = {"first": first, "judged": judged}
    replay(executor, conn, population, about, **how, name=name, independent=independent)
    last = first + len(about) - 1
    tables = [*_made(conn, executor, last)]
    if len(about) > 1:
        tables += _made(conn, executor, last - 1)
    executor.filled.difference_update(tables)
    drop_tables(conn, tables)


def _made(conn: Connection, executor: Executor, number: int) -> Iterator[QualifiedName]:
    """The tables that the run has for the memory of this number."""
    run_id = executor.state.run_id
    its = re.compile(rf"r{run_id}_(guard{number}_.*|told_[a-z]+{number})")
    return (table for table in run_tables(conn, run_id) if its.fullmatch(table.name))


def entered(version: About) -> Entered:
    """It as the memory knows it.

    Raises:
        LedgerError: memory.
    """
    private = {
        item["part"]: QualifiedName(item["schema"], item["name"]) for item in version.relations
    }
    if "members" not in private or version.guard is None:
        raise LedgerError(
            f"version {version.version} of the release {quote(version.release)} has no members",
            code=memory.CODE,
        )
    return Entered(private["members"], private.get("histogram"), version.guard)


def _told(conn: Connection, population: int) -> Guarded:
    row = conn.execute(sqlfiles.query("population", "by_id"), {"population": population}).fetchone()
    assert row is not None
    name, sources, key, changes = row
    about = memory.versions(conn, population)
    known = memory.read(conn, population)
    audiences = tuple(_audience(conn, one, about) for one in known)
    if memory.is_due(known, about):
        labels = tuple(map(_label, about))
        audiences = (Audience(EVERYBODY, labels, None, None, None, (), _DUE),)
    return Guarded(name, tuple(key), tuple(map(_plain, sources)), changes, audiences)


_DUE = "made when a version is judged beside this one"


def _label(version: About) -> str:
    return f"{quote(version.release)} {version.version}"


def _plain(source: str) -> str:
    """A name that a source is remembered by, quoted only where it has to be."""
    schema, name = parse_name(source)
    return str(QualifiedName(schema or "", name))


def _audience(conn: Connection, one: memory.Remembered, about: Sequence[About]) -> Audience:
    versions = tuple(_label(version) for version in about if version.run_id in one.runs)
    floors = tuple(", ".join(rule.label for rule in floor) for floor in one.memory.floors)
    try:
        memory.check(conn, [one], [v for v in about if v.run_id in one.runs])
    except LedgerError as error:
        return Audience(one.audience, versions, None, None, None, floors, error.message)
    people = sql.SQL("SELECT count(*) FROM {}").format(one.memory.person.identifier)
    cells = sql.SQL("SELECT count(*), min(c.size) FILTER (WHERE c.seen) FROM {} AS c").format(
        one.memory.cell.identifier
    )
    (number,) = conn.execute(people).fetchone() or (0,)
    many, least = conn.execute(cells).fetchone() or (0, None)
    return Audience(one.audience, versions, number, many, least, floors, "complete")
