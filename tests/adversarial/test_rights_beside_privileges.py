"""Attack: read what is private by rights that are in no list of privileges.

Memberships in the server's own roles, replication, and publications.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from pganon.publish.privileges import beside, beyond_policy
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

RIGHTS = {
    "GRANT pg_read_all_data TO {role}": "{role} has the rights of pg_read_all_data",
    "GRANT pg_write_all_data TO {role}": "{role} has the rights of pg_write_all_data",
    "GRANT pg_execute_server_program TO {role}": "{role} has the rights of pg_execute_server",
    "ALTER ROLE {role} REPLICATION": "{role} has REPLICATION",
    "CREATE PUBLICATION seen FOR ALL TABLES": "the publication seen contains tables of schema"
    " pganon_data",
    "CREATE PUBLICATION seen FOR TABLE pganon_private.release": "the publication seen contains"
    " tables of schema pganon_private",
    "CREATE PUBLICATION seen FOR TABLES IN SCHEMA pganon_stage": "the publication seen contains"
    " tables of schema pganon_stage",
}
HARMLESS = (
    "GRANT steward TO {role}; GRANT pg_read_all_data TO steward",
    "GRANT pg_monitor TO {role}",
    "CREATE PUBLICATION seen FOR TABLE public.patient",
    "ALTER ROLE {role} SUPERUSER; GRANT pg_read_all_data TO {role}",
)


@pytest.fixture
def role(db: Database) -> Iterator[str]:
    name = f"beside_{uuid.uuid4().hex[:8]}"
    db.admin.execute(f"CREATE ROLE {name}".encode())
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    yield name
    db.admin.execute(b"REVOKE pg_read_all_data FROM steward")
    db.admin.execute(f"DROP ROLE {name}".encode())


@pytest.mark.parametrize("right", RIGHTS)
@pytest.mark.slow
def test_who_may_read_what_is_private_is_named(db: Database, role: str, right: str) -> None:
    if "IN SCHEMA" in right and db.admin.info.server_version < 150000:
        pytest.skip("a publication has no schemas before PostgreSQL 15")
    assert beside(beyond_policy(db.owner())) == ()
    db.admin.execute(right.format(role=role).encode())
    named = RIGHTS[right].format(role=role)
    (warning,) = beside(beyond_policy(db.owner()))
    assert named in warning
    assert warning in faults.run(db.dsn()).warnings
    for command in ("verify", "status"):
        ran = pganon("--dsn", db.dsn(), command, "patients")
        assert (ran.code, named in " ".join(ran.err.split())) == (0, True), ran.err
    assert pganon("--dsn", db.dsn(), "verify", "patients", "--json").json["warnings"] == [warning]


@pytest.mark.parametrize("right", HARMLESS)
def test_what_gives_nothing_is_not_named(db: Database, role: str, right: str) -> None:
    db.admin.execute(right.format(role=role).encode())
    assert beside(beyond_policy(db.owner())) == ()


def test_a_member_without_any_right_is_not_named(db: Database, role: str) -> None:
    if db.admin.info.server_version < 160000:
        pytest.skip("a membership gives its rights before PostgreSQL 16")
    grant = f"GRANT pg_read_all_data TO {role} WITH INHERIT FALSE, SET "
    db.admin.execute(f"{grant} FALSE".encode())
    assert beside(beyond_policy(db.owner())) == ()
    db.admin.execute(f"{grant} TRUE".encode())
    assert len(beside(beyond_policy(db.owner()))) == 1
