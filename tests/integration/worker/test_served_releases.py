"""Releases that depend on earlier ones, made on request and by schedule as by a command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pganon.publish import lifecycle
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Database
from tests.support.sources import growing
from tests.support.sources.invariant import Kept, declared

BY = "source_owner"
APPROVAL: dict[str, Any] = {"readers": ["analyst"], "approval": {"by": [BY]}}
ASKED = {"roles": ["analyst"]}


def _apply(db: Database, document: dict[str, Any]) -> None:
    document = {**document, "requests": ASKED}
    db.owner().execute("SELECT pganon.apply_policy(%s::json)", [json.dumps(document)])


def _served(db: Database, release: str) -> tuple[str, str | None]:
    asked = queue.ask(db.connect("analyst"), release)
    queue.serve(db)
    return queue.state(db, asked)


def _approve(db: Database) -> None:
    db.connect(BY).execute("SELECT pganon.approve_release(id, 'fine') FROM pganon.requests")
    queue.serve(db)


def test_what_all_versions_tell_together(db: Database) -> None:
    """One is refused: the requester learns that, the steward why; the version before stays."""
    queue.applied(db, republication="refuse")
    assert _served(db, "patients") == ("released", None)
    before = faults.content(db.owner())
    db.source("INSERT INTO public.patient VALUES (900, 25, 'f', 'Rome', 'flu', 1)", grant=False)
    assert _served(db, "patients") == ("refused", "republication")
    seen = db.connect("analyst").execute("SELECT state, code FROM pganon.requests ORDER BY id")
    assert seen.fetchall() == [("released", None), ("refused", "refused")]
    assert faults.content(db.owner()) == before
    assert faults.last_details(db.owner())["reason"] == "crossing"


@pytest.mark.slow
def test_newcomers_by_request(db: Database) -> None:
    """Too few to be tested leave the version as it is."""
    db.source(growing.SOURCE)
    growing.add(db, 1, 12)
    _apply(db, growing.POLICY)
    assert _served(db, "people") == ("released", None)
    growing.add(db, 13, 14)
    assert _served(db, "people") == ("unchanged", None)
    growing.add(db, 15, 18)
    assert _served(db, "people") == ("released", None)
    conn = db.owner()
    assert growing.cohorts(conn) == [(12, True), (6, True)]
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


@pytest.mark.slow
@pytest.mark.parametrize("publish", [{"readers": ["analyst"]}, APPROVAL], ids=["at once", "held"])
def test_value_sets_are_kept(db: Database, publish: dict[str, Any]) -> None:
    """Whoever was released is with the same values again, however long a version waited."""
    kept = Kept(db)
    people = {n: "abcd"[n % 4] for n in range(24)}
    _apply(db, {**declared(), "publish": publish})
    for changed in (people, {**{n: v for n, v in people.items() if n > 3}, 90: "a", 91: "b"}):
        kept.fill(changed)
        state = _served(db, "r_t")
        if publish is APPROVAL:
            assert state == ("awaiting_approval", None)
            _approve(db)
        else:
            assert state == ("released", None)
        kept.versions.append(kept.published("r_t"))
    first, second = ({p: g.values for g in v.values() for p in g.people} for v in kept.versions)
    stayed = first.keys() & second.keys()
    assert len(stayed) == 20
    assert all(set(first[person]) == set(second[person]) for person in stayed)
    assert sum(kept.remembered.values()) == 26
    assert queue.states(db) == ["released", "released"]
