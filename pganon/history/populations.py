"""Populations as the state tables keep them."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.encode.people import identity
from pganon.ledger.repository import as_jsonb
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import Asked, KnownPopulation, chosen
from pganon.sqlfiles import Connection, ask


def choose(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], copied: int | None = None
) -> KnownPopulation | None:
    """The population of a source that has a key; None if nothing was released of it.

    Args:
        sources: names of the source and of all relations that its rows come from.
        copied: the population of a version with the same rows.

    Raises:
        PreconditionError: population.
    """
    asked = _asked(spec)
    rows = ask(
        conn, "population", "known", name=asked.name, sources=list(sources), copied=copied
    ).fetchall()
    return chosen(asked, [_population(*row) for row in rows])


def find(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], copied: int | None = None
) -> int | None:
    """The id of the population that :func:`choose` returns."""
    population = choose(conn, spec, sources, copied)
    return population.id if population else None


def _population(
    number: int, name: str | None, released: list[str] | None, key: list[str], near: bool = True
) -> KnownPopulation:
    return KnownPopulation(number, name, frozenset(released or ()), tuple(key), near)


def of_release(conn: Connection, name: str) -> KnownPopulation | None:
    """The population of the newest version of a release that is about one."""
    row = ask(conn, "population", "of_release", release=name).fetchone()
    return None if row is None else _population(*row)


def has_forgotten(conn: Connection, population: int) -> bool:
    """Whether any of its people were forgotten."""
    row = ask(conn, "population", "has_forgotten", population=population).fetchone()
    return row == (True,)


def _asked(spec: ReleaseSpec) -> Asked:
    declared = spec.policy.population
    return Asked(
        name=declared.name if declared else None,
        source=str(spec.source.name),
        columns=frozenset(column.name for column in spec.source.columns),
        key=spec.individual or spec.record_key,
        accepts=spec.policy.republication != "refuse",
    )


def make(conn: Connection, spec: ReleaseSpec, sources: Sequence[str]) -> int:
    """Add a population of which nothing is released yet; concurrent runs get the same one.

    Raises:
        PreconditionError: population.
    """
    asked = _asked(spec)
    values = {
        "name": asked.name,
        "sources": sorted(sources),
        "key": as_jsonb(list(asked.key)),
    }
    with conn.transaction():
        ask(conn, "population", "one_at_a_time")
        existing = find(conn, spec, sources)
        if existing is not None:
            return existing  # made and released since the caller looked
        made = ask(conn, "population", "add", **values).fetchone()
    assert made is not None
    return int(made[0])


def set_of_run(conn: Connection, run_id: int, population: int) -> None:
    """Have the secret of the population make the digests of the run from now on."""
    ask(conn, "population", "of_run", population=population, run_id=run_id)


def counter(conn: Connection, population: int) -> tuple[int, bool]:
    """How often the history of the population changed; whether any of its people were forgotten.

    In a transaction, nobody else changes it before the end.
    """
    row = ask(conn, "population", "counter", population=population).fetchone()
    assert row is not None
    return int(row[0]), bool(row[1])


def that_grows(conn: Connection, spec: ReleaseSpec, sources: Sequence[str]) -> int | None:
    """The population that only one run at a time may form cohorts of; None for other policies."""
    if spec.policy.refresh != "increments" or identity(spec) is None:
        return None
    population = find(conn, spec, sources)
    return make(conn, spec, sources) if population is None else population
