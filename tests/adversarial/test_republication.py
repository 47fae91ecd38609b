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

NEW_ROW = "INSERT INTO public.patient VALUES (100, 30, 'f', 'Rome', 'Zanzibar-7319', 1)"


def _refused(db: Database, **changes: Any) -> None:
    with pytest.raises(PrivacyRefusal) as caught:
        faults.run(db.dsn(), faults.policy(**changes))
    assert caught.value.code == "republication"
    assert faults.SECRET not in f"{caught.value} {caught.value.hint}"


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
    assert faults.events(conn)[-2:] == ["started", "refused: republication"]
    assert faults.run_tables(conn) == []
    # The source as it was may be published: what is compared is rows, whatever was done to them.
    db.source("DELETE FROM public.patient WHERE id = 100")
    assert faults.run(db.dsn()).version == 3


def test_what_counts_as_a_change(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    _refused(db, where="id <> 7")
    fewer = {name: column for name, column in faults.POLICY["columns"].items() if name != "days"}
    _refused(db, columns=fewer)
    db.source("UPDATE public.patient SET disease = 'flu' WHERE id = 1")
    _refused(db)
    db.source("UPDATE public.patient SET disease = 'Zanzibar-7319' WHERE id = 1")
    _refused(db)
    db.source("DROP TABLE public.patient; " + faults.SOURCE)
    # Order, and rows that were written anew, are no change.
    db.source("UPDATE public.patient SET days = days; CLUSTER public.patient USING patient_pkey")
    assert faults.run(db.dsn()).version == 2


def test_the_policy_may_accept_it(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.source(NEW_ROW)
    warned = faults.run(db.dsn(), faults.policy(republication="warn"))
    assert any("source changed" in warning for warning in warned.warnings)
    db.source("DELETE FROM public.patient WHERE id = 100")
    allowed = faults.run(db.dsn(), faults.policy(republication="allow"))
    assert allowed.version == 3
    assert not any("source changed" in warning for warning in allowed.warnings)


def test_memory_outlives_drop_rollback_and_retention(db: Database) -> None:
    """Copies of a dropped version survive, so it still guards."""
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": ["analyst"], "keep": 1}))
    faults.run(db.dsn())
    conn = db.owner()
    db.source(NEW_ROW)
    lifecycle.rollback(conn, "patients") if faults.version(conn) == 1 else None
    _refused(db)
    lifecycle.drop(conn, "patients")
    assert faults.content(conn) is None
    _refused(db)
    assert faults.content(conn) is None
    db.source("DELETE FROM public.patient WHERE id = 100")
    assert faults.run(db.dsn()).version == 3


def test_every_version_ever_readable_guards(db: Database) -> None:
    """Going back makes no version unread; what one of them showed shows nothing new."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.source(NEW_ROW)
    faults.run(db.dsn(), faults.policy(republication="allow"))
    lifecycle.rollback(db.owner(), "patients")
    assert faults.run(db.dsn()).version == 3  # the groups of version 2
    db.source("DELETE FROM public.patient WHERE id = 100")
    assert faults.run(db.dsn()).version == 4  # those of version 1
    db.source(NEW_ROW.replace("100", "101"))
    _refused(db)
