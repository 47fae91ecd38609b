"""A comparison of candidates as a document of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pganon.report.parts import Asked, Count, Digest, Number, Part, Time


class Verified(Part):
    """A requirement, and what was measured of the worst group."""

    model: str
    column: str | None
    symbol: str
    bound: Literal[">=", ">", "<=", "<"]
    required: Number
    measured: Number
    against: str


class Figures(Part):
    """What a dry run measured."""

    form: str
    highest_risk: Number | None
    mean_risk: Number | None
    loss: Number
    median_error: Number | None
    suppressed: Number
    groups: Count
    verified: tuple[Verified, ...]
    seconds: Number


class Candidate(Part):
    """Figures of a candidate, or the code and reason of its refusal."""

    number: int
    method: dict[str, Any]
    privacy: tuple[dict[str, Any], ...]
    suppression_limit: Number
    varied: dict[str, Any]
    verdict: Literal["candidate", "above_limit", "beaten", "refused"]
    policy_hash: Digest | None
    run_id: int | None
    figures: Figures | None
    beaten_by: int | None
    code: str | None
    reason: str | None
    exit_code: int


class Comparison(Part):
    """Candidates for a release, side by side."""

    format: Literal["pganon comparison 1"]
    timestamp: Time
    program: str
    release: str
    source: str
    comparison: int | None
    records: Count | None
    seed: int
    workload: Asked
    limit: Number
    candidates: tuple[Candidate, ...]


def document(compared: Mapping[str, Any], made_at: datetime, program: str) -> dict[str, Any]:
    """What the page shows: the figures of a comparison, and what made it."""
    made = Comparison(format="pganon comparison 1", timestamp=made_at, program=program, **compared)
    return made.document()
