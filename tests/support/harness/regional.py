"""Releases whose groups show their regions, held against the definition of a region."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from psycopg import sql

from tests.support.harness import driver, faults
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.regions import Kind, gets_there, region_of, ways
from tests.support.sources.regions import KINDS, SOURCE, people


def part(conn: Connection, name: str) -> list[dict[str, Any]]:
    """The rows of all tables that are a part of a version."""
    tables = conn.execute(
        "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n"
        " ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
        " AND c.relname ~ ('^r[0-9]+_' || %s || '$')"
        " ORDER BY length(relname), relname",
        [name],
    ).fetchall()
    return [
        row
        for table in tables
        for row in driver.fetch(conn, sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table)))
    ]


def grown(db: Database, policy: dict[str, Any], people_: int = 300) -> None:
    db.source(SOURCE)
    db.source(people(1, people_, 1), grant=False)
    run(db, policy)


def run(db: Database, policy: dict[str, Any]) -> Any:
    return faults.run(db.dsn(), driver.loaded(policy), force=False)


def source(conn: Connection) -> dict[int, dict[str, Any]]:
    rows = driver.fetch(conn, sql.SQL("SELECT * FROM public.person"))
    for row in rows:
        row["weight"] = None if row["weight"] is None else Decimal(repr(row["weight"]))
    return {row["id"]: row for row in rows}


def groups(conn: Connection) -> dict[int, int]:
    """The group of everybody who is shown, by key."""
    digest = (
        "encode(substr(sha256(o.secret || convert_to(p.id::text, 'UTF8')), 1, 16), 'hex')::uuid"
    )
    keys = conn.execute(
        f"SELECT {digest}, p.id FROM public.person AS p"
        " CROSS JOIN pganon_private.population AS o".encode()
    ).fetchall()
    known = dict(keys)
    return {known[row["member"]]: row["class_id"] for row in part(conn, "members")}


def kinds_of(policy: dict[str, Any]) -> dict[str, Kind]:
    return {name: KINDS[name] for name in policy["columns"] if name in KINDS}


def check(conn: Connection, policy: dict[str, Any], first: range) -> None:
    """Everybody is in the group of a region that shows exactly what gets there."""
    kinds, cuts = kinds_of(policy), part(conn, "cuts")
    rows, group_of = source(conn), groups(conn)
    shown = {row["class_id"]: row for row in part(conn, "classes")}
    region_of_group = {row["class_id"]: row["region"] for row in part(conn, "regions")}
    assert set(shown) == set(region_of_group) == set(group_of.values())
    for person, group in group_of.items():
        assert region_of(kinds, cuts, rows[person]) == region_of_group[group]
        for name, kind in kinds.items():
            _holds(kind, name, rows[person][name], shown[group])
    by_region: dict[int, dict[str, Any]] = {}
    for group, found in shown.items():
        bounds = {name: value for name, value in found.items() if name != "class_id"}
        assert by_region.setdefault(region_of_group[group], bounds) == bounds
    known = ways(cuts)
    for region, bounds in by_region.items():
        apart, steps = known[region]
        for name, kind in kinds.items():
            values = [rows[n][name] for n in first if rows[n][name] is not None]
            tried = kind.candidates([c for c in cuts if c["column_name"] == name], values)
            way = steps.get(name, ())
            there = {v: name not in apart and gets_there(kind, way, v) for v in tried}
            assert kind.shown(bounds[name], there.__getitem__, tried), (name, bounds[name])
            if f"{name}_null" in bounds:
                assert bounds[f"{name}_null"] == gets_there(kind, way, None), name


def _holds(kind: Kind, name: str, value: Any, shown: dict[str, Any]) -> None:
    """A published value contains the one that it stands for."""
    published = shown[name]
    if value is None:
        assert shown.get(f"{name}_null", published is None), name
    elif isinstance(published, str):
        assert published in kind.path(value), name
    else:
        assert value in published, name
