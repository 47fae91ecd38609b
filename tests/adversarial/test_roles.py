"""Roles of `init --roles` x what they may: the least that each needs, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from pganon import database
from pganon.install.roles import roles
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import PASSWORD, Connection, Database

ROLES = ("steward", "worker", "approver", "requester")

REFUSED = ("42501", "22012", "PA401", "PA411")
"""No privilege, no row, no such release, not yours to decide."""

MAY = {
    # what: who may, as who logged in, without SET ROLE
    "apply a policy": {"steward"},
    "request": {"steward", "requester"},
    "see the requests of others": {"steward", "approver"},
    "approve": {"approver"},
    "withdraw": {"steward"},
    "revert": {"steward"},
    "read the ledger": {"steward"},
    "see the workers": {"steward"},
    "read stored tables": {"steward"},
    "read the source": {"steward"},
    "write into the queue": {"steward"},
    "become the owner": {"steward", "worker"},
    "create a schema": {"steward"},
    "read the release": {"steward"},
}


@pytest.fixture
def people(db: Database) -> Iterator[dict[str, str]]:
    """Logins that are members of the roles, by role."""
    prefix = f"p{db.name.removeprefix('pganon')}"
    done = pganon("init", "--roles", "--prefix", prefix, "--dsn", db.admin_dsn, "--json")
    assert done.code == 0, done.out
    assert done.json["roles"] == [role.name for role in roles(prefix)]
    people = {}
    for kind in ROLES:
        people[kind] = f"{prefix}_{kind}_person"
        inherit = "NOINHERIT" if kind == "worker" else "INHERIT"
        db.admin.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} {} IN ROLE {}").format(
                sql.Identifier(people[kind]),
                sql.Literal(PASSWORD),
                sql.SQL(inherit),
                sql.Identifier(f"{prefix}_{kind}"),
            )
        )
    try:
        yield people
    finally:
        db.disconnect()
        with db.server.admin(db.name) as admin:
            for name in (*people.values(), *(role.name for role in roles(prefix))):
                admin.execute(
                    sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(name))
                )


def _released(db: Database, people: dict[str, str]) -> dict[str, str]:
    """A release, another one that waits for approval, and what everybody tries."""
    approver = people["approver"].removesuffix("_person")
    asked = {"roles": [people["requester"].removesuffix("_person")]}
    queue.applied(db, requests=asked)
    first = queue.ask(db.owner())
    queue.serve(db)
    assert queue.state(db, first) == ("released", None)
    publish = {"readers": ["analyst"], "approval": {"by": [approver]}}
    queue.apply(db, requests=asked, publish=publish, suppression_limit=0.1)
    waiting = queue.ask(db.owner())
    queue.serve(db)
    assert queue.state(db, waiting) == ("awaiting_approval", None)
    table = db.admin.execute(
        "SELECT relations -> 0 ->> 'name' FROM pganon_private.version"
    ).fetchone()
    assert table is not None
    return {
        "apply a policy": 'SELECT pganon.apply_policy(\'{"release": "other"}\')',
        "request": "SELECT pganon.request_release('patients')",
        "see the requests of others": "SELECT 1 / count(*) FROM pganon.requests"
        f" WHERE id = {waiting}",
        "approve": f"SELECT pganon.approve_release({waiting}, 'fine')",
        "withdraw": "SELECT pganon.withdraw_release('patients')",
        "revert": "SELECT pganon.request_revert('patients')",
        "read the ledger": "SELECT FROM pganon.ledger",
        "see the workers": "SELECT FROM pganon.worker",
        "read stored tables": f"SELECT FROM pganon_data.{table[0]}",
        "read the source": "SELECT FROM public.patient",
        "write into the queue": "UPDATE pganon_private.request SET state = state",
        "become the owner": "SET LOCAL ROLE steward",
        "create a schema": "CREATE SCHEMA made",
        "read the release": "SELECT FROM published.patients",
    }


def _may(conn: Connection, text: str) -> bool:
    try:
        with conn.transaction(force_rollback=True):
            conn.execute(text.encode())
    except psycopg.Error as error:
        if error.sqlstate not in REFUSED:
            raise
        return False
    return True


@pytest.mark.slow
def test_every_role_may_what_it_needs(db: Database, people: dict[str, str]) -> None:
    tried = _released(db, people)
    assert tried.keys() == MAY.keys()
    found: dict[str, set[str]] = {what: set() for what in MAY}
    for kind, person in people.items():
        conn = db.connect(person)
        for what, text in tried.items():
            if _may(conn, text):
                found[what].add(kind)
    assert found == MAY


@pytest.mark.slow
def test_a_worker_works_as_the_owner(db: Database, people: dict[str, str]) -> None:
    queue.applied(db)
    asked = queue.ask(db.owner())
    dsn = db.dsn(people["worker"])
    done = pganon("worker", "--once", "--owner", "steward", "--dsn", dsn)
    assert done.code == 0, done.err
    assert queue.state(db, asked) == ("released", None)
    faults.guarantee_holds(db.owner())


def test_again_and_differing(db: Database) -> None:
    prefix = f"s{db.name.removeprefix('pganon')}"
    init = ("init", "--roles", "--prefix", prefix, "--dsn", db.admin_dsn, "--json")
    try:
        assert len(pganon(*init).json["roles"]) == 4
        again = pganon(*init)
        assert (again.json["changed"], again.json["roles"]) == (False, [])
        db.admin.execute(f"ALTER ROLE {prefix}_approver CREATEDB".encode())
        assert pganon(*init).json["error"]["code"] == "role_differs"
    finally:
        for role in roles(prefix):
            db.admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role.name)))


def test_without_the_right_to_make_roles(db: Database) -> None:
    done = pganon("init", "--roles", "--prefix", "none", "--dsn", db.dsn(), "--json")
    assert done.json["error"]["code"] == "no_createrole"
    assert 'CREATE ROLE "none_steward" NOLOGIN INHERIT; GRANT' in done.json["error"]["hint"]
    with database.connect(db.dsn()) as conn:
        row = conn.execute("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'none%'").fetchone()
    assert row == (0,)
