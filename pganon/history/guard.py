"""`pganon guard`: the versions about the people of a policy, as new ones are compared with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from psycopg import sql

from pganon.history import versions as memory
from pganon.history.versions import PastVersion
from pganon.identifiers import parse_name
from pganon.sqlfiles import Connection, ask


@dataclass(frozen=True)
class Shown:
    """A version.

    Attributes:
        readers: roles that could ever read it.
        people: in groups; None where it is not known any more.
        smallest: people in the smallest group.
        left_out: people who were left out for a value.
    """

    release: str
    version: int
    form: str
    readers: list[str]
    people: int | None
    groups: int | None
    smallest: int | None
    left_out: int | None
    over_versions: str | None


@dataclass(frozen=True)
class Crossed:
    """Two versions whose guarantees are void for who has both."""

    one: str
    other: str
    reason: str
    people: int


@dataclass(frozen=True)
class Guarded:
    """The history of a population.

    Attributes:
        warnings: who could read versions since these were published.
    """

    population: str | None
    key: tuple[str, ...]
    sources: tuple[str, ...]
    versions: tuple[Shown, ...]
    crossings: tuple[Crossed, ...]
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def history_of(conn: Connection, population: int, warnings: tuple[str, ...]) -> Guarded:
    """The history of a population."""
    row = ask(conn, "population", "by_id", population=population).fetchone()
    assert row is not None
    about = memory.versions_about(conn, population)
    labels = {one.run_id: f"{one.release} {one.version}" for one in about}
    rows = ask(conn, "population", "crossings", population=population).fetchall()
    return Guarded(
        row[0],
        tuple(row[2]),
        tuple(map(_shown_name, row[1])),
        tuple(_shown(conn, one) for one in about),
        tuple(
            Crossed(labels.get(run, ""), labels.get(other, ""), reason, people)
            for run, other, reason, people in rows
        ),
        warnings,
    )


def _shown_name(source: str) -> str:
    """A name without the quotes that it need not have."""
    schema, name = parse_name(source)
    return ".".join(filter(None, (schema, name)))


def _shown(conn: Connection, one: PastVersion) -> Shown:
    counts: tuple[Any, ...] = (None, None, None, None)
    if not memory.missing(conn, one.tables):
        text = sql.SQL(
            "SELECT coalesce(sum(g.people) FILTER (WHERE g.grp > 0), 0)::bigint,"
            " count(*) FILTER (WHERE g.grp > 0), min(g.people) FILTER (WHERE g.grp > 0),"
            " coalesce(sum(g.people) FILTER (WHERE g.grp < 0), 0)::bigint FROM {} AS g"
        )
        counts = conn.execute(text.format(one.tables.groups.identifier)).fetchone() or counts
    people, groups_number, smallest, left_out = counts
    return Shown(
        one.release,
        one.version,
        one.manner["form"],
        one.readers,
        people,
        groups_number,
        smallest,
        left_out,
        one.over_versions,
    )
