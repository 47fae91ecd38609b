"""Attack: two versions of a release are compared; what changed between them shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

NEW_ROW = "INSERT INTO public.patient VALUES (100, 30, 'f', 'Rome', 'Zanzibar-7319', 1)"


def _refused(db: Database, reason: str = "crossing", **changes: Any) -> None:
    """Groups would be neither new nor those of before."""
    with pytest.raises(PrivacyRefusal) as caught:
        faults.run(db.dsn(), faults.policy(**changes))
    error = caught.value
    assert (error.code, error.reason) == ("republication", reason)
    assert faults.SECRET not in f"{error} {error.hint}"


def _holds(db: Database) -> None:
    """The guarantee of the newest version holds beside all others."""
    row = db.admin.execute(
        "SELECT over_versions FROM pganon_private.version ORDER BY run_id DESC LIMIT 1"
    ).fetchone()
    assert row in (("holds",), ("finer",))


@pytest.mark.slow
def test_refused_by_default(db: Database, tmp_path: Path) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    conn = db.owner()
    before = faults.content(conn)
    assert faults.run(db.dsn()).version == 2  # an unchanged source may be published again
    before = faults.content(conn)
    db.source(NEW_ROW)
    _refused(db)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    ran = pganon("run", str(file), "--dsn", db.dsn(), "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "republication")
    assert faults.content(conn) == before
    assert faults.version(conn) == 2
    assert faults.events(conn)[-2:] == ["started", "refused: crossing"]
    assert faults.run_tables(conn) == []
    # The source as it was may be published: what is compared is rows, whatever was done to them.
    db.source("DELETE FROM public.patient WHERE id = 100")
    again = faults.run(db.dsn())
    assert again.version == 3
    _holds(db)


@pytest.mark.slow
def test_what_counts_as_a_change(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    _refused(db, where="id <> 7")
    db.source("UPDATE public.patient SET disease = 'flu' WHERE id = 1")
    _refused(db, "changed")
    db.source("UPDATE public.patient SET disease = 'Zanzibar-7319' WHERE id = 1")
    _refused(db, "changed")
    db.source("DROP TABLE public.patient; " + faults.SOURCE)
    # Order, and rows that were written anew, are no change.
    db.source("UPDATE public.patient SET days = days; CLUSTER public.patient USING patient_pkey")
    assert faults.run(db.dsn()).version == 2


@pytest.mark.slow
def test_fewer_columns_of_the_same_groups(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    fewer = {name: column for name, column in faults.POLICY["columns"].items() if name != "days"}
    faults.run(db.dsn(), faults.policy(columns=fewer))
    _holds(db)
    # The difference of the two would be this person's value.
    db.source("UPDATE public.patient SET days = days + 1 WHERE id = 4")
    _refused(db, "changed")
    assert faults.run(db.dsn(), faults.policy(columns=fewer)).version == 3


@pytest.mark.slow
def test_the_policy_may_accept_it(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.source(NEW_ROW)
    warned = faults.run(db.dsn(), faults.policy(republication="warn"))
    assert warned.warnings[0].endswith("the guarantees of both versions are void for who has both")
    assert warned.guard == {"guard_shared": 24, "guard_smallest": 1, "guard_below_k": 1}
    states = db.admin.execute("SELECT over_versions FROM pganon_private.version").fetchall()
    assert states == [("void",), ("void",)]
    crossings = db.admin.execute("SELECT reason, people FROM pganon_private.crossing").fetchall()
    assert crossings == [("crossing", 13)]
    db.source("DELETE FROM public.patient WHERE id = 100")
    allowed = faults.run(db.dsn(), faults.policy(republication="allow"))
    assert allowed.version == 3
    assert not any("void" in warning for warning in allowed.warnings)


@pytest.mark.slow
def test_memory_outlives_drop_rollback_and_retention(db: Database) -> None:
    """Copies of a dropped version survive, so it still guards."""
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": ["analyst"], "keep": 1}))
    faults.run(db.dsn())
    conn = db.owner()
    db.source(NEW_ROW)
    lifecycle.show_earlier(conn, "patients") if faults.version(conn) == 1 else None
    _refused(db)
    lifecycle.drop(conn, "patients")
    assert faults.content(conn) is None
    _refused(db)
    assert faults.content(conn) is None
    db.source("DELETE FROM public.patient WHERE id = 100")
    again = faults.run(db.dsn())
    assert again.version == 3
    _holds(db)


@pytest.mark.slow
def test_every_version_ever_readable_guards(db: Database) -> None:
    """Going back makes no version unread; what one of them showed shows nothing new."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.source(NEW_ROW)
    faults.run(db.dsn(), faults.policy(republication="allow"))
    lifecycle.show_earlier(db.owner(), "patients")
    assert faults.run(db.dsn()).version == 3  # the groups of version 2
    db.source("DELETE FROM public.patient WHERE id = 100")
    assert faults.run(db.dsn()).version == 4  # those of version 1
    db.source(NEW_ROW.replace("100", "101"))
    _refused(db)
