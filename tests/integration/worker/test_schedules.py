"""Releases that are made at fixed times: once per time that comes, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from pganon.policy.requests import ScheduleProblem, next_time
from pganon.publish import lifecycle
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Database

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "after", "times"),
    [
        ("30 2 * * *", datetime(2026, 3, 28, 12), ["29 03:00", "30 02:30"]),
        ("30 2 * * *", datetime(2026, 10, 24, 12), ["25 02:30", "26 02:30"]),
        ("0 3 * * 1", datetime(2026, 11, 23, 3), ["30 03:00"]),
        ("0 3 13 * 5", datetime(2026, 11, 1), ["06 03:00", "13 03:00", "20 03:00"]),
    ],
    ids=["skipped hour", "repeated hour", "after, not at", "either day"],
)
def test_times(expression: str, after: datetime, times: list[str]) -> None:
    found = []
    last = after.replace(tzinfo=BERLIN)
    for _ in times:
        last = next_time(expression, "Europe/Berlin", last)
        assert last.tzinfo is UTC
        found.append(f"{last.astimezone(BERLIN):%d %H:%M}")
    assert found == times


@pytest.mark.parametrize(
    "expression", ["0 3 * *", "* * * * * *", "@daily", "0 0 31 2 *", "x 3 * * 1"]
)
def test_what_is_no_schedule(expression: str) -> None:
    with pytest.raises(ScheduleProblem):
        next_time(expression, "UTC", datetime(2026, 1, 1, tzinfo=UTC))


def _due(db: Database, at: str = "now() - interval '3 weeks'") -> None:
    db.owner().execute(f"UPDATE pganon_private.schedule SET next_at = {at}".encode())


def _daily() -> str:
    """Every day, twelve hours from now: no time of it comes while a test runs."""
    return f"0 {(datetime.now(BERLIN).hour + 12) % 24} * * *"


@pytest.mark.slow
def test_missed_times_come_once(db: Database) -> None:
    queue.applied(db, schedule=_daily(), time_zone="Europe/Berlin")
    _due(db)
    queue.serve(db)
    assert queue.states(db) == ["released"]
    row = db.owner().execute("SELECT next_at > now() FROM pganon_private.schedule")
    assert row.fetchone() == (True,)
    # The clock moved back: what has come does not come again.
    queue.serve(db)
    assert queue.states(db) == ["released"]
    _due(db)
    queue.serve(db)
    assert queue.states(db) == ["released", "unchanged"]
    origins = db.owner().execute("SELECT DISTINCT origin FROM pganon_private.request").fetchall()
    assert origins == [("schedule",)]


def test_a_new_revision_has_its_own_schedule(db: Database) -> None:
    queue.applied(db, schedule="0 3 * * 1")
    of = "SELECT revision, expression, next_at > now() FROM pganon_private.schedule"
    assert db.owner().execute(of).fetchall() == [(1, "0 3 * * 1", True)]
    _due(db, "timestamptz '2999-01-01'")
    queue.apply(db, schedule="0 3 * * 1", suppression_limit=0.1)
    kept = "SELECT revision, next_at = '2999-01-01' FROM pganon_private.schedule"
    assert db.owner().execute(kept).fetchall() == [(2, True)]
    queue.apply(db, schedule="0 4 * * 1")
    assert db.owner().execute(of).fetchall() == [(3, "0 4 * * 1", True)]
    queue.apply(db)
    assert db.owner().execute(of).fetchall() == []


@pytest.mark.slow
def test_of_a_dropped_release(db: Database) -> None:
    queue.applied(db, schedule="0 3 * * 1")
    _due(db)
    queue.serve(db)
    _due(db)
    conn = db.owner()
    waiting = queue.ask(db.connect("analyst"))
    lifecycle.drop(conn, "patients")
    queue.serve(db)
    assert queue.state(db, waiting) == ("cancelled", "withdrawn")
    assert queue.states(db) == ["released", "cancelled"]
    assert faults.content(conn) is None
