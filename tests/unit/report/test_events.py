"""A release that was approved, judged otherwise before it was published, and waits again."""

from __future__ import annotations

from typing import Any

from pganon.report import events
from tests.support.sources.reports import collected, event

FIRST: list[dict[str, Any]] = [
    event(1, "awaiting_approval", row_count=1000, evidence_sha256="1"),
    event(2, "approved", request=7, evidence_sha256="1", reason="fine"),
    event(3, "awaiting_approval", row_count=1000, evidence_sha256="2"),
]
SECOND = [
    *FIRST,
    event(4, "approved", request=7, evidence_sha256="2", reason="still fine"),
    event(5, "released", 1, row_count=1000, evidence_sha256="2"),
]


def of_one_run(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "run_id": 1} for one in made]


def test_who_approved_it_before_approved_something_else() -> None:
    waits = collected(events=of_one_run(FIRST), request=7)
    assert events.approval(waits) is None
    assert [row.event for row in events.events(waits)] == ["awaiting_approval"]
    assert events.recorded(waits) == "2"


def test_the_last_approval_counts() -> None:
    released = collected(events=of_one_run(SECOND))
    approved = events.approval(released)
    assert approved is not None
    assert (events.note(approved).reason, approved["details"]["evidence_sha256"]) == (
        "still fine",
        "2",
    )
    assert [row.event for row in events.events(released)] == ["released"]


def test_a_judgement_alone_is_no_measure() -> None:
    assert collected().measured
    assert not collected(evidence={"judgement": {}}).measured
    assert not collected(evidence=None).measured
