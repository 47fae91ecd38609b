"""Attack: roles with the names of readers and trusted roles, which are not whom the steward named.

A role is dropped, or renamed, and another one is made under its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from pganon.applied import store
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.publish import lifecycle, listing, privileges, views
from pganon.publish.views import ensure_schemas
from pganon.run import grants
from pganon.run.context import resolve_policy
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

VIEW = "published.patients"


@contextmanager
def _refused(code: str, about: str) -> Iterator[None]:
    with pytest.raises(PreconditionError) as caught:
        yield
    assert (caught.value.code, about in caught.value.message) == (code, True), caught.value


def _may(db: Database, role: str) -> bool:
    query = "SELECT has_table_privilege(%s, %s, 'SELECT')"
    return db.admin.execute(query, [role, VIEW]).fetchone() == (True,)


def _make_again(db: Database, role: str) -> None:
    """Another role of the same name, which somebody else has."""
    db.admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}; CREATE ROLE {role}".encode())


def _changed(db: Database) -> None:
    db.admin.execute("UPDATE public.patient SET days = days + 1 WHERE id = 1")


def _asked(db: Database) -> tuple[str, str | None]:
    """End of a request that a worker has served."""
    asked = queue.ask(db.owner())
    queue.serve(db)
    return queue.state(db, asked)


def _warnings(db: Database) -> list[str]:
    return pganon("status", "--dsn", db.dsn(), "--json").json["warnings"]


@pytest.mark.slow
def test_another_role_under_the_name_of_a_reader(db: Database) -> None:
    with queue.role(db, "reader", "guest") as (name, guest):
        publish = {"readers": [name]}
        queue.applied(db, publish=publish)
        assert _asked(db) == ("released", None)
        _changed(db)
        assert _asked(db) == ("released", None)
        assert _may(db, name)
        _make_again(db, name)

        said = "which is another role by now: apply it again"
        assert f"patients: its policy names {name}, {said}" in _warnings(db)
        _changed(db)
        assert _asked(db) == ("failed", "replaced_role")
        with _refused("replaced_role", name):
            grants.change_readers(db.owner(), "patients", add=["analyst"])
        with _refused("replaced_role", name):
            views.grant(db.owner(), QualifiedName("published", "patients"), {name: 1}, ())
        assert grants.rollback(db.owner(), "patients").missing_readers == (name,)
        db.admin.execute("DROP VIEW published.patients")  # so that it is granted anew
        assert grants.rollback(db.owner(), "patients", 2).missing_readers == (name,)
        assert not _may(db, name)

        conn, grant = db.owner(), f"GRANT SELECT ON {VIEW} TO {name}".encode()
        with pytest.raises(psycopg.Error) as opened, conn.transaction(), privileges.unopened(conn):
            conn.execute(grant)
        assert opened.value.sqlstate == "PA103"
        assert name in str(opened.value)
        db.admin.execute(grant)
        able = privileges.can_read(conn, listing.find(conn, "patients"))
        assert f"through {name}" in [one.because for one in able if one.role == name]
        assert not next(
            f.holds for f in _verified(db) if f.model == "privileges" and f.against == VIEW
        )
        db.admin.execute(f"REVOKE SELECT ON {VIEW} FROM {name}".encode())

        queue.apply(db, publish=publish)
        assert _asked(db) == ("released", None)
        assert _may(db, name)
        grants.change_readers(db.owner(), "patients", add=[guest])
        assert not _warnings(db)
        _make_again(db, guest)
        assert f"patients: its reader {guest} is another role by now" in str(_warnings(db))


def _verified(db: Database) -> list[lifecycle.Finding]:
    return lifecycle.verify(db.owner(), "patients")


@pytest.mark.slow
def test_a_file_names_who_has_the_name_now(db: Database) -> None:
    """It is a change of readers, which approval has to agree to."""
    with queue.role(db, "reader") as (name,):
        db.source(faults.SOURCE)
        loaded = faults.policy(publish={"readers": [name]})
        faults.run(db.dsn(), loaded)
        _make_again(db, name)
        assert f"patients: its policy names {name}" in str(_warnings(db))
        done = faults.run(db.dsn(), loaded, force=False)
        assert f"readers added: {name}" in done.applied
        assert _may(db, name)
        assert not _warnings(db)
        _make_again(db, name)
        approved = {"readers": [name], "approval": {"by": ["source_owner"]}}
        done = faults.run(db.dsn(), faults.policy(publish=approved), force=False)
        assert (done.outcome, _may(db, name)) == ("awaiting_approval", False)
        _make_again(db, name)
        db.connect("source_owner").execute(
            "SELECT pganon.approve_release(%s, 'fine')", [done.request]
        )
        queue.serve(db)
        assert queue.state(db, done.request or 0) == ("failed", "replaced_role")
        assert not _may(db, name)


def test_a_file_names_nobody(db: Database) -> None:
    """Refused before anything is computed, whatever the role is named for."""
    db.source(faults.SOURCE)
    ghosts = {
        "readers": {"publish": {"readers": ["ghost"]}},
        "trusted roles": {"trust": ["ghost"]},
        "approvers": {"publish": {"approval": {"by": ["ghost"]}}},
        "roles that may request": {"requests": {"roles": ["public", "ghost"]}},
    }
    for what, changes in ghosts.items():
        with _refused("missing_role", f"these {what} are not roles of the server: ghost"):
            faults.run(db.dsn(), faults.policy(**changes))
    assert faults.content(db.owner()) is None


@pytest.mark.slow
def test_a_renamed_reader(db: Database) -> None:
    """It keeps what it has until it is removed; nobody gets anything under the old name."""
    with queue.role(db, "reader") as (name,):
        queue.applied(db, publish={"readers": [name]})
        assert _asked(db) == ("released", None)
        db.admin.execute(f"ALTER ROLE {name} RENAME TO {name}_x".encode())
        try:
            _changed(db)
            assert _asked(db) == ("failed", "missing_role")
            stored = store.read(db.owner(), "patients")
            with store.loaded(db.owner(), stored) as loaded, _refused("missing_role", f"{name}_x"):
                faults.run(db.dsn(), loaded)
            db.admin.execute(f"CREATE ROLE {name}".encode())
            try:
                assert _asked(db) == ("failed", "replaced_role")
                assert (_may(db, name), _may(db, f"{name}_x")) == (False, True)
                grants.change_readers(db.owner(), "patients", add=[name])
                assert (_may(db, name), _may(db, f"{name}_x")) == (True, False)
            finally:
                db.admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())
        finally:
            db.admin.execute(f"ALTER ROLE {name}_x RENAME TO {name}".encode())


@pytest.mark.slow
def test_another_role_under_the_name_of_a_trusted_one(db: Database) -> None:
    """Neither its code runs, nor is anything published where it could put other views."""
    with queue.role(db, "app") as (name,):
        db.source(faults.SOURCE)
        db.admin.execute(
            f"""CREATE SCHEMA shown AUTHORIZATION {name};
            GRANT USAGE, CREATE ON SCHEMA shown TO steward WITH GRANT OPTION""".encode()
        )
        changes = {"trust": [name], "publish": {"schema": "shown", "readers": ["analyst"]}}
        loaded = faults.policy(**changes)
        for _ in range(2):
            faults.run(db.dsn(), loaded)
        db.admin.execute(b"ALTER SCHEMA shown OWNER TO CURRENT_USER")
        _make_again(db, name)
        db.admin.execute(f"ALTER SCHEMA shown OWNER TO {name}".encode())
        for _ in range(2):
            with _refused("foreign_schema", "shown"):
                grants.rollback(db.owner(), "patients")
            # As after a restore into another server, where the number is this role's.
            db.admin.execute(
                "UPDATE pganon_private.version SET trusted = jsonb_build_object("
                "'other', (SELECT oid::int8 FROM pg_roles WHERE rolname = %s))",
                [name],
            )
        with _refused("foreign_schema", "shown"):
            ensure_schemas(db.owner(), {"shown"}, {name: 1})
        stored = store.read(db.owner(), "patients")
        with store.loaded(db.owner(), stored) as kept, _refused("replaced_role", name):
            resolve_policy(db.owner(), kept)
        wrong = pganon("check", "patients", "--dsn", db.dsn(), "--json").json["wrong"]
        assert [one["code"] for one in wrong] == ["undeclared", "replaced_role"]
        resolve_policy(db.owner(), loaded)
        db.admin.execute("ALTER SCHEMA shown OWNER TO CURRENT_USER")


def test_an_earlier_policy_names_whom_it_named(db: Database) -> None:
    conn = db.owner()
    numbers = b"SELECT role_id FROM pganon_private.policy_role WHERE revision = %s"
    with queue.role(db, "reader") as (name,):
        queue.applied(db, publish={"readers": [name, "public"]}, requests=None)
        before = conn.execute(numbers, [1]).fetchall()
        _make_again(db, name)
        queue.apply(db, publish={"readers": []}, requests=None)
        assert store.restore(conn, store.read(conn, "patients", 1)) == 3
        assert conn.execute(numbers, [3]).fetchall() == before
        assert store.restore(conn, store.read(conn, "patients", 1)) == 3
