"""Attack: two versions of a release are compared; what changed between them shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from pganon.publish import lifecycle
from pganon.run.result import RunResult
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

NEW_ROW = "INSERT INTO public.patient VALUES (100, 30, 'f', 'Rome', 'Zanzibar-7319', 1)"


def _refused(db: Database, **changes: Any) -> None:
    """Somebody could be told from all others, of whom k was promised."""
    with pytest.raises(PrivacyRefusal) as caught:
        faults.run(db.dsn(), faults.policy(**changes))
    error = caught.value
    assert (error.code, error.model) == ("republication", "k_anonymity")
    assert (error.required, error.observed) == (8, 1)
    assert faults.SECRET not in f"{error} {error.hint}"


def _told(result: RunResult, *names: str) -> tuple[Any, ...]:
    """Figures of the guard."""
    return tuple(result.guard[f"guard_{name}"] for name in names)


def _holds(result: RunResult) -> None:
    """Everybody is in a cell that keeps what was promised, as in one version alone."""
    names = ("people", "smallest_cell", "below_k", "above", "fewest_values", "certain")
    assert _told(result, *names) == (24, 12, 0, 0, 3, 0)


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
    assert faults.events(conn)[-2:] == ["started", "refused: republication"]
    assert faults.run_tables(conn) == []
    # The source as it was may be published: what is compared is rows, whatever was done to them.
    db.source("DELETE FROM public.patient WHERE id = 100")
    again = faults.run(db.dsn())
    assert again.version == 3
    _holds(again)


@pytest.mark.slow
def test_what_counts_as_a_change(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    _refused(db, where="id <> 7")
    db.source("UPDATE public.patient SET disease = 'flu' WHERE id = 1")
    _refused(db)
    db.source("UPDATE public.patient SET disease = 'Zanzibar-7319' WHERE id = 1")
    _refused(db)
    db.source("DROP TABLE public.patient; " + faults.SOURCE)
    # Order, and rows that were written anew, are no change.
    db.source("UPDATE public.patient SET days = days; CLUSTER public.patient USING patient_pkey")
    assert faults.run(db.dsn()).version == 2


@pytest.mark.slow
def test_what_divides_nobody(db: Database) -> None:
    """Columns and rows may change where all people stay among those whom they were among."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    fewer = {name: column for name, column in faults.POLICY["columns"].items() if name != "days"}
    _holds(faults.run(db.dsn(), faults.policy(columns=fewer)))
    db.source("UPDATE public.patient SET days = days + 1 WHERE id = 4")
    changed = faults.run(db.dsn())
    _holds(changed)
    assert _told(changed, "people_newcomers", "people_leavers", "people_changed") == (0, 0, 0)


@pytest.mark.slow
def test_the_policy_may_accept_it(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.source(NEW_ROW)
    warned = faults.run(db.dsn(), faults.policy(republication="warn"))
    assert warned.warnings[:3] == (
        "who has all versions can tell 1 of 25 people from more others than a policy allowed; at"
        " worst 1 people are left",
        "who has all versions can hold a value of 1 of 25 people for likelier than a policy"
        " allowed; at worst its probability is 1",
        "who has all versions knows a value of 1 of 25 people",
    )
    assert _told(warned, "people_newcomers", "below_k_newcomers", "certain_newcomers") == (1, 1, 1)
    db.source("DELETE FROM public.patient WHERE id = 100")
    allowed = faults.run(db.dsn(), faults.policy(republication="allow"))
    assert allowed.version == 3
    assert not any("who has all versions" in warning for warning in allowed.warnings)
    assert _told(allowed, "people", "below_k", "certain") == (25, 1, 1)


@pytest.mark.slow
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
    again = faults.run(db.dsn())
    assert again.version == 3
    _holds(again)


@pytest.mark.slow
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
