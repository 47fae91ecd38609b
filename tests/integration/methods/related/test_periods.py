"""Periods of events: what is over is added once, to the groups that there are."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.policy.loader import LoadedPolicy
from pganon.sqltools import fragment
from tests.integration.methods.related.test_growing import (
    grow,
    growing,
    holds,
    shown,
)
from tests.support.harness.cluster import Database
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only


def timed(every: str = "year", **changes: Any) -> LoadedPolicy:
    admission = {**wards.ADMISSION, "period": {"column": "admitted", "every": every}}
    return growing({**wards.WHOLE, "admission": admission}, **changes)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the day of the runs."""

    def day(text: str) -> None:
        today = fragment(f"date '{text}'")
        monkeypatch.setattr("pganon.methods.related.links.TODAY", today)

    return day


def test_a_period_is_added_to_the_groups_that_there_are(db: Database, at: Any) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-02-03")
    first = grow(db, timed())
    before = shown(db)
    assert first.version == 1
    assert grow(db, timed()).outcome == "unchanged"
    at("2023-01-01")
    done = grow(db, timed())
    assert (done.version, done.added.period) == (2, "2022")
    after = shown(db)
    assert all(rows <= after[view] for view, rows in before.items())
    assert holds(db)
    assert grow(db, timed()).outcome == "unchanged"
