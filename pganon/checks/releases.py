"""Changes of sources since versions were made from them; for the steward."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import yaml

from pganon.applied.store import loaded as of_stored
from pganon.applied.store import newest_revision, read
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.errors import DatabaseError, PganonError, PolicyError
from pganon.policy.guess import guess_role
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.policy.tables import EventTable, LookupTable
from pganon.publish import release_state
from pganon.publish.release_state import Version
from pganon.run.dry_run import look
from pganon.sqlfiles import Connection


@dataclass(frozen=True)
class Retyped:
    """A column whose type is another one now."""

    name: str
    before: str
    now: str


@dataclass(frozen=True)
class ColumnDrift:
    """Changes of the columns since a version was made.

    Attributes:
        added: those that the policy does not mention.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    retyped: tuple[Retyped, ...] = ()


def column_drift(
    before: Sequence[Mapping[str, str]], now: Relation, declared: Collection[str]
) -> ColumnDrift:
    """Columns that came, went or changed.

    Args:
        before: {name, type} of each.
        declared: names that the policy mentions.
    """
    was = {column["name"]: column["type"] for column in before}
    types = {column.name: column.type_name for column in now.columns}
    return ColumnDrift(
        tuple(name for name in types if name not in was and name not in declared),
        tuple(name for name in was if name not in types),
        tuple(
            Retyped(name, was[name], types[name])
            for name in types
            if name in was and was[name] != types[name]
        ),
    )


def mentioned(policy: Policy, table: str | None = None) -> set[str]:
    """Columns that a policy says something about, of its source or of a related table."""
    found = policy.tables.get(table or "")
    if isinstance(found, EventTable | LookupTable):
        return found.mentioned
    return {*policy.columns, *policy.individual_key}


def lines_to_add(relation: Relation, names: Collection[str], table: object = None) -> list[str]:
    """Lines for `columns:` of a policy, with a guess by the name of each column.

    Where the name says nothing the column is withheld, as it is without a line.

    Args:
        table: the related table, with roles of its own, or none where it has no people.
    """
    lines: list[str] = []
    for column in relation.columns:
        if column.name not in names:
            continue
        guess = guess_role(column, relation, facts=None)
        name = yaml.safe_dump(column.name, allow_unicode=True).splitlines()[0]
        role = guess.role or "identifying"
        why = guess.reason if guess.role else "no guess: as it is, it is withheld"
        if isinstance(table, EventTable) and role == "quasi_identifying":
            role = "insensitive"
        said = "{}  # published as it is" if isinstance(table, LookupTable) else ""
        lines.append(f"  {name}: {said or f'{{role: {role}}}  # {why}'}")
    return lines


Source = Literal["unchanged", "changed", "perhaps_changed", "unknown"]


@dataclass(frozen=True)
class Drift:
    """Changes of the source of one release.

    Attributes:
        source: its rows; `perhaps_changed` if the server's statistics alone were asked, which count
            changes that were taken back, too.
        added: columns that came and that the policy does not mention.
        dropped, retyped: columns that went, or have another type.
        problem: why a run would fail now; None: no check found a reason.
    """

    release: str
    source: Source
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    retyped: tuple[Retyped, ...] = ()
    problem: str | None = None

    @property
    def texts(self) -> list[str]:
        """Sentences for the steward."""
        sentences = [f"new column {name}, which its policy does not mention" for name in self.added]
        sentences += [f"column {name} is gone" for name in self.dropped]
        sentences += [f"column {c.name} was {c.before} and is {c.now}" for c in self.retyped]
        if self.source in ("changed", "perhaps_changed"):
            perhaps = "perhaps " if self.source == "perhaps_changed" else ""
            sentences.append(f"its source has {perhaps}changed")
        sentences += self.problem.splitlines() if self.problem else []
        return [f"{self.release}: {text}" for text in sentences]


@dataclass(frozen=True)
class Reading:
    """How to read sources, as the steward."""

    dsn: str | None
    owner: str | None


def drift(conn: Connection, release: str, reading: Reading | None = None) -> Drift | None:
    """Changes of the source of a release; None if no version of it is shown.

    Args:
        reading: compare the rows themselves; None: what the server's statistics say.
    """
    history_of = release_state.read(conn, release)
    current = history_of.current if history_of else None
    if history_of is None or current is None:
        return None
    try:
        return _drift(conn, release, history_of.release.source, current, reading)
    except DatabaseError:
        raise
    except PganonError as error:
        return Drift(release, "unknown", problem=error.message)


def _drift(
    conn: Connection, release: str, source: str, current: Version, reading: Reading | None
) -> Drift:
    relation = read_relation(conn, source, privileges=False)
    if newest_revision(conn, release) is None:
        columns = column_drift(current.source_columns, relation, current.policy["columns"])
        return _found(release, _by_statistics(conn, current), columns)
    with of_stored(conn, read(conn, release)) as policy:
        names = mentioned(policy.policy)
        columns = column_drift(current.source_columns, relation, names)
        if reading is None:
            return _found(release, _by_statistics(conn, current), columns)
        return _read(release, policy, columns, reading)


def _read(release: str, policy: LoadedPolicy, columns: ColumnDrift, reading: Reading) -> Drift:
    try:
        probed = look(policy, dsn=reading.dsn, owner=reading.owner)
    except DatabaseError:
        raise
    except PganonError as error:
        named = PolicyError(error.problems) if isinstance(error, PolicyError) else error
        return _found(release, "unknown", columns, str(named))
    source: Source = "unknown"
    if probed.changed is not None:
        source = "changed" if probed.changed else "unchanged"
    return _found(release, source, columns, probed.problem)


def _by_statistics(conn: Connection, current: Version) -> Source:
    if current.source_mark is None:
        return "unknown"
    tables = (current.policy.get("tables") or {}).values()
    lookups = [
        read_relation(conn, one["source"], privileges=False) for one in tables if "people" in one
    ]
    beside = release_state.sources_of(conn, *[relation.oid for relation in lookups])
    now = release_state.source_mark(conn, (*current.sources, *beside))
    if now is None or _counted_since(now) != _counted_since(current.source_mark):
        return "unknown"
    return "unchanged" if now == current.source_mark else "perhaps_changed"


def _counted_since(mark: str) -> str:
    """Since when the server has counted the changes of which a mark tells."""
    return mark.partition("|")[0]


def _found(release: str, source: Source, columns: ColumnDrift, problem: str | None = None) -> Drift:
    return Drift(release, source, columns.added, columns.dropped, columns.retyped, problem)
