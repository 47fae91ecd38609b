"""Fingerprints of sources see values that the server hashes alike."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

ALIKE = {
    "numeric": ("1.5", "-1.5"),
    "double precision": ("1.5", "-1.5"),
    "bigint": ("5", "4294967300"),
    "timestamp": ("2000-01-01 00:00:00.000005", "2000-01-01 01:11:34.9673"),
    "timestamptz": ("2000-01-01 00:00:00.000005+00", "2000-01-01 01:11:34.9673+00"),
}
FOLDED = ("bigint", "timestamp", "timestamptz")


def declared(role: Any) -> dict[str, Any]:
    return policy({"v": role, "q": "q", "d": "s"}, 3, republication="allow")


def run(db: Database, said: dict[str, Any], **options: Any) -> str:
    found = run_release(driver.loaded(said), dsn=db.dsn("steward"), options=Options(**options))
    return found.outcome


def source(db: Database, kind: str, role: str) -> None:
    values = [*ALIKE[kind], *[ALIKE[kind][0]] * 22]
    rows = [[value, n % 4, "xyz"[n % 3]] for n, value in enumerate(values)]
    make_table(db.connect("source_owner"), {"v": kind, "q": "integer", "d": "text"}, rows)


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("kind", "role"), [*[(kind, "q") for kind in ALIKE], *[(kind, "i") for kind in FOLDED]]
)
def test_values_that_hash_alike_are_another_source(db: Database, kind: str, role: str) -> None:
    source(db, kind, role)
    assert run(db, declared(role)) == "released"
    assert run(db, declared(role)) == "unchanged"
    # What an earlier program stored says less, and is compared as far as it goes.
    with db.owner() as conn:
        stored = "substr(source_fingerprint, 1, 32)"
        conn.execute(f"UPDATE pganon_private.version SET source_fingerprint = {stored}".encode())
    assert run(db, declared(role)) == "unchanged"
    assert run(db, declared(role), force=True) == "released"
    one, other = ALIKE[kind]
    with db.connect("source_owner") as owner:
        owner.execute("UPDATE public.t SET v = %s WHERE id = 1", [other])
        owner.execute("UPDATE public.t SET v = %s WHERE id = 2", [one])
    assert run(db, declared(role)) != "unchanged"
