"""What a run gives back: plain dataclasses."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from pganon.frames import Frame, frame
from pganon.metrics.shown import Metrics
from pganon.metrics.utility import Utility


@dataclass(frozen=True)
class Verified:
    """One requirement as measured on the published relations.

    Attributes:
        measured: the worst group's measure.
        against: the distribution it was compared with, for closeness.
    """

    model: str
    column: str | None
    symbol: str
    bound: str
    required: float
    measured: float
    against: str = ""


@dataclass(frozen=True)
class StepSeconds:
    """Time of one step; rounds of a repetition are added up."""

    phase: str
    step: str
    seconds: float
    times: int


@dataclass(frozen=True)
class RunResult:
    """A published release; `metrics` if they were asked for."""

    release: str
    version: int
    run_id: int
    view: str
    method: str
    records: int
    released: int
    suppressed: int
    verified: tuple[Verified, ...]
    utility: Utility
    metrics: Metrics | None
    unreleased_columns: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float
    steps: tuple[StepSeconds, ...] = field(repr=False, default=())

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_frame(self) -> Frame:
        """The verified requirements as a pandas DataFrame, one row each."""
        return frame(self.verified)
