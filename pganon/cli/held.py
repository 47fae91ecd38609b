"""Reads what a report of a release that waits for approval is built from, as an approver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.cli.common import program
from pganon.cli.report_data import intact, of_method, with_decisions
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.forms.evidence import JUDGEMENT
from pganon.install.access import admit_approver
from pganon.report.sources import Access, Collected, Crossing, VersionFacts

Connection = psycopg.Connection[Any]


def collect_held(conn: Connection, request: int) -> Collected:
    """The release that waits with a request; without any code of pganon's owner.

    Raises:
        PreconditionError: not_allowed, where there is none about which this role decides.
        InstallError: see :func:`pganon.install.access.admit_approver`.
    """
    with conn.transaction():
        admit_approver(conn)
        query = sqlfiles.query("report", "held")
        row = conn.execute(query, {"request": request}).fetchone()
    if row is None:
        raise PreconditionError(
            f"there is no request {request} that waits for your decision",
            hint="SELECT * FROM pganon.requests",
            code=ErrorCode.NOT_ALLOWED,
        )
    return _collected(request, row[0])


def _collected(request: int, kept: Mapping[str, Any]) -> Collected:
    staged = kept["staged"]
    events = [{**one, "at": _time(one["at"])} for one in kept["events"]]
    decided = [tuple(one) for one in kept["approvals"] or ()]
    ledger = with_decisions(events, decided)
    versions = [
        VersionFacts(**{**one, "published_at": _time(one["published_at"])})
        for one in kept["versions"] or ()
    ]
    held = next(
        e
        for e in reversed(ledger)
        if e["event"] == "awaiting_approval" and e["run_id"] == staged["run_id"]
    )
    evidence = staged["evidence"]
    judgement = (evidence or {}).get(JUDGEMENT, {})
    mine = VersionFacts(
        number=None,
        run_id=staged["run_id"],
        released=staged["row_count"],
        suppressed=staged["suppressed"],
        published_at=held["at"],
        over_versions=staged["over_versions"],
        stored=True,
    )
    readers = list(staged["readers"])
    return Collected(
        **of_method(staged["method"], staged["policy"], staged["measures"]),
        release=staged["release"],
        source=staged["source"],
        version=mine,
        versions=[*versions, mine],
        shown=kept["shown"],
        policy_hash=staged["policy_hash"],
        guarantee=judgement.get("guarantee", staged["guarantee"]),
        columns=staged["columns"],
        source_columns=[name for name, _ in staged["source_columns"]],
        readers=readers,
        access=[Access(role=role, because="the policy names it as a reader") for role in readers],
        crossings=[
            Crossing(version=f"request {request}", other=other, reason=reason, people=people)
            for _, other, reason, people in judgement.get("crossings", ())
        ],
        events=ledger,
        evidence=evidence,
        evidence_intact=intact(held, evidence),
        made_at=datetime.now(UTC),
        program=program(),
        request=request,
        about=staged["policy"].get("about") or {},
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
