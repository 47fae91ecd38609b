"""Attack: who owns what Citus distributes puts code on other servers, which this catalog lacks.

The catalog here only says that tables are in shards. An index calls a function of a superuser
whenever a statement over the table is planned: it tells whether anything of a source was read.
The attack itself, on a given cluster, is in `tests/integration/run/test_citus.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.database import connect
from pganon.errors import PreconditionError
from pganon.run.erasure import forget_people
from tests.support.harness import citus, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused

WATCH = """
CREATE SCHEMA watch;
GRANT USAGE ON SCHEMA watch TO PUBLIC;
CREATE SEQUENCE watch.calls;
GRANT ALL ON SEQUENCE watch.calls TO PUBLIC;
CREATE FUNCTION watch.one(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    $$BEGIN
        IF current_user <> 'source_owner' THEN PERFORM nextval('watch.calls'); END IF;
        RETURN $1;
    END$$;
CREATE INDEX ON public.patient (days) WHERE watch.one(1) = 1
"""
COPIED = """
CREATE VIEW public.aliases AS SELECT id AS old, id AS new FROM public.patient;
ALTER VIEW public.aliases OWNER TO steward;
GRANT SELECT ON public.patient TO steward;
CREATE TABLE public.other AS SELECT * FROM public.patient;
GRANT SELECT ON public.other TO steward
"""
STEWARD = "ALTER TABLE public.patient OWNER TO steward; ALTER SCHEMA public OWNER TO steward;"
SUPERUSER = "ALTER TABLE public.patient OWNER TO CURRENT_USER;"

VIEW = """
CREATE SCHEMA mine AUTHORIZATION steward;
CREATE VIEW mine.seen AS SELECT {0} FROM public.patient;
ALTER VIEW mine.seen OWNER TO steward;
"""
MADE = """
CREATE SCHEMA made;
GRANT USAGE ON SCHEMA made TO PUBLIC;
CREATE FUNCTION made.same(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE DOMAIN made.word AS text;
CREATE TYPE made.sex AS ENUM ('m', 'f');
"""
NAMES = "id, age, sex, city, disease, days"

SOURCES: dict[str, tuple[str, str, str, str]] = {
    "table": ("public.patient", "", "table public.patient of source_owner", "source_owner"),
    "below a view": (
        "mine.seen",
        VIEW.format(NAMES),
        "table public.patient of source_owner",
        "source_owner",
    ),
    "schema": (
        "public.patient",
        f"{STEWARD} ALTER SCHEMA public OWNER TO source_owner",
        "schema public of source_owner",
        "source_owner",
    ),
    "schema of the owner of the database": (
        "public.patient",
        f"{STEWARD} ALTER SCHEMA public OWNER TO pg_database_owner;"
        " DO $$BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO source_owner', current_database());"
        " END$$",
        "schema public of source_owner",
        "source_owner",
    ),
    "right to make functions": (
        "mine.seen",
        STEWARD + MADE + VIEW.format(NAMES.replace("city", "made.same(city) AS city"))
        + "GRANT CREATE ON SCHEMA made TO analyst",
        "right to create in schema made of analyst",
        "analyst",
    ),
    "owner of a type": (
        "mine.seen",
        STEWARD + MADE + VIEW.format(NAMES.replace("sex", "sex::made.sex::text AS sex"))
        + "ALTER TYPE made.sex OWNER TO analyst",
        "type made.sex of analyst",
        "analyst",
    ),
    "owner of a schema of types": (
        "mine.seen",
        STEWARD + MADE + VIEW.format(NAMES.replace("city", "city::made.word::text AS city"))
        + "ALTER SCHEMA made OWNER TO analyst",
        "schema made of analyst",
        "analyst",
    ),
}  # fmt: skip
"""A source, what makes it one, what of it is named, and who has to be trusted."""


def prepare(db: Database, text: str) -> None:
    db.source(faults.SOURCE)
    db.admin.execute(WATCH.encode())
    db.admin.execute(text.encode())
    db.admin.execute(b"GRANT SELECT ON public.patient TO steward")
    db.admin.execute(b"SELECT setval('watch.calls', 1, false)")
    citus.pretend(db, {"public.patient": 4})


def called(db: Database) -> bool:
    row = db.admin.execute(b"SELECT is_called FROM watch.calls").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    "kind", ["table", *[pytest.param(kind, marks=pytest.mark.slow) for kind in list(SOURCES)[1:]]]
)
@pytest.mark.slow
def test_whoever_could_put_code_on_a_worker_is_trusted_or_refused(
    db: Database, kind: str, tmp_path: Path
) -> None:
    source, text, named, trusted = SOURCES[kind]
    prepare(db, text)
    file = tmp_path / "policy.json"
    document = {**faults.POLICY, "source": source}
    file.write_text(json.dumps(document), "utf-8")
    commands: list[tuple[str, ...]] = [
        ("run", str(file)),
        ("run", "--dry-run", str(file)),
        ("plan", str(file)),
        ("compare", str(file), "--vary", "k=4,8"),
        ("attack", str(file)),
        ("policy", "check", "--source", str(file)),
    ]
    options: list[tuple[str, ...]] = [
        ("assess", source, "--qi", "age,sex", "--sensitive", "disease"),
        ("quasi", source),
        ("quasi", source, "--identifiers", "us"),
        ("policy", "init", source),
    ]
    for arguments in (*commands, *options):
        ran = pganon("--dsn", db.dsn(), *arguments)
        told = " ".join(ran.err.split())
        assert (ran.code, named in told) == (2, True), (arguments, ran.out, ran.err)
        hint = f"--trust {trusted}" if arguments in options else f"trust: [{trusted}]"
        assert hint in told, arguments
    assert not called(db)
    file.write_text(json.dumps({**document, "trust": [trusted]}), "utf-8")
    ran = pganon("--dsn", db.dsn(), "run", str(file))
    assert ran.code == 0, ran.err
    assert called(db)
    for arguments in options:
        ran = pganon("--dsn", db.dsn(), *arguments, "--trust", trusted)
        assert ran.code == 0, (arguments, ran.err)


def test_nobody_can_trust_everybody(db: Database) -> None:
    made = "CREATE OPERATOR made.+ (FUNCTION = made.same, RIGHTARG = text);"
    seen = VIEW.format(NAMES.replace("city", "(OPERATOR(made.+) city) AS city"))
    prepare(db, f"{STEWARD} {MADE} {made} {seen} GRANT CREATE ON SCHEMA made TO PUBLIC")
    with refused("untrusted_code") as caught:
        faults.run(db.dsn(), faults.policy(source="mine.seen"))
    assert "right to create in schema made of public" in str(caught[0])
    assert str(caught[0].hint).startswith("revoke that right from PUBLIC")
    db.admin.execute(b"REVOKE CREATE ON SCHEMA made FROM PUBLIC")
    assert faults.run(db.dsn(), faults.policy(source="mine.seen")).records == 24


@pytest.mark.parametrize("owner", ["steward", "superuser"])
def test_what_is_the_stewards_or_a_superusers_needs_no_trust(db: Database, owner: str) -> None:
    prepare(db, STEWARD if owner == "steward" else f"{SUPERUSER} {STEWARD.split(';')[1]}")
    assert faults.run(db.dsn()).records == 24


def test_tables_that_are_here_run_nothing_elsewhere(db: Database) -> None:
    prepare(db, COPIED)
    assert faults.run(db.dsn(), faults.policy(source="public.other")).records == 24


@pytest.mark.parametrize(
    "changes",
    [
        {"exclude": {"relation": "public.patient"}},
        {"aliases": {"relation": "public.aliases"}},
        {"report": {"population": "public.patient"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_relation_that_a_policy_names_is_looked_at(
    db: Database, changes: dict[str, Any]
) -> None:
    prepare(db, COPIED)
    columns = {**faults.POLICY["columns"], "id": {"role": "individual"}}
    asked = faults.policy(source="public.other", columns=columns, **changes)
    with refused("untrusted_code") as caught:
        faults.run(db.dsn(), asked)
    assert "table public.patient of source_owner" in str(caught[0])
    assert not called(db)


def test_people_to_be_forgotten_are_in_no_table_of_others_elsewhere(db: Database) -> None:
    prepare(db, COPIED)
    columns = {**faults.POLICY["columns"], "id": {"role": "individual"}}
    faults.run(db.dsn(), faults.policy(source="public.other", columns=columns))
    with connect(db.dsn()) as conn, pytest.raises(PreconditionError, match=r"public\.patient of"):
        forget_people(conn, "patients", "public.patient")
    assert not called(db)
