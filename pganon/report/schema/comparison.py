"""A comparison of candidates."""

from __future__ import annotations

from typing import Any, Literal

from pganon.report.schema.officer import Asked
from pganon.report.schema.parts import Count, Digest, Part, Time


class Verified(Part):
    """A requirement, and what was measured of the worst group."""

    model: str
    column: str | None
    symbol: str
    bound: Literal[">=", ">", "<=", "<"]
    required: float
    measured: float
    against: str


class Figures(Part):
    """What a dry run measured."""

    form: str
    highest_risk: float | None
    mean_risk: float | None
    loss: float
    median_error: float | None
    suppressed: float
    groups: Count
    verified: list[Verified]
    seconds: float


class Candidate(Part):
    """Figures of a candidate, or the code and reason of its refusal."""

    number: int
    method: dict[str, Any]
    privacy: list[dict[str, Any]]
    suppression_limit: float
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
    limit: float
    candidates: list[Candidate]
