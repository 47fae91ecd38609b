"""The demo's own database on the embedded server: roles, schema, patients."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from pganon import embedded
from pganon.sqlfiles import ask

DATABASE = "pganon_demo"
STEWARD = "demo_steward"
ANALYST = "demo_analyst"


@dataclass(frozen=True)
class Hospital:
    """Connection strings of the three people in the story."""

    admin: str
    steward: str
    analyst: str
    patients: int


def build() -> Hospital:
    """Recreate the database; anything that an earlier demo left in it is gone."""
    cluster = embedded.embedded()
    cluster.provide()
    with psycopg.connect(cluster.dsn(), autocommit=True) as conn:
        for role in (STEWARD, ANALYST):
            exists = conn.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            if exists is None:
                conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        name = sql.Identifier(DATABASE)
        conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        conn.execute(sql.SQL("CREATE DATABASE {}").format(name))
    admin = cluster.dsn(DATABASE)
    with psycopg.connect(admin, autocommit=True) as conn:
        patients = _fill(conn)
    return Hospital(
        admin=admin,
        steward=cluster.dsn(DATABASE, STEWARD),
        analyst=cluster.dsn(DATABASE, ANALYST),
        patients=patients,
    )


def _fill(conn: psycopg.Connection[tuple[object, ...]]) -> int:
    steward = sql.Identifier(STEWARD)
    conn.execute("CREATE SCHEMA hospital")
    for name in (
        *("create_patients", "finish_patients", "analyze_patients"),
        *("create_clinic", "fill_clinic", "analyze_clinic"),
    ):
        ask(conn, "demo", name)
    conn.execute(
        sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(sql.Identifier(DATABASE), steward)
    )
    conn.execute(sql.SQL("GRANT USAGE ON SCHEMA hospital, clinic TO {}").format(steward))
    tables = sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA hospital, clinic TO {}")
    conn.execute(tables.format(steward))
    row = conn.execute("SELECT count(*) FROM hospital.patient").fetchone()
    assert row is not None
    return int(row[0])  # pyright: ignore[reportArgumentType]
